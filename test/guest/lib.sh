# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For scripts that run in a test guest (busybox sh): TAP, waiting, sections.
# In a guest it is /ants/lib.sh; modules and programs lie beside it.
#
#   . /ants/lib.sh
#   plan 2
#   check "module loads" insmod /ants/ants.ko
#   check "pool shows up" wait_for "[ -d /sys/kernel/ants/system ]" 10
#
# A script's comments may ask for a guest of its own: "# boot: ARGS" for one with
# these kernel arguments, "# smp: N" for one with N CPUs, "# numa: N" for one with N
# nodes, "# topology: TEXT" for one with these sockets, cores and threads.
# "# timeout: SEC" asks for more time than the usual 120 s. "# stage: NAME" takes it
# from the stage shell to that one, which has another kernel; "# file: PATH" puts a
# file of the tree beside it. "# driver: NAME" is the port of samples/drivers that the
# stage drivers gives to the guest, "# lockdep: off" says that lockdep is off in the end.

# Nothing is ever written to this: a read with a time limit waits, and starts no program,
# which takes a tenth of a second on a kernel with every checker.
[ -p /run/quiet ] || mkfifo /run/quiet
exec 7<>/run/quiet

ANTS_N=0
ANTS_FAILED=0

plan()
{
	echo "1..$1"
}

ok()
{
	ANTS_N=$((ANTS_N + 1))
	echo "ok $ANTS_N - $*"
}

not_ok()
{
	ANTS_N=$((ANTS_N + 1))
	ANTS_FAILED=$((ANTS_FAILED + 1))
	echo "not ok $ANTS_N - $*"
}

# skip NAME REASON
skip()
{
	ANTS_N=$((ANTS_N + 1))
	echo "ok $ANTS_N - $1 # SKIP $2"
}

# check NAME COMMAND...: one test; the output of a command that fails is shown
check()
{
	_name=$1
	shift
	_status=0
	_out=$("$@" 2>&1) || _status=$?
	if [ "$_status" -eq 0 ]; then
		ok "$_name"
	else
		not_ok "$_name"
		echo "$_out" | head -n 10 | sed 's/^/# /'
		echo "# status $_status: $*"
	fi
	return "$_status"
}

# check_fails NAME COMMAND...: the command must fail
check_fails()
{
	_name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		not_ok "$_name"
		echo "# succeeded: $*"
		return 1
	fi
	ok "$_name"
}

# wait_for CONDITION SECONDS: a deadline, not a delay
wait_for()
{
	_left=$(($2 * 50))
	until eval "$1" >/dev/null 2>&1; do
		[ "$_left" -gt 0 ] || return 1
		_left=$((_left - 1))
		# shellcheck disable=SC3045 # busybox has it
		read -r -t 0.02 _ <&7 || :
	done
}

# recipe NAME: the literal block of Documentation/recipes.rst behind ".. recipe: NAME"
recipe()
{
	awk -v mark=".. recipe: $1" '
	$0 == mark { found = 1 }
	block && /^[^\t]/ { exit }
	block { print substr($0, 2) }
	found && /::$/ { block = 1 }' /ants/recipes.rst
}

# expect_trouble REGEX: excuse one later report of the kernel (test/verdict)
expect_trouble()
{
	echo "ants-expect: $1" >/dev/kmsg
}

# allow_trouble REGEX: excuse any number of later reports of ants, of one line each
allow_trouble()
{
	echo "ants-allow: $1" >/dev/kmsg
}

# log_has REGEX: logged by the kernel since the last log_mark, not by a script
log_mark()
{
	echo "# log_mark" >/dev/kmsg
}

# The log is bounded, so a number of lines would say nothing once it is full.
log_has()
{
	dmesg | awk '/# log_mark$/ { nr = 0; next } { line[nr++] = $0 }
		END { for (i = 0; i < nr; i++) print line[i] }' | grep -E -- "$1"
}

loaded()
{
	[ -d "/sys/module/$1" ]
}

# The names of all kthreads of ants, one on each line.
ants_threads()
{
	grep -hs '^ants' /proc/[0-9]*/comm
}

# --- pools, and the module ants_ctl -------------------------------------------

POOLS=/sys/kernel/ants
CTL=/sys/kernel/debug/ants_ctl

# first_line FILE: as $(cat FILE), without a program. Not for a list of CPUs of
# a node or of a cache, which sysfs does not read byte by byte.
first_line()
{
	_first=
	read -r _first <"$1" || [ "$_first" ] || return
	echo "$_first"
}

# stat_is POOL NAME NUMBER
stat_is()
{
	read -r _stat <"$POOLS/$1/stats/$2" && [ "$_stat" -eq "$3" ]
}

# ctl COMMAND...: see test/modules/ants_ctl.c
ctl()
{
	echo "$*" >$CTL/control
}

# done_is NUMBER: what tasks of ants_client have counted
done_is()
{
	read -r _done <$CTL/progress && [ "$_done" -eq "$1" ]
}

# cpu NUMBER 0|1: take a CPU offline or online
cpu()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# tasks_run_on POOL REGEX [COUNT]: the list of the CPUs that tasks of the pool have run
# on matches
tasks_run_on()
{
	ctl cpus "$1" "${3:-40}" || return
	cat $CTL/cpus
	grep -qE "^($2)\$" $CTL/cpus
}

