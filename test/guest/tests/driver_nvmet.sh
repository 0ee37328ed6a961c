# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2015,SC2034,SC3028,SC3043
# stage: drivers
# driver: nvmet
# file: test/guest/driver-lib.sh samples/demo-lib.sh samples/drivers/load-lib.sh samples/drivers/nvmet-device.sh
# timeout: 900
# lockdep: off
#
# The NVMe target over TCP, in front of a file on a disk that can fail. When a queue
# ends, the stock driver of 6.1 waits for its io_work in a way that lockdep reports; that
# is the first report, and there is no other after it.

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=../../../samples/drivers/nvmet-device.sh
. /ants/nvmet-device.sh
# shellcheck source-path=SCRIPTDIR source=../driver-lib.sh
. /ants/driver-lib.sh

DISK_MIB=64
DEVICE=/dev/nvme0n1
DEVICES=$DEVICE
ON_DISK=$DEVICE
# that MiB of the file has bad sectors; BAD is where it lies on the disk
BAD_AT=10
MODULE=nvmet_tcp
POOLS='/sys/kernel/ants/nvmet-*'
SCENES="page_cache unload_under_io"

file_on_disk()
{
	mke2fs -b 4096 -i 1048576 /dev/dm-0 >/dev/null && mkdir /tmp/disk &&
		mount -t ext2 /dev/dm-0 /tmp/disk || fail "no file system"
	dd if=/dev/zero of="$IMAGE" bs=1M count=32 conv=fsync status=none || fail "no image"
	mount -t configfs none /sys/kernel/config || fail "no configfs"
}

# The MiB of the disk in which that of the file begins. The file is in one piece but for a
# block of addresses every four MiB, which is not among the bad ones.
place_on_disk()
{
	local mib=0

	echo ants-is-here | dd of="$IMAGE" bs=1M seek=$BAD_AT conv=notrunc,fsync status=none
	while [ "$mib" -lt "$DISK_MIB" ]; do
		! dd if=/dev/dm-0 bs=1M skip="$mib" count=1 iflag=direct status=none |
			grep -q ants-is-here || break
		mib=$((mib + 1))
	done
	echo "$mib"
}

# A target calls it an error if its page cache has only a part of what is read.
data()
{
	md5sum <"$IMAGE"
}

# Without a queue; its length is for the administrator.
change()
{
	set_capacity $((1 + RANDOM % 16)) && echo $((RANDOM % 3 * 16)) >"$POOL/queue_depth"
}

calm()
{
	set_capacity 16
	echo 0 >"$POOL/queue_depth"
}

set_capacity()
{
	echo "$1" >"$POOL/capacity"
}

remove_device()
{
	rmmod nvmet
}

plan 18
check "a disk that can fail" disks_up 1
check "a file system on it" file_on_disk
BAD=$(place_on_disk)
expect_trouble 'WARNING: possible circular locking dependency detected'
stock_driver
ported_driver
check "the driver goes" device_down
