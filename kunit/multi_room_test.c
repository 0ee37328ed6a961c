// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sharded pools: a caller that all shards refused is called back once, by the
 * first shard that has room.
 */
#include <linux/module.h>
#include <linux/wait.h>

#include "multi.h"

static atomic_t nr_room;
static struct ants_pool *room_pool;
static DECLARE_WAIT_QUEUE_HEAD(room_waitq);

static void note_room(struct ants_pool *pool)
{
	WRITE_ONCE(room_pool, pool);
	atomic_inc(&nr_room);
	wake_up_all(&room_waitq);
}

static int room_init(struct kunit *test)
{
	atomic_set(&nr_room, 0);
	room_pool = NULL;
	return 0;
}

/* Two full shards, with room for one task each and a gate of their own. */
struct full {
	struct ants_multi *multi;
	struct ants_pool *shard[2];
	struct gate *gate[2];
};

static void fill_both(struct kunit *test, struct full *full)
{
	int i;

	for (i = 0; i < 2; i++) {
		full->gate[i] = test_gate(test);
		fill_pool(test, full->shard[i], full->gate[i], 1);
	}
}

static void make_full(struct kunit *test, struct full *full,
		      enum ants_strategy strategy, unsigned int flags)
{
	struct ants_attrs attrs = {
		.capacity = 2, .space_available = note_room, .flags = flags,
	};
	int i;

	full->multi = test_multi(test, &attrs, 2, strategy, "room");
	for (i = 0; i < 2; i++)
		full->shard[i] = ants_multi_shard(full->multi, i);
	fill_both(test, full);
}

static void refuse(struct kunit *test, struct full *full)
{
	KUNIT_EXPECT_EQ(test, ants_multi_try_submit(full->multi, gate_task,
						    full->gate[0]), -EAGAIN);
}

/* True if the shard is empty, and its callbacks have been called. */
static bool has_settled(struct ants_pool *pool)
{
	bool ret;

	raw_spin_lock_irq(&pool->lock);
	ret = !pool->nr_busy && !pool->nr_pending && !pool->space.congested &&
	      !pool->space.congested_all;
	raw_spin_unlock_irq(&pool->lock);
	return ret;
}

static void empty(struct kunit *test, struct full *full, int nr)
{
	gate_open(full->gate[nr]);
	EXPECT_SOON(test, has_settled(full->shard[nr]));
	/*
	 * A callback is called after the lock was dropped, in an RCU read
	 * section.
	 */
	synchronize_rcu();
}

/* Two refusals lead to one callback, whichever shard has room first. */
static void shard_that_has_room_calls(struct kunit *test, int first)
{
	struct full full;

	make_full(test, &full, ANTS_ROUND_ROBIN, 0);
	refuse(test, &full);
	refuse(test, &full);
	KUNIT_EXPECT_EQ(test, sums_of(full.multi).rejected, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
	empty(test, &full, first);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
	KUNIT_EXPECT_PTR_EQ(test, room_pool, full.shard[first]);
	empty(test, &full, !first);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&full.multi->congested), 0);
}

static void first_shard_calls(struct kunit *test)
{
	shard_that_has_room_calls(test, 0);
}

static void second_shard_calls(struct kunit *test)
{
	shard_that_has_room_calls(test, 1);
}

static void no_refusal_no_callback(struct kunit *test)
{
	struct full full;

	make_full(test, &full, ANTS_LEAST_TASKS, 0);
	KUNIT_EXPECT_EQ(test, ants_multi_submit_timeout(full.multi, gate_task,
							full.gate[0], 0),
			-ETIMEDOUT);
	empty(test, &full, 0);
	empty(test, &full, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
}

/* Each episode has its callback; a mark from the one before causes no other. */
static void each_refusal_has_its_call(struct kunit *test)
{
	struct full full;
	int i;

	make_full(test, &full, ANTS_LEAST_TASKS, 0);
	for (i = 1; i <= 4; i++) {
		refuse(test, &full);
		empty(test, &full, i % 2);
		KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), i);
		full.gate[i % 2] = test_gate(test);
		fill_pool(test, full.shard[i % 2], full.gate[i % 2], 1);
	}
	empty(test, &full, 0);
	empty(test, &full, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 4);
}

