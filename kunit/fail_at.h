/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of the kernel that fail on purpose, though they need no memory or
 * fail without it in ways that are not ours to test: by a kprobe that returns to
 * the caller at once. The kernel's own fail_function takes only functions from a
 * list, which has none of these.
 */
#ifndef _ANTS_KUNIT_FAIL_AT_H
#define _ANTS_KUNIT_FAIL_AT_H

#include <linux/kprobes.h>
#include <linux/ptrace.h>

/**
 * struct fail_at - a function that fails
 * @probe: at its first instruction; @probe.symbol_name is its name
 * @wanted: shall this call fail? In the context of an NMI
 * @ret: what it returns then
 */
struct fail_at {
	struct kprobe probe;
	bool (*wanted)(void);
	unsigned long ret;
};

/* Stands for the function: returns to its caller what is in the register. */
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

/* A probe that has one is not optimized, and only then it may change the way. */
static void fail_at_done(struct kprobe *probe, struct pt_regs *regs,
			 unsigned long flags)
{
}

/* From here on, until unregister_kprobe(). Returns 0 or -errno. */
static int fail_at_begin(struct fail_at *at)
{
	at->probe.pre_handler = fail_at_enter;
	at->probe.post_handler = fail_at_done;
	return register_kprobe(&at->probe);
}

#endif /* _ANTS_KUNIT_FAIL_AT_H */
