/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the load share: many submitters, which make random calls on
 * random pools.
 */
#ifndef _LOAD_H
#define _LOAD_H

#include <linux/ants.h>

#include "shim.h"

#define NR_POOLS	9
#define NR_MULTIS	3
#define NR_TOKENS	256

/**
 * struct token - used by one task at a time
 * @armed: the task was submitted, and has not run
 */
struct token {
	int armed;
};

/**
 * struct submitter - a thread that submits tasks
 * @task: its thread
 * @random: the state of its random numbers
 * @left: how many tasks it still has to submit
 * @handed: how many it has submitted
 * @next: the token to use next
 * @tokens: tokens for its plain tasks
 */
struct submitter {
	struct task_struct *task;
	u64 random;
	long left;
	long handed;
	unsigned int next;
	struct token tokens[NR_TOKENS];
};

extern struct ants_pool *load_pools[NR_POOLS];
extern struct ants_multi *load_multis[NR_MULTIS];
/* Runs of all tasks of all kinds. */
extern long load_runs;

/* load.c */
unsigned int load_random(u64 *state, unsigned int below);
struct ants_pool *load_pool(struct submitter *s);
void load_run(void);

/* Each returns how many tasks it has submitted. load_items.c, load_groups.c */
typedef unsigned int (*load_op_t)(struct submitter *s);

unsigned int load_item_wait(struct submitter *s);
unsigned int load_item_cancel(struct submitter *s);
unsigned int load_item_again(struct submitter *s);
unsigned int load_item_detached(struct submitter *s);
unsigned int load_item_delayed(struct submitter *s);
unsigned int load_group(struct submitter *s);
unsigned int load_group_next(struct submitter *s);
unsigned int load_group_race(struct submitter *s);
unsigned int load_call(struct submitter *s);
unsigned int load_call_timeout(struct submitter *s);
unsigned int load_each(struct submitter *s);
unsigned int load_join(struct submitter *s);

/* The error must be one that may occur while pools are closed and full. */
void load_expect(int err, const char *what);

#endif
