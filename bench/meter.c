// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a stretch of time cost: how long it was, how much of it the CPU was
 * busy, and the most memory that was in use. For guests with one CPU.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/tick.h>
#include <linux/timer.h>
#include <linux/vmstat.h>

#include "meter.h"

static u64 idle_ns(void)
{
	return get_cpu_idle_time_us(0, NULL) * NSEC_PER_USEC;
}

void meter_start(struct meter *meter)
{
	meter->elapsed = ktime_get_ns();
	meter->busy = meter->elapsed - idle_ns();
}

void meter_stop(struct meter *meter)
{
	u64 now = ktime_get_ns();

	meter->elapsed = now - meter->elapsed;
	meter->busy = now - idle_ns() - meter->busy;
}

/* Busy time while the caller sleeps; -EINTR is for a caller that is killed. */
u64 meter_sleep(unsigned int ms)
{
	struct meter meter;

	meter_start(&meter);
	schedule_timeout_idle(msecs_to_jiffies(ms));
	meter_stop(&meter);
	return meter.busy;
}

unsigned long meter_free_pages(void)
{
	return global_zone_page_state(NR_FREE_PAGES);
}

/* Lets threads that ended give their memory back. */
void meter_settle(void)
{
	msleep(100);
	rcu_barrier();
	msleep(100);
}

/* Least free pages, looked at with each tick: that costs next to nothing. */

static unsigned long least_free;
static struct timer_list sampler;

static void sample(struct timer_list *unused)
{
	least_free = min(least_free, meter_free_pages());
	mod_timer(&sampler, jiffies + 1);
}

void sampler_start(void)
{
	least_free = meter_free_pages();
	timer_setup(&sampler, sample, 0);
	mod_timer(&sampler, jiffies + 1);
}

/* Returns the least number of free pages since the start. */
unsigned long sampler_stop(void)
{
	timer_delete_sync(&sampler);
	return min(least_free, meter_free_pages());
}
