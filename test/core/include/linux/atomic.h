/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations that return a value are fully ordered, the others are not ordered.
 */
#ifndef _SHIM_ATOMIC_H
#define _SHIM_ATOMIC_H

#include <linux/types.h>

#define ATOMIC_INIT(i)		{ (i) }

static inline int atomic_read(const atomic_t *v)
{
	return READ_ONCE(v->counter);
}

static inline void atomic_set(atomic_t *v, int i)
{
	WRITE_ONCE(v->counter, i);
}

static inline void atomic_inc(atomic_t *v)
{
	shim_point();
	shim_wrote(v);
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic_dec(atomic_t *v)
{
	shim_point();
	shim_wrote(v);
	__atomic_fetch_sub(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	shim_point();
	shim_wrote(v);
	return __atomic_compare_exchange_n(&v->counter, old, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static inline int atomic_inc_return(atomic_t *v)
{
	shim_point();
	shim_wrote(v);
	return __atomic_add_fetch(&v->counter, 1, __ATOMIC_SEQ_CST);
}

static inline bool atomic_dec_and_test(atomic_t *v)
{
	shim_point();
	shim_wrote(v);
	return __atomic_sub_fetch(&v->counter, 1, __ATOMIC_SEQ_CST) == 0;
}

static inline int atomic_xchg(atomic_t *v, int i)
{
	return xchg(&v->counter, i);
}

static inline int atomic_cmpxchg(atomic_t *v, int from, int to)
{
	return cmpxchg(&v->counter, from, to);
}

/* Returns the decremented value, whether or not it was stored. */
static inline int atomic_dec_if_positive(atomic_t *v)
{
	int old = atomic_read(v);

	shim_wrote(v);
	while (old > 0 &&
	       !__atomic_compare_exchange_n(&v->counter, &old, old - 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old - 1;
}

static inline s64 atomic64_inc_return(atomic64_t *v)
{
	shim_wrote(v);
	return __atomic_add_fetch(&v->counter, 1, __ATOMIC_SEQ_CST);
}

static inline long atomic_long_read(const atomic_long_t *v)
{
	return READ_ONCE(v->counter);
}

static inline void atomic_long_set(atomic_long_t *v, long i)
{
	WRITE_ONCE(v->counter, i);
}

static inline long atomic_long_fetch_add(long i, atomic_long_t *v)
{
	shim_point();
	shim_wrote(v);
	return __atomic_fetch_add(&v->counter, i, __ATOMIC_SEQ_CST);
}

#endif
