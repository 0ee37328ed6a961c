# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 240
#
# The echo server is unloaded while connections are open: some are served, one is held
# by the accept loop, which is blocked in ants_submit(), the others are in the backlog.

. /ants/lib.sh

# Clients that send nothing until the server hangs up; descriptor 9 is their
# input, which never ends.
connect()
{
	mkfifo "/tmp/quiet$$" && exec 9<>"/tmp/quiet$$" && rm "/tmp/quiet$$"
	clients=''
	for _ in $(seq "$1"); do
		nc 127.0.0.1 7007 <&9 >/dev/null &
		clients="$clients $!"
	done
}

# A client that sends a line gets it back, and then hangs up.
answers()
{
	mkfifo /tmp/said && exec 8<>/tmp/said && rm /tmp/said || return
	nc 127.0.0.1 7007 <&8 >/tmp/heard &
	echo "$1" >&8
	wait_for "grep -qx '$1' /tmp/heard" 60
	_heard=$?
	kill $! && exec 8>&-
	return "$_heard"
}

clients_end()
{
	for client in $clients; do
		wait_for "! kill -0 $client" 60 || return
	done
}

no_thread()
{
	! ants_threads | grep echo && ! grep -qs echo_accept /proc/[0-9]*/comm
}

plan 12
check "ants loads" insmod /ants/ants.ko
check "the server loads" insmod /ants/ants_echo.ko capacity=2
check "it answers" answers hello
check "unloads idle" rmmod ants_echo
check "loads again" insmod /ants/ants_echo.ko capacity=2
connect 5
check "two are served, the accept loop is blocked" wait_for "stat_is echo busy 2 && stat_is echo waiting 1" 60
check_fails "ants may not go" rmmod ants
check "unloads with connections open" rmmod ants_echo
check "each client sees the end" clients_end
check "no thread is left" no_thread
check "no file is left" [ ! -e "$POOLS/echo" ]
check "ants unloads" rmmod ants
