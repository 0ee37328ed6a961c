# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# A guest that leaves pools with tasks of each kind in its memory, and says what
# sysfs and debugfs show of them, as tools/ants_dump.py is to find it.

. /ants/lib.sh

DEBUG=/sys/kernel/debug/ants

say_pool()
{
	_numbers=''
	for _name in running idle busy pending waiting; do
		_numbers="$_numbers $_name=$(cat "$POOLS/$1/stats/$_name")"
	done
	echo "ants-said: $1 $(cat "$POOLS/$1/state") capacity=$(cat "$POOLS/$1/capacity")$_numbers"
}

# rows_of POOL FILE: the name of the module, in brackets, is not in the core
rows_of()
{
	grep "^$1 " "$DEBUG/$2" | sed 's/ \[[a-z_]*\]//g'
}

say_lists()
{
	rows_of "$1" workers | awk '{
		line = "ants-said: worker " $2 " " $3
		for (i = 6; i <= NF; i++)
			line = line " " $i
		print line
		if ($5 != "-")
			print "ants-age: worker", $2, $5
	}'
	rows_of "$1" waiters | awk '{
		print "ants-said: waiter", $2, $3, $5, $6
		print "ants-age: waiter", $2, $4
	}'
	rows_of "$1" pending | awk '{
		print "ants-said: pending -", $2, $4
	}'
}

insmod /ants/qemu_fw_cfg.ko && insmod /ants/ants.ko && insmod /ants/ants_held.ko || exit
echo 100000 >"$POOLS/system/expiry_ms"
echo 2 >"$POOLS/system/min_workers"
wait_for "stat_is system idle 2" 60 ||
	{ echo "the pool system has $(cat "$POOLS/system/stats/idle") idle threads, not 2"; exit 1; }
for pool in held system; do
	say_pool "$pool"
	say_lists "$pool"
done
