// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a pool at work: its numbers, its states, and changes under load.
 */
#include "util.h"

#include <dirent.h>
#include <signal.h>

#define WRITERS		4
#define ROUNDS		40

FIXTURE(live) {
	char pool[32];
};

FIXTURE_SETUP(live)
{
	snprintf(self->pool, sizeof(self->pool), "live%d", getpid());
	ASSERT_EQ(0, ctl("create %s 2", self->pool));
}

FIXTURE_TEARDOWN(live)
{
	ctl("let");
	EXPECT_EQ(0, ctl("destroy %s", self->pool));
}

#define stat_is(name, value)	(get_number(self->pool, "stats/" name) == (value))

/* A child whose one task has no room; the child waits in the pool on return. */
#define block_child()							\
({									\
	long __waiting = get_number(self->pool, "stats/waiting");	\
	char __line[64];						\
	pid_t __pid;							\
									\
	snprintf(__line, sizeof(__line), "submit %s 1 0", self->pool);	\
	__pid = ctl_async(__line);					\
	EXPECT_SOON(stat_is("waiting", __waiting + 1));			\
	__pid;								\
})

CASE(live, gauges_follow_the_tasks)
{
	pid_t pid;

	ASSERT_EQ(0, put(self->pool, "queue_depth", "1"));
	ASSERT_EQ(0, ctl("hold %s 3", self->pool));
	EXPECT_SOON(stat_is("busy", 2));
	EXPECT_STREQ("1", get(self->pool, "stats/pending"));
	EXPECT_STREQ("2", get(self->pool, "stats/running"));
	EXPECT_STREQ("0", get(self->pool, "stats/idle"));
	EXPECT_STREQ("0", get(self->pool, "stats/free"));
	EXPECT_STREQ("0", get(self->pool, "stats/waiting"));
	pid = block_child();
	EXPECT_EQ(0, ctl("let"));
	EXPECT_EQ(0, reap(pid));
	EXPECT_EQ(0, ctl("flush %s", self->pool));
	EXPECT_SOON(stat_is("busy", 0));
	EXPECT_STREQ("0", get(self->pool, "stats/pending"));
	EXPECT_STREQ("0", get(self->pool, "stats/waiting"));
	EXPECT_STREQ("3", get(self->pool, "stats/free"));
}

CASE(live, counters_and_peaks_stay)
{
	pid_t pid;

	ASSERT_EQ(0, put(self->pool, "queue_depth", "1"));
	ASSERT_EQ(0, ctl("hold %s 3", self->pool));
	EXPECT_SOON(stat_is("busy", 2));
	pid = block_child();
	ASSERT_EQ(0, put(self->pool, "nonblocking", "1"));
	EXPECT_EQ(-EAGAIN, ctl("submit %s 1 0", self->pool));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_EQ(0, reap(pid));
	EXPECT_EQ(0, ctl("drain %s", self->pool));
	EXPECT_STREQ("4", get(self->pool, "stats/submitted"));
	EXPECT_STREQ("4", get(self->pool, "stats/completed"));
	EXPECT_STREQ("1", get(self->pool, "stats/rejected"));
	EXPECT_STREQ("1", get(self->pool, "stats/blocked"));
	EXPECT_STREQ("2", get(self->pool, "stats/spawned"));
	EXPECT_STREQ("2", get(self->pool, "stats/peak_running"));
	EXPECT_STREQ("2", get(self->pool, "stats/peak_busy"));
	EXPECT_STREQ("1", get(self->pool, "stats/peak_waiting"));
	EXPECT_STREQ("0", get(self->pool, "stats/running"));
}

