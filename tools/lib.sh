# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the scripts of this project share. Sourced, never run.

# $(...) stops at an error like everything else.
shopt -s inherit_errexit

# Nested scripts inherit the start time, so that all of them count alike.
export ANTS_T0=${ANTS_T0:-$EPOCHSECONDS}

# The tree whose sources are built: this one, unless a test says otherwise.
ANTS_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
ANTS_SRC=${ANTS_SRC:-$ANTS_ROOT}
# Where "make" puts what it makes; O= of the Makefile.
ANTS_BUILD=${ANTS_BUILD:-$ANTS_ROOT/build}
ANTS_CACHE=${XDG_CACHE_HOME:-${HOME:?is not set: set it, or XDG_CACHE_HOME, for the cache}/.cache}/ants
# What an administrator runs, such as modinfo, is not on every user's path.
PATH=$PATH:/usr/sbin:/sbin
ANTS_JOBS=${ANTS_JOBS:-$(nproc)}

# "make -j T=x test" is meant for us, not for the builds that we start.
unset MAKEFLAGS MFLAGS MAKELEVEL

# Builds read messages of tools; they must not depend on the user's language.
export LC_ALL=C.UTF-8

# A script that would write bytecode among the sources is to be found on any machine.
unset PYTHONDONTWRITEBYTECODE

log()
{
	printf '[%4ds] %s\n' $((EPOCHSECONDS - ANTS_T0)) "$*" >&2
}

die()
{
	printf '[%4ds] %s: error: %s\n' $((EPOCHSECONDS - ANTS_T0)) \
	       "${0##*/}" "$*" >&2
	exit 1
}

# What "set -e" ends has a cause. Commands that are tested do not come here; a script that
# another one has called has said more above.
unexpected()
{
	printf '[%4ds] %s: line %s: "%s" ended with status %s\n' \
		$((EPOCHSECONDS - ANTS_T0)) "$2" "$3" "${4%%$'\n'*}" "$1" >&2
}
set -o errtrace
trap 'unexpected $? "${BASH_SOURCE[0]:-$0}" "$LINENO" "$BASH_COMMAND"' ERR

[[ $ANTS_JOBS =~ ^[1-9][0-9]*$ ]] || die "ANTS_JOBS=$ANTS_JOBS: a number of compilers is expected"

# numbers VARIABLE...: each is unset, or a number above 0
numbers()
{
	local name

	for name; do
		[[ ${!name:-1} =~ ^0*[1-9][0-9]*$ ]] || die "$name=${!name}: a number above 0 is expected"
	done
}

# all_in VARIABLE NAME...: each word of it is one of the names
all_in()
{
	local word

	for word in ${!1:-}; do
		[[ " ${*:2} " == *" $word "* ]] || die "$1: there is no '$word' among ${*:2}"
	done
}

# ended STATUS DIR: how a command has ended that writes to DIR, with what it may not have
# been able to say: that it was killed, or that there is no space left
ended()
{
	local free

	printf 'status %s' "$1"
	(($1 <= 128)) || printf ', killed by SIG%s' "$(kill -l "$1" 2>/dev/null || echo "NAL $(($1 - 128))")"
	free=$(df -k --output=avail "$2" 2>/dev/null | tail -n 1) || return 0
	((free >= 1024)) || printf '; %d KiB are free in %s: make room there' "$free" "$2"
}

# run_logged LABEL LOGFILE COMMAND...: output to LOGFILE, a sign of life every
# 20 s, the end of the log on failure.
run_logged()
{
	local label=$1 logfile=$2 start=$EPOCHSECONDS beat=20 pid status=0

	shift 2
	mkdir -p "$(dirname "$logfile")"
	log "$label ..."
	# no terminal on stdin: oldconfig and dpkg must never ask
	"$@" >"$logfile" 2>&1 </dev/null &
	pid=$!
	# a background job does not hear ^C
	# shellcheck disable=SC2064 # this pid
	trap "kill $pid 2>/dev/null; exit 130" INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		if ((EPOCHSECONDS - start >= beat)); then
			beat=$((beat + 20))
			log "$label: $(wc -l <"$logfile") lines," \
			    "$(tail -n 1 "$logfile" | cut -c 1-60)"
		fi
	done
	wait "$pid" || status=$?
	trap - INT TERM
	if ((status)); then
		log "$label: FAILED after $((EPOCHSECONDS - start)) s" \
		    "($(ended "$status" "$(dirname "$logfile")")), see $logfile"
		[[ -s $logfile ]] || log "$label: it has said nothing"
		tail -n 25 "$logfile" | sed 's/^/    | /' >&2
	else
		log "$label: done in $((EPOCHSECONDS - start)) s"
	fi
	return "$status"
}

