// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fork and join: a task that waits for work items of its own pool runs the
 * items that have not started.
 */
#include <linux/module.h>

#include "repeats.h"
#include "work.h"

/* An item that may queue other items of its pool, and waits for them. */
struct parent {
	struct ants_work work;
	struct ants_pool *pool;
	struct item *children;
	int nr;
	int queued;
	int waited;
	int result;
	unsigned long timeout;
	struct gate *gate;
	struct task_struct *thread;
};

static int parent_fn(struct ants_work *work)
{
	struct parent *p = container_of(work, struct parent, work);
	int i, err = 0;

	p->thread = current;
	if (p->gate)
		gate_task(p->gate);
	for (i = 0; i < p->nr && !err && p->queued; i++)
		err = ants_queue_work(p->pool, work_of(&p->children[i]));
	for (i = 0; i < p->nr && !err; i++)
		err = ants_work_wait_timeout(work_of(&p->children[i]),
					     p->timeout, &p->result);
	p->waited = err;
	return err;
}

/* A parent of @nr children, which it queues itself. */
static struct parent *parent_make(struct kunit *test, int nr)
{
	struct parent *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	INIT_ANTS_WORK(&p->work, parent_fn);
	p->children = items_alloc(test, nr);
	p->nr = nr;
	p->queued = true;
	p->timeout = FOREVER;
	p->waited = 1;
	return p;
}

static struct rig *join_rig(struct kunit *test, unsigned int capacity,
			    unsigned int queue_depth)
{
	struct ants_attrs attrs = {
		.capacity = capacity, .queue_depth = queue_depth,
	};

	return rig_make(test, "join", attrs);
}

static void expect_parent(struct rig *rig, struct parent *p, int err)
{
	int result = 1;

	KUNIT_EXPECT_EQ(rig->test, ants_work_wait_timeout(&p->work,
							  PROMPT,
							  &result), 0);
	KUNIT_EXPECT_EQ(rig->test, result, err);
	KUNIT_EXPECT_EQ(rig->test, ants_peek(rig->pool->nr_joined), 0);
}

/* There is no other thread. */
static void parent_runs_its_children(struct kunit *test)
{
	struct parent *p = parent_make(test, 3);
	struct rig *rig = join_rig(test, 1, 3);
	int i;

	p->pool = rig->pool;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	expect_parent(rig, p, 0);
	for (i = 0; i < 3; i++)
		expect_ended(test, &p->children[i], 1, RESULT(1));
	expect_counted(test, rig->pool, 4, 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).peak_busy, 1);
}

/*
 * An admitted child stays admitted while its parent runs it: the bound holds.
 */
static void child_keeps_its_admission(struct kunit *test)
{
	struct parent *p = parent_make(test, 1);
	struct rig *rig = join_rig(test, 1, 1);

	p->pool = rig->pool;
	p->children[0].gate = &rig->gate;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	KUNIT_EXPECT_EQ(test, ants_nr_free(rig->pool), 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), -EAGAIN);
	gate_open(&rig->gate);
	expect_parent(rig, p, 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(rig->pool, count_task,
					      &rig->count), 0);
	expect_counted(test, rig->pool, 3, 0);
}

/* A child that asks for another run is run again, with the same admission. */
static void child_that_runs_again(struct kunit *test)
{
	struct parent *p = parent_make(test, 1);
	struct rig *rig = join_rig(test, 1, 1);

	p->pool = rig->pool;
	p->children[0].pool = rig->pool;
	p->children[0].more = 2;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	expect_parent(rig, p, 0);
	KUNIT_EXPECT_EQ(test, p->result, RESULT(3));
	expect_ended(test, &p->children[0], 3, RESULT(3));
	expect_counted(test, rig->pool, 4, 0);
}

/*
 * The submitter of one child waits for room; the other child is due and not
 * admitted.
 */
