# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2015,SC2034,SC3028,SC3043
# stage: drivers
# driver: raid5
# file: test/guest/driver-lib.sh samples/demo-lib.sh samples/drivers/load-lib.sh samples/drivers/raid5-device.sh
# timeout: 900
#
# RAID 5 on three disks that can fail.

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/raid5-device.sh
. /ants/raid5-device.sh
# shellcheck source-path=SCRIPTDIR source=../driver-lib.sh
. /ants/driver-lib.sh

DISK=dm-
KIB=16384
MODULE=raid456
DEVICES=$DEVICE
POOLS='/sys/kernel/ants/md0_raid5*'
SCENES="disk_fails two_disks_fail unload_under_io"

# The array alone changes its pool.
change()
{
	set_capacity $((RANDOM % 9))
}

calm()
{
	set_capacity 4
}

remove_device()
{
	echo clear >$ARRAY/array_state
}

array_is()
{
	[ "$(first_line $ARRAY/degraded)" -eq "$1" ]
}

# What was on disk 1 is computed, and written to it.
recover()
{
	wait_for "echo remove >$ARRAY/dev-dm-1/state" "$DEADLINE" || fail "the disk stays"
	disk 1
	wait_for "echo recover >$ARRAY/sync_action; array_is 0" "$DEADLINE" || fail "no recovery"
	wait_for "echo check >$ARRAY/sync_action" "$DEADLINE" || fail "no check"
	wait_for "[ \$(first_line $ARRAY/sync_action) = idle ]" "$DEADLINE" || fail "no end of the check"
	[ "$(first_line $ARRAY/mismatch_cnt)" -eq 0 ] || fail "wrong parity"
}

# One disk has bad sectors. The array loses it, and no user sees an error.
disk_fails()
{
	set_disk 1 bad
	load 1
	set_disk 1 good
	{
		seen load
		echo "disk 1 is $(first_line $ARRAY/dev-dm-1/state), $(first_line $ARRAY/degraded) disk is missing"
	} >"/tmp/disk_fails-$1"
	cat "/tmp/disk_fails-$1"
	[ "$(grep -c '^job .*: error 0$' "/tmp/disk_fails-$1")" -eq 4 ] && array_is 1 && recover
}

# Two are too many. What is on the third one can be read, and nothing can be written.
two_disks_fail()
{
	set_disk 1 gone
	set_disk 2 gone
	{
		job read $DEVICE 0 2 4k rw=randread continue_on_error=io error_dump=1
		job write $DEVICE 0 2 4k continue_on_error=io error_dump=1 stonewall=1
	} | run_jobs gone
	set_disk 1 good
	set_disk 2 good
	seen gone >"/tmp/two_disks_fail-$1"
	attribute array_state clear
	wait_for "[ ! -e $ARRAY ]" "$DEADLINE" || fail "the array stays"
	array
	grep -v offset= "/tmp/two_disks_fail-$1"
	[ "$(grep -c 'read offset=' "/tmp/two_disks_fail-$1")" -gt 300 ] &&
		[ "$(grep -c 'write offset=' "/tmp/two_disks_fail-$1")" -eq 512 ]
}

plan 20
check "three disks that can fail" disks_up 3
stock_driver
ported_driver
check "the driver goes" device_down
