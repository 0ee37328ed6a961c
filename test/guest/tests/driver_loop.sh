# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2015,SC2034,SC3028,SC3043
# stage: drivers
# driver: loop
# file: test/guest/driver-lib.sh samples/demo-lib.sh samples/drivers/load-lib.sh samples/drivers/loop-device.sh
# timeout: 900
#
# The loop driver: loop0 has a file in memory behind its page cache, loop1 a disk that can
# fail, past the page cache.

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/loop-device.sh
. /ants/loop-device.sh
# shellcheck source-path=SCRIPTDIR source=../driver-lib.sh
. /ants/driver-lib.sh

MODULE=loop
DEVICES="/dev/loop0 /dev/loop1"
ON_DISK=/dev/loop1
POOLS='/sys/kernel/ants/loop*'
SCENES="bad_sectors flaky_disk lost_writes loop_page_cache unload_under_io detach_under_io"

# busybox has a losetup, too
direct_up()
{
	/sbin/losetup --direct-io=on $ON_DISK /dev/dm-0 &&
		[ "$(first_line /sys/block/loop1/loop/dio)" = 1 ] || fail "no direct I/O"
	# a request is what fio asks for
	echo 2 >/sys/block/loop1/queue/nomerges
}

device_up()
{
	insmod "/ants/$1/loop.ko" || fail "no $1 driver"
	losetup "$DEVICE" "$IMAGE" || fail "no device"
	direct_up
}

device_down()
{
	losetup -d /dev/loop0
	losetup -d /dev/loop1
	rmmod loop || fail "the driver stays"
}

loop_page_cache()
{
	local status=0

	losetup -d /dev/loop1
	losetup /dev/loop1 /dev/dm-0
	page_cache "$1" || status=$?
	losetup -d /dev/loop1
	direct_up
	mv "/tmp/page_cache-$1" "/tmp/loop_page_cache-$1"
	return $status
}

# A device that is open stays until it is closed. fio itself opens it again and again.
detach_under_io()
{
	local before fio status=0

	exec 8</dev/loop0 9</dev/loop1
	before=$(requests)
	load 1 8<&- 9<&- &
	fio=$!
	wait_for "[ \$(requests) -gt $((before + 100)) ]" "$DEADLINE" || fail "no I/O"
	losetup -d /dev/loop0
	losetup -d /dev/loop1
	kill -0 $fio || fail "the I/O has ended before"
	wait $fio || status=$?
	seen load >"/tmp/detach_under_io-$1"
	exec 8<&- 9<&-
	wait_for "[ ! -e /sys/block/loop1/loop ]" "$DEADLINE" || fail "still attached"
	losetup "$DEVICE" "$IMAGE" || fail "no device"
	direct_up
	trouble load
	return $status
}

plan 30
check "a disk that can fail" disks_up 1
truncate -s ${DISK_MIB}M "$IMAGE"
stock_driver
ported_driver
check "the driver goes" device_down
check "the stock driver with one line more has pools, and all data verified" one_line_more