CASE(live, state_open_draining_released_open)
{
	EXPECT_STREQ("open", get(self->pool, "state"));
	ASSERT_EQ(0, ctl("hold %s 1", self->pool));
	EXPECT_SOON(stat_is("busy", 1));
	EXPECT_STREQ("open", get(self->pool, "state"));
	EXPECT_EQ(-EBUSY, ctl("reboot %s", self->pool));
	EXPECT_EQ(0, ctl("release %s", self->pool));
	EXPECT_STREQ("draining", get(self->pool, "state"));
	EXPECT_STREQ("0", get(self->pool, "stats/free"));
	EXPECT_EQ(-ESHUTDOWN, ctl("submit %s 1 0", self->pool));
	EXPECT_EQ(-EBUSY, ctl("reboot %s", self->pool));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_SOON(!strcmp(get(self->pool, "state"), "released"));
	EXPECT_STREQ("0", get(self->pool, "stats/running"));
	EXPECT_EQ(0, ctl("reboot %s", self->pool));
	EXPECT_STREQ("open", get(self->pool, "state"));
	EXPECT_EQ(0, ctl("submit %s 1 0", self->pool));
}

/* A released pool keeps what is written for the next reboot. */
CASE(live, released_pool_can_be_changed)
{
	ASSERT_EQ(0, ctl("drain %s", self->pool));
	EXPECT_EQ(0, put(self->pool, "capacity", "5"));
	EXPECT_EQ(0, put(self->pool, "min_workers", "3"));
	EXPECT_EQ(0, put(self->pool, "expiry_ms", "100"));
	EXPECT_EQ(0, put(self->pool, "queue_depth", "6"));
	EXPECT_STREQ("released", get(self->pool, "state"));
	EXPECT_STREQ("0", get(self->pool, "stats/running"));
	EXPECT_EQ(0, ctl("reboot %s", self->pool));
	EXPECT_STREQ("5", get(self->pool, "capacity"));
	EXPECT_STREQ("11", get(self->pool, "stats/free"));
	EXPECT_SOON(stat_is("running", 3));
}

CASE(live, growth_grants_waiters)
{
	pid_t pid[2];

	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	pid[0] = block_child();
	pid[1] = block_child();
	EXPECT_EQ(0, put(self->pool, "capacity", "4"));
	EXPECT_STREQ("0", get(self->pool, "stats/waiting"));
	EXPECT_EQ(0, reap(pid[0]));
	EXPECT_EQ(0, reap(pid[1]));
	EXPECT_SOON(stat_is("completed", 2));
	EXPECT_STREQ("2", get(self->pool, "stats/busy"));
}

CASE(live, a_longer_queue_grants_waiters)
{
	pid_t pid;

	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	EXPECT_SOON(stat_is("busy", 2));
	pid = block_child();
	EXPECT_EQ(0, put(self->pool, "queue_depth", "1"));
	EXPECT_STREQ("0", get(self->pool, "stats/waiting"));
	EXPECT_EQ(0, reap(pid));
	EXPECT_STREQ("1", get(self->pool, "stats/pending"));
}

CASE(live, no_bound_grants_all)
{
	pid_t pid;

	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	pid = block_child();
	EXPECT_EQ(0, put(self->pool, "capacity", "max"));
	EXPECT_EQ(0, reap(pid));
	EXPECT_STREQ("max", get(self->pool, "stats/free"));
	EXPECT_EQ(0, ctl("hold %s 20", self->pool));
	EXPECT_SOON(stat_is("busy", 22));
}

/* Accepted tasks stay; surplus threads leave afterwards. */
CASE(live, shrinking_leaves_accepted_tasks_alone)
{
	ASSERT_EQ(0, put(self->pool, "capacity", "4"));
	ASSERT_EQ(0, put(self->pool, "nonblocking", "1"));
	ASSERT_EQ(0, put(self->pool, "expiry_ms", "600000"));
	ASSERT_EQ(0, ctl("hold %s 4", self->pool));
	EXPECT_SOON(stat_is("busy", 4));
	EXPECT_EQ(0, put(self->pool, "capacity", "1"));
	EXPECT_STREQ("1", get(self->pool, "capacity"));
	EXPECT_STREQ("4", get(self->pool, "stats/busy"));
	EXPECT_STREQ("0", get(self->pool, "stats/free"));
	EXPECT_EQ(-EAGAIN, ctl("submit %s 1 0", self->pool));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_SOON(stat_is("completed", 4));
	EXPECT_SOON(stat_is("running", 1));
	EXPECT_SOON(stat_is("free", 1));
}

