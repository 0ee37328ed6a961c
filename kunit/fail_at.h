/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel that are made to fail, although they need no memory
 * or fail without it in ways that this project cannot test: a kprobe makes them
 * return at once. The kernel's fail_function accepts only the functions of a
 * list, and none of these is in it.
 */
#ifndef _ANTS_KUNIT_FAIL_AT_H
#define _ANTS_KUNIT_FAIL_AT_H

#include <linux/kprobes.h>
#include <linux/ptrace.h>

/**
 * struct fail_at - a function that is made to fail
 * @probe: the kprobe at its first instruction; @probe.symbol_name is its name
 * @wanted: returns true if this call is to fail; called as in an NMI
 * @ret: what the function returns then
 */
struct fail_at {
	struct kprobe probe;
	bool (*wanted)(void);
	unsigned long ret;
};

/*
 * Stands in for the function: returns the value in the register to the caller.
 */
static noinline void fail_at_return(void)
{
}

static int fail_at_enter(struct kprobe *probe, struct pt_regs *regs)
{
	struct fail_at *at = container_of(probe, struct fail_at, probe);

	if (!at->wanted())
		return 0;
	regs_set_return_value(regs, at->ret);
	instruction_pointer_set(regs, (unsigned long)fail_at_return);
	return 1;
}

/*
 * A probe with a post handler is not optimized, and only such a probe may
 * change the instruction pointer.
 */
static void fail_at_done(struct kprobe *probe, struct pt_regs *regs,
			 unsigned long flags)
{
}

/*
 * The function fails from here on, until unregister_kprobe(). Returns 0 or
 * -errno.
 */
static int fail_at_begin(struct fail_at *at)
{
	at->probe.pre_handler = fail_at_enter;
	at->probe.post_handler = fail_at_done;
	return register_kprobe(&at->probe);
}

#endif /* _ANTS_KUNIT_FAIL_AT_H */
