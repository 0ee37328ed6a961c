# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 600
#
# Loading and unloading ants itself: in loops, and with files of it held open or
# written to meanwhile.

. /ants/lib.sh

SYSTEM=$POOLS/system

load_and_unload()
{
	i=0
	while [ $i -lt "$1" ]; do
		insmod /ants/ants.ko && rmmod ants && no_remains || return
		i=$((i + 1))
	done
}

# A client is loaded and unloaded, while ants stays loaded.
client_loop()
{
	i=0
	while [ $i -lt "$1" ]; do
		insmod /ants/ants_hello.ko && rmmod ants_hello || return
		[ ! -e "$POOLS/hello" ] || return
		i=$((i + 1))
	done
}

# Files that a process holds open when ants is unloaded.
hold_open()
{
	exec 3<"$SYSTEM/capacity" 4>"$SYSTEM/expiry_ms" 5<"$SYSTEM/stats/busy"
}

files_are_dead()
{
	! cat <&3 && ! echo 5 >&4 && ! cat <&5
}

# Write until the file is gone, or until told to end.
write_capacities()
{
	i=1
	while echo "$((1 + i % 9))" >"$SYSTEM/capacity"; do
		i=$((i + 1))
		echo "$i" >/tmp/writes
	done 2>/dev/null
}

# Unload ants while another process writes.
unload_under_writer()
{
	insmod /ants/ants.ko || return
	echo 0 >/tmp/writes
	write_capacities &
	writer=$!
	wait_for "[ \$(first_line /tmp/writes) -gt 10 ]" 60 || return
	rmmod ants || return
	wait $writer
	no_remains
}

plan 12
check "ants loads" insmod /ants/ants.ko
check_fails "a second ants is refused" insmod /ants/ants.ko
check "the first is whole" [ "$(first_line "$SYSTEM/state")" = open ]
check "a client again and again" client_loop $((4 * ${REPEATS:-1}))
check "unloads" rmmod ants
check "load and unload again and again" load_and_unload $((4 * ${REPEATS:-1}))

check "loads" insmod /ants/ants.ko
hold_open
check "open files do not keep it" rmmod ants
check "they read and write as errors" files_are_dead
check "and a new ants is not theirs" eval "insmod /ants/ants.ko && files_are_dead && [ \$(first_line $SYSTEM/expiry_ms) = 1000 ] && rmmod ants"
exec 3<&- 4>&- 5<&-

check "unload under a writer" unload_under_writer
check "and again" unload_under_writer
