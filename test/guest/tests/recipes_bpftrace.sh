# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# stage: tools
# file: Documentation/recipes.rst
# timeout: 300
#
# The recipes of Documentation/recipes.rst for bpftrace, as they are there, but that
# they watch test/functional/ants_load.c, whose figures are known, and not "sleep 10".

. /ants/lib.sh

OUT=/tmp/recipe

# cook NAME: run that recipe; what it prints goes to $OUT
cook()
{
	recipe "$1" | sed 's|sleep 10|insmod /ants/ants_load.ko|' >/tmp/lines
	grep -q ants_load.ko /tmp/lines || { cat /tmp/lines; return 1; }
	(. /tmp/lines) >$OUT 2>&1 && rmmod ants_load && ! grep -E 'ERROR|WARNING|Lost' $OUT &&
		return
	cat $OUT
	return 1
}

# has LINE...: each of them, a regex, is there
has()
{
	for _line; do
		grep -qE "^@$_line\$" $OUT && continue
		echo "no $_line"
		cat $OUT
		return 1
	done
}

# at_least KEY WORD N: the number behind WORD in that line; half of what tasks sleep, as
# in recipes.sh
at_least()
{
	_found=$(sed -n "s/^@$1:.*$2 \([0-9]*\).*/\1/p" $OUT)
	echo "$_found"
	[ "$_found" -ge "$3" ]
}

plan 9
check "ants loads" insmod /ants/ants.ko
check "recipe: which functions are slow" cook bpftrace-slow
check "each function has its tasks" has 'us\[disk, load_slow\]: count 4, .*' \
	'us\[disk, load_quick\]: count 20, .*' 'us\[burst, load_quick\]: count 5, .*'
check "and their times" eval "at_least 'us\[disk, load_slow\]' total 200000 && at_least 'longest_us\[disk, load_slow\]' '' 50000"
check "recipe: who waits, and how long" cook bpftrace-waits
check "the one that waits" has 'us\[disk, insmod, [0-9]+\]: count 3, .*'
check "has waited as long as tasks run" eval "at_least 'us\[disk, insmod, [0-9]*\]' total 150000 && at_least 'longest_us\[disk, insmod, [0-9]*\]' '' 50000"
check "recipe: do threads come and go" cook bpftrace-churn
check "five and one were made, have lived and left" has 'made\[burst\]: 5' 'made\[disk\]: 1' \
	'left\[burst\]: 5' 'left\[disk\]: 1' 'lived_ms\[burst\]: count 5, .*' \
	'lived_ms\[disk\]: count 1, .*'