static void child_that_is_not_admitted(struct kunit *test)
{
	struct parent *p = parent_make(test, 2);
	struct rig *rig = join_rig(test, 1, 0);
	struct async_call *submitter;

	p->queued = false;
	p->gate = &rig->gate;
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 1);
	submitter = start_queue(rig, &p->children[0], FOREVER);
	KUNIT_EXPECT_EQ(test, ants_queue_delayed_work(rig->pool,
						      &p->children[1].dwork, 0),
			0);
	EXPECT_SOON(test, state_of(&p->children[1]) == ANTS_WORK_DUE);
	gate_open(&rig->gate);
	expect_parent(rig, p, 0);
	KUNIT_EXPECT_EQ(test, async_result(submitter), 0);
	expect_ended(test, &p->children[0], 1, RESULT(1));
	expect_ended(test, &p->children[1], 1, RESULT(1));
	expect_counted(test, rig->pool, 3, 0);
}

/* The parent sleeps until the child is due, then runs it. */
static void child_that_is_delayed(struct kunit *test)
{
	struct parent *p = parent_make(test, 1);
	struct rig *rig = join_rig(test, 1, 0);

	p->queued = false;
	KUNIT_ASSERT_EQ(test, ants_queue_delayed_work(rig->pool,
						      &p->children[0].dwork,
						      NEVER), 0);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	EXPECT_SOON(test, nr_waiters_of(&p->children[0]) == 1);
	/* The child becomes due by itself: no task must give up this wait. */
	EXPECT_SOON(test, sleeps(p->thread));
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->nr_joining), 0U);
	KUNIT_EXPECT_EQ(test, ants_mod_delayed_work(rig->pool,
						    &p->children[0].dwork, 0),
			1);
	expect_parent(rig, p, 0);
	expect_ended(test, &p->children[0], 1, RESULT(1));
}

/* A child that runs in another thread is waited for. */
static void child_that_runs_elsewhere(struct kunit *test)
{
	struct parent *p = parent_make(test, 1);
	struct rig *rig = join_rig(test, 2, 0);

	p->queued = false;
	item_start(rig, &p->children[0], &rig->gate);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	EXPECT_SOON(test, nr_waiters_of(&p->children[0]) == 1);
	gate_open(&rig->gate);
	expect_parent(rig, p, 0);
	expect_ended(test, &p->children[0], 1, RESULT(1));
}

/* A wait that ends leaves nothing behind. */
static void parent_may_time_out(struct kunit *test)
{
	struct parent *p = parent_make(test, 1);
	struct rig *rig = join_rig(test, 2, 0);

	p->queued = false;
	p->timeout = 2;
	item_start(rig, &p->children[0], &rig->gate);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	expect_parent(rig, p, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, nr_waiters_of(&p->children[0]), 0);
	gate_open(&rig->gate);
	expect_ended(test, &p->children[0], 1, RESULT(1));
}

/* Two items that wait for each other: the second wait is refused. */
struct pair {
	struct ants_work work;
	struct ants_work *other;
	struct gate *gate;
	int waited;
};

static int pair_fn(struct ants_work *work)
{
	struct pair *pair = container_of(work, struct pair, work);

	gate_task(pair->gate);
	pair->waited = ants_work_wait(pair->other, NULL);
	return 0;
}

static void items_that_wait_in_a_circle(struct kunit *test)
{
	struct pair *pair = kunit_kcalloc(test, 2, sizeof(*pair), GFP_KERNEL);
	struct rig *rig = join_rig(test, 2, 0);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, pair);
	for (i = 0; i < 2; i++) {
		INIT_ANTS_WORK(&pair[i].work, pair_fn);
		pair[i].other = &pair[!i].work;
		pair[i].gate = &rig->gate;
		KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &pair[i].work),
				0);
	}
	EXPECT_SOON(test, atomic_read(&rig->gate.entered) == 2);
	gate_open(&rig->gate);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&pair[i].work,
							     PROMPT,
							     NULL), 0);
	KUNIT_EXPECT_EQ(test, pair[0].waited + pair[1].waited, -EDEADLK);
}

