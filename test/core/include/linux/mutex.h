/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_MUTEX_H
#define _SHIM_MUTEX_H

#include <linux/spinlock.h>

struct mutex {
	struct shim_lock lock;
};

#define DEFINE_MUTEX(name)	struct mutex name = { .lock = SHIM_LOCK_INIT }

void mutex_lock(struct mutex *mutex);
int mutex_lock_killable(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

static inline void mutex_init(struct mutex *mutex)
{
	shim_lock_init(&mutex->lock);
}

#define mutex_lock_nest_lock(mutex, outer)	mutex_lock(mutex)

#endif
