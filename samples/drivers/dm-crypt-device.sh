# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# A device of dm-crypt, for its demo and its test. Sourced behind load-lib.sh, which says
# what for.

RAW=/dev/ram0
DEVICE=/dev/dm-0
SECTORS=32768
KEY=$(echo ants | sha512sum | cut -c 1-128)

mapping_table()
{
	echo "0 $SECTORS crypt aes-xts-plain64 $KEY 0 $RAW 0"
}

mapping()
{
	dmsetup create --noudevsync crypt --table "$(mapping_table)" || fail "no mapping"
	POOL=/sys/kernel/ants/kcryptd-$(cat "/sys/block/${DEVICE##*/}/dev")
}

device_up()
{
	insmod "/ants/$1/dm-crypt.ko" || fail "no $1 driver"
	mapping
}

device_down()
{
	dmsetup remove --noudevsync crypt || fail "the mapping stays"
	rmmod dm-crypt || fail "the driver stays"
}

set_capacity()
{
	echo "$1" >"$POOL/capacity"
}
