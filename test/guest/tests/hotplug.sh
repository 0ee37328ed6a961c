# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# smp: 4
# numa: 2
# timeout: 400
#
# CPUs go offline and online under a pool that is bound to two of them.

. /ants/lib.sh

POOL=/sys/kernel/ants/bound
STRANDED='ants: pool bound: no CPU of cpulist 2-3 is online'

stranded()
{
	[ "$(log_has "$STRANDED" | wc -l)" -eq "$1" ]
}

# Tasks are submitted all the time while CPUs go offline and online.
churn()
{
	while [ ! -e /tmp/enough ]; do
		ctl submit bound 50 1 || return
	done &
	churner=$!
	for _round in 1 2 3 4 5; do
		cpu 2 0 && cpu 3 0 && cpu 1 0 && cpu 3 1 && cpu 1 1 && cpu 2 1 ||
			return
		echo 2 >$POOL/cpulist
		echo 2-3 >$POOL/cpulist
	done
	touch /tmp/enough
	wait $churner && ctl flush bound
}

all_ended()
{
	[ "$(first_line $POOL/stats/submitted)" -eq "$(first_line $POOL/stats/completed)" ]
}

plan 25
check "four CPUs" [ "$(first_line /sys/devices/system/cpu/online)" = 0-3 ]
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
# idle threads among them, which stay
ctl create bound 8 6 4
check "unbound" [ "$(first_line $POOL/cpulist)" = 0-3 ]
echo 2-3 >$POOL/cpulist
check "bound" [ "$(first_line $POOL/cpulist)" = 2-3 ]
check "tasks run on 2 and 3" tasks_run_on bound '2|3|2-3'
check "idle threads are bound as well" wait_for "threads_have bound 2-3" 60

log_mark
check "CPU 3 goes" cpu 3 0
check "tasks run on 2" tasks_run_on bound 2
check "CPU 2 goes" cpu 2 0
check "tasks run on the other CPUs" tasks_run_on bound '0|1|0-1'
check "new threads, too" eval "echo 8 >$POOL/min_workers && wait_for '[ \$(first_line $POOL/stats/idle) -eq 8 ]' 60 && tasks_run_on bound '0|1|0-1'"
check "the log says so" stranded 1
check "the mask is kept" [ "$(first_line $POOL/cpulist)" = 2-3 ]
check "CPU 1 goes and comes, and the pool ignores it" eval "cpu 1 0 && tasks_run_on bound 0 && cpu 1 1 && tasks_run_on bound '0|1|0-1'"
check "the log does not repeat it" stranded 1

check "CPU 2 comes" cpu 2 1
check "tasks run on 2 again" tasks_run_on bound 2
check "CPU 3 comes" cpu 3 1
check "tasks run on 2 and 3 again" tasks_run_on bound '2|3|2-3' 100
check "idle threads, too" wait_for "threads_have bound 2-3" 60

log_mark
check "under load, five times" churn
check "nothing is lost" wait_for all_ended 60
check "back on 2 and 3" tasks_run_on bound '2|3|2-3'
check "ants_ctl and ants unload" eval "rmmod ants_ctl && rmmod ants"
