/* SPDX-License-Identifier: GPL-2.0-only */
/* Helpers for the suites about sharded pools. */
#ifndef _ANTS_KUNIT_MULTI_H
#define _ANTS_KUNIT_MULTI_H

#include "async.h"
#include "file.h"

#include "../kernel/multi/multi.h"

/*
 * Each CPU takes turns by itself, so a test that expects an order of shards
 * stays on one CPU. CPU 0 begins with shard 0.
 */
static inline void stay_on_cpu(unsigned int cpu)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

/* With %ANTS_LOCAL, the shard of a CPU. */
static inline unsigned int shard_of(struct ants_multi *multi, unsigned int cpu)
{
	return per_cpu(*multi->choice, cpu);
}

/*
 * A multi that is destroyed when its test ends; a case that destroys it itself
 * clears @multi.
 */
struct multi_res {
	struct ants_multi *multi;
};

static inline void test_multi_free(struct kunit_resource *res)
{
	struct multi_res *r = res->data;

	ants_fail_arm(ANTS_FAIL_THREAD, 0);
	ants_fail_arm(ANTS_FAIL_SLOT, 0);
	ants_fail_arm(ANTS_FAIL_AFFINITY, 0);
	ants_fail_arm(ANTS_FAIL_INLINE, 0);
	ants_multi_destroy(r->multi);
}

/*
 * A multi that is destroyed when the test ends, unless the case has cleared
 * @multi.
 */
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

/* Occupy @nr workers of all shards; return when all of them are at the gate. */
static inline void fill_multi(struct kunit *test, struct ants_multi *multi,
			      struct gate *gate, unsigned int nr)
{
	int goal = atomic_read(&gate->entered) + nr;

	while (nr--)
		KUNIT_ASSERT_EQ(test, ants_multi_submit(multi, gate_task, gate),
				0);
	ASSERT_SOON(test, atomic_read(&gate->entered) == goal);
}

/* Start a call on @multi. */
static inline struct async_call *
multi_async(struct kunit *test, int (*fn)(struct async_call *call),
	    struct ants_multi *multi, unsigned long arg)
{
	struct async_call *call = async_alloc(test, fn);

	call->multi = multi;
	call->arg = arg;
	return async_begin(test, call);
}

/* Calls to start; @arg is the timeout, or the new capacity. */

static inline int do_multi_submit(struct async_call *call)
{
	if (call->multi->strategy == ANTS_ROUND_ROBIN)
		stay_on_cpu(0);
	return call->arg == FOREVER ?
	       ants_multi_submit(call->multi, call->task_fn, call->data) :
	       ants_multi_submit_timeout(call->multi, call->task_fn, call->data,
					 call->arg);
}

static inline int do_multi_release(struct async_call *call)
{
	return ants_multi_release(call->multi);
}

static inline int do_multi_release_timeout(struct async_call *call)
{
	return ants_multi_release_timeout(call->multi, call->arg);
}

static inline int do_multi_reboot(struct async_call *call)
{
	return ants_multi_reboot(call->multi);
}

static inline int do_multi_tune(struct async_call *call)
{
	return ants_multi_tune(call->multi, call->arg);
}

static inline int do_multi_destroy(struct async_call *call)
{
	return ants_multi_destroy(call->multi);
}

static inline struct async_call *
multi_submit_async(struct kunit *test, struct ants_multi *multi, ants_fn_t fn,
		   void *data, unsigned long timeout)
{
	struct async_call *call = async_alloc(test, do_multi_submit);

	call->multi = multi;
	call->task_fn = fn;
	call->data = data;
	call->arg = timeout;
	return async_begin(test, call);
}

/* The path of a pool's file, in a static buffer. */
static inline const char *path_of(const char *file)
{
	static char path[80];

	snprintf(path, sizeof(path), "/sys/kernel/ants/%s", file);
	return path;
}

/* Write to a file as an administrator does. */
static inline int write_file(const char *file, const char *text)
{
	return sys_write(path_of(file), text);
}

/* The text of a sysfs file without its newline. */
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
