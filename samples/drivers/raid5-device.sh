# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC3043
#
# An array of three disks, for the demo and the test of RAID 5. Sourced behind load-lib.sh,
# which says what for.

POOL=/sys/kernel/ants/md0_raid5-0
ARRAY=/sys/block/md0/md
DEVICE=/dev/md0
# the disks are DISK0, DISK1 and DISK2
DISK=ram
KIB=8192

# attribute NAME VALUE: of the array
attribute()
{
	echo "$2" >"$ARRAY/$1" || fail "$2 for $1"
}

# disk NUMBER: the first KIB of it
disk()
{
	attribute new_dev "$(cat "/sys/block/$DISK$1/dev")"
	attribute "dev-$DISK$1/size" "$KIB"
}

# Three disks that have the right parity, in the first round because all is zero.
array()
{
	echo md0 >/sys/module/md_mod/parameters/new_array || fail "no array"
	attribute level raid5
	attribute raid_disks 3
	attribute layout 2
	attribute chunk_size 65536
	attribute component_size "$KIB"
	for number in 0 1 2; do
		disk "$number"
		attribute "dev-$DISK$number/slot" "$number"
	done
	attribute resync_start none
	attribute array_state active
}

device_up()
{
	insmod "/ants/$1/raid456.ko" || fail "no $1 driver"
	array
}

device_down()
{
	attribute array_state clear
	wait_for "[ ! -e $ARRAY ]" "$DEADLINE" || fail "the array stays"
	rmmod raid456 || fail "the driver stays"
}

set_capacity()
{
	echo "$1" >"$ARRAY/group_thread_cnt"
}