# with_lock NAME COMMAND...: one at a time in the cache, for all callers.
with_lock()
{
	local name=$1 fd status

	shift
	mkdir -p "$ANTS_CACHE"
	exec {fd}>"$ANTS_CACHE/.lock-$name"
	if ! flock -n "$fd"; then
		log "waiting for another $name"
		flock "$fd"
	fi
	"$@"
	# for a caller that tests it, where "set -e" ends nothing
	status=$?
	exec {fd}>&-
	return "$status"
}

# told FILE NAME: what a semantic patch says of itself, as "// NAME: WORDS"
told()
{
	sed -n "s|^// $2: *||p" "$1"
}

is_installed()
{
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# The version has one place: that of the module.
module_version()
{
	local version

	version=$(sed -n 's/^MODULE_VERSION("\(.*\)");$/\1/p' "$ANTS_SRC/kernel/main.c")
	[[ $version ]] || die "no MODULE_VERSION in $ANTS_SRC/kernel/main.c"
	echo "$version"
}

# kdir_fault KDIR: why no module can be built there, and what to do, in lines; nothing
# if it can
kdir_fault()
{
	local kdir=$1

	if [[ ! -e $kdir ]]; then
		echo "$kdir does not exist"
		echo "KDIR is the build directory of a kernel: the kernel's source after a build,"
		echo "its O= directory, or its installed headers, /lib/modules/<release>/build."
	elif [[ $kdir -ef $ANTS_ROOT ]]; then
		echo "$kdir is the source of ants, and not the build directory of a kernel"
	elif [[ ! -f $kdir/Makefile ]]; then
		echo "$kdir has no Makefile, so it is no kernel's build directory"
		echo "On Debian, the package linux-headers-<release> has what is needed."
	elif [[ -f $kdir/include/config/auto.conf && -f $kdir/include/generated/autoconf.h ]]; then
		has_space "$kdir" || return 0
		echo "there is a space or a colon in $kdir, with which no kernel builds modules"
		echo "A symbolic link does not help; move the kernel to another directory."
	elif [[ ! -f $kdir/.config && ! -d $kdir/include/config && ! -d $kdir/scripts ]]; then
		echo "$kdir is no kernel's build directory: it has neither .config nor scripts/"
	elif [[ ! -f $kdir/.config && ! -f $kdir/include/config/auto.conf ]]; then
		echo "the kernel in $kdir is not configured"
		echo "Put its .config there, and run: make -C $kdir olddefconfig modules_prepare"
		echo "If it was built with O=DIR, then KDIR is that DIR."
	else
		echo "the kernel in $kdir is configured, but not prepared for modules"
		echo "Run: make -C $kdir modules_prepare"
	fi
}

# compiler_vars KDIR [VAR=VALUE...]: what make has to be told beyond the user's variables,
# so that the compiler of the kernel builds the module
compiler_vars()
{
	[[ " ${*:2}" == *" "@(CC|LLVM)=* ]] || "$ANTS_ROOT/tools/kernel-compiler" "$1"
}

# In these the kernel's make splits names.
has_space()
{
	[[ $1 == *[[:space:]:]* ]]
}

# kernel_release KDIR: what "uname -r" says there; Debian's headers answer
# "make kernelrelease" otherwise.
kernel_release()
{
	sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' \
		"$1/include/generated/utsrelease.h" 2>/dev/null | grep . || echo unknown
}
