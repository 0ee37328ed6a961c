/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks: how the guest tells lines_plugin.c, which sees instructions and the
 * addresses of their operands and nothing else, what it is about to do. A mark is
 * a load of one byte whose displacement no other instruction has. Its last byte
 * says which mark it is, the address that is loaded from belongs to the message.
 */
#ifndef _ANTS_BENCH_LINES_H
#define _ANTS_BENCH_LINES_H

/* The displacement, but for its last byte. */
#define LINES_MAGIC	0x6c696e00

/**
 * enum lines_mark - what the guest says
 * @LINES_ROW: a new row begins, and nothing is known of any memory
 * @LINES_COUNT: from now on accesses are counted
 * @LINES_END: and no longer
 * @LINES_SUBMIT: a task is handed over now
 * @LINES_SUBMITTED: it has been handed over
 * @LINES_RUN: a task begins
 * @LINES_RAN: it has ended
 * @LINES_FIRST: the first byte of memory whose last byte comes with the next mark:
 * @LINES_POOL: it is a pool
 * @LINES_WORKER: a pool's worker
 * @LINES_TASK: a slot, or a work item
 * @LINES_STACK: a stack, which is not counted
 */
enum lines_mark {
	LINES_ROW,
	LINES_COUNT,
	LINES_END,
	LINES_SUBMIT,
	LINES_SUBMITTED,
	LINES_RUN,
	LINES_RAN,
	LINES_FIRST,
	LINES_POOL,
	LINES_WORKER,
	LINES_TASK,
	LINES_STACK,
};

#endif /* _ANTS_BENCH_LINES_H */
