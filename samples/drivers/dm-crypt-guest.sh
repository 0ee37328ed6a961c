#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# The scenes of the demo of dm-crypt; runs in the guest that "samples/demo dm-crypt"
# boots.

# shellcheck source-path=SCRIPTDIR source=../../test/guest/lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=dm-crypt-device.sh
. /ants/dm-crypt-device.sh

THREADS='ants/kcryptd|kworker/[^)]*[-+]kcryptd'
BLOCKS=16

load()
{
	scene "1. dm-crypt, with two pools for each device" \
		"kcryptd encrypts and decrypts. kcryptd_io reads when there is no memory at" \
		"once. One thread of each is in reserve, and goes on without memory."
	load_needed brd "rd_nr=1 rd_size=16384"
	run insmod ants.ko
	run insmod /ants/ports/dm-crypt.ko
	mapping
	say "   # dmsetup table: $(dmsetup table crypt | cut -d ' ' -f 1-4) ..."
	table "mapped"
	verify "capacity -eq 2" "threads -eq 1"
}

check_raw()
{
	[ "$(read_share "$1" "$RAW" | md5sum)" != "$(cat "/tmp/sum$1")" ] ||
		echo "client $1: not encrypted" >>"$SAID"
}

write_all()
{
	scene "2. Eight writers at once" \
		"Each writes 1 MiB of its own random data; then all of it is read back and" \
		"compared by checksum. What lies on the disk below must not be the same."
	all_data
	all write_share
	table "written"
	all check_share
	table "read back"
	verify "submitted -ge 256" "peak_busy -le 2" "peak_running -le 2" "rejected -eq 0"
	all check_raw
	say "   checked: $RAW has other data in all places"
}

resize_under_load()
{
	scene "3. Eight readers, and the capacity changes under them" \
		"Each reads its 1 MiB again and again and compares the checksum."
	resize check_share 8 pending 4
}

# An item that the pool refuses waits for room by itself.
no_queue()
{
	local before

	scene "4. An administrator may take the queue away, too" \
		"The readers go on. dm-crypt cannot refuse a bio; so its item waits for room."
	before=$(value submitted)
	tune capacity 1
	tune queue_depth 0
	settle submitted -gt $((before + 500))
	table "no queue"
	verify "rejected -gt 0"
	clients_end
	settle busy -eq 0
}

# The new table has pools of its own before the old one goes.
reload()
{
	scene "5. Another table for the device, under I/O" \
		"The eight readers go on meanwhile."
	clients_start check_share
	say "   # dmsetup reload crypt"
	dmsetup reload --noudevsync crypt --table "$(mapping_table)" || fail "no other table"
	say "   pools: $(cd /sys/kernel/ants && echo kcryptd*)"
	[ -d "$POOL~2" ] || fail "no second pool"
	run dmsetup resume --noudevsync crypt
	[ ! -e "$POOL" ] || fail "the old pool is left"
	POOL=$POOL~2
	settle submitted -gt 200
	table "reloaded"
	clients_end
}

unload()
{
	scene "6. The stock driver reads what the port has written, and the reverse"
	take_turns dm-crypt
}

figures()
{
	scene "7. The stock driver beside it: the same source, unchanged, in turns" \
		"Eight clients write 1 MiB each, and read them twice; then the checksums are" \
		"compared. The guest has two CPUs." \
		"One line, #include <linux/ants_workqueue.h>, makes the workqueues pools."
	rounds stock trial "ports 1" "ports 2" "ports 8"
	row "stock" stock
	row "stock, one line added" trial
	row "ants, capacity 1" "ports 1"
	row "ants, capacity 2" "ports 2"
	row "ants, capacity 8" "ports 8"
}

load
write_all
resize_under_load
no_queue
reload
unload
figures
remains 8
say
say "demo: PASS"
