# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# smp: 8
# numa: 2
# topology: sockets=2,dies=2,cores=1,threads=2
#
# As many local shards as fit, on two packages of two caches, each with one core of two
# threads.

. /ants/lib.sh

CPUS=/sys/devices/system/cpu
NODES=/sys/devices/system/node
LOCAL=2

# cpus_of MULTI: the CPUs of its shards, one word for each shard
cpus_of()
{
	_lists=
	for _shard in "$POOLS/$1"/shard*; do
		_lists="$_lists $(first_line "$_shard/cpulist")"
	done
	echo "${_lists# }"
}

# The last-level caches, as sysfs has them.
caches()
{
	for _cpu in "$CPUS"/cpu[0-9]*; do
		for _index in "$_cpu"/cache/index*; do
			_last=$(cat "$_index/shared_cpu_list")
		done
		echo "$_last"
	done | uniq | xargs
}

plan 20
check "two nodes" [ "$(cat $NODES/node0/cpulist) $(cat $NODES/node1/cpulist)" = "0-3 4-7" ]
check "four caches" [ "$(caches)" = "0-1 2-3 4-5 6-7" ]
check "cores of two threads" [ "$(cat $CPUS/cpu2/topology/thread_siblings_list)" = 2-3 ]
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko

check "as many as fit" ctl create_multi fit 80 0 $LOCAL
check "are four" [ "$(first_line "$POOLS/fit/nr_shards")" = 4 ]
check "with a cache each" [ "$(cpus_of fit)" = "$(caches)" ]
check "tasks of CPU 0 stay in its cache" tasks_stay fit 1 '0|1|0-1'
check "tasks of CPU 7 stay in its cache" tasks_stay fit 80 '6|7|6-7'

ctl create_multi two 2 0 $LOCAL
check "a capacity of 2 is a shard for a node" [ "$(cpus_of two)" = "0-3 4-7" ]

echo 1 >"$POOLS/fit/shard3/min_workers"
check "a thread keeps to its shard's CPUs" wait_for "threads_have fit/3 6-7" 60
cpu 6 0
cpu 7 0
check "without them it runs on others" wait_for "threads_have fit/3 0-7" 60
ctl create_multi later 80 0 $LOCAL
check "CPUs that are offline add no shard" [ "$(first_line "$POOLS/later/nr_shards")" = 3 ]
cpu 6 1
cpu 7 1
check "later they belong to a shard of their node" [ "$(cpus_of later)" = "0-1 2-3 4-7" ]
check "whose threads run there, too" tasks_stay later 80 '[4-7]([-,][4-7])*'
check "it comes back" wait_for "threads_have fit/3 6-7" 60
check "and so do tasks of CPU 7" tasks_stay fit 80 '6|7|6-7'
check "ants_ctl unloads" rmmod ants_ctl
check "ants unloads" rmmod ants
