# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 240
# program: antstat echo_client snapshots
#
# What an administrator does about a server whose clients do not get through: antstat
# shows that callers wait, debugfs and the tracepoints show which one and for what; a
# larger capacity lets it go, and can be taken back. Meanwhile, under load, a thousand
# snapshots are compared with what must be true of each of them.

. /ants/lib.sh

ECHO=$POOLS/echo
WAITERS=/sys/kernel/debug/ants/waiters
TRACE=/sys/kernel/tracing
EVENTS=$TRACE/events/ants

antstat()
{
	/ants/antstat "$@"
}

# Six connections at a time, each of them with bytes to send and to compare.
traffic()
{
	while [ -e /tmp/traffic ]; do
		/ants/echo_client --seconds 120 6 >/tmp/replies 2>&1 || cat /tmp/replies >>/tmp/wrong
		usleep 50000
	done
}

start_traffic()
{
	echo go >/tmp/traffic
	traffic &
	clients=$!
}

# Not inside of "check", which runs its command in a subshell; as hang_up().
stop_traffic()
{
	rm /tmp/traffic
	wait "$clients"
}

no_client_complains()
{
	! cat /tmp/wrong 2>/dev/null
}

# "antstat 1" has a row of the pool each second, with the rate behind the first one.
shows_traffic()
{
	_out=$(antstat -p echo 1 2)
	echo "$_out"
	echo "$_out" | awk '
	NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
	END { exit !(NR == 3 && $1 == "echo" && $col["done/s"] > 0) }'
}

# row_is REGEX: capacity, running, idle, busy, pending and waiting, as antstat says
row_is()
{
	_row=$(antstat -p echo | tail -n 1 | xargs)
	echo "$_row"
	echo "$_row" | grep -qE "^echo open $1 "
}

completed()
{
	cat "$ECHO/stats/completed"
}

# Tasks end, and so the traffic flows.
flows()
{
	wait_for "[ \$(completed) -gt $(($(completed) + 20)) ]" 60
}

acceptor()
{
	grep -l '^echo_accept$' /proc/[0-9]*/comm | cut -d / -f 3
}

trace_waiters()
{
	echo >$TRACE/trace &&
		echo 'pool == "echo"' >$EVENTS/filter &&
		echo 1 >$EVENTS/ants_waiter_enrol/enable &&
		echo 1 >$EVENTS/ants_waiter_grant/enable &&
		echo 1 >$EVENTS/ants_waiter_give_up/enable &&
		echo 1 >$EVENTS/ants_pool_tune/enable
}

# traced NAME...: these events, in this order, and all waiters are the accepting thread
traced()
{
	_events=$(grep -v '^#' $TRACE/trace)
	echo "$_events"
	_names=$(echo "$_events" | sed 's/^.*: ants_\([a-z_]*\): .*/\1/' | xargs)
	[ "$_names" = "$*" ] &&
		! echo "$_events" | grep waiter | grep -vq "function=echo_serve \[ants_echo\] .* pid=$(acceptor) "
}

is_listed()
{
	cat $WAITERS
	grep -qE "^echo +$(acceptor)  normal +[0-9]+  echo_serve \[ants_echo\]  \(echo_accept\)$" $WAITERS
}

# More connections than there is room for, that stay until their client is killed.
hold()
{
	/ants/echo_client --seconds 240 --hold 6 >/dev/null 2>&1 &
	holder=$!
}

hang_up()
{
	kill "$holder"
	wait "$holder" 2>/dev/null
}

plan 22
check "ants loads" insmod /ants/ants.ko
check "the server loads" insmod /ants/ants_echo.ko capacity=4
start_traffic
/ants/snapshots echo 1000 /tmp/enough >/tmp/judgement 2>&1 &
watcher=$!
check "antstat 1 shows the traffic" wait_for shows_traffic 60

stop_traffic
check "the traffic ends" wait_for "stat_is echo busy 0 && stat_is echo waiting 0" 60
check "waiters are traced" trace_waiters
hold
check "a client fills the pool, and the server waits" wait_for "stat_is echo busy 4 && stat_is echo waiting 1" 60
stuck=$(completed)
start_traffic
check "antstat shows the waiter" row_is "4 4 0 4 0 1"
check "debugfs tells who it is" is_listed
check "so does the trace" traced waiter_enrol
check "nothing ends" [ "$(completed)" -eq "$stuck" ]

check "a larger capacity" [ "$(antstat set echo capacity 32)" = "echo: capacity 4 -> 32" ]
check "no caller waits" wait_for "stat_is echo waiting 0 && ! grep -q '^echo ' $WAITERS" 60
check "the trace says why" traced waiter_enrol pool_tune waiter_grant
check "the traffic flows" flows
echo 0 >$EVENTS/enable

check "the old capacity" [ "$(antstat set echo capacity 4)" = "echo: capacity 32 -> 4" ]
check "what runs is left alone, the server waits" wait_for "row_is '4 6 0 6 0 1'" 60
hang_up
check "the client hangs up, and threads leave" wait_for "[ \$(first_line $ECHO/stats/running) -le 4 ]" 60
check "the traffic flows in four threads" flows

touch /tmp/enough
status=0
wait "$watcher" || status=$?
sed 's/^/# /' /tmp/judgement
check "a thousand snapshots are consistent" [ "$status" -eq 0 ]
stop_traffic
check "each byte has come back" no_client_complains
check "the server unloads" rmmod ants_echo
check "ants unloads" rmmod ants
