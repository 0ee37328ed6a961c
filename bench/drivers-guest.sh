#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2153,SC3043
#
# The loads of bench/drivers; runs in the guest that it boots. /ants/settings has
#
#   DRIVER	loop or dm-crypt
#   ROUNDS	each load is run as often, after one round that warms up
#   MB		of the device that the load covers, once at most
#   RUNTIME	seconds after which a run ends earlier
#
# and /ants/loads a line for each load: BACKING MODE JOBS TURN...; a turn is "stock", or
# "ants=N" for the port with a capacity of N, or "max". One turn comes after the other,
# so that all see the same machine, and each round begins with another one.

# shellcheck source-path=SCRIPTDIR source=../test/guest/lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=../samples/demo-lib.sh
. /ants/demo-lib.sh
# shellcheck source-path=SCRIPTDIR source=../samples/drivers/load-lib.sh
. /ants/load-lib.sh
. /ants/settings

SAID=/tmp/fio
IMAGE=/tmp/image
DISK=/dev/nullb0
RAM=/dev/ram0
KEY=$(echo ants | sha512sum | cut -c 1-128)

fail()
{
	echo "ants_bench: FAIL $*"
	[ ! -s "$SAID" ] || sed 's/^/    /' "$SAID"
	exit 1
}

# --- the drivers: prepare once, up and down for each run --------------------------------
#
# A kworker keeps the name of the queue that it has worked for last. So each load has a
# device of another number, and the threads of other loads do not count for it.

# A file in memory never lets a request sleep. The disk answers a read after 1 ms, and
# any number of them at once; its page cache goes with its last user.
loop_prepare()
{
	load_needed null_blk \
		"gb=1 irqmode=2 completion_nsec=1000000 hw_queue_depth=256 submit_queues=2 no_sched=1"
	dd if=/dev/zero of=$IMAGE bs=1M count="$MB" status=none || fail "no image"
}

loop_up()
{
	local backing=$IMAGE

	[ "$2" = ram ] || backing=$DISK
	DEVICE=/dev/loop$3
	POOL=/sys/kernel/ants/loop$3
	THREADS="kworker/[^)]*[-+]loop$3[)]"
	insmod "/ants/$1/loop.ko" max_loop=$(($3 + 1)) || fail "no $1 driver"
	losetup "$DEVICE" "$backing" || fail "no device"
}

loop_down()
{
	losetup -d "$DEVICE"
	rmmod loop || fail "the driver stays"
}

# Reads and writes take what the disk below has in memory already.
dm_crypt_prepare()
{
	load_needed brd "rd_nr=1 rd_size=$((MB * 1024))"
	dd if=/dev/zero of=$RAM bs=1M count="$MB" status=none || fail "no disk"
	MAJOR=$(awk '$2 == "device-mapper" { print $1 }' /proc/devices)
}

dm_crypt_up()
{
	DEVICE=/dev/dm-$3
	THREADS="kcryptd|kworker/[^)]*[-+]kcryptd(_io)?/[0-9]*:$3[)]"
	insmod "/ants/$1/dm-crypt.ko" || fail "no $1 driver"
	dmsetup create --noudevsync --major "$MAJOR" --minor "$3" crypt \
		--table "0 $((MB * 2048)) crypt aes-xts-plain64 $KEY 0 $RAM 0" || fail "no mapping"
	POOL=/sys/kernel/ants/kcryptd-$(cat "/sys/block/dm-$3/dev")
}

dm_crypt_down()
{
	dmsetup remove --noudevsync crypt || fail "the mapping stays"
	rmmod dm-crypt || fail "the driver stays"
}

# --- one run ------------------------------------------------------------------------------

# Hundredths of a second that the CPUs were busy, and switches from one thread to another.
used()
{
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9 } /^ctxt / { print $2 }' /proc/stat
}