/* An item that is waited for needs room in the pool of its waiter. */
static void item_submits_while_it_is_waited_for(struct kunit *test)
{
	struct parent *p = parent_make(test, 1);
	struct rig *rig = join_rig(test, 2, 0);
	struct item *child = &p->children[0];

	p->queued = false;
	item_start(rig, child, &rig->gate);
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &p->work), 0);
	EXPECT_SOON(test, ants_peek(rig->pool->nr_joining) == 1);
	rig->posts[0].pool = rig->pool;
	child->submits = &rig->posts[0];
	gate_open(&rig->gate);
	expect_parent(rig, p, 0);
	KUNIT_EXPECT_EQ(test, rig->posts[0].result, -EDEADLK);
	KUNIT_EXPECT_EQ(test, ants_peek(rig->pool->nr_joining), 0);
}

static atomic_t nr_waited;

static void wait_for_item(void *item)
{
	if (!ants_work_wait(work_of(item), NULL))
		atomic_inc(&nr_waited);
}

/*
 * Count tasks that wait for @work: those that might run it, or those that
 * sleep.
 */
static unsigned int nr_waiters(struct ants_pool *pool, struct ants_work *work,
			       bool joins)
{
	struct ants_work_waiter *leader, *other;
	unsigned int nr = 0;

	raw_spin_lock_irq(&pool->lock);
	hlist_for_each_entry(leader, &work->waiters, link) {
		if (leader->joins != joins)
			continue;
		nr++;
		list_for_each_entry(other, &leader->node, node)
			nr++;
	}
	raw_spin_unlock_irq(&pool->lock);
	return nr;
}

/* When the item can be run, no more waiters are woken than one lock hold allows. */
static void joiners_of_an_item_are_bounded(struct kunit *test)
{
	struct rig *rig = join_rig(test, ANTS_JOINERS + 3, 0);
	struct item *item = &parent_make(test, 1)->children[0];
	unsigned int i;

	atomic_set(&nr_waited, 0);
	item_start(rig, item, &rig->gate);
	for (i = 0; i < ANTS_JOINERS + 2; i++)
		KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, wait_for_item,
						  item), 0);
	EXPECT_SOON(test, ants_peek(rig->pool->nr_joining) == ANTS_JOINERS + 2);
	KUNIT_EXPECT_EQ(test, nr_waiters(rig->pool, work_of(item), true),
			ANTS_JOINERS);
	KUNIT_EXPECT_EQ(test, nr_waiters(rig->pool, work_of(item), false), 2);
	gate_open(&rig->gate);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, PROMPT), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_waited), ANTS_JOINERS + 2);
}

/* A chain of items, each of which queues the next one and waits for it. */
struct link {
	struct ants_work work;
	struct ants_pool *pool;
	struct link *next;
	int waited;
};

static int link_fn(struct ants_work *work)
{
	struct link *link = container_of(work, struct link, work);

	if (!link->next)
		return 0;
	link->waited = ants_queue_work(link->pool, &link->next->work) ?:
		       ants_work_wait(&link->next->work, NULL);
	return link->waited;
}

/*
 * The stack is finite: an item that is nested too deeply is left to other
 * threads.
 */
static void joins_inside_joins_are_bounded(struct kunit *test)
{
	const int nr = ANTS_JOIN_DEPTH + 2;
	struct link *links = kunit_kcalloc(test, nr, sizeof(*links), GFP_KERNEL);
	struct rig *rig;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, links);
	rig = join_rig(test, 1, nr);
	for (i = 0; i < nr; i++) {
		INIT_ANTS_WORK(&links[i].work, link_fn);
		links[i].pool = rig->pool;
		links[i].next = i + 1 < nr ? &links[i + 1] : NULL;
	}
	KUNIT_ASSERT_EQ(test, ants_queue_work(rig->pool, &links[0].work), 0);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, ants_work_wait_timeout(&links[i].work,
							     PROMPT,
							     NULL), 0);
	KUNIT_EXPECT_EQ(test, links[ANTS_JOIN_DEPTH - 1].waited, 0);
	KUNIT_EXPECT_EQ(test, links[ANTS_JOIN_DEPTH].waited, -EDEADLK);
	expect_counted(test, rig->pool, nr, 0);
}

