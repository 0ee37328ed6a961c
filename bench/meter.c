// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a stretch of time cost: how long it was, how much of it the CPU was
 * busy, and the most memory that was in use. For guests with one CPU.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/tick.h>
#include <linux/timer.h>

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

/* Busy time while the caller sleeps. */
s64 meter_sleep(unsigned int ms)
{
	struct meter meter;

	meter_start(&meter);
	schedule_timeout_idle(msecs_to_jiffies(ms));
	meter_stop(&meter);
	return meter.busy;
}

/* Pages that the allocator keeps for single CPUs count as used otherwise. */
static unsigned long cached_pages(struct zone *zone)
{
	unsigned long pages = 0;
	int cpu;

	for_each_online_cpu(cpu)
		pages += per_cpu_ptr(zone->per_cpu_pageset, cpu)->count;
	return pages;
}

unsigned long meter_free_pages(void)
{
	unsigned long pages = global_zone_page_state(NR_FREE_PAGES);
	struct zone *zone;
	int nid, i;

	for_each_online_node(nid) {
		for (i = 0; i < MAX_NR_ZONES; i++) {
			zone = &NODE_DATA(nid)->node_zones[i];
			if (populated_zone(zone))
				pages += cached_pages(zone);
		}
	}
	return pages;
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
