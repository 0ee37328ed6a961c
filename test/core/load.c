// SPDX-License-Identifier: GPL-2.0-only
/*
 * load N [SUBMITTERS [SEED]]: N tasks through pools of all kinds, while these
 * are tuned, flushed, closed and opened again. Each accepted task runs once,
 * and the invariants of debug.c hold at each unlock.
 */
#include "load.h"

struct ants_pool *load_pools[NR_POOLS];
struct ants_multi *load_multis[NR_MULTIS];
long load_runs;

static bool stopping;

unsigned int load_random(u64 *state, unsigned int below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 33) % below;
}

struct ants_pool *load_pool(struct submitter *s)
{
	return load_pools[load_random(&s->random, NR_POOLS)];
}

void load_expect(int err, const char *what)
{
	switch (err) {
	case 0:
	case -EAGAIN:
	case -ESHUTDOWN:
	case -ETIMEDOUT:
	case -EBUSY:
	case -ENOMEM:
		return;
	default:
		shim_fail("%s: error %d", what, err);
	}
}

void load_run(void)
{
	__atomic_fetch_add(&load_runs, 1, __ATOMIC_RELAXED);
}

/* --- plain tasks ------------------------------------------------------------------ */

static void token_fn(void *data)
{
	struct token *token = data;

	load_run();
	WARN(!__atomic_exchange_n(&token->armed, 0, __ATOMIC_ACQ_REL),
	     "a task ran twice, or was refused and ran");
}

/* A token that no task has; wait for the oldest one if there is none. */
static struct token *token_arm(struct submitter *s)
{
	struct token *token = &s->tokens[s->next++ % NR_TOKENS];

	while (__atomic_load_n(&token->armed, __ATOMIC_ACQUIRE))
		shim_yield();
	WRITE_ONCE(token->armed, 1);
	return token;
}

static unsigned int token_sent(struct token *token, int err)
{
	load_expect(err, "submit");
	if (err)
		WARN(!__atomic_exchange_n(&token->armed, 0, __ATOMIC_ACQ_REL),
		     "a task was refused and ran");
	return !err;
}

static unsigned int op_submit(struct submitter *s)
{
	struct token *token = token_arm(s);

	return token_sent(token, ants_submit(load_pool(s), token_fn, token));
}

static unsigned int op_timeout(struct submitter *s)
{
	unsigned long timeout = load_random(&s->random, 3);
	struct token *token = token_arm(s);

	return token_sent(token, ants_submit_timeout(load_pool(s), token_fn,
						     token, timeout));
}

static unsigned int op_try(struct submitter *s)
{
	struct token *token = token_arm(s);

	return token_sent(token, ants_try_submit(load_pool(s), token_fn, token));
}

static unsigned int op_prio(struct submitter *s)
{
	struct token *token = token_arm(s);

	return token_sent(token, ants_submit_prio(load_pool(s), token_fn, token,
						  ANTS_PRIO_HIGH,
						  MAX_SCHEDULE_TIMEOUT));
}

static unsigned int op_batch(struct submitter *s)
{
	unsigned int i, nr = 1 + load_random(&s->random, 40);
	struct ants_task tasks[40] = {};
	int ret;

	for (i = 0; i < nr; i++)
		tasks[i] = (struct ants_task) { token_fn, token_arm(s),
						load_random(&s->random, 2) };
	ret = ants_submit_batch(load_pool(s), tasks, nr);
	for (i = max(ret, 0); i < nr; i++)
		token_sent(tasks[i].data, ret < 0 ? ret : -EAGAIN);
	return max(ret, 0);
}

static unsigned int op_multi(struct submitter *s)
{
	struct ants_multi *multi = load_multis[load_random(&s->random,
							   NR_MULTIS)];
	struct token *token = token_arm(s);
	int err;

	if (load_random(&s->random, 2))
		err = ants_multi_submit(multi, token_fn, token);
	else
		err = ants_multi_try_submit(multi, token_fn, token);
	return token_sent(token, err);
}

