# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# timeout: 300
# program: antstat
#
# antstat on a live kernel. The JSON that it prints is checked outside of the guest, by
# antstat_live.judge.

. /ants/lib.sh

FIXED=256

antstat()
{
	/ants/antstat "$@"
}

# As a user that is not root.
as_nobody()
{
	start-stop-daemon -S -c nobody -x /ants/antstat -- "$@"
}

# ends STATUS REGEX COMMAND...: the command exits with this status, and prints this
ends()
{
	_want=$1 _regex=$2
	shift 2
	_got=0
	_said=$("$@" 2>&1) || _got=$?
	echo "$_said"
	[ "$_got" -eq "$_want" ] && echo "$_said" | grep -qE -- "$_regex"
}

# value POOL FILE
value()
{
	cat "$POOLS/$1/$2" 2>/dev/null || cat "$POOLS/$1/stats/$2"
}

# Four clients that send nothing: two are served, one is held by the accept loop.
connect()
{
	mkfifo /tmp/quiet && exec 9<>/tmp/quiet
	for _ in 1 2 3 4; do
		nc 127.0.0.1 7007 <&9 >/dev/null &
	done
}

# row_is POOL FILE...: the row of the table has the values of the files
row_is()
{
	_pool=$1
	shift
	_row=$(antstat | sed -n "s/^$_pool  *//p" | xargs)
	_files=$(for _file; do value "$_pool" "$_file"; done | xargs)
	echo "$_row: $_files"
	[ "$_row" = "$_files" ]
}

# Tasks of 1 ms, one after another, until they are told to stop.
traffic()
{
	while [ -e /tmp/traffic ]; do
		ctl submit busy 100 1
	done
}

start_traffic()
{
	touch /tmp/traffic
	traffic &
	client=$!
}

# Not inside of "check", which runs its command in a subshell.
stop_traffic()
{
	rm /tmp/traffic
	wait "$client"
}

# Two reports, the second one of the tasks that ended in between.
reports_traffic()
{
	_out=$(antstat -p busy 1 2)
	echo "$_out"
	echo "$_out" | awk '
	NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
	NR == 2 { first = $col["done/s"] }
	NR == 3 { second = $col["done/s"] }
	END { exit !(NR == 3 && first == "-" && second > 0) }'
}

# Fifty documents, between the first and the last of which tasks have ended.
json_of_traffic()
{
	antstat --json -p busy 0.02 50 >/tmp/json &&
		[ "$(grep -o '"completed":[0-9]*' /tmp/json | uniq | wc -l)" -gt 1 ]
}

# show_json NAME: print /tmp/json, for the judge
show_json()
{
	gzip -c /tmp/json | base64 -w 800 | sed "s/^/antstat-json: $1: /"
}

# Print the first lines of all files, which do not change meanwhile.
all_files()
{
	(cd "$POOLS" && find [a-z]* -type f -exec awk '
	BEGIN {
		for (i = 1; i < ARGC; i++) {
			line = ""
			getline line <ARGV[i]
			close(ARGV[i])
			print "antstat-file: " ARGV[i] " " line
		}
	}' {} +)
}

# watched [-p POOL]: all pools, or that one, until antstat ends
watched()
{
	/ants/antstat "$@" 0.1 >/tmp/watched 2>&1 &
	watcher=$!
	wait_for "grep -q '^${2:-system} ' /tmp/watched" 60
}

# ended STATUS REGEX: it exited with this status, and this was its last line
ended()
{
	echo "status $watched_status"
	tail -n 1 /tmp/watched
	[ "$watched_status" -eq "$1" ] && tail -n 1 /tmp/watched | grep -qE -- "$2"
}

echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
plan 32
check "ants is not loaded" ends 3 'ants is not loaded: there is no /sys/kernel/ants; "modprobe ants"' antstat
check "ants loads" insmod /ants/ants.ko
check "the pool that is always there" ends 0 '^system +open +256 ' antstat
check "the echo server loads" insmod /ants/ants_echo.ko capacity=2
connect
check "two connections are served, the third one waits" wait_for "stat_is echo busy 2 && stat_is echo waiting 1" 60
check "a row is what the files say" row_is echo state capacity running idle busy pending waiting completed rejected
check "a report and another" [ "$(antstat -p echo 1 2 | wc -l)" -eq 3 ]
check "the threads and their function" ends 0 '^ *[0-9]+ +[a-z]+ +[01] +[0-9.]+ +echo_serve \[ants_echo\] +[a-z_]+' antstat -w echo
check "as many as there are" [ "$(antstat -w echo | grep -c echo_serve)" -eq 2 ]
check "a change says what was and what is" ends 0 '^echo: capacity 2 -> 8$' antstat set echo capacity 8
check "it is in force" eval "[ $(value echo capacity) -eq 8 ] && wait_for 'stat_is echo busy 4' 60 && stat_is echo waiting 0"
check "what the kernel refuses" ends 1 'echo: capacity stays 8: the kernel refused "0": Invalid argument \(EINVAL\): it takes 1 to' antstat set echo capacity 0
check "and for another reason" ends 1 'refused "2147483648": .* \(ERANGE\): it takes 1 to 2147483647, or max' antstat set echo capacity 2147483648
check "nothing has changed" [ "$(value echo capacity)" -eq 8 ]
check "no bound, in hexadecimal, below zero" eval "ends 0 'capacity 8 -> max' antstat set echo capacity max && ends 0 'max_blocking 0 -> 16' antstat set echo max_blocking 0x10 && ends 0 'nice 0 -> -5' antstat set echo nice -5"
check "any user sees the pools" ends 0 '^echo +open +max ' as_nobody
check "and changes none" ends 5 'you may not write capacity of pool echo: Permission denied \(EACCES\); root may' as_nobody set echo capacity 4
check "nor sees what the threads run" ends 0 'is for root to see: /proc/[0-9]+/stack: ' as_nobody -w echo

check "ants_ctl loads" insmod /ants/ants_ctl.ko
ctl create fixed 4 0 $FIXED
check "a limit that is fixed" ends 5 'capacity of pool fixed is read-only' antstat set fixed capacity 8
ctl create_multi client 4 3 0
check "shards" [ "$(antstat -s | grep -c '^client/shard[012] ')" -eq 3 ]
check "a shard by itself" ends 0 '^client/shard1: capacity 1 -> 5$' antstat set client/shard1 capacity 5
check "no name acts on a terminal" eval "! printf 'create \033[2J 2' >$CTL/control"
printf '%s' 'create "\x%s 2' >"$CTL/control"
check "nor is one taken for anything else" ends 0 '^"\\x5cx%s +open ' antstat
check "JSON" eval "antstat --json >/tmp/json"
show_json idle
all_files
ctl create busy 4
start_traffic
check "reports under load" wait_for reports_traffic 60
check "JSON under load" wait_for json_of_traffic 60
show_json load
stop_traffic

watched -p busy
ctl destroy busy
wait $watcher
watched_status=$?
check "a pool goes while it is watched" ended 4 '^antstat: pool busy is gone$'
watched
for pool in fixed client "$(printf '\033[2J"\\x\303\244\377')"; do
	ctl destroy "$pool"
done
check "the modules unload" eval "rmmod ants_ctl && rmmod ants_echo"
check "ants unloads while it is watched" rmmod ants
wait $watcher
watched_status=$?
check "and that is said" ended 3 '^antstat: ants is not loaded any more: '
check "and is not loaded" ends 3 'ants is not loaded: ' antstat -j
