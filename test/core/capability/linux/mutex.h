/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CAPABILITY_MUTEX_H
#define _CAPABILITY_MUTEX_H

#include <linux/spinlock.h>

struct __attribute__((__capability__("mutex"))) mutex {
	struct shim_lock lock;
};

#define DEFINE_MUTEX(name)	struct mutex name = { .lock = SHIM_LOCK_INIT }

extern struct mutex ants_registry_lock;

void mutex_init(struct mutex *mutex);
void mutex_lock(struct mutex *mutex)
	__attribute__((__acquire_capability__(mutex)));
void mutex_lock_nest_lock(struct mutex *mutex, struct mutex *outer)
	__attribute__((__acquire_capability__(mutex)));
int mutex_lock_killable(struct mutex *mutex)
	__attribute__((__try_acquire_capability__(0, mutex)));
void mutex_unlock(struct mutex *mutex)
	__attribute__((__release_capability__(mutex)));
void shim_assert_mutex(const struct mutex *mutex)
	__attribute__((__assert_capability__(mutex)));

#endif
