# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2015,SC3028,SC3043
#
# What the tests of ported drivers share: disks that can fail, load by fio, which verifies
# its data, and what disturbs it. Sourced by test/guest/tests/driver_*.sh behind lib.sh,
# samples/demo-lib.sh, samples/drivers/load-lib.sh and samples/drivers/NAME-device.sh. They
# set
#
#   MODULE	that of the driver
#   DEVICES	the devices of the driver that are put under load
#   ON_DISK	the one of them that lies on the mapping disk0
#   POOLS	a pattern for the pools of the port
#   SCENES	functions that show what a user of stock or ports sees, in /tmp/SCENE-DRIVER
#
# and may have functions of their own instead of change(), calm() and remove_device().

WANTED=$((10000 * ${REPEATS:-1}))
DISK_MIB=32
# the MiB that may have bad sectors
BAD=8
MIB=2048	# sectors
CHANGES=/tmp/changes
SUSPENDS=/tmp/suspends

# In a test a failure ends the subshell of its check.
say()
{
	echo "$*"
}

fail()
{
	echo "$*"
	exit 1
}

lines()
{
	[ ! -e "$1" ] || wc -l <"$1"
}

# --- disks that can fail --------------------------------------------------------------

# part DISK FROM TO TARGET: a line of its table; FROM and TO in MiB
part()
{
	local start=$(($2 * MIB)) length=$((($3 - $2) * MIB))

	case $4 in
	error) echo "$start $length error" ;;
	# it works for a second and fails for a second
	flakey) echo "$start $length flakey /dev/ram$1 $start 1 1" ;;
	*) echo "$start $length linear /dev/ram$1 $start" ;;
	esac
}

# disk_table NUMBER KIND: a disk that is good, has bad sectors, fails at times, loses all
# writes, or is gone
disk_table()
{
	case $2 in
	bad)
		part "$1" 0 $BAD linear
		part "$1" $BAD $((BAD + 1)) error
		part "$1" $((BAD + 1)) $DISK_MIB linear
		;;
	flaky)
		part "$1" 0 16 linear
		part "$1" 16 24 flakey
		part "$1" 24 $DISK_MIB linear
		;;
	# it says that it has written
	lossy) echo "0 $((DISK_MIB * MIB)) flakey /dev/ram$1 0 0 1 1 drop_writes" ;;
	gone) part "$1" 0 $DISK_MIB error ;;
	*) part "$1" 0 $DISK_MIB linear ;;
	esac
}

# set_disk NUMBER KIND: what is in flight ends first
set_disk()
{
	disk_table "$@" | dmsetup reload --noudevsync "disk$1" &&
		dmsetup resume --noudevsync "disk$1" || fail "disk$1 does not become $2"
}

# disks_up NUMBER: they are dm-0, dm-1 ...
disks_up()
{
	local number=0

	load_needed brd "rd_nr=$1 rd_size=$((DISK_MIB * 1024))"
	while [ "$number" -lt "$1" ]; do
		disk_table "$number" good | dmsetup create --noudevsync "disk$number" ||
			fail "no disk$number"
		number=$((number + 1))
	done
}

# --- fio --------------------------------------------------------------------------------

common()
{
	cat <<-END
	[global]
	ioengine=libaio
	direct=1
	iodepth=8
	thread=1
	randrepeat=0
	disk_util=0
	END
}

# job NAME DEVICE FROM TO BLOCK OPTION...: writes MiB FROM to TO at random places, each once
job()
{
	printf '[%s]\nfilename=%s\noffset=%sm\nsize=%sm\nbs=%s\nrw=randwrite\n' \
		"$1" "$2" "$3" $(($4 - $3)) "$5"
	shift 5
	printf '%s\n' "$@"
}

# verified NAME DEVICE FROM TO BLOCK [OPTION...]: and reads all of it
verified()
{
	job "$@" verify=crc32c verify_fatal=1
}

# run_jobs NAME: those of stdin; what fio says is in /tmp/NAME
run_jobs()
{
	{ common; cat; } >"/tmp/$1.jobs"
	fio "/tmp/$1.jobs" >"/tmp/$1" 2>&1
}

# What a user has seen: how each job has ended, and each block that failed with its error.
seen()
{
	sed -nE -e 's/^([a-z0-9]+): \(.*err= *([0-9]+).*/job \1: error \2/p' \
		-e 's/.*io_u error on file [^:]*: (.*), buflen=.*/\1/p' \
		-e 's/.*(first_error=.*)/\1/p' "/tmp/$1" | sort
}

# Why a run of fio has failed
trouble()
{
	grep -aE 'fio: |verify: |err= *[1-9]' "/tmp/$1" | head -n 8
	[ ! -s "$SAID" ] || head -n 4 "$SAID"
}

# load LOOPS: 5120 requests each time, half of them writes, half of them reads
load()
{
	local first="${DEVICES%% *}" last="${DEVICES##* }"

	{
		echo "loops=$1"
		verified small0 "$first" 0 3 4k
		verified small1 "$last" 3 6 4k verify_backlog=32
		verified small2 "$first" 6 9 4k verify_backlog=64
		verified large "$last" 9 25 64k
	} | run_jobs load
}

