// SPDX-License-Identifier: GPL-2.0-only
/*
 * In debug builds a thread may lose some time at a pause point, so that races
 * are hit whose windows are otherwise too narrow. This is off unless it is
 * asked for.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/timex.h>

#include "../internal.h"

/* The limit for a thread that must not sleep: it keeps its CPU meanwhile. */
#define MOST_ATOMIC_US	20

static unsigned int pause_jitter_us;
module_param(pause_jitter_us, uint, 0644);
MODULE_PARM_DESC(pause_jitter_us,
		 "most microseconds that one thread of four loses at a pause point (default 0)");

/* Choose for how long to delay; mostly 0. */
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
