# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# smp: 4
# numa: 2
# timeout: 400
#
# A freezable pool, "cold", and one that is not freezable, "warm", during a suspend; and
# what else freezes in the kernel, its peers.
# Programs are frozen meanwhile, so ants_watch observes both.

. /ants/lib.sh

WATCH=/sys/kernel/debug/ants_watch
ANTS_FREEZABLE=64
# the duration of the freezer's test, in seconds
DELAY=4

number()
{
	cat "$POOLS/$1/stats/$2"
}

# Programs freeze first, and the tasks that they submitted would end before the threads
# freeze. So ants_watch feeds the pool: 1 now and then, 2 without a gap.
freeze()
{
	echo 0 >$WATCH/ended
	echo 0 >$WATCH/others
	echo 0 >$WATCH/peers
	echo 0 >$WATCH/peers_looks
	echo "$1" >$WATCH/feed
	_failed=1
	if echo freeze >/sys/power/state; then _failed=0; fi
	echo 0 >$WATCH/feed
	return "$_failed"
}

# Suspend as far as the freezer, and resume.
suspend()
{
	echo $DELAY >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	freeze "$1"
}

# Suspend completely. That is aborted if the machine is too slow to get there in time,
# and the kernel says so, which is a failure: so there is one try, with plenty of time.
sleep_and_wake()
{
	echo none >/sys/power/pm_test
	echo 27000 >$WATCH/wake_ms
	freeze 2
	echo 0 >$WATCH/wake_ms
	return "$_failed"
}

# While the threads of cold were frozen none of its tasks ended, and tasks of warm did.
only_cold_stood_still()
{
	echo "$(first_line $WATCH/ended) ended, $(first_line $WATCH/others) others"
	[ "$(first_line $WATCH/ended)" -eq 0 ] && [ "$(first_line $WATCH/others)" -gt 0 ]
}

peers_stood_still()
{
	echo "$(first_line $WATCH/peers) of the peers' runs, $(first_line $WATCH/peers_looks) freezes"
	[ "$(first_line $WATCH/peers)" -eq 0 ] && [ "$(first_line $WATCH/peers_looks)" -gt 0 ]
}

nothing_lost()
{
	[ "$(first_line $WATCH/handed)" -eq "$(first_line $WATCH/ran)" ] &&
		[ "$(number cold submitted)" -eq "$(number cold completed)" ] &&
		[ "$(number cold completed)" -eq "$(first_line $WATCH/ran)" ] &&
		[ "$(number cold pending)" -eq 0 ] &&
		[ "$(number cold waiting)" -eq 0 ]
}

# readers FILE N: start N programs that wait in the kernel again and again. This shell
# is their parent and has to wait for them.
readers()
{
	echo 1 >$WATCH/go
	_i=0
	while [ $_i -lt "$2" ]; do
		cat "$WATCH/$1" >/dev/null || touch /tmp/refused &
		_i=$((_i + 1))
	done
}

readers_end()
{
	echo 0 >$WATCH/go
	wait
	check "every submitter got through" [ ! -e /tmp/refused ]
}

plan 31
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
ctl create cold 4 0 $ANTS_FREEZABLE
ctl create warm 1
echo 4 >"$POOLS/cold/queue_depth"
echo 8 >"$POOLS/warm/queue_depth"
check "ants_watch loads" insmod /ants/ants_watch.ko

# four workers, pending tasks, and submitters and a flush that wait
readers submit 9
check "submitters wait" wait_for "[ \$(number cold waiting) -gt 0 ]" 60
readers flush 1
check "suspends under load" suspend 2
before=$(number cold completed)
peers_before=$(first_line $WATCH/peers_ran)
check "only cold stood still" only_cold_stood_still
check "so did its peers" peers_stood_still
check "they go on" wait_for "[ \$(first_line $WATCH/peers_ran) -gt $((peers_before + 100)) ]" 60
check "goes on by itself" wait_for "[ \$(number cold completed) -gt $((before + 100)) ]" 60
readers_end
check "nothing is lost" wait_for nothing_lost 60

# tasks come while workers are parked and frozen, and others are not made yet
check "idle threads expire" wait_for "[ \$(number cold running) -eq 0 ]" 60
echo 2 >"$POOLS/cold/min_workers"
check "two stay" wait_for "[ \$(number cold idle) -eq 2 ]" 60
before=$(number cold submitted)
check "suspends with tasks to come" suspend 1
check "only cold stood still" only_cold_stood_still
check "what came meanwhile ran" wait_for nothing_lost 60
check "there was something" [ "$(number cold submitted)" -gt "$before" ]

# tasks that wait for room in their own pool
readers relay 9
check "tasks wait in cold for cold" wait_for "[ \$(number cold waiting) -gt 0 ]" 60
check "suspends" suspend 2
check "only cold stood still" only_cold_stood_still
readers_end
check "nothing is lost" wait_for nothing_lost 60

# a real one
readers submit 9
check "submitters wait" wait_for "[ \$(number cold waiting) -gt 0 ]" 60
check "sleeps and wakes" sleep_and_wake
check "only cold stood still" only_cold_stood_still
readers_end
check "nothing is lost" wait_for nothing_lost 60
check_fails "no suspend failed" log_has 'Freezing .* (failed|aborted)|refusing to freeze'
check "ants_watch unloads" rmmod ants_watch
check "ants_ctl unloads" rmmod ants_ctl
check "ants unloads" rmmod ants
