/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations for clang's thread safety analysis, which recognizes a lock by
 * the attributes of the functions that take and drop it. None of this is run.
 * All raw spinlocks are one lock here: clang cannot tell that w->pool is the
 * pool that was locked.
 */
#ifndef _CAPABILITY_SPINLOCK_H
#define _CAPABILITY_SPINLOCK_H

#include <linux/types.h>

#undef __acquires
#undef __releases
#undef __must_hold
#define __acquires(x)	__attribute__((__acquire_capability__(ants_pool_lock)))
#define __releases(x)	__attribute__((__release_capability__(ants_pool_lock)))
#define __must_hold(x)	__attribute__((__requires_capability__(ants_pool_lock)))
#define __takes_if(result, x)	\
	__attribute__((__try_acquire_capability__(result, ants_pool_lock)))
#define __not_analysed	__attribute__((__no_thread_safety_analysis__))
#define __guarded_by(x)	__attribute__((__guarded_by__(x)))

/* A marked read needs no lock; a marked write is for such readers. */
#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)	(*({ const volatile typeof(x) *_x = &(x); _x; }))
#define WRITE_ONCE(x, val) ((x) = (val))

struct task_struct;

struct shim_lock {
	struct task_struct *owner;
};

#define SHIM_LOCK_INIT	{ .owner = NULL }

typedef struct __attribute__((__capability__("raw_spinlock"))) {
	struct shim_lock lock;
} raw_spinlock_t;

#define __RAW_SPIN_LOCK_UNLOCKED(name)	{ .lock = SHIM_LOCK_INIT }
#define DEFINE_RAW_SPINLOCK(name) \
	raw_spinlock_t name = __RAW_SPIN_LOCK_UNLOCKED(name)

extern raw_spinlock_t ants_pool_lock;

void raw_spin_lock_init(raw_spinlock_t *lock);
void raw_spin_lock(raw_spinlock_t *lock) __acquires(lock);
void raw_spin_lock_irq(raw_spinlock_t *lock) __acquires(lock);
void raw_spin_unlock_irq(raw_spinlock_t *lock) __releases(lock);
void raw_spin_unlock(raw_spinlock_t *lock) __releases(lock);
void raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags)
	__releases(lock);
unsigned long shim_lock_irqsave(raw_spinlock_t *lock) __acquires(lock);
void shim_assert_spinlock(const raw_spinlock_t *lock)
	__attribute__((__assert_capability__(ants_pool_lock)));

#define raw_spin_lock_irqsave(lock, flags) \
	((flags) = shim_lock_irqsave(lock))

void local_irq_enable(void);
void local_irq_restore(unsigned long flags);
void preempt_disable(void);
void preempt_enable(void);

#endif