/* The submit does not wait, because the shards do not let it. */
static void nonblocking_submit_is_called_back(struct kunit *test)
{
	struct full full;

	make_full(test, &full, ANTS_ROUND_ROBIN, ANTS_NONBLOCKING);
	KUNIT_EXPECT_EQ(test, ants_multi_submit(full.multi, gate_task,
						full.gate[0]), -EAGAIN);
	KUNIT_EXPECT_EQ(test, sums_of(full.multi).rejected, 1);
	empty(test, &full, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
	KUNIT_EXPECT_PTR_EQ(test, room_pool, full.shard[1]);
	empty(test, &full, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
}

/*
 * A caller that was refused by one shard alone is called back by that shard
 * alone.
 */
static void refusal_of_one_shard_is_its_own(struct kunit *test)
{
	struct full full;

	make_full(test, &full, ANTS_LEAST_TASKS, 0);
	KUNIT_EXPECT_EQ(test, ants_try_submit(full.shard[0], gate_task,
					      full.gate[0]), -EAGAIN);
	refuse(test, &full);
	empty(test, &full, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
	empty(test, &full, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 2);
	KUNIT_EXPECT_PTR_EQ(test, room_pool, full.shard[0]);
}

static int do_try(struct async_call *call)
{
	static atomic_t count;

	stay_on_cpu(0);
	return ants_multi_try_submit(call->multi, count_task, &count);
}

static bool is_silent(struct ants_pool *pool)
{
	return has_settled(pool) && !timer_pending(&pool->timer.timer) &&
	       !ants_peek(pool->upkeep.queued);
}

/* Nothing more happens in any shard when the refused caller marks them. */
static void room_before_the_marks_is_not_missed(struct kunit *test)
{
	struct async_call *caller;
	struct full full;

	make_full(test, &full, ANTS_ROUND_ROBIN, ANTS_NO_PURGE);
	ants_pause_arm(ANTS_PAUSE_REFUSED, full.shard[0]);
	caller = multi_async(test, do_try, full.multi, 0);
	KUNIT_EXPECT_TRUE(test, ants_pause_reached(ANTS_PAUSE_REFUSED,
						   TEST_DEADLINE));
	empty(test, &full, 0);
	empty(test, &full, 1);
	EXPECT_SOON(test, is_silent(full.shard[0]));
	EXPECT_SOON(test, is_silent(full.shard[1]));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
	ants_pause_resume(ANTS_PAUSE_REFUSED);
	KUNIT_EXPECT_EQ(test, async_result(caller), -EAGAIN);
	EXPECT_SOON(test, has_settled(full.shard[0]));
	EXPECT_SOON(test, has_settled(full.shard[1]));
	synchronize_rcu();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
}

/* A refusal before the release is forgotten. */
static void reboot_forgets(struct kunit *test)
{
	struct full full;
	int i;

	make_full(test, &full, ANTS_LEAST_TASKS, 0);
	refuse(test, &full);
	KUNIT_EXPECT_EQ(test, ants_multi_release(full.multi), 0);
	for (i = 0; i < 2; i++)
		gate_open(full.gate[i]);
	KUNIT_EXPECT_EQ(test, ants_multi_release_timeout(full.multi,
							 TEST_DEADLINE), 0);
	KUNIT_EXPECT_EQ(test, ants_multi_reboot(full.multi), 0);
	fill_both(test, &full);
	empty(test, &full, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 0);
	full.gate[0] = test_gate(test);
	fill_pool(test, full.shard[0], full.gate[0], 1);
	refuse(test, &full);
	empty(test, &full, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_room), 1);
}

#define FLOOD	500

/* Try again only after a callback; 0 if each refusal had one. */
static int do_flood(struct async_call *call)
{
	static atomic_t count;
	int i, err, calls;

	for (i = 0; i < FLOOD; i++) {
		calls = atomic_read(&nr_room);
		err = ants_multi_try_submit(call->multi, count_task, &count);
		if (err == -EAGAIN &&
		    !wait_event_timeout(room_waitq,
					atomic_read(&nr_room) != calls,
					TEST_DEADLINE))
			return -ETIMEDOUT;
		if (err && err != -EAGAIN && err != -ENOMEM)
			return err;
	}
	return 0;
}

/* Once all callers were refused, only a callback makes them continue. */
static void no_call_is_lost(struct kunit *test)
{
	struct ants_attrs attrs = {
		.capacity = 2, .space_available = note_room,
		.flags = ANTS_NO_PURGE,
	};
	struct ants_multi *multi = test_multi(test, &attrs, 2, ANTS_LEAST_TASKS,
					      "lost");
	struct async_call *caller[4];
	int i;

	for (i = 0; i < ARRAY_SIZE(caller); i++)
		caller[i] = multi_async(test, do_flood, multi, 0);
	for (i = 0; i < ARRAY_SIZE(caller); i++) {
		wait_for_completion(&caller[i]->done);
		KUNIT_EXPECT_EQ(test, async_stop(caller[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, ants_multi_flush(multi), 0);
	kunit_info(test, "%d calls after %llu refusals\n", atomic_read(&nr_room),
		   sums_of(multi).rejected);
	KUNIT_EXPECT_LE(test, (u64)atomic_read(&nr_room),
			sums_of(multi).rejected);
	KUNIT_EXPECT_GT(test, atomic_read(&nr_room), 0);
}

static struct kunit_case room_cases[] = {
	KUNIT_CASE(first_shard_calls),
	KUNIT_CASE(second_shard_calls),
	KUNIT_CASE(no_refusal_no_callback),
	KUNIT_CASE(each_refusal_has_its_call),
	KUNIT_CASE(nonblocking_submit_is_called_back),
	KUNIT_CASE(refusal_of_one_shard_is_its_own),
	KUNIT_CASE(room_before_the_marks_is_not_missed),
	KUNIT_CASE(reboot_forgets),
	KUNIT_CASE(no_call_is_lost),
	{}
};

static struct kunit_suite room_suite = {
	.name = "ants_multi_room",
	.init = room_init,
	.test_cases = room_cases,
};

kunit_test_suite(room_suite);

MODULE_DESCRIPTION("ants: KUnit tests of callbacks of sharded pools");
MODULE_LICENSE("GPL");
