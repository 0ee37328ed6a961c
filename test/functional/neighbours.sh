# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The program beside test/functional/ants_neighbours.c, in a guest: it does what the
# module asks for, and reports how that has ended. Arguments are parameters of the
# module. If a thread keeps a CPU for 20 s, or waits for 240 s, that is a panic.

set -u
. /ants/lib.sh
PARAMS=/sys/module/ants_neighbours/parameters
PATCH=/sys/kernel/livepatch/ants_livepatch

# limit NAME VALUE: of the kernel, if it has that
limit()
{
	[ ! -e "/proc/sys/kernel/$1" ] || echo "$2" >"/proc/sys/kernel/$1"
}

watch_out()
{
	limit softlockup_panic 1
	limit watchdog_thresh 10
	limit hung_task_panic 1
	limit hung_task_timeout_secs 240
}

do_module()
{
	insmod /ants/ants_hello.ko && rmmod ants_hello
}

# A transition that a thread holds up has no limit of its own.
do_livepatch()
{
	insmod /ants/ants_livepatch.ko || return
	until [ "$(cat $PATCH/transition)" = 0 ]; do usleep 10000; done
	[ "$(cat /proc/cmdline)" = patched ] || return
	echo 0 >$PATCH/enabled
	while [ -e $PATCH ]; do usleep 10000; done
	rmmod ants_livepatch
}

do_freezer()
{
	echo freezer >/sys/power/pm_test && echo freeze >/sys/power/state
}

lacks()
{
	[ -e /sys/kernel/livepatch ] || printf 'livepatch '
	[ -e /sys/power/pm_test ] || printf 'freezer '
}

serve()
{
	while read -r what <$PARAMS/request && [ "$what" != end ]; do
		if [ "$what" ]; then
			status=0
			"do_$what" || status=$?
			echo $status >$PARAMS/answer
		else
			usleep 5000
		fi
	done
}

watch_out
# that others go on is what counts here, and not their share of the CPUs
renice -n -19 -p $$ >/dev/null
[ ! -e /sys/power/pm_test ] || echo 0 >/sys/module/suspend/parameters/pm_test_delay
insmod /ants/ants_neighbours.ko "lacks=$(lacks)" "$@" || exit
serve
rmmod ants_neighbours
