# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# smp: 4
# numa: 2
#
# A pool on one of two nodes runs on the CPUs of that node.

. /ants/lib.sh

CTL=/sys/kernel/debug/ants_ctl
NODES=/sys/devices/system/node
POOLS=/sys/kernel/ants
ON_NODE=32

ctl()
{
	echo "$*" >$CTL/control
}

# tasks_run_on POOL REGEX
tasks_run_on()
{
	ctl cpus "$1" 60 || return
	cat $CTL/cpus
	grep -qE "^($2)\$" $CTL/cpus
}

plan 16
check "two nodes" [ "$(cat $NODES/online)" = 0-1 ]
check "two CPUs on each" [ "$(cat $NODES/node0/cpulist) $(cat $NODES/node1/cpulist)" = "0-1 2-3" ]
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
check_fails "no pool on a node that there is not" ctl create none 4 0 $ON_NODE 2
ctl create zero 4 0 $ON_NODE 0
ctl create one 4 2 $ON_NODE 1
check "a pool on node 1 has its CPUs" [ "$(cat $POOLS/one/cpulist)" = 2-3 ]
check "and runs there" tasks_run_on one '2|3|2-3'
check "a pool on node 0 has its CPUs" [ "$(cat $POOLS/zero/cpulist)" = 0-1 ]
check "and runs there" tasks_run_on zero '0|1|0-1'
echo 1-2 >$POOLS/one/cpulist
check "a mask of its own wins" tasks_run_on one '1|2|1-2'
check "also when a CPU of the node comes" eval "echo 0 >/sys/devices/system/cpu/cpu3/online && echo 1 >/sys/devices/system/cpu/cpu3/online && tasks_run_on one '1|2|1-2'"
echo 2-3 >$POOLS/one/cpulist
echo 0 >/sys/devices/system/cpu/cpu2/online
echo 0 >/sys/devices/system/cpu/cpu3/online
check "a node without a CPU falls back" tasks_run_on one '0|1|0-1'
check "and says so" log_has 'pool one: no CPU of cpulist 2-3 is online'
echo 1 >/sys/devices/system/cpu/cpu2/online
echo 1 >/sys/devices/system/cpu/cpu3/online
check "and comes back" tasks_run_on one '2|3|2-3'
check "ants_ctl unloads" rmmod ants_ctl
check "ants unloads" rmmod ants
