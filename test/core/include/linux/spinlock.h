/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A spinlock is a mutex, and interrupts are a flag of the thread: while they
 * are off the thread is in an RCU read section.
 */
#ifndef _SHIM_SPINLOCK_H
#define _SHIM_SPINLOCK_H

#include <pthread.h>

#include <linux/lockdep.h>
#include <linux/types.h>

struct task_struct;

/**
 * struct shim_lock - what spinlocks and mutexes are made of
 * @mutex: not used by explore.c, which runs one thread at a time
 * @owner: the task that holds it
 * @quiet: not a point of explore.c, because it guards nothing that matters
 */
struct shim_lock {
	pthread_mutex_t mutex;
	struct task_struct *owner;
	bool quiet;
};

#define SHIM_LOCK_INIT	{ .mutex = PTHREAD_MUTEX_INITIALIZER, .quiet = true }

void shim_lock_init(struct shim_lock *lock);
void shim_lock(struct shim_lock *lock);
void shim_unlock(struct shim_lock *lock);
void shim_irq_disable(void);
void shim_irq_enable(void);
unsigned long shim_irq_save(void);
void shim_irq_restore(unsigned long flags);
void preempt_disable(void);
void preempt_enable(void);

typedef struct {
	struct shim_lock lock;
} raw_spinlock_t;

#define __RAW_SPIN_LOCK_UNLOCKED(name)	{ .lock = SHIM_LOCK_INIT }
#define DEFINE_RAW_SPINLOCK(name) \
	raw_spinlock_t name = __RAW_SPIN_LOCK_UNLOCKED(name)

#define local_irq_enable()		(shim_irq_enable(), shim_point())
#define local_irq_restore(flags)	(shim_irq_restore(flags), shim_point())

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	shim_lock_init(&lock->lock);
}

/* From here on the memory of the lock may be freed. */
static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	bool quiet = lock->lock.quiet;

	shim_unlock(&lock->lock);
	if (!quiet)
		shim_point();
}

/*
 * Other threads may run before interrupts are off, and so before the RCU
 * section.
 */
static inline void shim_lock_point(const raw_spinlock_t *lock)
{
	if (!lock->lock.quiet)
		shim_soft_point();
}

/* For a caller that has interrupts off. */
static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	shim_lock_point(lock);
	shim_lock(&lock->lock);
}

static inline void raw_spin_lock_irq(raw_spinlock_t *lock)
{
	shim_lock_point(lock);
	shim_irq_disable();
	shim_lock(&lock->lock);
}

static inline void raw_spin_unlock_irq(raw_spinlock_t *lock)
{
	bool quiet = lock->lock.quiet;

	shim_unlock(&lock->lock);
	shim_irq_enable();
	if (!quiet)
		shim_point();
}

#define raw_spin_lock_irqsave(l, flags) do {	\
	shim_lock_point(l);			\
	(flags) = shim_irq_save();		\
	shim_lock(&(l)->lock);			\
} while (0)

static inline void raw_spin_unlock_irqrestore(raw_spinlock_t *lock,
					      unsigned long flags)
{
	bool quiet = lock->lock.quiet;

	shim_unlock(&lock->lock);
	shim_irq_restore(flags);
	if (!quiet)
		shim_point();
}

#endif
