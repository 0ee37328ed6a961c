# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# The load of the demos of drivers: clients that write and read a device, each its own
# share of it, past the page cache. Sourced behind demo-lib.sh, by scripts that set
#
#   DEVICE	the block device
#   BLOCKS	the share of a client, in blocks
#   THREADS	a regular expression: the names of the threads that work for the device
#
# may set
#
#   SIZE	the size of a block in KiB, if it is not 64
#
# and have functions for round():
#
#   device_up DRIVER	load that driver, stock, trial or ports, and make the device
#   device_down		the opposite
#   set_capacity NUMBER	of the pool

SAID=/tmp/wrong
SIZE=64
GO=/tmp/go
CLIENTS="1 2 3 4 5 6 7 8"
# Under load: what ends is read before what began.
COLUMNS="capacity running busy pending peak_running peak_busy rejected completed submitted"

# load_needed [MODULE PARAMETERS]: the kernel's own modules, in the order that they need
load_needed()
{
	while read -r module; do
		# shellcheck disable=SC2046 # several words
		run insmod "/ants/needed/$module" \
			$([ "$module" != "${1:-}.ko" ] || echo "$2")
	done </ants/needed.list
}

# data CLIENT: random bytes of the client, and their checksum
data()
{
	dd if=/dev/urandom of="/tmp/data$1" bs="${SIZE}k" count="$BLOCKS" status=none &&
		md5sum <"/tmp/data$1" >"/tmp/sum$1"
}

all_data()
{
	for client in $CLIENTS; do
		data "$client" || fail "no random data"
	done
}

write_share()
{
	dd if="/tmp/data$1" of="$DEVICE" bs="${SIZE}k" count="$BLOCKS" conv=notrunc \
		seek=$((($1 - 1) * BLOCKS)) oflag=direct status=none ||
		echo "client $1: write failed" >>"$SAID"
}

# read_share CLIENT [DEVICE]
read_share()
{
	dd if="${2:-$DEVICE}" bs="${SIZE}k" count="$BLOCKS" skip=$((($1 - 1) * BLOCKS)) \
		iflag=direct status=none
}

read_away()
{
	read_share "$1" >/dev/null || echo "client $1: read failed" >>"$SAID"
}

# check_share CLIENT [DEVICE]
check_share()
{
	[ "$(read_share "$@" | md5sum)" = "$(cat "/tmp/sum$1")" ] ||
		echo "client $1: wrong data${2:+ in $2}" >>"$SAID"
}

# all COMMAND: one of each client, side by side
all()
{
	local pids='' client pid

	for client in $CLIENTS; do
		"$1" "$client" &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || echo "$1: a client ended with status $?" >>"$SAID"
	done
	[ ! -s "$SAID" ] || fail "$1"
}

# As long as the file exists; how often is told in the end.
on_and_on()
{
	local passes=0

	while [ -e "$GO" ]; do
		"$again" "$1"
		passes=$((passes + 1))
	done
	echo "$passes" >"/tmp/passes$1"
}

# clients_start COMMAND: each client does that until clients_end
clients_start()
{
	again=$1
	touch "$GO"
	all on_and_on &
	clients=$!
}

clients_end()
{
	local checked=''

	rm "$GO"
	wait "$clients" || fail "a client"
	[ "$again" != check_share ] || checked=", all checksums right"
	[ ! -s "$SAID" ] || fail "a client"
	say "   clients: $(cat /tmp/passes* | awk '{ n += $1 } END { print n }') passes of $((BLOCKS * SIZE)) KiB$checked"
}

# resize COMMAND MOST NUMBER MORE: the clients do COMMAND, and the capacity becomes MOST,
# 1 and MORE meanwhile. With a capacity of 1 requests are left over, which the number of
# that name, pending or waiting, shows.
resize()
{
	local before

	before=$(value capacity)
	clients_start "$1"
	tune capacity "$2"
	settle peak_running -gt "$before"
	table "capacity $2"
	verify "peak_busy -le $2" "peak_running -le $2"
	tune capacity 1
	settle running -eq 1
	settle "$3" -gt 0
	table "capacity 1"
	verify "busy -le 1" "threads -eq 1"
	tune capacity "$4"
	settle running -gt 1
	table "capacity $4"
	verify "running -le $4"
}

# remove MODULE: refused while it is in use; with the device its pool goes
remove()
{
	say "   # rmmod $1"
	! rmmod "$1" 2>/dev/null || fail "the module went under its user"
	device_down
	[ ! -e "$POOL" ] || fail "the pool is left"
}

# take_turns MODULE: the stock driver and the port each read what the other has written
take_turns()
{
	remove "$1"
	device_up stock
	all check_share
	say "   stock: all checksums right"
	all_data
	all write_share
	device_down
	device_up ports
	all check_share
	say "   ants: all checksums right"
	device_down
}

# The most threads that work for the device at once, as long as $GO exists.
count_threads()
{
	local most=0 now

	while [ -e "$GO" ]; do
		now=$(cat /proc/[0-9]*/stat 2>/dev/null | grep -cE "^[0-9]+ \(($THREADS)")
		[ "$now" -le "$most" ] || most=$now
		usleep 200000
	done
	echo "$most" >/tmp/most
}

# round DRIVER [CAPACITY]: the same load, for the table
round()
{
	local start counter

	device_up "$1"
	[ -z "${2:-}" ] || set_capacity "$2" || fail "capacity $2"
	touch "$GO"
	count_threads &
	counter=$!
	start=$(hundredths)
	all write_share
	all read_away
	all read_away
	echo "$(($(hundredths) - start))" >>"/tmp/times-$*"
	rm "$GO"
	wait "$counter"
	all check_share
	cat /tmp/most >>"/tmp/threads-$*"
	device_down
}

# rounds "DRIVER [CAPACITY]"...: each three times, in turns
rounds()
{
	for _ in 1 2 3; do
		for turn; do
			# shellcheck disable=SC2086 # two words
			round $turn
		done
	done
	say "$(printf '   %-22s %-20s %s' '' 'seconds' 'threads at most')"
}

# column FILE: the numbers of the rounds, in the order of time
column()
{
	tr '\n' ' ' <"$1"
}

# row NAME "DRIVER [CAPACITY]": what round() has left
row()
{
	say "$(printf '   %-22s %-20s %s' "$1" "$(awk '{ printf "%.2f  ", $1 / 100 }' "/tmp/times-$2")" \
		"$(column "/tmp/threads-$2")")"
}

remains()
{
	scene "$1. Nothing is left"
	run rmmod ants
	nothing_is_left
}
