# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# shellcheck disable=SC3028 # busybox has RANDOM
#
# The guest of test/torture/run: loads ants_torture, and meanwhile takes CPUs offline,
# suspends, changes the pools through their files, and loads and unloads a client.
# TORTURE_KNOBS are the parameters of ants_torture, ANTS_KNOBS those of ants; tasks die
# unless TORTURE_FAULTS is 0;
# TORTURE_SEED is the seed of this script's random numbers, TORTURE_LIMIT the number of
# seconds after its boot by which the guest must have a verdict.

. /ants/lib.sh

POOLS=/sys/kernel/ants
DEBUG=/sys/kernel/debug/ants
SLAB=/sys/kernel/debug/failslab
MAX_THREADS=/sys/module/ants/parameters/max_threads
failed=0

verdict()
{
	cat /sys/module/ants_torture/parameters/verdict
}

over()
{
	[ "$(verdict)" != running ]
}

# The seconds since the boot, which pass on a busy machine, too.
uptime_s()
{
	read -r _uptime _ </proc/uptime
	echo "${_uptime%.*}"
}

# decide LOOP: the decisions of a loop follow from the seed.
decide()
{
	RANDOM=$(((TORTURE_SEED + $1) % 32768))
}

hotplug_loop()
{
	decide 1
	until over; do
		_cpu=/sys/devices/system/cpu/cpu$((1 + RANDOM % 3))
		[ -e "$_cpu/online" ] || return
		echo 0 >"$_cpu/online"
		usleep $((20000 + RANDOM % 300 * 1000))
		until echo 1 >"$_cpu/online"; do usleep 100000; done
		usleep $((100000 + RANDOM % 900 * 1000))
	done 2>/dev/null
}

# Suspend as far as the freezer, or the devices, and resume; never completely.
suspend_loop()
{
	decide 2
	[ -e /sys/power/pm_test ] || return
	echo 1 >/sys/module/suspend/parameters/pm_test_delay
	until over; do
		sleep $((5 + RANDOM % 8))
		if [ $((RANDOM % 2)) -eq 0 ]; then
			echo freezer >/sys/power/pm_test || return
		else
			echo devices >/sys/power/pm_test || return
		fi
		echo freeze >/sys/power/state
	done 2>/dev/null
}

client_loop()
{
	decide 3
	until over; do
		# there may be no memory
		if ! insmod /ants/ants_torture_client.ko act=$((RANDOM % 4)); then
			usleep 20000
			continue
		fi
		usleep $((RANDOM % 50 * 1000))
		rmmod ants_torture_client || return
		usleep $((RANDOM % 500 * 1000))
	done
}

# set_files POOL: all but the capacity, which ants_torture sets
set_files()
{
	echo $((RANDOM % 12)) >"$1/queue_depth"
	echo $((1 + RANDOM % 80)) >"$1/expiry_ms"
	echo $((RANDOM % 4)) >"$1/max_blocking"
	echo $((RANDOM % 2)) >"$1/stats/timing"
	# longer than any task runs
	echo $((RANDOM % 2 * 1000000)) >"$1/stall_ms"
	cat "$1"/stats/* "$1"/cpulist "$1"/state >/dev/null
}

file_loop()
{
	decide 4
	until over; do
		for _pool in "$POOLS"/torture-*; do
			set_files "$_pool"
		done
		cat "$DEBUG"/* >/dev/null
		# Tasks that wait for each other may wait for as long as there is a
		# limit, and on a busy machine the files above take minutes.
		echo $((RANDOM % 2 * (1 + RANDOM % 40))) >"$MAX_THREADS"
		usleep $((RANDOM % 1000 * 1000))
		echo 0 >"$MAX_THREADS"
		usleep $((RANDOM % 300 * 1000))
	done 2>/dev/null
}

# Now and then kthreadd gets no memory for a thread, and a thread gets none itself.
# Newer kernels warn if that happens before a thread has begun.
fail_threads()
{
	[ -d "$SLAB" ] && [ -e /proc/2/make-it-fail ] || return 0
	! grep -q ' kthread_affine_node$' /proc/kallsyms || return 0
	echo Y >"$SLAB"/task-filter
	echo 20 >"$SLAB"/interval
	echo -1 >"$SLAB"/times
	echo 5 >"$SLAB"/probability
	echo 1 >/proc/2/make-it-fail
}

calm_threads()
{
	[ ! -d "$SLAB" ] || echo 0 >"$SLAB/probability"
}

# What the pools are about, and where all threads are, when something is stuck.
show_state()
{
	echo "# max_threads $(cat "$MAX_THREADS")"
	for _file in "$DEBUG"/*; do
		echo "# ${_file##*/}:"
		awk '++rows[$1] <= 40 { print "#   " $0 }' "$_file"
	done
	for _dir in /proc/[0-9]*; do
		read -r _comm 2>/dev/null <"$_dir/comm" || continue
		case $_comm in
		ants*|torture*|rmmod|insmod)
			echo "# $_comm:"
			head -n 12 "$_dir/stack" 2>/dev/null | sed 's/^/#   /'
			;;
		esac
	done
}

torture()
{
	# shellcheck disable=SC2086 # one word each
	insmod /ants/ants_torture.ko $TORTURE_KNOBS || return
	! log_has "ants_torture: unknown parameter" || return
	# it has to get its own threads first
	fail_threads
	hotplug_loop &
	suspend_loop &
	client_loop &
	file_loop &
	until over || [ "$(uptime_s)" -ge "$TORTURE_LIMIT" ]; do usleep 200000; done
	calm_threads
	if [ "$(verdict)" != SUCCESS ]; then
		show_state
		return 1
	fi
	wait
	rmmod ants_torture
}

# shellcheck disable=SC2086 # one word each
section check load insmod /ants/ants.ko $ANTS_KNOBS || exit 1
failable
if [ "$TORTURE_FAULTS" -gt 0 ]; then
	# the first of each function, and whoever comes first
	allow_trouble '^ants: pool torture-.* has returned with '
	allow_trouble '^ants: pool torture-.*: too many faults in a row'
fi
section torture all torture || exit 1
section check unload rmmod ants || failed=1
if [ -e /sys/kernel/debug/kmemleak ]; then
	section check leaks no_leaks || failed=1
fi
# the first oops turns it off
if [ -e /proc/lockdep_stats ] && [ "$TORTURE_FAULTS" -eq 0 ]; then
	section check lockdep lockdep_is_on || failed=1
fi
section check remains no_remains || failed=1
exit $failed
