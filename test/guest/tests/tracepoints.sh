# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 300
#
# The tracepoints, read through tracefs: which there are, in which order the events
# of a task, a waiter, a worker and a pool come, and what is in their fields.
# Documentation/tracepoints.rst describes them. test/modules/ants_kinds.c has a
# task of each kind.

. /ants/lib.sh

TRACE=/sys/kernel/tracing
EVENTS=$TRACE/events/ants
ALL='ants_pool_reboot ants_pool_release ants_pool_tune ants_task_accept ants_task_cancel ants_task_end ants_task_refuse ants_task_start ants_waiter_enrol ants_waiter_give_up ants_waiter_grant ants_worker_leave ants_worker_make ants_worker_park ants_worker_retire ants_worker_wake'

# What was traced since the last begin, one event a line.
events()
{
	grep -v '^#' $TRACE/trace
}

begin()
{
	echo >$TRACE/trace
}

all_there()
{
	_names=$(cd $EVENTS && echo ants_*)
	echo "$_names"
	[ "$_names" = "$ALL" ]
}

# order REGEX NAME...: the events of the lines with REGEX, without "ants_"
order()
{
	_regex=$1
	shift
	_found=$(events | grep -E "$_regex" | sed 's/^.*: ants_\([a-z_]*\): .*/\1/' | xargs)
	echo "$_found"
	[ "$_found" = "$*" ] && return
	events
	return 1
}

# comes REGEX NAME...: the same, as soon as so many are there
comes()
{
	wait_for "[ \"\$(events | grep -cE '$1')\" -ge $(($# - 1)) ]" 60
	order "$@"
}

# has EVENT REGEX: there is such an event, with these fields
has()
{
	events | grep -E "ants_$1: pool=$2\$" || { events; return 1; }
}

# kind FUNCTION NAME...: a task's way, and its data is the same all the way
kind()
{
	_function="function=kinds_$1 "
	shift
	order "$_function" "$@" || return
	_nr=$(events | grep -E "$_function" | grep -o 'data=[^ ]*' | sort -u | wc -l)
	[ "$_nr" -eq 1 ] || { events | grep -E "$_function"; return 1; }
}

# pid_of EVENT: which thread it came from, and pid_in EVENT: which it is about
pid_of()
{
	events | sed -n "s/^.*-\([0-9]*\) *\[[0-9]*\].*: ants_$1: .*/\1/p" | head -n 1
}

pid_in()
{
	events | sed -n "s/^.*: ants_$1: .* pid=\([0-9]*\) .*/\1/p" | head -n 1
}

# by_worker EVENT: it came from the thread that was made
by_worker()
{
	[ "$(pid_of "$1")" -eq "$(pid_in worker_make)" ]
}

# comes is for all that the lock orders; a task starts and ends without it.
seen()
{
	wait_for "events | grep -q ants_$1:" 60
}

is_traced()
{
	grep -q ants_task_accept $TRACE/trace
}

# Two tasks for one thread; the submitter of the second one waits. This sets a
# variable, so it is not for check.
one_thread()
{
	ctl create life 1 || return
	echo 1000000 >"$POOLS/life/expiry_ms"
	ctl hold life 1 && seen task_start || return
	ctl hold life 1 &
	waiter=$!
	wait_for "stat_is life waiting 1" 60 && ctl let && wait $waiter
}

# The thread expires.
expire()
{
	echo 10 >"$POOLS/life/expiry_ms" && wait_for "stat_is life running 0" 60 &&
		echo 1000000 >"$POOLS/life/expiry_ms"
}

# The pool is full: the waiter is killed, and the others are refused.
full()
{
	ctl hold life 1 && seen task_start || return
	echo 1 >"$POOLS/life/max_blocking"
	ctl hold life 1 2>/dev/null &
	waiter=$!
	wait_for "stat_is life waiting 1" 60
	! ctl hold life 1 2>/dev/null || return
	kill -9 $waiter
	wait_for "stat_is life waiting 0" 60
	echo 1 >"$POOLS/life/nonblocking"
	! ctl hold life 1 2>/dev/null
}

change()
{
	echo 0 >"$POOLS/life/nonblocking"
	echo 3 >"$POOLS/life/capacity"
	echo 2 >"$POOLS/life/min_workers"
	ctl let && wait_for "stat_is life idle 2" 60 &&
		ctl release life && ctl drain life && ctl reboot life
}

# Only the pool of the filter is there.
filtered()
{
	echo 'pool == "life"' >$EVENTS/filter && begin &&
		ctl submit life 1 0 && ctl create other 1 && ctl submit other 1 0 &&
		ctl flush other && ctl flush life && ctl destroy other || return
	echo 0 >$EVENTS/filter
	is_traced && ! events | grep -v 'pool=life '
}

