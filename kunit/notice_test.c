// SPDX-License-Identifier: GPL-2.0-only
/* What programs are told by poll() on files of a pool. */
#include <linux/module.h>
#include <linux/poll.h>

#include "file.h"
#include "rig.h"

#define NAME	"notice"

/* Has the file changed since it was read? */
static bool changed(struct file *file)
{
	return vfs_poll(file, NULL) & EPOLLPRI;
}

/* Reads the file; it begins with @text. */
static void expect_text(struct kunit *test, struct file *file,
			const char *text)
{
	char buf[16] = "";
	loff_t pos = 0;

	KUNIT_EXPECT_GT(test, kernel_read(file, buf, sizeof(buf) - 1, &pos),
			0L);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(buf, text), "%s", buf);
}

/* A file that was read once. */
static struct file *file_open(struct kunit *test, const char *path,
			      const char *text)
{
	struct file *file = sys_open(path, O_RDONLY);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s: %ld", path,
			       PTR_ERR(file));
	expect_text(test, file, text);
	KUNIT_EXPECT_FALSE(test, changed(file));
	return file;
}

/* It is told, once, that the file reads like this now. */
static void expect_told(struct kunit *test, struct file *file,
			const char *text)
{
	EXPECT_SOON(test, changed(file));
	expect_text(test, file, text);
}

static void states_of_a_pool(struct kunit *test)
{
	struct rig *rig = rig_make_full(test, NAME, (struct ants_attrs){
						.capacity = 1 });
	struct file *file = file_open(test, "/sys/kernel/ants/" NAME "/state",
				      "open");

	KUNIT_EXPECT_EQ(test, ants_release(rig->pool), 0);
	expect_told(test, file, "draining");
	KUNIT_EXPECT_FALSE(test, changed(file));
	gate_open(&rig->gate);
	expect_told(test, file, "released");
	EXPECT_SOON(test, ants_reboot(rig->pool) == 0);
	expect_told(test, file, "open");
	KUNIT_EXPECT_FALSE(test, changed(file));
	filp_close(file, NULL);
}

static void flush_is_no_change_of_the_state(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct file *file = file_open(test, "/sys/kernel/ants/" NAME "/state",
				      "open");

	KUNIT_EXPECT_EQ(test, ants_submit(rig->pool, count_task, &rig->count),
			0);
	KUNIT_EXPECT_EQ(test, ants_flush(rig->pool), 0);
	EXPECT_SOON(test, settled(rig->pool));
	KUNIT_EXPECT_FALSE(test, work_busy(&rig->pool->notice.work));
	KUNIT_EXPECT_FALSE(test, changed(file));
	filp_close(file, NULL);
}

static void states_of_a_multi(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 2 };
	struct ants_multi *multi = ants_multi_create(&attrs, 2,
						     ANTS_ROUND_ROBIN, NAME);
	struct file *file;

	KUNIT_ASSERT_FALSE(test, IS_ERR(multi));
	file = file_open(test, "/sys/kernel/ants/" NAME "/state", "open");
	KUNIT_EXPECT_EQ(test, ants_multi_release(multi), 0);
	EXPECT_SOON(test, changed(file));
	EXPECT_SOON(test, ants_multi_reboot(multi) == 0);
	expect_text(test, file, "open");
	filp_close(file, NULL);
	KUNIT_EXPECT_EQ(test, ants_multi_destroy(multi), 0);
}

static void tasks_that_stall(struct kunit *test)
{
	struct rig *rig = rig_make(test, NAME, (struct ants_attrs){
					.capacity = 1 });
	struct file *file = file_open(test, "/sys/kernel/ants/" NAME
				      "/stats/stalled", "0");

	pr_info("ants-expect: ^ants: pool " NAME ": post_task .* has run for\n");
	KUNIT_ASSERT_EQ(test, set_attr(rig->pool, "stall_ms", 10), 0);
	post_start(rig, 0);
	expect_told(test, file, "1");
	filp_close(file, NULL);
}

/* The work may be queued, or run, when the files go. */
static void pools_go_while_programs_are_told(struct kunit *test)
{
	struct ants_attrs attrs = { .capacity = 1 };
	struct ants_pool *pool;
	int i;

	for (i = 0; i < 30; i++) {
		pool = ants_pool_create(&attrs, NAME);
		KUNIT_ASSERT_FALSE(test, IS_ERR(pool));
		KUNIT_EXPECT_EQ(test, ants_release_timeout(pool, TEST_DEADLINE),
				0);
		EXPECT_SOON(test, ants_reboot(pool) == 0);
		KUNIT_EXPECT_EQ(test, ants_pool_destroy(pool), 0);
	}
}

/* The files are read where an administrator has them. */
static int notice_init(struct kunit *test)
{
	need_module(test);
	return 0;
}

static struct kunit_case notice_cases[] = {
	KUNIT_CASE(states_of_a_pool),
	KUNIT_CASE(flush_is_no_change_of_the_state),
	KUNIT_CASE(states_of_a_multi),
	KUNIT_CASE(tasks_that_stall),
	KUNIT_CASE(pools_go_while_programs_are_told),
	{}
};

static struct kunit_suite notice_suite = {
	.name = "ants_notice",
	.init = notice_init,
	.test_cases = notice_cases,
};

kunit_test_suite(notice_suite);

MODULE_DESCRIPTION("ants: KUnit tests of what programs are told");
MODULE_LICENSE("GPL");
