# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2015,SC2034,SC3028,SC3043
# stage: drivers
# driver: dm-crypt
# file: test/guest/driver-lib.sh samples/demo-lib.sh samples/drivers/load-lib.sh samples/drivers/dm-crypt-device.sh
# timeout: 900
#
# dm-crypt on a disk that can fail.

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/dm-crypt-device.sh
. /ants/dm-crypt-device.sh
# shellcheck source-path=SCRIPTDIR source=../driver-lib.sh
. /ants/driver-lib.sh

RAW=/dev/dm-0
DEVICE=/dev/dm-1
SECTORS=$((DISK_MIB * MIB))
MODULE=dm-crypt
DEVICES=$DEVICE
ON_DISK=$DEVICE
POOLS='/sys/kernel/ants/kcryptd*'
SCENES="bad_sectors flaky_disk lost_writes unload_under_io"

remove_device()
{
	dmsetup remove --noudevsync crypt
}

# Another table, with pools of its own, takes the place of the first one under I/O.
reload_under_io()
{
	local before fio

	before=$(requests)
	load 1 &
	fio=$!
	for _ in 1 2 3; do
		wait_for "[ \$(requests) -gt $((before + 100)) ]" "$DEADLINE" || fail "no I/O"
		dmsetup reload --noudevsync crypt --table "$(mapping_table)" &&
			dmsetup resume --noudevsync crypt || fail "no other table"
		before=$(requests)
	done
	kill -0 $fio || fail "the I/O has ended before"
	wait $fio || { trouble load; return 1; }
	at_rest
}

plan 25
check "a disk that can fail" disks_up 1
stock_driver
ported_driver
check "other tables take their place under I/O" reload_under_io
check "the driver goes" device_down
check "the stock driver with one line more has pools, and all data verified" one_line_more
