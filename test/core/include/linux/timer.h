/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers run one by one in a thread that stands for the softirq. They are never
 * early.
 */
#ifndef _SHIM_TIMER_H
#define _SHIM_TIMER_H

#include <linux/list.h>
#include <linux/types.h>

#define HZ			1000
#define MAX_JIFFY_OFFSET	((LONG_MAX >> 1) - 1)

struct timer_list {
	struct list_head node;
	bool pending;
	unsigned long expires;
	void (*function)(struct timer_list *timer);
};

#define __TIMER_INITIALIZER(fn, flags)	{ .function = (fn) }
#define timer_container_of(var, timer, field) \
	container_of(timer, typeof(*(var)), field)

unsigned long shim_jiffies(void);
#define jiffies			shim_jiffies()

#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define time_in_range_open(a, b, c) \
	(time_after_eq(a, b) && time_before(a, c))

static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return DIV_ROUND_UP((unsigned long)ms * HZ, 1000);
}

static inline unsigned int jiffies_to_msecs(unsigned long j)
{
	return j * 1000 / HZ;
}

static inline bool timer_pending(const struct timer_list *timer)
{
	return READ_ONCE(timer->pending);
}

static inline void timer_setup(struct timer_list *timer,
			       void (*fn)(struct timer_list *timer),
			       unsigned int flags)
{
	memset(timer, 0, sizeof(*timer));
	timer->function = fn;
}

#define timer_setup_on_stack(timer, fn, flags)	timer_setup(timer, fn, flags)

static inline void timer_destroy_on_stack(struct timer_list *timer)
{
	WARN_ON(timer_pending(timer));
}

/* libc has this name, too. */
#define timer_delete		shim_timer_delete

int mod_timer(struct timer_list *timer, unsigned long when);
int timer_delete(struct timer_list *timer);
int timer_delete_sync(struct timer_list *timer);

#endif
