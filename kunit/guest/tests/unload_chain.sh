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

# chain HOPS: rmmod returns after the last hop, not before
chain()
{
	echo 0 >$CTL/progress
	insmod /ants/ants_client.ko act=chain tasks="$1" || return
	rmmod ants_client || return
	count=$(cat $CTL/progress)
	echo "$count of $1 hops"
	[ "$count" -eq "$1" ]
}

plan 7
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
# without a bound: hops that have handed over may not have ended yet
echo create other 4294967295 >$CTL/control
check "unload waits for the end of a chain of 1000" chain 1000
check "unload waits for the end of a chain of 5000" chain 5000
check "unload waits for the end of a chain of 20000" chain 20000
check "the chain never broke" [ "$(cat $POOLS/system/stats/rejected)$(cat $POOLS/other/stats/rejected)" = 00 ]
check "ants_ctl unloads" rmmod ants_ctl
