# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# boot: isolcpus=1,3-5
# smp: 6
# numa: 2
# timeout: 400
#
# Isolated CPUs: no thread runs there, unless the pool's mask asks for them.

. /ants/lib.sh

ON_NODE=32

# has_idle POOL NUMBER: so many threads are idle, which means that they are bound
has_idle()
{
	[ "$(first_line "$POOLS/$1/stats/idle")" -eq "$2" ]
}

# mask_is DIRECTORY LIST
mask_is()
{
	cat "$POOLS/$1/cpulist"
	[ "$(first_line "$POOLS/$1/cpulist")" = "$2" ]
}

plan 22
check "two nodes" [ "$(cat /sys/devices/system/node/node0/cpulist) $(cat /sys/devices/system/node/node1/cpulist)" = "0-2 3-5" ]
check "isolated CPUs" [ "$(first_line /sys/devices/system/cpu/isolated)" = 1,3-5 ]
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko

ctl create near 4 2 $ON_NODE 0
check "a pool on node 0 leaves them out" mask_is near 0,2
wait_for "has_idle near 2" 60
check "and so do its threads" threads_have near 0,2
check "after its nice value was set, too" eval "echo 1 >$POOLS/near/nice && mask_is near 0,2"
ctl create far 4 2 $ON_NODE 1
check "where all are isolated the node has its CPUs" mask_is far 3-5
wait_for "has_idle far 2" 60
check "its threads, too" threads_have far 3-5

insmod /ants/ants_client.ko act=multi_local
check "a shard has the CPU that is not isolated" mask_is client/shard0 0
check "the other one has its own" mask_is client/shard1 2
rmmod ants_client

ctl create bound 4 2
echo 1-3 >"$POOLS/bound/cpulist"
check "a mask that is given is kept" mask_is bound 1-3
check "by the threads, too" wait_for "threads_have bound 1-3" 60
check "even if it is of all" eval "echo 0-5 >$POOLS/bound/cpulist && wait_for 'threads_have bound 0-5' 60"

echo 2 >"$POOLS/bound/cpulist"
check "bound to CPU 2" wait_for "threads_have bound 2" 60
check "CPU 2 goes" cpu 2 0
check "stranded tasks keep off isolated CPUs" tasks_run_on bound 0
check "so do idle threads" wait_for "threads_have bound 0,2" 60
check "the log says so" log_has 'pool bound: no CPU of cpulist 2 is online'
check "CPU 2 comes" cpu 2 1
check "they go back" wait_for "threads_have bound 2" 60
check "ants_ctl and ants unload" eval "rmmod ants_ctl && rmmod ants"
