# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# boot: panic_on_warn=0
# timeout: 300
#
# Callers that wait for a freezable pool freeze in their waits, whatever they wait for;
# a caller that holds a lock there is reported. A task that neither ends nor freezes
# makes the suspend fail, and the pool keeps working.

. /ants/lib.sh

WATCH=/sys/kernel/debug/ants_watch
COLD=/sys/kernel/ants/cold
FREEZABLE=64

number()
{
	cat "$COLD/stats/$1"
}

# Suspend as far as the freezer, and resume.
to_freezer()
{
	echo freeze >/sys/power/state
}

# This shell is the parent of the readers, and has to wait for them.
callers_end()
{
	echo 0 >$WATCH/go
	_refused=0
	for _pid in $callers; do
		wait "$_pid" || _refused=$((_refused + 1))
	done
	callers=''
	check "every caller got through" [ $_refused -eq 0 ]
	check "and everything ran" [ "$(first_line $WATCH/handed)" -eq "$(first_line $WATCH/ran)" ]
}

# The freezer warns while it holds a lock under which consoles must not print, which
# lockdep would report.
suspend_unheard()
{
	_level=$(cut -f 1 /proc/sys/kernel/printk)
	echo 1 >/proc/sys/kernel/printk
	_status=0
	to_freezer || _status=$?
	echo "$_level" >/proc/sys/kernel/printk
	return "$_status"
}

# The only thread sleeps, so later tasks have to wait.
put_to_sleep()
{
	echo 1 >$WATCH/go
	cat $WATCH/sleeper
	wait_for "[ \$(number busy) -eq 1 ]" 60
}

# waits_in FUNCTION: the program that was started last sleeps in it
waits_in()
{
	wait_for "grep -q $1 /proc/$caller/stack" 20
}

callers=''

plan 24
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
ctl create cold 1 0 $FREEZABLE
ctl create warm 1
echo 16 >$COLD/queue_depth
check "ants_watch loads" insmod /ants/ants_watch.ko
echo 1 >/sys/module/suspend/parameters/pm_test_delay
echo freezer >/sys/power/pm_test

check "a task sleeps" put_to_sleep
for file in work group call call_release; do
	cat $WATCH/$file >/dev/null &
	caller=$!
	callers="$callers $caller"
	check "a caller of $file waits" waits_in ants_work_sleep
done
check "suspends" to_freezer
check "nothing ran meanwhile" [ "$(number pending)" -eq 4 ]
callers_end

# a program inside write() holds a lock
check "a task sleeps" put_to_sleep
ctl flush cold &
caller=$!
callers=$caller
check "a caller that holds a lock waits" waits_in ants_wait_until
# earlier messages must be printed before printing is turned off
mark "quiet"
log_mark
check "suspends" suspend_unheard
if [ -e /proc/lockdep_stats ]; then
	check "with a report" log_has 'WARNING: .*__set_task_frozen'
else
	skip "with a report" "needs lockdep"
fi
callers_end

# neither ends nor freezes
ctl hold cold 1
check "a task waits for something else" wait_for "[ \$(number busy) -eq 1 ]" 60
echo 10000 >/sys/power/pm_freeze_timeout
log_mark
expect_trouble '^Freezing .* failed'
check_fails "does not suspend" to_freezer
check "because of tasks" log_has 'Freezing .* failed .*[( ][1-9][0-9]* tasks refusing to freeze'
check "the held one among them" log_has 'task:ants/cold '
ctl let
echo 20000 >/sys/power/pm_freeze_timeout
check "the pool goes on" eval "ctl submit cold 1 0 && ctl flush cold"
check "and suspends" to_freezer
rmmod ants_watch
rmmod ants_ctl
