#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# The scenes of the demo of RAID 5; runs in the guest that "samples/demo raid5" boots.

# shellcheck source-path=SCRIPTDIR source=../../test/guest/lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=load-lib.sh
. /ants/load-lib.sh
# shellcheck source-path=SCRIPTDIR source=raid5-device.sh
. /ants/raid5-device.sh

THREADS='ants/md0_raid5|kworker/.*[-+]raid5wq'
BLOCKS=16
COLUMNS="capacity running busy pending peak_running peak_busy completed submitted"

threads()
{
	say "   # echo $1 >group_thread_cnt"
	set_capacity "$1" || fail "$1 threads"
}

load()
{
	scene "1. RAID 5 of three disks, with a pool for its threads" \
		"Without threads the array's own does all, as with the stock driver, and there" \
		"is no pool. Its capacity is group_thread_cnt, and only that."
	load_needed brd "rd_nr=3 rd_size=8192"
	run insmod ants.ko
	run insmod /ants/ports/raid456.ko
	array
	say "   $(grep md0 /proc/mdstat)"
	[ ! -e "$POOL" ] || fail "a pool before it is wanted"
	all_data
	all write_share
	all check_share
	say "   group_thread_cnt 0: all checksums right"
	threads 2
	table "2 threads"
	verify "capacity -eq 2"
	! echo 3 2>/dev/null >"$POOL/capacity" || fail "the pool is tuned beside the array"
}

write_and_check()
{
	write_share "$1"
	check_share "$1"
}

resize_under_load()
{
	scene "2. Eight clients write and read, and the number of threads changes" \
		"Each writes its 1 MiB, reads it and compares the checksum, on and on. The" \
		"array is not suspended."
	clients_start write_and_check
	threads 8
	settle peak_running -gt 2
	table "8 threads"
	verify "peak_busy -le 8" "peak_running -le 8"
	threads 1
	settle running -eq 1
	table "1 thread"
	verify "busy -le 1"
	threads 0
	settle busy -eq 0
	table "none"
	threads 4
	settle running -gt 1
	table "4 threads"
	verify "running -le 4"
	clients_end
	say "   all checksums right"
}

degraded_is()
{
	[ "$(cat $ARRAY/degraded)" -eq "$1" ]
}

# recovered NUMBER THREADS: that disk fails, and comes back
recovered()
{
	local before

	attribute "dev-ram$1/state" faulty
	degraded_is 1 || fail "the array is not degraded"
	threads "$2"
	before=$(value completed)
	settle completed -gt $((before + 100))
	degraded_is 1 || fail "the array has a disk too many"
	wait_for "echo remove >$ARRAY/dev-ram$1/state" "$DEADLINE" || fail "the disk stays"
	dd if=/dev/urandom of="/dev/ram$1" bs=64k count=128 oflag=direct status=none
	disk "$1"
	wait_for "echo recover >$ARRAY/sync_action; degraded_is 0" "$DEADLINE" || fail "no recovery"
	say "   disk $1 failed, lost its data, and has it again"
}

idle()
{
	[ "$(cat $ARRAY/sync_action)" = idle ]
}

# All disks are read, and the parity compared with the data.
parity()
{
	attribute sync_action check
	wait_for idle "$DEADLINE" || fail "the check does not end"
	[ "$(cat $ARRAY/mismatch_cnt)" -eq 0 ] || fail "the parity is wrong"
}

failure()
{
	scene "3. Each disk fails in turn, under I/O" \
		"What was on it is computed from the others. Then it comes back with random" \
		"data, and is rebuilt."
	clients_start write_and_check
	recovered 1 8
	recovered 0 1
	recovered 2 4
	clients_end
	all check_share
	parity
	say "   all checksums right, and the parity on the disks"
}

unload()
{
	scene "4. The stock driver reads what the port has written, and the reverse"
	take_turns raid456
}

# at_work WRITES: since the array was made
at_work()
{
	[ "$(awk '{ print $5 }' /sys/block/md0/stat)" -gt "$1" ]
}

# changes DRIVER: how long it takes to change the number while the clients are at work
changes()
{
	local start

	device_up "$1"
	set_capacity 4
	clients_start write_and_check
	wait_for "at_work 50" "$DEADLINE" || fail "no writes"
	start=$(hundredths)
	for _ in 1 2 3 4 5; do
		set_capacity 8
		set_capacity 1
		set_capacity 2
		set_capacity 4
	done
	echo "$((($(hundredths) - start) / 2))" >>"/tmp/changes-$1"
	clients_end >/dev/null
	device_down
}

# How often each thread of that name has run
runs()
{
	# shellcheck disable=SC2046 # several words
	grep . $(grep -lE "^($THREADS)" /proc/[0-9]*/comm 2>/dev/null |
		sed 's/comm$/schedstat/') /dev/null
}

# Those that have run as long as $GO exists. An idle kworker keeps its name until it does
# something else, so that one of the round before may be there, or one of this round gone.
count_threads()
{
	runs >/tmp/before
	rm -f /tmp/ran
	while [ -e "$GO" ]; do
		runs | grep -vxFf /tmp/before >>/tmp/ran
		usleep 50000
	done
	cut -d : -f 1 /tmp/ran | sort -u | grep -c . >/tmp/most
}

suspended()
{
	scene "5. The stock driver beside it: the same source, unchanged, in turns" \
		"It suspends the array for a change of group_thread_cnt. Twenty changes, while" \
		"the eight clients are at work."
	for _ in 1 2 3; do
		changes stock
		changes ports
	done
	say "   stock: $(column /tmp/changes-stock)ms for a change"
	say "   ants:  $(column /tmp/changes-ports)ms"
}

figures()
{
	scene "6. And when nothing changes" \
		"Eight clients write 1 MiB each, and read it twice, with a group_thread_cnt of" \
		"0, 2 and 8. The guest has two CPUs. Counted are the threads that have run."
	rounds "stock 0" "ports 0" "stock 2" "ports 2" "stock 8" "ports 8"
	for number in 0 2 8; do
		row "stock, $number threads" "stock $number"
		row "ants, $number threads" "ports $number"
	done
}

load
resize_under_load
failure
unload
suspended
figures
remains 7
say
say "demo: PASS"
