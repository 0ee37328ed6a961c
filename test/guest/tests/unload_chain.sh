# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# smp: 4
# numa: 2
# timeout: 300
#
# A client whose task submits the next one to a pool that ants has already scanned, and
# ends before ants scans the pool of the first task. Both pools belong to another module.
# If ants misses the second task, its text is freed while it runs.

. /ants/lib.sh

# The task in "other" has ended, the one in the system pool waits at the gate.
handed_over()
{
	wait_for "stat_is other busy 0 && stat_is system busy 1" 40
}

# It sleeps between two scans, and only if the last one has found something.
will_look_again()
{
	wait_for "grep -q msleep /proc/$going/stack" 40
}

ended_after()
{
	echo "status $status, $(first_line "$CTL/progress") of $1 hops"
	[ "$status" -eq 0 ] && [ "$(first_line "$CTL/progress")" -eq "$1" ]
}

# goes HOPS: load a client with so many hops and begin to unload it
goes()
{
	echo 0 >"$CTL/progress"
	ctl close
	insmod /ants/ants_client.ko act=chain tasks="$1"
	rmmod ants_client >/tmp/rmmod 2>&1 &
	going=$!
}

plan 10
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
# without a bound: a hop that has submitted the next one may not have ended yet
ctl create other 4294967295
ctl hold_scan other
goes 2
check "unload has seen the system pool, not the other one" ctl scan_held other
ctl pass
check "the task submits to the pool that unload has seen" handed_over
ctl let_scan other
check "unload does not miss it, and waits" will_look_again
ctl let
wait "$going"
status=$?
check "until it has ended" ended_after 2
goes 1000
ctl let
wait "$going"
status=$?
check "a chain of 1000 ends before its client goes" ended_after 1000
check "no chain broke" [ "$(first_line "$POOLS/system/stats/rejected")$(first_line "$POOLS/other/stats/rejected")" = 00 ]
check "ants_ctl unloads" rmmod ants_ctl
check "ants unloads" rmmod ants
