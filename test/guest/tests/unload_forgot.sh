# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 300
#
# Clients that forget their pool when they are unloaded, or fail to load: ants logs
# whose pool it was and destroys it.

. /ants/lib.sh

FORGOT='module ants_client did not destroy pool client'

load()
{
	ctl close && echo 0 >"$CTL/progress"
	insmod /ants/ants_client.ko "$@"
}

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

# rmmod sleeps in the notifier, and no task has ended.
waits()
{
	wait_for "grep -q unload_notify /proc/$going/stack" 60 && done_is 0
}

plan 20
check "ants loads" insmod /ants/ants.ko
check "ants_ctl loads" insmod /ants/ants_ctl.ko

log_mark
check "client that forgets an idle pool" load act=forget
check "unloads" rmmod ants_client
check "the log names it" log_has "ants: $FORGOT$"
check "its pool is gone" gone

log_mark
check "client that forgets a busy pool" load act=forget_busy
check "four run, two are pending" wait_for "stat_is client busy 4 && stat_is client pending 2" 60
goes
check "unload waits" waits
ctl let
wait "$going"
check "succeeds" [ $? -eq 0 ]
check "after all tasks" done_is 6
check "the log names it" log_has "ants: $FORGOT$"
check "its pool is gone" gone

# the thread has ended, the tasks that it waited for have not
log_mark
load act=stop_forget && wait_for "stat_is client waiting 1" 60
goes
check "client that stops its waiting thread and forgets the pool" waits
ctl let
wait "$going"
check "unloads" [ $? -eq 0 ]
check "the log names it" log_has "ants: $FORGOT$"

# busybox tries twice when init fails
ctl let
log_mark
check_fails "client whose init fails with tasks in its pool" insmod /ants/ants_client.ko act=fail
check "the log names it, and its pool is gone" eval "log_has 'ants: $FORGOT$' && gone"

log_mark
check_fails "client whose init fails and cleans up" insmod /ants/ants_client.ko act=fail_clean
check "is not reported, and nothing is left" eval "! log_has '$FORGOT' && gone"

rmmod ants_ctl