/*
 * A tree: each item queues two more, as far as the pool has room, and waits for
 * both.
 */
struct tree {
	struct ants_pool *pool;
	atomic_t ran;
	atomic_t wrong;
};

struct tree_node {
	struct ants_work work;
	struct tree *tree;
	int height;
};

static void fork_and_join(struct tree *tree, int height);

static int node_fn(struct ants_work *work)
{
	struct tree_node *node = container_of(work, struct tree_node, work);

	atomic_inc(&node->tree->ran);
	if (node->height)
		fork_and_join(node->tree, node->height - 1);
	return node->height;
}

/* Without room the node is an ordinary function call. */
static void node_start(struct tree_node *node, struct tree *tree, int height)
{
	INIT_ANTS_WORK(&node->work, node_fn);
	node->tree = tree;
	node->height = height;
	if (ants_queue_work(tree->pool, &node->work))
		node->work.result = node_fn(&node->work);
}

static void fork_and_join(struct tree *tree, int height)
{
	struct tree_node nodes[2];
	int i, result;

	for (i = 0; i < 2; i++)
		node_start(&nodes[i], tree, height);
	for (i = 0; i < 2; i++)
		if (ants_work_wait(&nodes[i].work, &result) || result != height)
			atomic_inc(&tree->wrong);
}

static const int capacities[] = { 1, 2, 4 };

static void capacity_name(const int *capacity, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "capacity %d", *capacity);
}

KUNIT_ARRAY_PARAM(capacity, capacities, capacity_name);

/* Each tree has 6 forks and joins. */
#define NR_TREES	((int)(250 * repeats))

/*
 * Nothing hangs or is lost, whichever thread runs a node. The nodes are on
 * stacks.
 */
static void trees_of_items(struct kunit *test)
{
	const int *capacity = test->param_value;
	struct rig *rig = join_rig(test, *capacity, 2);
	struct tree tree = { .pool = rig->pool };
	struct tree_node root;
	int i, nr = 0;

	for (i = 0; i < NR_TREES; i++) {
		node_start(&root, &tree, 2);
		nr += ants_work_wait_timeout(&root.work, PROMPT, NULL);
		if (!(i % 256))
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, nr, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&tree.ran), 7 * NR_TREES);
	KUNIT_EXPECT_EQ(test, atomic_read(&tree.wrong), 0);
	KUNIT_EXPECT_EQ(test, ants_flush_timeout(rig->pool, PROMPT), 0);
	KUNIT_EXPECT_EQ(test, stats_of(rig->pool).completed,
			stats_of(rig->pool).submitted);
}

static struct kunit_case join_cases[] = {
	KUNIT_CASE(parent_runs_its_children),
	KUNIT_CASE(child_keeps_its_admission),
	KUNIT_CASE(child_that_runs_again),
	KUNIT_CASE(child_that_is_not_admitted),
	KUNIT_CASE(child_that_is_delayed),
	KUNIT_CASE(child_that_runs_elsewhere),
	KUNIT_CASE(parent_may_time_out),
	KUNIT_CASE(items_that_wait_in_a_circle),
	KUNIT_CASE(item_submits_while_it_is_waited_for),
	KUNIT_CASE(joins_inside_joins_are_bounded),
	KUNIT_CASE(joiners_of_an_item_are_bounded),
	KUNIT_CASE_PARAM(trees_of_items, capacity_gen_params),
	{}
};

static struct kunit_suite join_suite = {
	.name = "ants_join",
	.test_cases = join_cases,
};

kunit_test_suite(join_suite);

MODULE_DESCRIPTION("ants: KUnit tests of tasks that wait for their own pool");
MODULE_LICENSE("GPL");
