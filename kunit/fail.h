/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls whose allocations fail one after another: the first one in the first
 * run, the second one in the second run, until no allocation was left to fail.
 * The kernel's fault injection does this for the calling thread alone;
 * kunit_module() in test/guest/lib.sh includes allocations that may sleep.
 *
 * Not every failure reaches the call: an allocation of one of the kernel's
 * checkers, or one that the call can do without, may fail while the call
 * succeeds.
 */
#ifndef _ANTS_KUNIT_FAIL_H
#define _ANTS_KUNIT_FAIL_H

#include <linux/namei.h>

#include "work.h"

/* More than any call allocates. */
#define FAIL_MOST	5000
/* The first faults are tried one by one, whatever the stride of a loop. */
#define FAIL_EACH	24
/* How often a loop is run if nothing fails in it. */
#define FAIL_ROUNDS	5

#ifdef CONFIG_FAULT_INJECTION
/* The @nth allocation of the caller from here on fails. */
static inline void fail_nth(unsigned int nth)
{
	WRITE_ONCE(current->fail_nth, nth);
}

/* No allocation fails from here on. Returns true if one has. */
static inline bool fail_came(void)
{
	unsigned int left = READ_ONCE(current->fail_nth);

	WRITE_ONCE(current->fail_nth, 0);
	return !left;
}
#else
static inline void fail_nth(unsigned int nth)
{
}

static inline bool fail_came(void)
{
	return false;
}
#endif

/* Before each case: without fault injection nothing would fail. */
static inline int fail_init(struct kunit *test)
{
	void *p;

	if (!IS_ENABLED(CONFIG_FAILSLAB))
		kunit_skip(test, "the kernel injects no faults");
	fail_nth(1);
	p = kmalloc(16, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, fail_came());
	KUNIT_ASSERT_NULL(test, p);
	return 0;
}

/**
 * struct fail_loop - a call that is made again and again
 * @name: the name of the function
 * @call: makes the call. Returns 0 or -errno
 * @before: prepares the call, or NULL
 * @refused: after a failure: checks that nothing has changed, or NULL
 * @done: after success: checks that the result works, or NULL
 * @err: the error that the call may return; 0 if it never fails
 * @err_too: another error that it may return, or 0
 * @stride: from FAIL_EACH on, only every @stride-th fault is tried, because the
 *	others are alike. 0: all are tried
 * @ctx: the argument of these functions
 */
struct fail_loop {
	const char *name;
	int (*call)(void *ctx);
	void (*before)(struct kunit *test, void *ctx);
	void (*refused)(struct kunit *test, void *ctx);
	void (*done)(struct kunit *test, void *ctx);
	int err;
	int err_too;
	unsigned int stride;
	void *ctx;
};

/*
 * Make the call once. Returns false when the loop is done; @failed counts
 * failures.
 */
static inline bool fail_once(struct kunit *test, const struct fail_loop *loop,
			     unsigned int nth, unsigned int *failed)
{
	bool came;
	int err;

	if (loop->before)
		loop->before(test, loop->ctx);
	fail_nth(nth);
	err = loop->call(loop->ctx);
	came = fail_came();
	*failed += !!err;
	KUNIT_EXPECT_TRUE_MSG(test,
			      !err || (came && (err == loop->err ||
						err == loop->err_too)),
			      "%s: %d, fault %u", loop->name, err, nth);
	if (err && loop->refused)
		loop->refused(test, loop->ctx);
	if (!err && loop->done)
		loop->done(test, loop->ctx);
	return came && !READ_ONCE(test->status);
}

/*
 * Make the call until nothing fails. A call with errors of its own must fail at
 * least once. A checker of the kernel that refills its stock may take all the
 * faults of a loop; then the loop starts again from the first fault.
 */
static inline void fail_each(struct kunit *test, const struct fail_loop *loop)
{
	unsigned int rounds = loop->err ? FAIL_ROUNDS : 1;
	unsigned int nth, failed = 0;

	do {
		nth = 1;
		while (nth < FAIL_MOST && fail_once(test, loop, nth, &failed))
			nth += nth < FAIL_EACH ? 1 : max(loop->stride, 1U);
	} while (!failed && --rounds && !READ_ONCE(test->status));
	KUNIT_EXPECT_LT(test, nth, FAIL_MOST);
	KUNIT_EXPECT_EQ(test, !failed, !loop->err);
	kunit_info(test, "%s: %u calls failed, at faults up to %u\n",
		   loop->name, failed, nth);
}

static inline bool is_in_sysfs(const char *name)
{
	char text[ANTS_NAME_LEN + 20];
	struct path path;
	int err;

	snprintf(text, sizeof(text), "/sys/kernel/ants/%s", name);
	scoped_with_init_fs()
		err = kern_path(text, 0, &path);
	if (!err)
		path_put(&path);
	return !err;
}

/*
 * Nothing is left of what was to be made. That the name is free shows in the
 * next run, and that no memory is lost shows when ants ends.
 */
static inline void expect_nothing(struct kunit *test, const char *name)
{
	KUNIT_EXPECT_FALSE(test, is_in_sysfs(name));
	EXPECT_SOON(test, !nr_threads(name));
}

/* Slots that were taken out of a pool. */
struct hidden {
	struct ants_pool *pool;
	struct ants_slot *slots;
};

/* Take all slots but @left away, so that a submit has to allocate. */
static inline void hide_stock(struct hidden *h, struct ants_pool *pool,
			      unsigned int left)
{
	struct ants_slot *slot;

	h->pool = pool;
	h->slots = NULL;
	raw_spin_lock_irq(&pool->lock);
	while (pool->nr_stock > left) {
		slot = ants_stock_get(pool);
		slot->next = h->slots;
		h->slots = slot;
	}
	raw_spin_unlock_irq(&pool->lock);
}

static inline void give_back(struct hidden *h)
{
	struct ants_slot *slot;

	raw_spin_lock_irq(&h->pool->lock);
	while ((slot = h->slots)) {
		h->slots = slot->next;
		ants_stock_put(h->pool, slot);
	}
	raw_spin_unlock_irq(&h->pool->lock);
}

/* The pool accepts a task and runs it. */
static inline void expect_works(struct kunit *test, struct ants_pool *pool)
{
	atomic_t count = ATOMIC_INIT(0);

	KUNIT_EXPECT_EQ(test, ants_submit(pool, count_task, &count), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), 1);
}

#endif /* _ANTS_KUNIT_FAIL_H */
