/* SPDX-License-Identifier: GPL-2.0-only */
/* For the suites about sharded pools. */
#ifndef _ANTS_KUNIT_MULTI_H
#define _ANTS_KUNIT_MULTI_H

#include "caller.h"
#include "file.h"

#include "../kernel/multi.h"

/*
 * Each CPU takes turns by itself, so that a test which expects an order of
 * shards stays on one CPU. CPU 0 begins with shard 0.
 */
static inline void stay_on_cpu(unsigned int cpu)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

/* A multi that outlives its test for no longer than its gates are closed. */
struct multi_res {
	struct ants_multi *multi;
};

static inline void test_multi_free(struct kunit_resource *res)
{
	struct multi_res *r = res->data;

	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	ants_fail_arm(ANTS_FAIL_AFFINITY, 0);
	ants_multi_destroy(r->multi);
}

/* A multi that is destroyed when the test ends, or by destroy_now(). */
static inline struct multi_res *test_multi_res(struct kunit *test,
					       const struct ants_attrs *attrs,
					       unsigned int nr_shards,
					       enum ants_strategy strategy,
					       const char *name)
{
	struct multi_res *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	if (strategy == ANTS_ROUND_ROBIN)
		stay_on_cpu(0);
	r->multi = ants_multi_create(attrs, nr_shards, strategy, "%s", name);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(r->multi), "multi %s: %ld", name,
			       PTR_ERR(r->multi));
	kunit_alloc_resource(test, test_pool_init, test_multi_free, GFP_KERNEL,
			     r);
	return r;
}

static inline struct ants_multi *test_multi(struct kunit *test,
					    const struct ants_attrs *attrs,
					    unsigned int nr_shards,
					    enum ants_strategy strategy,
					    const char *name)
{
	return test_multi_res(test, attrs, nr_shards, strategy, name)->multi;
}

static inline struct ants_stats sums_of(struct ants_multi *multi)
{
	struct ants_stats stats;

	ants_multi_stats(multi, &stats);
	return stats;
}

/* Occupies @nr workers of all shards; returns when all are at the gate. */
static inline void fill_multi(struct kunit *test, struct ants_multi *multi,
			      struct gate *gate, unsigned int nr)
{
	int goal = atomic_read(&gate->entered) + nr;

	while (nr--)
		KUNIT_ASSERT_EQ(test, ants_multi_submit(multi, gate_task, gate),
				0);
	ASSERT_SOON(test, atomic_read(&gate->entered) == goal);
}

/* A call on a multi, for call_async(). */
struct multi_call {
	struct ants_multi *multi;
	ants_fn_t fn;
	void *data;
	unsigned long timeout;
	unsigned long returned;
};

static inline struct multi_call *multi_call(struct kunit *test,
					    struct ants_multi *multi,
					    ants_fn_t fn, void *data,
					    unsigned long timeout)
{
	struct multi_call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	*call = (struct multi_call){ multi, fn, data, timeout, 0 };
	return call;
}

static inline int do_multi_submit(void *arg)
{
	struct multi_call *call = arg;

	if (call->multi->strategy == ANTS_ROUND_ROBIN)
		stay_on_cpu(0);
	return call->timeout == MAX_SCHEDULE_TIMEOUT ?
	       ants_multi_submit(call->multi, call->fn, call->data) :
	       ants_multi_submit_timeout(call->multi, call->fn, call->data,
					 call->timeout);
}

static inline int do_multi_release_timeout(void *arg)
{
	struct multi_call *call = arg;
	int err;

	err = ants_multi_release_timeout(call->multi, call->timeout);
	call->returned = jiffies;
	return err;
}

static inline int do_multi_destroy(void *arg)
{
	struct multi_call *call = arg;

	return ants_multi_destroy(call->multi);
}

/* A submit from a thread of its own, for one that waits. */
static inline struct caller *multi_submit_async(struct kunit *test,
						struct ants_multi *multi,
						ants_fn_t fn, void *data)
{
	return call_async(test, do_multi_submit,
			  multi_call(test, multi, fn, data,
				     MAX_SCHEDULE_TIMEOUT));
}

/* The path of a file of a pool; there is one at a time. */
static inline const char *path_of(const char *file)
{
	static char path[80];

	snprintf(path, sizeof(path), "/sys/kernel/ants/%s", file);
	return path;
}

/* What an administrator does. */
static inline int write_file(const char *file, const char *text)
{
	return sys_write(path_of(file), text);
}

/* What a file of sysfs says, without its newline. */
static inline const char *read_file(const char *file)
{
	static char text[64];
	struct file *f = sys_open(path_of(file), O_RDONLY);
	ssize_t len;

	if (IS_ERR(f))
		return "cannot be opened";
	len = kernel_read(f, text, sizeof(text) - 1, NULL);
	filp_close(f, NULL);
	if (len <= 0)
		return "cannot be read";
	text[len - 1] = '\0';
	return text;
}

#endif /* _ANTS_KUNIT_MULTI_H */