static bool match_some(ants_fn_t fn, void *data, void *arg)
{
	struct submitter *s = arg;
	struct token *token = data;

	if (fn != token_fn || token < s->tokens ||
	    token >= s->tokens + NR_TOKENS || load_random(&s->random, 2))
		return false;
	/* The task will not run: treat it as if it had. */
	WARN(!__atomic_exchange_n(&token->armed, 0, __ATOMIC_ACQ_REL),
	     "a task that is pending ran");
	return true;
}

static unsigned int op_cancel_pending(struct submitter *s)
{
	ants_cancel_pending(load_pool(s), match_some, s);
	return 0;
}

static unsigned int op_flush(struct submitter *s)
{
	load_expect(ants_flush_timeout(load_pool(s), 5), "flush");
	return 0;
}

/* --- submitters ------------------------------------------------------------------- */

static const struct {
	unsigned int weight;
	load_op_t op;
} ops[] = {
	{ 300, op_submit }, { 40, op_timeout }, { 100, op_try },
	{ 60, op_prio }, { 40, op_batch }, { 60, op_multi },
	{ 2, op_cancel_pending }, { 1, op_flush },
	{ 20, load_item_wait }, { 20, load_item_cancel },
	{ 20, load_item_again }, { 20, load_item_detached },
	{ 4, load_item_delayed }, { 10, load_group }, { 10, load_group_next },
	{ 4, load_group_race }, { 10, load_call }, { 6, load_call_timeout },
	{ 6, load_each }, { 6, load_join },
};

static load_op_t pick_op(struct submitter *s)
{
	unsigned int i, sum = 0;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		sum += ops[i].weight;
	sum = load_random(&s->random, sum);
	for (i = 0; sum >= ops[i].weight; i++)
		sum -= ops[i].weight;
	return ops[i].op;
}

static int submitter_fn(void *data)
{
	struct submitter *s = data;
	unsigned int nr;

	while (s->left > 0) {
		nr = pick_op(s)(s);
		s->left -= max(nr, 1U);
		s->handed += nr;
	}
	return 0;
}

/* --- changes of the pool -------------------------------------------------- */

static void reopen(struct ants_pool *pool)
{
	int err;

	load_expect(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT),
		    "release");
	do {
		err = ants_reboot(pool);
		load_expect(err, "reboot");
	} while (err);
}

static void change_one(u64 *random)
{
	unsigned int nr = load_random(random, NR_POOLS);
	struct ants_pool *pool = load_pools[nr];

	switch (load_random(random, 12)) {
	case 0:
		reopen(pool);
		break;
	case 1:
		ants_set_nice(pool, load_random(random, 10));
		break;
	case 2:
		load_expect(ants_flush_timeout(pool, 20), "flush");
		break;
	case 3:
		load_expect(ants_drain_timeout(pool, 2), "drain");
		break;
	case 4:
		ants_multi_tune(load_multis[nr % NR_MULTIS],
				2 + load_random(random, 10));
		break;
	default:
		/* The last pool is ordered. */
		if (nr < NR_POOLS - 1)
			ants_tune(pool, 2 + load_random(random, 8));
	}
}

static int changer_fn(void *unused)
{
	u64 random = 88172645463325252ULL;

	while (!READ_ONCE(stopping)) {
		change_one(&random);
		schedule_timeout(load_random(&random, 5));
	}
	return 0;
}

/* --- pools ------------------------------------------------------------------------ */

static int contexts;

static void *context_make(struct ants_pool *pool)
{
	/* Now and then one fails. */
	if (__atomic_add_fetch(&contexts, 1, __ATOMIC_RELAXED) % 64)
		return shim_self;
	return ERR_PTR(-ENOMEM);
}

static void context_end(struct ants_pool *pool, void *data)
{
	WARN(data != shim_self, "not what worker_init returned");
}

static void room(struct ants_pool *pool)
{
}

