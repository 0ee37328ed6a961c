# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# A device of the loop driver, for its demo and its test. Sourced behind load-lib.sh,
# which says what for.

POOL=/sys/kernel/ants/loop0
DEVICE=/dev/loop0
IMAGE=/tmp/image

device_up()
{
	insmod "/ants/$1/loop.ko" || fail "no $1 driver"
	losetup "$DEVICE" "$IMAGE" || fail "no device"
}

device_down()
{
	losetup -d "$DEVICE"
	rmmod loop || fail "the driver stays"
}

set_capacity()
{
	echo "$1" >"$POOL/capacity"
}
