# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What bench/run and bench/drivers share: what results are of, and whether this machine
# had other work meanwhile. Sourced behind tools/lib.sh. They set
#
#   OUT	the directory of the results

# What figures depend on.
SOURCES=(Kbuild include kernel bench tools test/config test/guest test/verdict)
STAT=/proc/stat
# percent of a CPU; more makes ratios worthless
BUSY=10

# The commit, and changes since then in files that figures depend on.
commit()
{
	cd "$ANTS_ROOT" || return
	git rev-parse --short=12 HEAD 2>/dev/null || { module_version; return; }
	git diff --quiet HEAD -- "${SOURCES[@]}" ||
		echo "with changes $(git diff HEAD -- "${SOURCES[@]}" | sha256sum | head -c 12)"
}

# What results must have in common to be comparable, as lines of the results.
provenance()
{
	local commit

	commit=$(commit)
	printf '# commit %s\n' "${commit//$'\n'/ }"
	printf '# compiler gcc %s\n' "$(gcc -dumpfullversion)"
	printf '# qemu %s\n' "$(qemu-system-x86_64 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')"
}

# Centiseconds that all CPUs of this machine were busy, or stolen; then those that the
# children of this script used. A subshell has other children. By default mawk prints
# numbers above 2^31 with six digits.
busy_time()
{
	awk '/^cpu / { printf "%.0f\n", $2 + $3 + $4 + $7 + $8 + $9 }' "$STAT"
	times >"$OUT/times"
	awk 'NR == 2 {
		gsub(/[ms]/, " ")
		printf "%.0f\n", 100 * (60 * ($1 + $3) + $2 + $4)
	}' "$OUT/times"
}

# What all other programs used in the meantime, in percent of one CPU.
used_by_others()
{
	local before=$1 after=$2 seconds=$3

	awk -v seconds="$seconds" '
	{ value[NR] = $1 }
	END {
		others = value[3] - value[1] - (value[4] - value[2])
		print int(others / (seconds > 0 ? seconds : 1))
	}' <<<"$before"$'\n'"$after"
}

# Two emulated CPUs want two real ones for themselves.
note_others()
{
	local bench=$1 percent=$2

	echo "# others $bench $percent"
	((percent <= BUSY)) ||
		log "others used $percent % of a CPU: the ratios of $bench are not for publication"
}