CASE(live, max_blocking_counts_callers)
{
	pid_t pid;

	ASSERT_EQ(0, put(self->pool, "max_blocking", "1"));
	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	pid = block_child();
	EXPECT_EQ(-EBUSY, ctl("submit %s 1 0", self->pool));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_EQ(0, reap(pid));
}

/* Callers that already wait continue to wait; later ones are refused. */
CASE(live, nonblocking_is_for_newcomers)
{
	pid_t pid;

	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	pid = block_child();
	EXPECT_EQ(0, put(self->pool, "nonblocking", "1"));
	EXPECT_EQ(-EAGAIN, ctl("submit %s 1 0", self->pool));
	EXPECT_STREQ("1", get(self->pool, "stats/waiting"));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_EQ(0, reap(pid));
}

CASE(live, release_refuses_waiters)
{
	pid_t pid;

	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	pid = block_child();
	EXPECT_EQ(0, ctl("release %s", self->pool));
	EXPECT_EQ(-ESHUTDOWN, reap(pid));
	EXPECT_STREQ("0", get(self->pool, "stats/waiting"));
	EXPECT_STREQ("1", get(self->pool, "stats/rejected"));
}

/* A wait ends with the process that waits. */
CASE(live, killed_submitter_leaves_the_queue)
{
	pid_t pid;

	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	pid = block_child();
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-EINTR, reap(pid));
	EXPECT_STREQ("0", get(self->pool, "stats/waiting"));
	EXPECT_STREQ("1", get(self->pool, "stats/rejected"));
	EXPECT_STREQ("2", get(self->pool, "stats/submitted"));
}

CASE(live, min_workers_and_capacity_hold_each_other)
{
	EXPECT_EQ(-EINVAL, put(self->pool, "min_workers", "3"));
	EXPECT_EQ(0, put(self->pool, "min_workers", "2"));
	EXPECT_EQ(-EINVAL, put(self->pool, "capacity", "1"));
	EXPECT_STREQ("2", get(self->pool, "capacity"));
	EXPECT_EQ(0, put(self->pool, "capacity", "max"));
	EXPECT_EQ(-EINVAL, put(self->pool, "capacity", "1"));
	EXPECT_STREQ("max", get(self->pool, "capacity"));
	EXPECT_EQ(0, put(self->pool, "capacity", "2"));
	EXPECT_EQ(0, put(self->pool, "min_workers", "1"));
	EXPECT_EQ(0, put(self->pool, "capacity", "1"));
	EXPECT_EQ(-EINVAL, put(self->pool, "min_workers", "2"));
	EXPECT_STREQ("1", get(self->pool, "min_workers"));
}

/* Threads are made when the number grows, and expire when it falls. */
CASE(live, min_workers_take_effect_at_once)
{
	EXPECT_EQ(0, put(self->pool, "expiry_ms", "20"));
	EXPECT_EQ(0, put(self->pool, "min_workers", "2"));
	EXPECT_SOON(stat_is("idle", 2));
	EXPECT_EQ(0, put(self->pool, "min_workers", "1"));
	EXPECT_SOON(stat_is("running", 1));
	EXPECT_EQ(0, put(self->pool, "min_workers", "0"));
	EXPECT_SOON(stat_is("running", 0));
	EXPECT_STREQ("2", get(self->pool, "stats/spawned"));
	EXPECT_STREQ("2", get(self->pool, "stats/reaped"));
}

/* The new time applies to threads that are already idle, too. */
CASE(live, shorter_expiry_takes_effect_at_once)
{
	ASSERT_EQ(0, put(self->pool, "expiry_ms", "86400000"));
	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	EXPECT_SOON(stat_is("busy", 2));
	ASSERT_EQ(0, ctl("let"));
	EXPECT_SOON(stat_is("idle", 2));
	EXPECT_STREQ("0", get(self->pool, "stats/reaped"));
	EXPECT_EQ(0, put(self->pool, "expiry_ms", "20"));
	EXPECT_SOON(stat_is("running", 0));
	EXPECT_STREQ("2", get(self->pool, "stats/reaped"));
}

