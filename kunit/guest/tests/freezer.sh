# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 400
#
# A freezable pool, "cold", and one that goes on, "warm", over a suspend. No
# program runs meanwhile: ants_watch looks.

. /ants/lib.sh

CTL=/sys/kernel/debug/ants_ctl
WATCH=/sys/kernel/debug/ants_watch
POOLS=/sys/kernel/ants
FREEZABLE=64
# how long the freezer's test lasts, in seconds
DELAY=3

ctl()
{
	echo "$*" >$CTL/control
}

number()
{
	cat "$POOLS/$1/stats/$2"
}

# As far as the freezer, and back.
suspend()
{
	echo $DELAY >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	echo 0 >$WATCH/pause_ms
	echo freeze >/sys/power/state
}

# All the way to sleep; the clock ends it.
sleep_and_wake()
{
	echo none >/sys/power/pm_test
	echo 0 >/sys/class/rtc/rtc0/wakealarm
	echo +$DELAY >/sys/class/rtc/rtc0/wakealarm
	echo freeze >/sys/power/state
}

# Nothing of cold ended for most of the time, and warm went on.
only_cold_stood_still()
{
	echo "$(cat $WATCH/pause_ms) ms, $(cat $WATCH/others) others"
	[ "$(cat $WATCH/pause_ms)" -ge $((DELAY * 900)) ] &&
		[ "$(cat $WATCH/others)" -ge 50 ]
}

nothing_lost()
{
	[ "$(number cold submitted)" -eq "$(number cold completed)" ] &&
		[ "$(number cold pending)" -eq 0 ] &&
		[ "$(number cold waiting)" -eq 0 ]
}

# readers FILE N: so many programs that wait in the kernel
readers()
{
	_i=0
	while [ $_i -lt "$2" ]; do
		cat "$WATCH/$1" >/dev/null || touch /tmp/refused &
		_i=$((_i + 1))
	done
}

warm_up()
{
	ctl submit warm 2000 1
}

plan 28
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
ctl create cold 4 0 $FREEZABLE
ctl create warm 1
echo 100000 >$POOLS/warm/queue_depth
check "ants_watch loads" insmod /ants/ants_watch.ko
check "warm works" warm_up

# four workers, pending tasks, submitters and a flush that wait
echo 4 >$POOLS/cold/queue_depth
readers submit 3
check "submitters wait" wait_for "[ \$(number cold waiting) -gt 0 ]" 60
readers flush 1
before=$(number cold submitted)
check "suspends under load" suspend
check "only cold stood still" only_cold_stood_still
check "goes on by itself" wait_for "[ \$(number cold submitted) -gt $before ]" 60
wait
check "every submitter got through" [ ! -e /tmp/refused ]
check "all of their tasks" [ "$(number cold submitted)" -eq 3000 ]
check "nothing is lost" wait_for nothing_lost 60

# tasks come while the workers are parked and frozen, and some not yet made
check "idle threads expire" wait_for "[ \$(number cold running) -eq 0 ]" 60
echo 2 >$POOLS/cold/min_workers
check "two stay" wait_for "[ \$(number cold idle) -eq 2 ]" 60
warm_up
echo 1 >$WATCH/feed
check "suspends with tasks to come" suspend
check "only cold stood still" only_cold_stood_still
echo 0 >$WATCH/feed
check "what came meanwhile ran" wait_for nothing_lost 60
check "there was something" [ "$(number cold submitted)" -gt 3000 ]

# tasks that wait for a place in their own pool
readers relay 2
check "tasks wait in cold for cold" wait_for "[ \$(number cold waiting) -gt 2 ]" 60
check "suspends" suspend
wait
check "nothing is lost" wait_for nothing_lost 60

# a real one
readers submit 3
check "submitters wait" wait_for "[ \$(number cold waiting) -gt 0 ]" 60
check "sleeps and wakes" sleep_and_wake
wait
check "every submitter got through" [ ! -e /tmp/refused ]
check "nothing is lost" wait_for nothing_lost 60
check_fails "no suspend failed" log_has 'Freezing .* failed|refusing to freeze'
check "ants_watch unloads" rmmod ants_watch
check "ants_ctl unloads" rmmod ants_ctl
check "ants unloads" rmmod ants