# What the devices have completed since they came up
requests()
{
	local device

	for device in $DEVICES; do
		cat "/sys/block/${device##*/}/stat"
	done | awk '{ sum += $1 + $5 } END { print sum + 0 }'
}

# The beginning of each device
data()
{
	local device

	for device in $DEVICES; do
		dd if="$device" bs=1M count=8 iflag=direct status=none
	done | md5sum
}

# --- what happens under it ---------------------------------------------------------------

pools()
{
	# shellcheck disable=SC2086 # a pattern
	ls -d $POOLS
}

# An administrator may change a pool at any time; with no queue it refuses requests.
change()
{
	for pool in $(pools); do
		echo $((1 + RANDOM % 16)) >"$pool/capacity" &&
			echo $((RANDOM % 3 * 64)) >"$pool/queue_depth" || return
	done
}

calm()
{
	for pool in $(pools); do
		echo 4 >"$pool/capacity"
		echo 1024 >"$pool/queue_depth"
	done
}

change_loop()
{
	while [ -e "$GO" ]; do
		if change; then
			echo >>$CHANGES
		else
			echo "a change of the capacity failed" >>"$SAID"
		fi
		usleep $((RANDOM % 200 * 1000))
	done
	calm
}

# Suspend as far as the freezer, and resume.
suspend_loop()
{
	if ! echo freezer >/sys/power/pm_test; then
		echo "this kernel cannot suspend as far as the freezer only" >>"$SAID"
		return
	fi
	echo 1 >/sys/module/suspend/parameters/pm_test_delay
	while [ -e "$GO" ]; do
		sleep 2
		if echo freeze >/sys/power/state; then
			echo >>$SUSPENDS
		else
			echo "a suspend failed" >>"$SAID"
		fi
	done
}

# Those of the load
loaded_with()
{
	echo $(($(requests) - before_load))
}

enough()
{
	[ "$(loaded_with)" -ge "$WANTED" ] && [ "$(lines $CHANGES)" -ge 20 ] &&
		[ "$(lines $SUSPENDS)" -ge 2 ]
}

# Under load there are changes and suspends, until there have been enough of all three.
under_load()
{
	rm -f $CHANGES $SUSPENDS
	before_load=$(requests)
	touch "$GO"
	change_loop &
	suspend_loop &
	until [ -s "$SAID" ] || enough; do
		load "${REPEATS:-1}" || echo "fio has failed" >>"$SAID"
	done
	rm "$GO"
	wait
}

load_was_good()
{
	[ ! -s "$SAID" ] && enough && return
	trouble load
	return 1
}

pool_at_rest()
{
	local name

	for name in busy pending waiting lost faults; do
		[ "$(cat "$1/stats/$name")" -eq 0 ] || return
	done
	[ "$(cat "$1/stats/submitted")" -eq "$(cat "$1/stats/completed")" ]
}

