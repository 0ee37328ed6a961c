#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# The scenes of the demo; runs in the guest that samples/demo boots.

# shellcheck source-path=SCRIPTDIR source=../test/guest/lib.sh
. /ants/lib.sh
# shellcheck source-path=SCRIPTDIR source=demo-lib.sh
. /ants/demo-lib.sh

POOL=/sys/kernel/ants/echo
HALF=/tmp/half
SAID=/tmp/client

acceptor()
{
	for stat in /proc/[0-9]*/stat; do
		read -r pid comm rest 2>/dev/null <"$stat" || continue
		[ "$comm" = "(echo_accept)" ] && echo "$pid" && return
	done
	return 1
}

# The accept loop must sleep in ants_submit(), as its kernel stack shows. A call that the
# compiler has turned into a jump is not on the stack, so any function of ants counts.
show_acceptor()
{
	local stack

	stack=$(sed -n 's/.*\] \(\(ants\|echo\)_[^+]*\)+.*/\1/p' "/proc/$(acceptor)/stack" |
		tr '\n' '<' | sed 's/<$//; s/</ < /g')
	say "   accept thread sleeps in: $stack"
	case $stack in
	ants_*echo_accept) ;;
	*) fail "the accept loop is not blocked in ants_submit()" ;;
	esac
}

client()
{
	say "   # echo_client $*"
	./echo_client --seconds "$((2 * DEADLINE))" "$@" >"$SAID" 2>&1 &
	client=$!
}

client_ends()
{
	wait "$client" || fail "client: $(tail -n 1 "$SAID")"
	say "   client: $(cat "$SAID")"
	grep -q "$1" "$SAID" || fail "the client should say: $1"
	rm "$SAID"
}

load()
{
	scene "1. Load ants.ko and a TCP echo server" \
		"ants gives a kernel module a pool of threads of its own, with a hard bound." \
		"ants_echo accepts connections in one thread and hands each to its pool as" \
		"one task, which blocks in the socket until its client hangs up."
	run insmod ants.ko
	run insmod ants_echo.ko capacity=64
	[ -d "$POOL" ] || fail "no $POOL"
	table "before"
	verify "submitted -eq 0" "running -eq 0" "threads -eq 0"
	say "   Threads are made when tasks need them. For this demo idle ones stay:"
	tune expiry_ms 600000
}

fill()
{
	scene "2. 500 connections at once, 64 served at once" \
		"The client sends a different payload on each, 1 byte to 64 KiB, and checks" \
		"every byte that returns. When half have ended, it keeps the others open." \
		"All 64 threads are busy then, so ants_submit() makes the accept loop wait;" \
		"clients beyond that stand in the listener's backlog. Nothing grows."
	client --half "$HALF" 500
	wait_for "[ -e $HALF ]" "$DEADLINE" || fail "the first half does not end"
	settle completed -eq 250
	settle busy -eq 64
	settle waiting -eq 1
	table "half done, full"
	show_acceptor
	verify "peak_busy -le 64" "peak_running -le 64" "threads -eq 64" \
		"submitted -eq 314" "completed -eq 250"
}

grow()
{
	scene "3. Grow it under load" \
		"The accept loop goes on at once; all 250 that are open get a thread."
	tune capacity 256
	settle busy -eq 250
	settle waiting -eq 0
	table "capacity 256"
	verify "peak_busy -le 256" "peak_running -le 256" "busy -eq 250" "threads -ge 250" \
		"submitted -eq 500"
}

shrink()
{
	scene "4. Shrink it under load" \
		"What runs is left alone: 250 tasks stay busy. But no new one is taken, and" \
		"a thread beyond 32 leaves when its task ends."
	tune capacity 32
	table "capacity 32"
	verify "capacity -eq 32" "busy -eq 250" "free -eq 0"
	run rm "$HALF"
	say "   The client goes on and ends its connections."
	client_ends "^500 connections, .* 0 wrong$"
	settle completed -eq 500
	settle running -le 32
	table "after"
	verify "submitted -eq 500" "completed -eq 500" "rejected -eq 0" \
		"busy -eq 0" "running -eq 32" "threads -eq 32"
}

idle()
{
	scene "5. Idle threads go away, as soon as the administrator says" \
		"The first 32 stayed because idle threads were to stay for ten minutes."
	tune expiry_ms 200
	settle running -eq 0
	settle threads -eq 0
	table "a moment later"
	say "   highest ever: $(value peak_running) threads, $(value peak_busy) busy, $(value peak_waiting) waiting;" \
		"$(value spawned) threads made, $(value reaped) reaped, $(value blocked) submits held up"
	verify "peak_busy -le 256" "peak_waiting -eq 1" "blocked -gt 0"
}

unload()
{
	scene "6. Unload with connections open and the accept loop blocked" \
		"100 connections stay open, idle or (every eighth) full of bytes that the" \
		"client does not read: tasks are stuck in receive and in send. 32 are served," \
		"the accept loop holds one, the backlog the rest."
	client --hold 100
	settle busy -eq 32
	settle waiting -eq 1
	table "held"
	show_acceptor
	start=$(hundredths)
	run rmmod ants_echo
	run rmmod ants
	say "   both gone after $(($(hundredths) - start))0 ms"
	client_ends "^100 connections held, 100 ended by the server$"
}

remains()
{
	scene "7. Nothing is left"
	! acceptor || fail "the accept thread is left"
	nothing_is_left
}

load
fill
grow
shrink
idle
unload
remains
say
say "demo: PASS"