# The pools know how many threads they had at most, those in reserve included.
threads_of_pools()
{
	cat /sys/kernel/ants/*/stats/peak_running | awk '{ n += $1 } END { print n }'
}

# Workqueues do not: kworkers that work for the device, or did last, are counted while
# the load warms up.
warm_up()
{
	local counter

	if [ "$driver" = ports ]; then
		run_fio
		return
	fi
	touch "$GO"
	count_threads &
	counter=$!
	run_fio
	rm "$GO"
	wait "$counter"
	result "$(cat /tmp/most)" threads
}

# Each job has its own part of the device, and one request in flight. What is in the
# page cache in the end is written out within the time that counts.
run_fio()
{
	local caching=--end_fsync=1 share=$((MB * 1024 / jobs))

	[ "$mode" = buffered ] || caching=--direct=1
	fio --name=load --filename="$DEVICE" $caching \
		--thread --numjobs="$jobs" --size="${share}k" --offset_increment="${share}k" \
		--rw=randrw --rwmixread=70 --bs=4k --ioengine=psync ${RUNTIME:+"--runtime=$RUNTIME"} \
		--group_reporting --unified_rw_reporting=1 --percentile_list=50:99 --disk_util=0 \
		--clocksource=clock_gettime --output-format=terse --terse-version=3 --eta=never \
		>"$SAID" 2>&1 || fail "fio"
}

# result VALUE UNIT: a line of the results
result()
{
	printf 'ants_bench: %s\t%s\t%s round=%s\t%s\t%s\n' \
		"$DRIVER" "${turn%=*}" "$params" "$round" "$1" "$2"
}

# Of fio: what it has done in KiB, I/Os a second, milliseconds, percentiles of the
# latency in microseconds
fio_fields()
{
	awk -F ';' '/^3;/ { gsub(/[^;]*=/, ""); print $6, $8, $9, $18, $19 }' "$SAID"
}

# report TICKS SWITCHES TICKS SWITCHES: those before and after
report()
{
	local ticks=$(($3 - $1)) switches=$(($4 - $2))

	# shellcheck disable=SC2046 # several words
	set -- $(fio_fields)
	[ "${1:-0}" -gt 0 ] || fail "fio says nothing"
	result "$2" iops
	result "$4" p50_us
	result "$5" p99_us
	result "$(awk "BEGIN { print 4e6 * $3 / $1 }")" ns
	result "$(awk "BEGIN { print 4e4 * $ticks / $1 }")" cpu_us
	result "$(awk "BEGIN { print 4 * $switches / $1 }")" switches
}

# on_new_device COMMAND: with a device that nobody has used before
on_new_device()
{
	"${name}_up" "$driver" "$backing" "$number"
	[ "$driver" = stock ] || echo "${turn#*=}" >"$POOL/capacity" || fail "capacity ${turn#*=}"
	"$1"
	"${name}_down"
}

measure()
{
	local before

	before=$(used)
	run_fio
	# shellcheck disable=SC2046,SC2086 # two words each
	report $before $(used)
	[ "$driver" = stock ] || result "$(threads_of_pools)" threads
}

# turns TURN...: beginning with the one that is the round's
turns()
{
	local skipped=0

	while [ $skipped -lt $((round % $#)) ]; do
		set -- "$@" "$1"
		shift
		skipped=$((skipped + 1))
	done
	for turn; do
		params="backing=$backing mode=$mode jobs=$jobs"
		driver=stock
		[ "$turn" = stock ] || { driver=ports params="$params capacity=${turn#*=}"; }
		if [ "$round" = 0 ]; then
			on_new_device warm_up
		else
			on_new_device measure
		fi
	done
}

one_round()
{
	number=0
	while read -r backing mode jobs all_turns; do
		# shellcheck disable=SC2086 # several words
		turns $all_turns </dev/null
		number=$((number + 1))
	done </ants/loads
}

name=$(echo "$DRIVER" | tr - _)
insmod ants.ko || fail "no ants.ko"
"${name}_prepare"
# background work of a fresh kernel is not what is measured
sleep 8
echo "clock: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
round=0
while [ "$round" -le "$ROUNDS" ]; do
	echo "ants_bench: round $round"
	one_round
	round=$((round + 1))
done
rmmod ants && echo "ants_bench: complete"
