// SPDX-License-Identifier: GPL-2.0-only
/*
 * In debug builds, a thread that comes to a pause point may lose some time there:
 * so races are met that are otherwise too narrow. Off unless asked for.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/timex.h>

#include "internal.h"

/* A thread that keeps its CPU must not keep it for long. */
#define MOST_ATOMIC_US	20

static unsigned int pause_jitter_us;
module_param(pause_jitter_us, uint, 0644);
MODULE_PARM_DESC(pause_jitter_us,
		 "most microseconds that one thread of four loses at a pause point (default 0)");

/* Returns for how long, mostly 0. */
static unsigned int choose_us(void)
{
	unsigned int most = READ_ONCE(pause_jitter_us);
	u32 random;

	if (!most)
		return 0;
	/* get_random_u32() takes a lock that a hard interrupt may not take. */
	random = hash_64(random_get_entropy(), 32);
	return random % 4 ? 0 : 1 + random / 4 % most;
}

/* Delay the caller for a random time; sleep only if it @may_sleep. */
void ants_jitter(bool may_sleep)
{
	unsigned int us = choose_us();

	if (!us)
		return;
	if (may_sleep)
		usleep_range(us, 2UL * us);
	else
		udelay(min_t(unsigned int, us, MOST_ATOMIC_US));
}
