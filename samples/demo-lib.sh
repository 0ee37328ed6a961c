# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043
#
# What the guests' scripts of the demos share; beside test/guest/lib.sh, which they
# source first. They set
#
#   POOL	the directory of the pool that they show
#   SAID	a file of the load's, whose first line is shown when a scene fails
#
# Lines that begin with "demo| " are shown to the user.

DEADLINE=60	# seconds for anything to happen; a slow machine needs a few

say()
{
	echo "demo| $*"
}

scene()
{
	say
	say "== $1"
	shift
	for line; do
		say "   $line"
	done
}

fail()
{
	[ ! -s "$SAID" ] || say "   ${SAID##*/}: $(head -n 1 "$SAID")"
	say "demo: FAIL $*"
	exit 1
}

run()
{
	say "   # $*"
	"$@" || fail "$1 failed: $*"
}

tune()
{
	say "   # echo $2 >$POOL/$1"
	echo "$2" >"$POOL/$1" || fail "writing $1"
}

# value NAME: a number of the pool; "threads" are counted in /proc
value()
{
	if [ "$1" = threads ]; then
		ants_threads | grep -c "^ants/${POOL##*/}"
	elif [ -e "$POOL/$1" ]; then
		cat "$POOL/$1"
	else
		cat "$POOL/stats/$1"
	fi
}

holds()
{
	test "$(value "$1")" "$2" "$3"
}

in_words()
{
	echo "$*" | sed 's/-eq/=/g; s/-le/<=/g; s/-gt/>/g; s/-ge/>=/g'
}

# settle NAME OP VALUE: wait until it holds
settle()
{
	wait_for "holds $*" "$DEADLINE" ||
		fail "$1 is $(value "$1"), should become: $(in_words "$*")"
}

# verify "NAME OP VALUE"...: these must hold now
verify()
{
	local line=''

	for condition; do
		# shellcheck disable=SC2086 # three words
		holds $condition || fail "$(in_words "$condition") does not hold, it is $(value "${condition%% *}")"
		line="$line${line:+, }$condition"
	done
	say "   checked: $(in_words "$line")"
}

COLUMNS="capacity running idle busy pending waiting free submitted completed"

# table MOMENT: the pool's numbers, each as wide as its name
table()
{
	local line name

	line=$(printf '   %-16s' "$1")
	for name in $COLUMNS; do
		line="$line $(printf "%${#name}s" "$(value "$name")")"
	done
	say
	say "$(printf '   %-16s' '') $COLUMNS"
	say "$line"
	say
}

hundredths()
{
	local up

	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}"
}

# The last scene: nothing of ants is left.
nothing_is_left()
{
	no_remains || fail "threads, files or modules of ants are left"
	! log_has 'WARNING|BUG|Oops|Call Trace' || fail "the kernel's log has a report"
	say "   checked: no /sys/kernel/ants, no thread, no module, no report in the log"
}
