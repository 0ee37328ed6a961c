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

# The name of the module, in brackets, is not in the core.
say_lists()
{
	sed 's/ \[[a-z_]*\]//g' "$DEBUG/$1/workers" | awk 'NR > 1 {
		line = "ants-said: worker " $1 " " $2
		for (i = 5; i <= NF; i++)
			line = line " " $i
		print line
		if ($4 != "-")
			print "ants-age: worker", $1, $4
	}'
	sed 's/ \[[a-z_]*\]//g' "$DEBUG/$1/waiters" | awk 'NR > 1 {
		print "ants-said: waiter", $1, $2, $4, $5
		print "ants-age: waiter", $1, $3
	}'
	sed 's/ \[[a-z_]*\]//g' "$DEBUG/$1/pending" | awk 'NR > 1 {
		print "ants-said: pending -", $1, $3
	}'
}

insmod /ants/qemu_fw_cfg.ko && insmod /ants/ants.ko && insmod /ants/ants_held.ko || exit
echo 100000 >"$POOLS/system/expiry_ms"
echo 2 >"$POOLS/system/min_workers"
wait_for "stat_is system idle 2" 60 || exit
for pool in held system; do
	say_pool "$pool"
	say_lists "$pool"
done