# tasks_stay MULTI MASK REGEX: the same for tasks that a CPU of the mask submits; one
# shard has room for all of them
tasks_stay()
{
	# shellcheck disable=SC2016 # the other shell expands it
	taskset "$2" sh -c 'echo "cpus $1 20" >"$2"' sh "$1" $CTL/control || return
	cat $CTL/cpus
	grep -qE "^($3)\$" $CTL/cpus
}

# threads_have POOL LIST: all threads of the pool have these CPUs as their affinity
threads_have()
{
	_files=$(grep -l "^Name:	ants/$1\$" /proc/[0-9]*/status)
	[ "$_files" ] || return
	# shellcheck disable=SC2086 # one word a file
	! grep '^Cpus_allowed_list:' $_files | grep -v ":	$2\$"
}

# --- what test/run's own guest scripts use -----------------------------------

# mark TEXT: a line that is in the kernel's log when this returns. Other output goes
# there through another process (init), which may be late.
mark()
{
	_line="ants-guest: $1"
	echo "$_line"
	[ "${ANTS_ACK:-}" ] || return 0
	# shellcheck disable=SC2016 # wait_for evaluates it
	wait_for 'read -r _acked <"$ANTS_ACK" && [ "$_acked" = "$_line" ]' 60
}

# section KIND NAME COMMAND...: test/run finds the output between these two marks
section()
{
	_kind=$1 _sname=$2
	shift 2
	mark "begin $_kind $_sname"
	_sstatus=0
	"$@" || _sstatus=$?
	mark "end $_kind $_sname status=$_sstatus"
	return "$_sstatus"
}

# For a task that uses fail-nth, allocations that may sleep can fail as well, and no
# failure is reported. Nothing changes for other tasks.
failable()
{
	for _faults in failslab fail_page_alloc; do
		[ -d "/sys/kernel/debug/$_faults" ] || return 0
		echo N >"/sys/kernel/debug/$_faults/ignore-gfp-wait"
		echo 0 >"/sys/kernel/debug/$_faults/verbose"
	done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}

# KUnit of 6.1 runs a module's suites while insmod waits. busybox's insmod
# tries twice when a module's init fails, so the status is not a verdict.
kunit_module()
{
	failable
	insmod "$@" || return
	_module=${1##*/}
	rmmod "${_module%.ko}"
}

# Each of them comes and goes.
samples()
{
	for _sample in ants_hello ants_echo; do
		insmod /ants/$_sample.ko && rmmod $_sample || return
	done
}

# kmemleak reports memory that two scans have found lost and that is older than 5 s.
# Memory that waits for a grace period looks lost for a moment: the last scan counts,
# and what the kernel's log says of those before is nothing to test/verdict.
no_leaks()
{
	sleep 3
	for _pass in 1 2 3; do
		sleep 3
		echo scan >/sys/kernel/debug/kmemleak || return
		echo scan >/sys/kernel/debug/kmemleak || return
		_leaks=$(cat /sys/kernel/debug/kmemleak)
		[ -n "$_leaks" ] || return 0
	done
	echo "$_leaks" | head -n 60
	return 1
}

# Lockdep turns itself off after its first report.
lockdep_is_on()
{
	grep -q '^ debug_locks: *1$' /proc/lockdep_stats || { echo "# lockdep is off: it has reported something"; return 1; }
}

# KCSAN was on, and has set up many watchpoints; else finding no race means nothing.
kcsan_watched()
{
	cat /sys/kernel/debug/kcsan
	grep -q '^enabled: *1$' /sys/kernel/debug/kcsan &&
		grep -q '^setup_watchpoints: *[0-9]\{4,\}$' /sys/kernel/debug/kcsan
}

# The shell, and what it starts, is in a cgroup from now on.
in_cgroup()
{
	_groups=/sys/fs/cgroup
	[ -d $_groups ] && mount -t cgroup2 none $_groups || return
	echo "+memory +io" >$_groups/cgroup.subtree_control || return
	mkdir $_groups/ants && echo $$ >$_groups/ants/cgroup.procs
}

no_remains()
{
	_found=$(ants_threads)
	[ -z "$_found" ] || { echo "# threads left: $_found"; return 1; }
	[ ! -e /sys/kernel/ants ] || { echo "# /sys/kernel/ants left"; return 1; }
	[ ! -e /sys/kernel/debug/ants ] || { echo "# debugfs ants left"; return 1; }
	! grep '^ants' /proc/modules
}

# Send the counts of the modules through the console; the kernel keeps those of unloaded
# modules. Files of debugfs have no size before they are read.
send_coverage()
{
	(
		cd /sys/kernel/debug/gcov || exit
		find . -type d -exec mkdir -p "/tmp/gcov/{}" \; || exit
		find . -name '*.gcda' | while read -r _file; do
			cat "$_file" >"/tmp/gcov/$_file" || exit
		done
	) || return
	tar -C /tmp/gcov -cf /tmp/gcov.tar . && gzip /tmp/gcov.tar || return
	base64 -w 800 /tmp/gcov.tar.gz | sed 's/^/ants-gcov: /'
	rm -r /tmp/gcov /tmp/gcov.tar.gz
}
