# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# smp: 4
# numa: 2
#
# A pool on one of two nodes runs on the CPUs of that node, and so does a shard of
# a multi that has as many shards as there are nodes.

. /ants/lib.sh

NODES=/sys/devices/system/node
ON_NODE=32

plan 19
check "two nodes" [ "$(cat $NODES/online)" = 0-1 ]
check "two CPUs on each" [ "$(cat $NODES/node0/cpulist) $(cat $NODES/node1/cpulist)" = "0-1 2-3" ]
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
check_fails "no pool on a node that does not exist" ctl create none 4 0 $ON_NODE 2
ctl create zero 4 0 $ON_NODE 0
ctl create one 4 2 $ON_NODE 1
check "a pool on node 1 has its CPUs" [ "$(first_line "$POOLS/one/cpulist")" = 2-3 ]
check "and runs there" tasks_run_on one '2|3|2-3'
check "a pool on node 0 has its CPUs" [ "$(first_line "$POOLS/zero/cpulist")" = 0-1 ]
check "and runs there" tasks_run_on zero '0|1|0-1'
echo 1-2 >"$POOLS/one/cpulist"
check "a mask of its own wins" tasks_run_on one '1|2|1-2'
check "also when a CPU of the node comes" eval "cpu 3 0 && cpu 3 1 && tasks_run_on one '1|2|1-2'"
echo 2-3 >"$POOLS/one/cpulist"
cpu 2 0
cpu 3 0
check "a node without a CPU falls back" tasks_run_on one '0|1|0-1'
check "and says so" log_has 'pool one: no CPU of cpulist 2-3 is online'
cpu 2 1
cpu 3 1
check "and comes back" tasks_run_on one '2|3|2-3'

# divided by number, the CPUs that are online now would be 0 and 2, and 3
LOCAL=2
cpu 1 0
ctl create_multi local 40 2 $LOCAL
cpu 1 1
check "local shards go by node" [ "$(first_line "$POOLS/local/shard0/cpulist") $(first_line "$POOLS/local/shard1/cpulist")" = "0-1 2-3" ]
check "tasks of node 0 stay there" tasks_stay local 1 '0|1|0-1'
check "tasks of node 1 stay there" tasks_stay local 8 '2|3|2-3'
check "ants_ctl unloads" rmmod ants_ctl
check "ants unloads" rmmod ants
