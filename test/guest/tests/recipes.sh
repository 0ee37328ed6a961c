# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# stage: rt
# file: Documentation/recipes.rst
# timeout: 240
#
# The recipes of Documentation/recipes.rst that need nothing but a shell, as they are
# there: where they sleep, test/functional/ants_load.c does work whose figures are
# known.

. /ants/lib.sh

TRACING=/sys/kernel/tracing
OUT=/tmp/recipe

sleep()
{
	insmod /ants/ants_load.ko
}

# cook NAME [CHANGE]: run that recipe, changed by sed; what it prints goes to $OUT, with
# single spaces. The module goes afterwards, for its functions would have no names.
cook()
{
	recipe "$1" | sed "${2:-}" >/tmp/lines
	grep -q '^sleep 10$' /tmp/lines || { cat /tmp/lines; return 1; }
	(. /tmp/lines) >/tmp/said 2>&1
	_cooked=$?
	tr -s ' \t' ' ' </tmp/said >$OUT
	[ "$_cooked" -eq 0 ] && ! grep -E 'rror|nvalid' $OUT && rmmod ants_load
}

# row REGEX: a row of a table begins like this
row()
{
	grep -E "^\{ $1" $OUT || { cat $OUT; return 1; }
}

# number REGEX NAME: the number of that name in that row, or in the line below it
number()
{
	grep -E -A 1 "^\{ $1" $OUT | sed -n "s/.* $2: \([0-9]*\).*/\1/p" | head -n 1
}

functions()
{
	row 'pool: disk , function: .* load_slow \[ants_load\] } hitcount: 4 ' &&
		row 'pool: disk , function: .* load_quick \[ants_load\] } hitcount: 20 ' &&
		row 'pool: burst , function: .* load_quick \[ants_load\] } hitcount: 5 ' &&
		[ "$(grep -c '^{ ' $OUT)" -eq 3 ] && grep -q '^ Dropped: 0$' $OUT
}

# Four tasks sleep for 100 ms each. The clock of traces may be another one than that of
# timers, and on a busy machine a guest's clocks differ: half of it is enough.
run_times()
{
	sum=$(number 'pool: disk , function: .* load_slow ' us)
	longest=$(number 'pool: disk , function: .* load_slow ' max)
	echo "$sum $longest"
	[ "$longest" -ge 50000 ] && [ "$sum" -ge 200000 ] && [ "$sum" -le $((4 * longest)) ]
}

waiters()
{
	row 'pool: disk , function: .* load_slow \[ants_load\] , common_pid: insmod \[ [0-9]+\] } hitcount: 3$' &&
		[ "$(grep -c '^{ .* function: ' $OUT)" -eq 1 ]
}

# The waits of the one waiter, which last for as long as tasks sleep.
wait_times()
{
	pid=$(sed -n 's/.* common_pid: insmod \[ \([0-9]*\)\].*/\1/p' $OUT)
	row "pool: disk , pid: $pid } hitcount: 3 us: [0-9]+$" &&
		[ "$(number "pool: disk , pid: $pid " us)" -ge 150000 ] &&
		counts=$(sed -n 's/^{ pool: disk , us: ~ 2^\([0-9]*\) } hitcount: \([0-9]*\)$/\1 \2/p' $OUT) &&
		echo "$counts" && echo "$counts" | awk '
			$1 < 16 { short = 1 }
			{ nr += $2 }
			END { exit short || nr != 3 }'
}

# happened EVENT POOL N: the table behind that line
happened()
{
	sed -n "/^ants.ants_worker_$1:$/,/:$/p" $OUT | grep -qE "^\{ pool: $2 } hitcount: $3$" ||
		{ cat $OUT; return 1; }
}

lived()
{
	sed -n 's/^{ pool: .* , us: ~ 2^\([0-9]*\) } hitcount: \([0-9]*\)$/\2/p' $OUT | awk '
		{ nr += $1 }
		END { exit nr != 6 }' || { cat $OUT; return 1; }
}

# As the document says: one pool alone, and how the times are spread.
changed()
{
	cook slow "s/^\(echo 'hist:[^']*\)'/\1 if pool==\"disk\"'/; /ants_run.trigger/s/hist:[^ ]*/hist:keys=pool,function.sym,us.log2/" || return
	row 'pool: disk , function: .* load_slow \[ants_load\] , us: ~ 2\^[0-9]+ } hitcount: [1-4]$' &&
		! row 'pool: burst '
}

nothing_left()
{
	! grep ants_ $TRACING/synthetic_events &&
		! grep -h '^hist' $TRACING/events/ants/*/trigger
}

plan 12
check "ants is there" eval "loaded ants || insmod /ants/ants.ko"
check "recipe: which functions are slow" cook slow
check "each function has its tasks" functions
check "and their times" run_times
check "recipe: who waits, and how long" cook waits
check "the one that waits" waiters
check "has waited as long as tasks run" wait_times
check "recipe: do threads come and go" cook churn
check "five and one were made, and have left" eval "happened make burst 5 && happened make disk 1 && happened leave burst 5 && happened leave disk 1"
check "each has lived" lived
check "a recipe can be changed" changed
check "nothing is left of the recipes" nothing_left
