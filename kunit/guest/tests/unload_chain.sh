# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# boot: sysctl.kernel.panic_on_warn=1
# timeout: 300
#
# A client whose one task hands over to the next, to and fro between two pools
# that are not the client's: whenever ants looks, there is one, but never where
# it looked a moment before. A guest of its own: if ants misses it, the text of
# a running task is freed.

. /ants/lib.sh

POOLS=/sys/kernel/ants
CTL=/sys/kernel/debug/ants_ctl

done_is()
{
	[ "$(cat $CTL/progress)" -eq "$1" ]
}

waits()
{
	wait_for "grep -q unload_notify /proc/$going/stack" 60 && done_is 0
}

ended_after()
{
	echo "status $status, $(cat $CTL/progress) of $1 hops"
	[ "$status" -eq 0 ] && done_is "$1"
}

# chain HOPS: the chain begins when rmmod looks for it already; rmmod returns
# after the last hop, not before
chain()
{
	echo 0 >$CTL/progress
	echo close >$CTL/control
	insmod /ants/ants_client.ko act=chain tasks="$1"
	rmmod ants_client >/tmp/rmmod 2>&1 &
	going=$!
	check "unload waits for the beginning of a chain of $1" waits
	echo let >$CTL/control
	wait "$going"
	status=$?
	check "and for its end" ended_after "$1"
}

plan 10
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
# ants looks at these between the two, so that the task has time to move
for i in $(seq 40); do
	echo "create between$i 1" >$CTL/control
done
# without a bound: hops that have handed over may not have ended yet
echo create other 4294967295 >$CTL/control
chain 1000
chain 5000
chain 20000
check "the chain never broke" [ "$(cat $POOLS/system/stats/rejected)$(cat $POOLS/other/stats/rejected)" = 00 ]
check "ants_ctl unloads" rmmod ants_ctl
