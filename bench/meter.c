// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an interval cost: how long it was, how long the CPU was busy, and the
 * most memory in use. For guests with one CPU.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>
#include <trace/events/power.h>

#include "meter.h"
#include "probe.h"

/*
 * The kernel's own account of idle time is not exact: some versions include
 * interrupts, some count by ticks. So the meter takes the time from just before
 * the CPU halts until an interrupt wakes it.
 */
static u64 idle, idle_since;

static void idle_end(void)
{
	if (!idle_since)
		return;
	idle += ktime_get_ns() - idle_since;
	idle_since = 0;
}

static void on_cpu_idle(void *data, unsigned int state, unsigned int cpu)
{
	if (state == PWR_EVENT_EXIT)
		idle_end();
	else
		idle_since = ktime_get_ns();
}

static void on_local_timer(void *data, int vector)
{
	idle_end();
}

static struct probe probes[] = {
	{ "cpu_idle", on_cpu_idle },
	{ "local_timer_entry", on_local_timer },
};

int meter_open(void)
{
	idle_since = 0;
	return probes_attach(probes, ARRAY_SIZE(probes));
}

void meter_close(void)
{
	probes_detach(probes, ARRAY_SIZE(probes));
}

void meter_start(struct meter *meter)
{
	meter->elapsed = ktime_get_ns();
	meter->busy = idle - meter->elapsed;
}

void meter_stop(struct meter *meter)
{
	u64 now = ktime_get_ns();

	meter->elapsed = now - meter->elapsed;
	meter->busy += now - idle;
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

/* Pages in the allocator's per-CPU lists would count as used otherwise. */
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

/* Let threads that have ended give their memory back. */
void meter_settle(void)
{
	msleep(100);
	rcu_barrier();
	msleep(100);
}

/* The least free pages, sampled with each tick, which costs next to nothing. */

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