# Each request that a pool has accepted was done.
at_rest()
{
	[ "$(pools)" ] || return
	for pool in $(pools); do
		wait_for "pool_at_rest $pool" "$DEADLINE" && continue
		grep . "$pool"/stats/*
		return 1
	done
}

# --- what a user sees of the driver, stock or ports ---------------------------------------

# others_are_well SCENE DRIVER: on sectors that work, and on all when the disk does again
others_are_well()
{
	[ "$(grep -cE '^job (good|behind|after): error 0$' "/tmp/$1-$2")" -eq 3 ]
}

# Of three MiB the one in the middle is bad: 256 writes fail, and 256 reads, and no others.
bad_sectors()
{
	local from=$((BAD - 1)) to=$((BAD + 2))

	set_disk 0 bad
	{
		verified good "$ON_DISK" 0 4 4k
		verified behind "$ON_DISK" 12 16 16k
		job write "$ON_DISK" $from $to 4k continue_on_error=io error_dump=1
		job read "$ON_DISK" $from $to 4k rw=randread continue_on_error=io error_dump=1 \
			stonewall=1
	} | run_jobs bad
	set_disk 0 good
	verified after "$ON_DISK" $from $to 4k | run_jobs after
	for name in bad after; do
		seen $name
	done >"/tmp/bad_sectors-$1"
	grep -v offset= "/tmp/bad_sectors-$1"
	[ "$(grep -c 'write offset=' "/tmp/bad_sectors-$1")" -eq 256 ] &&
		[ "$(grep -c 'read offset=' "/tmp/bad_sectors-$1")" -eq 256 ] &&
		others_are_well bad_sectors "$1"
}

# A disk fails every other second from 16 to 24 MiB. How often a user sees that is chance.
flaky_disk()
{
	rm -f "$GO"
	if [ "$1" = ports ]; then
		touch "$GO"
		change_loop &
	fi
	set_disk 0 flaky
	{
		verified good "$ON_DISK" 0 4 4k loops=2
		verified behind "$ON_DISK" 24 28 16k loops=4
		job flaky "$ON_DISK" 16 24 4k rw=randrw continue_on_error=io \
			time_based=1 runtime=5
	} | run_jobs flaky
	rm -f "$GO"
	wait
	set_disk 0 good
	verified after "$ON_DISK" 16 24 4k | run_jobs after
	for name in flaky after; do
		seen $name
	done >"/tmp/flaky_disk-$1"
	cat "/tmp/flaky_disk-$1"
	grep -q '^first_error=[1-9]' "/tmp/flaky_disk-$1" && others_are_well flaky_disk "$1"
}

# If the load is read as it was before, fio has to notice.
lost_writes()
{
	set_disk 0 lossy
	load 1
	set_disk 0 good
	seen load >"/tmp/lost_writes-$1"
	cat "/tmp/lost_writes-$1"
	grep -q 'error 84$' "/tmp/lost_writes-$1"
}

# seen_by DRIVER NAME COMMAND...: what a command says, and how it ends
seen_by()
{
	local driver="$1" name="$2" status=0

	shift 2
	"$@" >/tmp/out 2>&1 || status=$?
	{
		grep -v 'records\|copied' /tmp/out
		echo "$name: status $status"
	} >>"/tmp/page_cache-$driver"
}

# The driver writes to a page cache, in front of bad sectors: a write fails when it is to
# be on the disk, a read at once.
page_cache()
{
	local start=$((${BAD_AT:-BAD} * 16)) dev="$ON_DISK" end

	end=$((start + 16))
	rm -f "/tmp/page_cache-$1"
	set_disk 0 bad
	seen_by "$1" write dd if=/dev/zero of="$dev" bs=64k seek=$start count=16 oflag=direct
	seen_by "$1" fsync dd if=/dev/zero of="$dev" bs=64k count=1 oflag=direct conv=fsync
	seen_by "$1" again dd if=/dev/zero of="$dev" bs=64k count=1 oflag=direct conv=fsync
	echo 1 >/proc/sys/vm/drop_caches
	seen_by "$1" before dd if="$dev" of=/dev/null bs=4k count=256 iflag=direct
	seen_by "$1" bad dd if="$dev" of=/dev/null bs=4k skip=$((start * 16)) count=1 iflag=direct
	seen_by "$1" behind dd if="$dev" of=/dev/null bs=4k skip=$((end * 16)) count=256 iflag=direct
	set_disk 0 good
	cat "/tmp/page_cache-$1"
	for name in write again before behind; do
		grep -q "^$name: status 0" "/tmp/page_cache-$1" || return
	done
	for name in fsync bad; do
		grep -q "^$name: status [1-9]" "/tmp/page_cache-$1" || return
	done
}

remove_device()
{
	:
}

# Neither the driver nor its device goes under I/O, which goes on.
unload_under_io()
{
	local before fio status

	before=$(requests)
	load 1 &
	fio=$!
	wait_for "[ \$(requests) -gt $((before + 100)) ]" "$DEADLINE" || echo "no I/O"
	for command in "rmmod $MODULE" remove_device; do
		status=0
		$command 2>&1 || status=$?
		echo "$command: status $status"
	done >"/tmp/unload_under_io-$1"
	kill -0 $fio || echo "the I/O has ended before"
	wait $fio || { trouble load; return 1; }
	cat "/tmp/unload_under_io-$1"
	grep -q "rmmod.*status [1-9]" "/tmp/unload_under_io-$1"
}

# same SCENE: what the users of both drivers have seen
same()
{
	diff "/tmp/$1-stock" "/tmp/$1-ports"
}

comes_with_its_data()
{
	device_up ports
	[ "$(data)" = "$(cat /tmp/data)" ] || fail "the data has changed"
}

goes_and_comes()
{
	data >/tmp/data
	device_down
	[ -z "$(pools 2>/dev/null)" ] || fail "a pool is left: $(pools)"
	comes_with_its_data
}

# --- all of it, for $SCENES -----------------------------------------------------------------

words()
{
	echo "$1" | tr _ ' '
}

stock_driver()
{
	check "stock: the driver and its devices come up" device_up stock
	for scene in $SCENES; do
		check "stock: $(words "$scene")" "$scene" stock
	done
	data >/tmp/data
	check "stock: the driver goes" device_down
}

ported_driver()
{
	check "the port comes up, with the data that the stock driver has written" comes_with_its_data
	under_load
	check "$(loaded_with) requests of fio, all data verified" load_was_good
	check "$(lines $CHANGES) changes of the capacity meanwhile" [ "$(lines $CHANGES)" -ge 20 ]
	check "$(lines $SUSPENDS) suspends as far as the freezer meanwhile" [ "$(lines $SUSPENDS)" -ge 2 ]
	check "the pools are at rest, and have lost nothing" at_rest
	for scene in $SCENES; do
		check "$(words "$scene")" "$scene" ports
		check "$(words "$scene"): a user sees what the stock driver shows" same "$scene"
	done
	check_fails "ants does not go under its driver" rmmod ants
	check "the driver goes, and comes again with its data" goes_and_comes
}

# The stock source with the line #include <linux/ants_workqueue.h>
one_line_more()
{
	device_up trial
	[ "$(pools)" ] || fail "no pool"
	load 1 || { trouble load; return 1; }
	device_down
}
