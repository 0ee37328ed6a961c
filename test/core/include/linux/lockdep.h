/* SPDX-License-Identifier: GPL-2.0-only */
/* As without CONFIG_LOCKDEP, but the holder of a lock is known. */
#ifndef _SHIM_LOCKDEP_H
#define _SHIM_LOCKDEP_H

#include <linux/types.h>

struct lock_class_key {
};

struct lockdep_map {
};

struct shim_lock;

bool shim_lock_held(const struct shim_lock *l);

#define lockdep_assert_held(l) \
	WARN(!shim_lock_held(&(l)->lock), "%s is not held", #l)
#define lockdep_depth(task)		0
#define lockdep_register_key(key)	((void)(key))
#define lockdep_unregister_key(key)	((void)(key))
#define lockdep_init_map(map, name, key, subclass) \
	((void)(name), (void)(key))
#define lock_map_acquire(map)
#define lock_map_release(map)

#endif