/* Write capacities between 1 and 8, one after another; no write may fail. */
static int write_capacities(const char *pool, unsigned int seed)
{
	char text[16];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		snprintf(text, sizeof(text), "%u\n", 1 + (seed + i * 5) % 8);
		if (put(pool, "capacity", text))
			return 1;
	}
	return 0;
}

CASE(live, many_write_the_capacity_under_load)
{
	pid_t submitter, writer[WRITERS];
	char line[64];
	int i;

	snprintf(line, sizeof(line), "submit %s 400 0", self->pool);
	submitter = ctl_async(line);
	for (i = 0; i < WRITERS; i++) {
		writer[i] = fork();
		if (!writer[i])
			_exit(write_capacities(self->pool, i));
	}
	for (i = 0; i < WRITERS; i++)
		EXPECT_EQ(0, reap(writer[i]));
	EXPECT_EQ(0, reap(submitter));
	EXPECT_EQ(0, ctl("flush %s", self->pool));
	EXPECT_STREQ("400", get(self->pool, "stats/completed"));
	EXPECT_GE(8, get_number(self->pool, "stats/peak_running"));
	EXPECT_GE(8, get_number(self->pool, "stats/peak_busy"));
	EXPECT_EQ(0, put(self->pool, "capacity", "1"));
	EXPECT_SOON(get_number(self->pool, "stats/running") <= 1);
}

/*
 * The write waits behind a change that takes long; once interrupted it changes
 * nothing.
 */
CASE(live, write_that_waits_can_be_interrupted)
{
	static const char * const files[] = {
		"capacity", "max_blocking", "queue_depth", "min_workers",
		"expiry_ms", "nonblocking", "nice", "cpulist",
	};
	const char *before;
	size_t i;
	pid_t pid = put_and_hold(self->pool, "3");

	ASSERT_LT(0, pid);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		before = get(self->pool, files[i]);
		EXPECT_EQ(-EINTR, put_interrupted(self->pool, files[i], "1"))
			TH_LOG("%s", files[i]);
		EXPECT_STREQ(before, get(self->pool, files[i]));
	}
	EXPECT_EQ(0, ctl("let_tune %s", self->pool));
	EXPECT_EQ(0, reap(pid));
	EXPECT_STREQ("3", get(self->pool, "capacity"));
}

/* Any value is read, or the file is gone; nothing in between. */
static bool reads_well(const char *pool, const char *file)
{
	char buf[128];
	int len = read_file(pool_path(pool, file), buf, sizeof(buf));

	if (len < 0)
		return len == -ENOENT || len == -ENODEV;
	return len > 1 && buf[len - 1] == '\n';
}

/* Read everything there is until @done can be read from. */
static int read_all_until(const char *pool, int done)
{
	static const char * const dirs[] = { "", "stats/" };
	struct dirent *entry;
	int bad = 0, i = 0;
	char name[300], c;
	DIR *d;

	while (!bad && read(done, &c, 1) < 0) {
		const char *dir = dirs[i++ % 2];

		d = opendir(pool_path(pool, dir));
		while (d && (entry = readdir(d))) {
			if (entry->d_type != DT_REG)
				continue;
			snprintf(name, sizeof(name), "%s%s", dir, entry->d_name);
			bad += !reads_well(pool, name);
		}
		if (d)
			closedir(d);
	}
	return bad;
}

CASE(live, files_are_read_while_pools_come_and_go)
{
	int pipe_fd[2], i;
	pid_t reader[2];

	ASSERT_EQ(0, pipe2(pipe_fd, O_NONBLOCK));
	for (i = 0; i < 2; i++) {
		reader[i] = fork();
		if (!reader[i]) {
			close(pipe_fd[1]);
			_exit(read_all_until("comes_and_goes", pipe_fd[0]));
		}
	}
	for (i = 0; i < 15; i++) {
		EXPECT_EQ(0, ctl("create comes_and_goes 3 1"));
		EXPECT_EQ(0, ctl("submit comes_and_goes 3 0"));
		EXPECT_EQ(0, ctl("destroy comes_and_goes"));
	}
	close(pipe_fd[1]);
	EXPECT_EQ(0, reap(reader[0]));
	EXPECT_EQ(0, reap(reader[1]));
}

TEST_HARNESS_MAIN
