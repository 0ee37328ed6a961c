/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * meter.c: time, busy time and memory of an interval. watch.c: what happened in
 * it. Both are for benches on one CPU.
 */
#ifndef _ANTS_BENCH_METER_H
#define _ANTS_BENCH_METER_H

#include <linux/types.h>

/**
 * struct meter - an interval between meter_open() and meter_close(),
 *	valid after meter_stop()
 * @elapsed: its length in nanoseconds
 * @busy: the same without the time that the CPU was idle
 */
struct meter {
	u64 elapsed;
	s64 busy;
};

int meter_open(void);
void meter_close(void);
void meter_start(struct meter *meter);
void meter_stop(struct meter *meter);
s64 meter_sleep(unsigned int ms);
unsigned long meter_free_pages(void);
void meter_settle(void);
void sampler_start(void);
unsigned long sampler_stop(void);

/**
 * struct watched - what the kernel's tracepoints have counted
 * @wakeups: wake-ups of threads of pools, and runs of the pools' kernel work items
 * @timers: timers of ants that fired
 */
struct watched {
	unsigned int wakeups;
	unsigned int timers;
};

int watch_start(void);
void watch_stop(struct watched *watched);

#endif /* _ANTS_BENCH_METER_H */
