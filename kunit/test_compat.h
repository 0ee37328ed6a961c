/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in tests only: see kernel/compat.h. */
#ifndef _ANTS_KUNIT_TEST_COMPAT_H
#define _ANTS_KUNIT_TEST_COMPAT_H

#include <linux/fs_struct.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/preempt.h>

#include "../kernel/compat.h"

/*
 * Where kthreads have their own root, a kthread that opens files borrows that
 * of init.
 */
#ifndef scoped_with_init_fs
#define scoped_with_init_fs()
#endif

/* 5.11. */
#ifndef in_hardirq
#define in_hardirq()		in_irq()
#endif

/* 5.11. */
#ifndef IRQ_WORK_INIT_HARD
#define IRQ_WORK_INIT_HARD(fn) \
	{ .flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ), .func = (fn) }
#endif

/* 6.13. */
#ifndef ANTS_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/*
 * What a module was loaded with, of which KUnit needs to know where it runs suites
 * before the parameters are parsed: the kernels that keep it do.
 */
#ifdef ANTS_HAVE_MODULE_ARGS
#define module_args(mod)	((mod)->args)
#else
#define module_args(mod)	NULL
#endif

#endif /* _ANTS_KUNIT_TEST_COMPAT_H */
