/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_COMPLETION_H
#define _SHIM_COMPLETION_H

#include <linux/list.h>
#include <linux/spinlock.h>

struct completion {
	raw_spinlock_t lock;
	struct list_head waiters;
	unsigned int done;
};

#define DECLARE_COMPLETION(name)					\
	struct completion name = {					\
		.lock = __RAW_SPIN_LOCK_UNLOCKED(name.lock),		\
		.waiters = LIST_HEAD_INIT(name.waiters),		\
	}

void init_completion(struct completion *x);
void complete(struct completion *x);
void complete_all(struct completion *x);
void wait_for_completion(struct completion *x);
unsigned long wait_for_completion_timeout(struct completion *x,
					  unsigned long timeout);
bool try_wait_for_completion(struct completion *x);

#endif
