# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 300
#
# Sharded pools as an administrator sees them, and clients that forget to destroy theirs.

. /ants/lib.sh

MULTI=$POOLS/client
FORGOT='module ants_client did not destroy multi client'
EINVAL='Invalid argument'
ERANGE='out of range'

load()
{
	ctl close && echo 0 >"$CTL/progress"
	insmod /ants/ants_client.ko "$@"
}

# reads FILE TEXT
reads()
{
	text=$(first_line "$MULTI/$1") && echo "$1: $text" && [ "$text" = "$2" ]
}

# capacities TOTAL FIRST SECOND THIRD
capacities()
{
	reads capacity "$1" && reads shard0/capacity "$2" &&
		reads shard1/capacity "$3" && reads shard2/capacity "$4"
}

# refused FILE TEXT WHY: the write fails, and for that reason
refused()
{
	why=$({ echo "$2" >"$MULTI/$1"; } 2>&1) && return 1
	case $why in
	*"$3") ;;
	*) echo "$1: $2: $why"; return 1 ;;
	esac
}

# sets FILE TEXT: for the whole and each shard
sets()
{
	echo "$2" >"$MULTI/$1" && reads "$1" "$2" && reads "shard0/$1" "$2" &&
		reads "shard1/$1" "$2" && reads "shard2/$1" "$2"
}

# depths TOTAL FIRST SECOND THIRD
depths()
{
	reads queue_depth "$1" && reads shard0/queue_depth "$2" &&
		reads shard1/queue_depth "$3" && reads shard2/queue_depth "$4"
}

cpus()
{
	echo "$1" >"$MULTI/cpulist" && reads cpulist "$1" &&
		! cat "$MULTI"/shard?/cpu* | grep -v "^$1\$"
}

# keeps FILE TEXT WHY: a refused write changes nothing
keeps()
{
	before=$(first_line "$MULTI/$1")
	refused "$@" && reads "$1" "$before"
}

# the CPUs of local shards were decided when the multi was made
local_files()
{
	list=$(first_line /sys/devices/system/cpu/possible)
	reads strategy local && reads cpulist "$list" &&
		[ "$(stat -c %a "$MULTI/cpulist")" = 444 ] &&
		[ "$(stat -c %a "$MULTI/nice")" = 644 ] && keeps cpulist 0 'Permission denied' &&
		sets nice 3
}

gone()
{
	! loaded ants_client && [ ! -e "$MULTI" ] &&
		! ants_threads | grep 'ants/client'
}

# six tasks: two for each shard, and shard 0 has two threads
busy()
{
	[ "$(first_line "$MULTI/stats/busy")" -eq 4 ] &&
		[ "$(first_line "$MULTI/shard0/stats/busy")" -eq 2 ] &&
		[ "$(first_line "$MULTI/shard2/stats/pending")" -eq 1 ]
}

# what is in the stats of a pool but for times and names, which are of each shard
counters()
{
	for _path in "$POOLS"/system/stats/*; do
		case ${_path##*/} in
		timing | wait_us | run_us | longest_ms | last_fault) ;;
		*) echo "${_path##*/}" ;;
		esac
	done
}

files()
{
	list=$(cd "$MULTI" && echo *)
	echo "$list"
	[ "$list" = "capacity cpulist nice nr_shards queue_depth sched shard0 shard1 shard2 state stats strategy" ] &&
		[ "$(ls "$MULTI/stats")" = "$(counters)" ] &&
		[ "$(ls "$MULTI/shard1")" = "$(ls "$POOLS/system")" ]
}

goes()
{
	rmmod ants_client >/tmp/rmmod 2>&1 &
	going=$!
}

waits()
{
	wait_for "grep -q unload_notify /proc/$going/stack" 60 && done_is 0
}

plan 33
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko

check "client with a multi" load act=multi
check "two tasks a shard" wait_for busy 60
check "files of the whole, and of a pool in each shard" files
check "number of shards" reads nr_shards 3
check "strategy" reads strategy round_robin
check "state" reads state open
check "six were submitted" reads stats/submitted 6
check "none has ended" reads stats/completed 0
check "free is a sum, too" reads stats/free 62
check "threads carry the shard's number" eval "ants_threads | grep -q 'ants/client/2'"
check "capacities" capacities 4 2 1 1
echo 11 >"$MULTI/capacity"
check "a total is spread" capacities 11 4 4 3
echo 5 >"$MULTI/shard1/capacity"
check "one shard by itself" capacities 12 4 5 3
check "what is refused changes nothing" eval "keeps capacity 2 '$EINVAL' && keeps capacity 0 '$EINVAL' && keeps capacity x '$EINVAL' && keeps capacity 2147483648 '$ERANGE' && capacities 12 4 5 3"
echo max >"$MULTI/capacity"
check "no bound for each" capacities max max max max
echo 65 >"$MULTI/queue_depth"
check "a queue depth is spread" depths 65 22 22 21
echo 5 >"$MULTI/shard1/queue_depth"
check "one shard by itself" depths 48 22 5 21
check "a nice value is that of all shards" sets nice -4
check "CPUs are those of all shards" cpus 1
check "what is refused changes nothing" eval "keeps queue_depth -1 '$EINVAL' && keeps queue_depth 2147483648 '$EINVAL' && keeps nice 20 '$EINVAL' && keeps cpulist 4096 '$ERANGE'"
ctl let
check "unloads" rmmod ants_client
check "nothing is left" gone

load act=multi_local
check "local shards keep their CPUs" local_files
check "unloads" rmmod ants_client
check "nothing is left" gone

log_mark
load act=multi_forget
check "client that forgets an idle multi unloads" rmmod ants_client
check "the log names it, and it is gone" eval "log_has 'ants: $FORGOT$' && gone"

log_mark
load act=multi_forget_busy
wait_for busy 60
goes
check "client that forgets a busy multi: unload waits" waits
ctl let
wait "$going"
check "succeeds, after all tasks" eval "[ $? -eq 0 ] && done_is 6"
check "the log names it, and it is gone" eval "log_has 'ants: $FORGOT$' && gone"
check "no shard was taken for a pool" eval "! log_has 'did not destroy pool'"

rmmod ants_ctl
