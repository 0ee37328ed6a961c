/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ANTS_BENCH_LOAD_H
#define _ANTS_BENCH_LOAD_H

/**
 * enum load - what keeps CPUs busy while something is measured
 * @LOAD_NONE: nothing
 * @LOAD_NORMAL: two SCHED_NORMAL threads, on any CPUs
 * @LOAD_FIFO: a SCHED_FIFO thread on the last CPU
 */
enum load {
	LOAD_NONE,
	LOAD_NORMAL,
	LOAD_FIFO,
};

int load_start(enum load load);
void load_stop(void);

#endif /* _ANTS_BENCH_LOAD_H */
