# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 400
#
# A client is unloaded while its tasks are in pools: rmmod waits for them, whatever pool
# they are in, and leaves nothing of the client behind. The client is
# test/modules/ants_client.c; its tasks wait at the gate of ants_ctl.

. /ants/lib.sh

# Close the gate, and count from zero.
reset()
{
	ctl close && echo 0 >"$CTL/progress"
}

load()
{
	reset && insmod /ants/ants_client.ko "$@"
}

# True if nothing with the client's name is left.
gone()
{
	! loaded ants_client && [ ! -e "$POOLS/client" ] &&
		! ants_threads | grep 'ants/client'
}

# Begin to unload the client. Not inside of "check", which runs its command in a
# subshell.
goes()
{
	rmmod ants_client >/tmp/rmmod 2>&1 &
	going=$!
}

# waits_in FUNCTION: rmmod sleeps in it, and no task has ended
waits_in()
{
	wait_for "grep -q $1 /proc/$going/stack" 20 || cat "/proc/$going/stack"
	grep -q '^ants_client .* Unloading ' /proc/modules && done_is 0
}

# gone_after NUMBER: rmmod succeeded when so many tasks had run
gone_after()
{
	[ "$status" -eq 0 ] && done_is "$1" && gone
}

# let_go NUMBER TEST: let the tasks end; all of them do before rmmod returns
let_go()
{
	ctl let
	wait "$going"
	status=$?
	check "$2" gone_after "$1"
}

plan 49
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko

check "client with an idle pool loads" load act=idle
check "its two threads are there" wait_for "stat_is client idle 2" 60
check "ants may not go while its symbols are used" wait_for "! rmmod ants" 1
check "and is whole" stat_is system running 0
check "unload with an idle pool" rmmod ants_client
check "leaves nothing" gone

check "client with tasks running and pending in its pool" load act=busy
check "four run, two are pending" wait_for "stat_is client busy 4 && stat_is client pending 2" 60
goes
check "unload waits in ants_pool_destroy()" waits_in ants_pool_destroy
let_go 6 "until all have run, and leaves nothing"

check "client with tasks in the system pool" load act=system
check "they run" wait_for "stat_is system busy 6" 60
goes
check "unload waits although exit returned" waits_in unload_notify
log_mark
check "and says for whom" wait_for "log_has 'module ants_client: unload waits for held.* in pool system; loading and removing modules may wait for it'" 60
let_go 6 "until all have run, and leaves nothing"
check "the system pool is usable" stat_is system completed 6

check "client with calls of another module's function" load act=call_other tasks=2
check "they run" wait_for "stat_is system busy 2" 60
goes
check "unload waits, since it has to release their data" waits_in unload_notify
let_go 2 "until both have taken it, and leaves nothing"

ctl create other 1
echo 64 >"$POOLS/other/queue_depth"
check "client with tasks pending in another module's pool" load act=other
check "one runs, five are pending" wait_for "stat_is other busy 1 && stat_is other pending 5" 60
goes
check "unload waits for those, too" waits_in unload_notify
let_go 6 "until all have run"
check "client with an item that runs inside a task" load act=inside
check "they run in one thread" wait_for "stat_is other busy 1 && stat_is other pending 0" 60
goes
check "unload waits for both" waits_in unload_notify
let_go 1 "until they have run"
check "the other pool stays" [ -d "$POOLS/other" ]
check "and is empty" wait_for "stat_is other busy 0" 60

echo 0 >"$POOLS/other/queue_depth"
for act in late late_high; do
	ctl hold other 1
	check "client with a delayed item that found the other pool full: $act" load act=$act
	goes
	check "unload waits for it" waits_in unload_notify
	let_go 1 "until it has run, and leaves nothing"
done
ctl destroy other

log_mark
check "client whose thread waits for room" load act=stop
check "it waits" wait_for "stat_is client waiting 1" 60
goes
check "stopping the thread ends its wait, destroy the pool" waits_in ants_pool_destroy
let_go 1 "once the only task has run"
check "the wait ended with -EINTR" log_has 'the submitter got -4$'

log_mark
load act=release && wait_for "stat_is client waiting 1" 60
goes
check "unload by release, then stop" waits_in ants_pool_destroy
let_go 1 "once the only task has run"
check "the wait ended with -ESHUTDOWN" log_has 'the submitter got -108$'

load act=destroy && wait_for "stat_is client waiting 1" 60
goes
check "unload by destroy, under a thread that waits" waits_in ants_pool_destroy
let_go 1 "once the only task has run"

check "ants_ctl unloads" rmmod ants_ctl
