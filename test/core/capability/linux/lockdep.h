/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CAPABILITY_LOCKDEP_H
#define _CAPABILITY_LOCKDEP_H

#include <linux/mutex.h>

struct lock_class_key {
};

struct lockdep_map {
};

#define lockdep_assert_held(l)	_Generic((l),				\
	raw_spinlock_t *: shim_assert_spinlock,				\
	const raw_spinlock_t *: shim_assert_spinlock,			\
	struct mutex *: shim_assert_mutex,				\
	const struct mutex *: shim_assert_mutex)(l)
#define lockdep_depth(task)	0

#endif