static const struct ants_attrs kinds[NR_POOLS - 1] = {
	{ .capacity = 4 },
	{ .capacity = 2, .queue_depth = 64 },
	{ .capacity = 8, .flags = ANTS_PREALLOC },
	{ .capacity = 3, .queue_depth = 8, .flags = ANTS_NONBLOCKING,
	  .space_available = room },
	{ .capacity = 2, .flags = ANTS_CALLER_RUNS },
	{ .capacity = 4, .min_workers = 2, .queue_depth = 4, .expiry = 3,
	  .flags = ANTS_MEM_RECLAIM },
	{ .capacity = 16, .expiry = 1 },
	{ .capacity = 4, .queue_depth = 16, .worker_init = context_make,
	  .worker_exit = context_end, .expiry = 20, .max_blocking = 2 },
};

static void pools_make(void)
{
	const struct ants_attrs multi = { .capacity = 9, .queue_depth = 9 };
	unsigned int i;

	for (i = 0; i < NR_POOLS - 1; i++)
		load_pools[i] = ants_pool_create(&kinds[i], "pool%u", i);
	load_pools[i] = ants_pool_create_ordered(NULL, "ordered");
	for (i = 0; i < NR_POOLS; i++)
		WARN_ON(IS_ERR(load_pools[i]));
	for (i = 0; i < NR_MULTIS; i++) {
		load_multis[i] = ants_multi_create(&multi, 3, i, "multi%u", i);
		WARN_ON(IS_ERR(load_multis[i]));
	}
}

static void check_stats(struct ants_pool *pool, u64 *sum)
{
	struct ants_stats st;

	load_expect(ants_release_timeout(pool, MAX_SCHEDULE_TIMEOUT),
		    "release");
	ants_pool_stats(pool, &st);
	WARN(st.busy || st.pending || st.waiting || st.running,
	     "a pool that is drained is not empty");
	WARN(st.submitted != st.completed + st.cancelled,
	     "accepted %llu, ended %llu, cancelled %llu",
	     (long long)st.submitted, (long long)st.completed,
	     (long long)st.cancelled);
	*sum += st.submitted;
}

static void pools_end(u64 *sum)
{
	unsigned int i;

	for (i = 0; i < NR_POOLS; i++) {
		check_stats(load_pools[i], sum);
		WARN_ON(ants_pool_destroy(load_pools[i]));
	}
	for (i = 0; i < NR_MULTIS; i++)
		WARN_ON(ants_multi_destroy(load_multis[i]));
}

static struct submitter *submitters_start(unsigned int nr, long n, u64 seed)
{
	struct submitter *s = calloc(nr, sizeof(*s));
	unsigned int i;

	for (i = 0; i < nr; i++) {
		s[i].random = (seed + i + 1) * 0x9e3779b97f4a7c15ULL;
		s[i].left = n / nr;
		s[i].task = shim_run(submitter_fn, &s[i], "submitter");
	}
	return s;
}

/* To be called when all pools are gone. */
static void check_tokens(const struct submitter *s)
{
	unsigned int i;

	for (i = 0; i < NR_TOKENS; i++)
		WARN(s->tokens[i].armed, "a task that was accepted did not run");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000, handed = 0;
	unsigned int i, nr = argc > 2 ? atoi(argv[2]) : 8;
	u64 seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1, sum = 0;
	struct task_struct *changer;
	struct submitter *s;

	core_begin();
	pools_make();
	changer = shim_run(changer_fn, NULL, "changer");
	s = submitters_start(nr, n, seed);
	for (i = 0; i < nr; i++) {
		shim_join(s[i].task);
		handed += s[i].handed;
	}
	WRITE_ONCE(stopping, true);
	shim_join(changer);
	pools_end(&sum);
	for (i = 0; i < nr; i++)
		check_tokens(&s[i]);
	free(s);
	core_end();
	printf("ok: %ld handed over, %llu accepted, %ld runs\n", handed,
	       (unsigned long long)sum, load_runs);
	return 0;
}
