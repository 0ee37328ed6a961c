# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# smp: 4
# numa: 2
# timeout: 300
#
# A client whose work item queues itself again and again, behind tasks of another
# module, in a pool of another module. The client is loaded and unloaded in a loop: if
# ants misses the item once, its text is freed while it runs. 5 loads, each with 1,000
# runs.

. /ants/lib.sh

ROUNDS=$((5 * ${REPEATS:-1}))

come_and_go()
{
	_i=0
	while [ "$_i" -lt "$ROUNDS" ]; do
		insmod /ants/ants_client.ko act=come_again tasks=1000 || return
		rmmod ants_client || return
		_i=$((_i + 1))
	done
}

plan 7
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
ctl create other 1
echo 64 >"$POOLS/other/queue_depth"
check "the client comes and goes" come_and_go
check "each of its runs has ended" [ "$(first_line "$CTL/progress")" -eq $((ROUNDS * 1000)) ]
check "none was refused" [ "$(dmesg | grep -c 'was refused')" -eq 0 ]
check "ants_ctl unloads" rmmod ants_ctl
check "ants unloads" rmmod ants
