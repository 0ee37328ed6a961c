# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of packaging share; sourced, in the clean Debian as well.

number=0
failed=0
# of the last step
step_status=0

# step NAME COMMAND...: the output is printed if the step fails. Its variables have
# unusual names, because the command sees them.
step()
{
	local step_name=$1 step_said

	shift
	number=$((number + 1))
	set +e
	step_said=$( (set -e; "$@") 2>&1 </dev/null)
	step_status=$?
	set -e
	if ((step_status == 0)); then
		echo "ok $number - $step_name"
		return
	fi
	failed=1
	echo "not ok $number - $step_name"
	tail -n 40 <<<"$step_said" | sed 's/^/#   /'
	echo "#   status $step_status: $*"
}

# must NAME COMMAND...: a step that later steps need
must()
{
	step "$@"
	((!step_status)) || { echo "Bail out! nothing to go on with"; exit 1; }
}

end_of_steps()
{
	echo "1..$number"
	exit "$failed"
}

# expect STATUS COMMAND...: it exits with this status
expect()
{
	local want=$1 status=0

	shift
	"$@" || status=$?
	((status == want)) || { echo "status $status, expected $want: $*"; return 1; }
}

# literally TEXT: a regular expression that matches it; releases and versions have dots
# and plus signs
literally()
{
	printf '%s\n' "$1" | sed 's/[][\\.*^$+?(){}|]/\\&/g'
}

# says REGEX COMMAND...: it succeeds, and a line of its output matches
says()
{
	local regex=$1 said

	shift
	said=$("$@") || return
	grep -E -- "$regex" <<<"$said" || { echo "no line matches $regex: $said"; return 1; }
}

# says_not REGEX COMMAND...
says_not()
{
	local regex=$1 said

	shift
	said=$("$@") || return
	! grep -E -- "$regex" <<<"$said"
}

# same FILE FILE
same()
{
	cmp "$1" "$2"
}

# absent PATH...
absent()
{
	local path

	for path; do
		[[ ! -e $path && ! -L $path ]] || { echo "$path is there"; return 1; }
	done
}