silent()
{
	echo 0 >$EVENTS/enable && begin && ctl submit life 1 0 && ctl flush life &&
		! events | grep .
}

unload_traced()
{
	echo 1 >$EVENTS/enable && rmmod ants_ctl && rmmod ants && [ ! -e $EVENTS ]
}

plan 43
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko
check "each tracepoint is there, and no other" all_there
echo counter >$TRACE/trace_clock
check "they can be turned on" eval "echo 1 >$EVENTS/enable"

status=0
one_thread || status=$?
check "two tasks and a waiter" [ "$status" -eq 0 ]
check "come in this order" comes pool=life task_accept worker_make task_start \
	waiter_enrol task_end task_accept waiter_grant task_start task_end worker_park
check "a task is accepted" has task_accept 'life function=hold_task \[ants_ctl\] data=0+ busy=0 pending=1'
check "starts" has task_start 'life function=hold_task \[ants_ctl\] data=0+'
check "ends" has task_end 'life function=hold_task \[ants_ctl\] data=0+'
check "in the thread that was made for it" eval "by_worker task_start && by_worker task_end"
check "which is the only one" has worker_make 'life pid=[0-9]+ running=1 idle=0 pending=1'
check "a waiter enrols" has waiter_enrol "life function=hold_task \[ants_ctl\] data=0+ pid=$waiter waiting=1"
check "is granted" has waiter_grant "life function=hold_task \[ants_ctl\] data=0+ pid=$waiter waiting=0"
check "by the thread that had room" by_worker waiter_grant
check "the thread parks" has worker_park 'life pid=[0-9]+ running=1 idle=1 pending=0'

begin
check "the thread expires" expire
check "is told to leave, and does" comes pool=life worker_retire worker_leave
check "and nothing is left" has worker_leave 'life pid=[0-9]+ running=0 idle=0 pending=0'
ctl submit life 1 0
wait_for "stat_is life idle 1" 60

begin
full || status=$?
check "a full pool refuses" [ "$status" -eq 0 ]
check "in this order" comes pool=life task_accept worker_wake task_start \
	waiter_enrol task_refuse waiter_give_up task_refuse
check "the wake-up" has worker_wake 'life pid=[0-9]+ running=1 idle=0 pending=1'
check "-EBUSY" has task_refuse 'life function=hold_task \[ants_ctl\] data=0+ error=-16 busy=1 pending=0 waiting=1'
check "-EAGAIN" has task_refuse 'life function=hold_task \[ants_ctl\] data=0+ error=-11 busy=1 pending=0 waiting=0'
check "-EINTR" has waiter_give_up "life function=hold_task \[ants_ctl\] data=0+ pid=$waiter error=-4 waiting=0"

begin
check "a pool is changed, closed and opened" change
check "in this order" comes 'pool=life .*(capacity|waiting)=' pool_tune pool_tune \
	pool_release pool_reboot
check "a capacity" has pool_tune 'life old_capacity=1 capacity=3 queue_depth=0 min_workers=0'
check "a minimum" has pool_tune 'life old_capacity=3 capacity=3 queue_depth=0 min_workers=2'
check "the end" has pool_release 'life running=2 busy=0 pending=0 waiting=0'
check "the beginning" has pool_reboot 'life running=0 busy=0 pending=0 waiting=0'

check "a filter chooses a pool" filtered

begin
check "a task of each kind" insmod /ants/ants_kinds.ko
check "a plain task" kind task task_accept task_start task_end
check "work items: also detached, delayed, and twice" eval "kind item task_accept task_start task_end && kind detached task_accept task_start task_end && kind delayed task_accept task_start task_end && kind again task_accept task_start task_accept task_end task_start task_end"
check "calls show what they call" eval "kind call task_accept task_start task_end && kind '(called|released)' task_accept task_start task_end"
check "so does a helper of a loop" kind each task_accept task_start task_end
check "an item inside a task" order 'function=kinds_(inner|outer) ' task_accept task_start task_accept task_start task_end task_end
check "cancelled ones do not start" eval "kind cancelled task_accept task_cancel && kind dropped task_accept task_cancel && kind skipped task_accept task_cancel"
check "refused ones" eval "kind refused task_refuse && kind refused_item task_refuse"
check "a waiter whose time is over" eval "kind late waiter_enrol waiter_give_up && has waiter_give_up 'kinds function=kinds_late .* error=-110 waiting=0'"
check "a task that its caller runs" kind here task_start task_end
rmmod ants_kinds

check "nothing is traced while they are off" silent
check "ants goes while they are on" unload_traced
