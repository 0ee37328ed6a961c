/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the suites that port the tests of the Go pool ants, scaled to
 * kernel threads. The comment at a case has the numbers of the original tests,
 * from that project's list of 53. "B" and a number is one of its bugs, for
 * which the case is a regression test.
 *
 * Most of the original tests exist three times: for a Pool, for a PoolWithFunc,
 * and for one with a typed argument. Two are left in C, where a pointer stands
 * for any type: a case with a parameter runs for a pool of tasks and for a pool
 * of one function. That function runs what it finds in a packet, so that both
 * share one body.
 *
 * The original tests that are covered elsewhere, or not at all:
 *
 *  12         no pool                bench
 *  14-17      panic handlers         not here: a kernel cannot unwind a task
 *  26, 41     default pool's end     ants_port_end, with pools of its own: the
 *                                    system pool must not be released,
 *                                    release.system_pool_is_not_the_client_s
 *  38         wrong options          attrs.wrong_attributes_are_refused
 *                                    func.pool_without_a_function_is_refused
 *  42-44      pools of pools         multi.bad_arguments_make_nothing
 *                                    multi.ten_by_five_round_robin
 *                                    multi.ten_by_five_least_tasks
 *                                    multi.totals_are_spread
 *                                    multi_config.tune_spreads_the_total
 *                                    No multi has one function: each task
 *                                    brings its own.
 *  47-50      ring of idle workers   cannot occur: there is a single list;
 *                                    reaper.prealloc_keeps_all
 *  53         search for expired     reaper.nothing_expired_nothing_leaves
 *                                    reaper.exactly_the_expired_leave
 *                                    reaper.all_leave_without_a_minimum
 *  examples   sums                   ants_port_end.reboot_calc
 *                                    multi_config.sums_twice_over_a_reboot
 */
#ifndef _ANTS_KUNIT_ANTS_PORT_H
#define _ANTS_KUNIT_ANTS_PORT_H

#include "async.h"

struct kind {
	const char *name;
	bool func;
};

static const struct kind kinds[] = { { "task", false }, { "func", true } };

static void kind_desc(const struct kind *kind, char *desc)
{
	strscpy(desc, kind->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_desc);

/* True if this case is about a pool of one function. */
static inline bool of_func(struct kunit *test)
{
	const struct kind *kind = test->param_value;

	return kind && kind->func;
}

/*
 * What to run. As for submit_or_invoke(), no function means: invoke with the
 * data.
 */
struct packet {
	ants_fn_t fn;
	void *data;
};

/* The one function. Like any other it may be called with NULL. */
static inline void run_packet(void *data)
{
	struct packet *packet = data;

	if (packet)
		packet->fn(packet->data);
}

/* How a pool of this case's kind can be made to run fn(data). */
static inline struct packet pack(struct kunit *test, ants_fn_t fn, void *data)
{
	struct packet *packet;

	if (!of_func(test))
		return (struct packet){ fn, data };
	packet = kunit_kzalloc(test, sizeof(*packet), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, packet);
	*packet = (struct packet){ fn, data };
	return (struct packet){ NULL, packet };
}

/* A packet may be sent many times, and from any thread. */
static inline int send(struct ants_pool *pool, struct packet packet)
{
	return submit_or_invoke(pool, packet.fn, packet.data,
				MAX_SCHEDULE_TIMEOUT);
}

static inline int hand(struct kunit *test, struct ants_pool *pool, ants_fn_t fn,
		       void *data)
{
	return send(pool, pack(test, fn, data));
}

static inline int hand_timeout(struct kunit *test, struct ants_pool *pool,
			       ants_fn_t fn, void *data, unsigned long timeout)
{
	struct packet packet = pack(test, fn, data);

	return submit_or_invoke(pool, packet.fn, packet.data, timeout);
}

static inline struct async_call *hand_async(struct kunit *test,
					    struct ants_pool *pool,
					    ants_fn_t fn, void *data)
{
	struct packet packet = pack(test, fn, data);

	return submit_async(test, pool, packet.fn, packet.data,
			    MAX_SCHEDULE_TIMEOUT);
}

static inline struct ants_pool *port_pool(struct kunit *test,
					  const struct ants_attrs *attrs)
{
	return of_func(test) ? test_func_pool(test, attrs, run_packet, "port") :
	       test_pool(test, attrs, "port");
}

static inline struct ants_pool *pool_of(struct kunit *test,
					unsigned int capacity,
					unsigned int expiry_ms,
					unsigned int flags)
{
	struct ants_attrs attrs = {
		.capacity = capacity, .flags = flags,
		.expiry = msecs_to_jiffies(expiry_ms),
	};

	return port_pool(test, &attrs);
}

/*
 * Occupy @nr workers of @pool, which may be of either kind; return when all of them
 * are at the gate. As in fill_pool() none is late; but tasks may have run before, and
 * so a wake-up may be deferred.
 */
static inline void occupy(struct kunit *test, struct ants_pool *pool,
			  struct gate *gate, int nr)
{
	struct packet packet = pack(test, gate_task, gate);
	int goal = atomic_read(&gate->entered) + nr, err = 0;
	unsigned long late = ants_late_ticks();
	bool full;

	forget_vain(pool);
	seldom_late();
	while (nr-- && !err)
		err = send(pool, packet);
	full = !err && WAIT_FOR(atomic_read(&gate->entered) == goal);
	late_again(pool, late);
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_TRUE(test, full);
}

/* The task of most of the original tests: it sleeps for a while. */
static inline void demo_task(void *data)
{
	usleep_range(100, 300);
	atomic_inc(data);
}

static inline void expect_demo(struct kunit *test, struct ants_pool *pool,
			       int nr, int capacity)
{
	atomic_t count = ATOMIC_INIT(0);
	struct packet packet = pack(test, demo_task, &count);
	int i;

	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, send(pool, packet), 0);
	KUNIT_EXPECT_EQ(test, ants_flush(pool), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), nr);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_busy, capacity);
	KUNIT_EXPECT_LE(test, stats_of(pool).peak_running, capacity);
}

/*
 * True if nothing is left that could make a thread of this pool run: no timer,
 * no work.
 */
static inline bool at_rest(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = pool->workers.nr_idle == pool->workers.nr &&
	      !timer_pending(&pool->timer.timer) && !pool->upkeep.queued &&
	      !pool->upkeep.making;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

#endif /* _ANTS_KUNIT_ANTS_PORT_H */
