/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_REFCOUNT_H
#define _SHIM_REFCOUNT_H

#include <linux/atomic.h>

typedef struct {
	atomic_t refs;
} refcount_t;

static inline void refcount_set(refcount_t *r, int n)
{
	atomic_set(&r->refs, n);
}

static inline int refcount_read(const refcount_t *r)
{
	return atomic_read(&r->refs);
}

static inline void refcount_inc(refcount_t *r)
{
	shim_point();
	shim_wrote(r);
	WARN_ON(__atomic_fetch_add(&r->refs.counter, 1, __ATOMIC_RELAXED) <= 0);
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	int old;

	shim_point();
	shim_wrote(r);
	old = __atomic_fetch_sub(&r->refs.counter, 1, __ATOMIC_ACQ_REL);
	WARN_ON(old <= 0);
	return old == 1;
}

static inline void refcount_dec(refcount_t *r)
{
	WARN_ON(refcount_dec_and_test(r));
}

#endif
