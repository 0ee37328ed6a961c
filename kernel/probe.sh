#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel/probe.sh COMPILER FLAG...: print a header that says what the kernel has of
# what compat.h and the tests would else do without. Kbuild runs this, with the
# compiler and the flags of the module. The version of a kernel does not tell:
# distributions take over features of newer ones.
#
# One file with a function for each feature is compiled. A feature whose function has an
# error is not there.

set -eu
# of Kbuild
: "${objtree:?}" "${srctree:?}"

# ANTS_HAVE_, what compiles where the kernel has it, the symbol that modules need for it
features()
{
	cat <<-'END'
	TIMER_DELETE	timer_delete((struct timer_list *)0)
	TIMER_DELETE_SYNC	timer_delete_sync((struct timer_list *)0)
	TIMER_DESTROY_ON_STACK	timer_destroy_on_stack((struct timer_list *)0)
	TASK___STATE	current->__state
	TASK_MIGRATION_DISABLED	current->migration_disabled
	TASK_PLUG	current->plug
	MIGHT_SLEEP_OF_TWO	__might_sleep("", 0)
	HK_TYPE	housekeeping_cpumask(HK_TYPE_KTHREAD) == housekeeping_cpumask(HK_TYPE_DOMAIN)
	SCHED_SETATTR	sched_setattr_nocheck(current, 0)	sched_setattr_nocheck
	AFFINE_PREFERRED	kthread_affine_preferred(current, 0)	kthread_affine_preferred
	ACTIVE_MEMCG	set_active_memcg(0)	int_active_memcg
	PER_CPU_LLC_ID	per_cpu_llc_id(0)	cpu_info
	GET_LLC_ID	get_llc_id(0)	get_llc_id
	HRTIMER_SETUP	hrtimer_setup((struct hrtimer *)0, 0, CLOCK_MONOTONIC, HRTIMER_MODE_REL)
	MODULE_ARGS	THIS_MODULE->args
	KTHREAD_COMPLETE_AND_EXIT	kthread_complete_and_exit(0, 0)
	NOTHING	ants_does_not_exist()
	END
}

# The compiler takes the name of the feature for that of a file, and names it with an
# error.
program()
{
	cat <<-'END'
	#include <linux/cpumask.h>
	#include <linux/hrtimer.h>
	#include <linux/kernel.h>
	#include <linux/kthread.h>
	#include <linux/module.h>
	#include <linux/sched.h>
	#include <linux/sched/isolation.h>
	#include <linux/sched/mm.h>
	#include <linux/timer.h>
	#ifdef CONFIG_X86
	#include <asm/processor.h>
	#endif
	END
	features | while IFS='	' read -r name use symbol; do
		printf '# 1 "%s"\nvoid ants_probe_%s(void);\nvoid ants_probe_%s(void) { (void)(%s); }\n' \
			"$name" "$name" "$name" "$use"
	done
}

# In a kernel tree the list of symbols is made after the modules, and the sources tell.
exported()
{
	if [ "${KBUILD_EXTMOD:-}" ] && [ -s "$objtree/Module.symvers" ]; then
		awk -v name="$1" '$2 == name { found = 1 } END { exit !found }' \
			"$objtree/Module.symvers"
	else
		grep -rqs --include='*.c' "EXPORT_[A-Z_]*SYMBOL[A-Z_]*($1)" \
			"$srctree/kernel" "$srctree/mm" "$srctree/arch/x86/kernel/cpu"
	fi
}

give_up()
{
	printf '%s\n' "$said" | grep -v '^[A-Z_]*:' | head -n 20 >&2
	printf 'ants: error: %s\n' "$*" >&2
	exit 1
}

# Messages are read, hence no other language, no colours, and all of them.
said=$(program | LC_ALL=C "$@" -fsyntax-only -fno-diagnostics-color -Wno-error \
	-Werror=implicit-function-declaration ${CLANG:+-ferror-limit=0} -x c - 2>&1) || true
absent=$(printf '%s\n' "$said" | sed -n 's/^\([A-Z_]*\):.* error: .*/\1/p' | sort -u)

if printf '%s\n' "$said" | grep -v '^[A-Z_]*:' | grep -q 'error: '; then
	give_up "the kernel's headers do not compile with $1${CLANG:+; clang built this kernel: say LLVM=1}"
fi
case $absent in
*NOTHING*) ;;
*) give_up "$1 does not tell what a kernel has" ;;
esac

echo '/* SPDX-License-Identifier: GPL-2.0-only */'
echo '/* Made by kernel/probe.sh: what the kernel has. */'
features | while IFS='	' read -r name use symbol; do
	[ "$name" != NOTHING ] || continue
	if printf '%s\n' "$absent" | grep -qx "$name" ||
			{ [ "$symbol" ] && ! exported "$symbol"; }; then
		echo "/* no ANTS_HAVE_$name */"
	else
		echo "#define ANTS_HAVE_$name"
	fi
done
