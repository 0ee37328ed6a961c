/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks: how the guest tells lines_plugin.c, which sees only instructions and
 * the addresses of their operands, what it is about to do. A mark is a load of
 * one byte with a displacement that no other instruction has. Its last byte is
 * the number of the mark; the address is part of the message.
 */
#ifndef _ANTS_BENCH_LINES_H
#define _ANTS_BENCH_LINES_H

/* The displacement without its last byte. */
#define LINES_MAGIC	0x6c696e00

/**
 * enum lines_mark - the messages of the guest
 * @LINES_ROW: a new row begins, and all memory is unknown
 * @LINES_COUNT: accesses are counted from now on
 * @LINES_END: accesses are no longer counted
 * @LINES_SUBMIT: a submit begins
 * @LINES_SUBMITTED: the submit has ended
 * @LINES_RUN: a task begins
 * @LINES_RAN: the task has ended
 * @LINES_FIRST: the first byte of memory whose last byte comes with the next mark,
 *	which is one of these:
 * @LINES_POOL: the memory is a pool
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
