# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What is changed in the source of a kernel before it is built for our tests. Point
# releases differ: a fault may be mended there, or never have been there.

# mend DIR NAME FILE DONE NEVER SCRIPT: change FILE with the sed SCRIPT, which leaves what
# matches DONE. If FILE matches that already, it has the mend; if SCRIPT does not apply and
# FILE matches NEVER, it has no such fault. Otherwise nothing is certain.
mend()
{
	local name=$2 file=$1/$3 done=$4 never=$5 script=$6 what

	! grep -qxsF -- "$name" "$1/.mends" || return 0
	[[ -f $file ]] || die "mend $name: the source has no $file"
	sed "$script" "$file" >"$file.mended"
	if grep -qE -- "$done" "$file"; then
		what="has it already"
	elif grep -qE -- "$done" "$file.mended"; then
		what=mended
		cat "$file.mended" >"$file"
	elif [[ $never ]] && grep -qE -- "$never" "$file"; then
		what="has no such fault"
	else
		rm "$file.mended"
		die "mend $name: $file has neither the fault nor its mend; adapt it in tools/mends.sh"
	fi
	rm "$file.mended"
	log "mend $name: ${1##*/}/$3: $what"
	echo "$name" >>"$1/.mends"
}

# Two checkers of 6.1 break the rule that PROVE_RAW_LOCK_NESTING checks, and
# lockdep is off after its first report: they do as on PREEMPT_RT instead. On a busy
# machine hrtimers print from a hard interrupt.
mend_checkers()
{
	local rt='s/CONFIG_PREEMPT_RT/CONFIG_PROVE_RAW_LOCK_NESTING/'

	mend "$1" debugobjects lib/debugobjects.c CONFIG_PROVE_RAW_LOCK_NESTING '' "$rt"
	mend "$1" quarantine mm/kasan/quarantine.c CONFIG_PROVE_RAW_LOCK_NESTING \
		'raw_spin_lock_irqsave\(&sq->lock' "$rt"
	mend "$1" hrtimer kernel/time/hrtimer.c \
		'printk_deferred_once\(KERN_WARNING "hrtimer: interrupt' '' \
		's/pr_warn_once("hrtimer: interrupt/printk_deferred_once(KERN_WARNING "hrtimer: interrupt/'
}

# The same rule: kmemleak takes a stack's trace, for which it allocates, before
# it takes a raw lock, as it does elsewhere. An idr comes there if it gets no memory.
# Before traces were kept in the depot it allocated nothing.
mend_kmemleak()
{
	mend "$1" kmemleak mm/kmemleak.c 'trace_handle = trace;' \
		'trace_len = __save_stack_trace\(object->trace\)' \
		'/^void __ref kmemleak_update_trace(/,/^}/ {
		s/^\tunsigned long flags;/&\n\tdepot_stack_handle_t trace;/
		s/^\traw_spin_lock_irqsave/\ttrace = set_track_prepare();\n&/
		s/trace_handle = set_track_prepare()/trace_handle = trace/
	}'
}

# A kset that cannot be registered loses its name in 6.1.
mend_kset()
{
	mend "$1" kset lib/kobject.c 'kfree_const\(k->kobj\.name\)' '' \
		'/^int kset_register(/,/^}/ {
		s/^\tif (err)$/\tif (err) {\n\t\tkfree_const(k->kobj.name);\n\t\tk->kobj.name = NULL;/
		s/^\t\treturn err;$/&\n\t}/
	}'
}

# A mask of CPUs that gets no memory is what a test asks for: no stack is wanted.
quieten_cpumask()
{
	mend "$1" cpumask lib/cpumask.c $'^\t\t;' '' 's/^\t\tdump_stack();$/\t\t;/'
}

# DEBUG_KOBJECT_RELEASE puts each release off by 1 to 4 s, which is most of the
# time that a module takes to unload: a tenth of that is as asynchronous.
shorten_release_delay()
{
	mend "$1" release lib/kobject.c 'delay = HZ / 10' '' \
		's|unsigned long delay = HZ + HZ \*|unsigned long delay = HZ / 10 + HZ / 10 *|'
}

# mend_source DIR FUNCTION...: each does its work once.
mend_source()
{
	local dir=$1 mend

	shift
	for mend; do
		"$mend" "$dir"
	done
}

# The mends of each source; "make test-sources" tries them on all that Debian serves.
# shellcheck disable=SC2034 # for tools/kernel
MENDS_6_1=(mend_checkers mend_kmemleak mend_kset shorten_release_delay quieten_cpumask)
# shellcheck disable=SC2034
MENDS_7_3=(shorten_release_delay quieten_cpumask)
