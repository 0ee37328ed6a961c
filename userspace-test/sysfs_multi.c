// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a multi: which exist, what may be done with them, and its
 * states. Each test runs once for each strategy. Documentation/ABI is linked
 * into this program.
 */
#include "util.h"

#include <dirent.h>
#include <sys/stat.h>

#include "abi.h"

#define FIXED	256
#define MULTI	"What:\t\t/sys/kernel/ants/<multi>/"

static const char * const files[] = {
	"capacity", "queue_depth", "nice", "sched", "cpulist", "nr_shards",
	"strategy", "state",
};

#define NR_FILES	(sizeof(files) / sizeof(*files))

FIXTURE(multi) {
	char name[32];
};

FIXTURE_VARIANT(multi) {
	const char *strategy;
	int nr;
};

FIXTURE_VARIANT_ADD(multi, round_robin) {
	.strategy = "round_robin",
	.nr = 0,
};

FIXTURE_VARIANT_ADD(multi, least_tasks) {
	.strategy = "least_tasks",
	.nr = 1,
};

FIXTURE_VARIANT_ADD(multi, local) {
	.strategy = "local",
	.nr = 2,
};

FIXTURE_SETUP(multi)
{
	snprintf(self->name, sizeof(self->name), "multi%d", getpid());
	ASSERT_EQ(0, ctl("create_multi %s 4 2 %d", self->name, variant->nr));
}

FIXTURE_TEARDOWN(multi)
{
	ctl("let");
	ctl("destroy %s", self->name);
}

static bool is_documented(const char *file)
{
	char what[400];

	snprintf(what, sizeof(what), MULTI "%s\n", file);
	return strstr(abi, what);
}

CASE(multi, each_file_is_documented)
{
	DIR *d = opendir(pool_path(self->name, ""));
	struct dirent *entry;
	size_t nr = 0;

	ASSERT_NE(NULL, d);
	while ((entry = readdir(d))) {
		if (entry->d_type != DT_REG)
			continue;
		EXPECT_TRUE(is_documented(entry->d_name))
			TH_LOG("%s", entry->d_name);
		nr++;
	}
	closedir(d);
	EXPECT_EQ(NR_FILES, nr);
}

/* The CPUs of local shards were decided when the multi was made. */
static unsigned int mode_of(const char *file, bool local, bool fixed)
{
	if (!strcmp(file, "nice") || !strcmp(file, "sched"))
		return 0644;
	if (!strcmp(file, "cpulist"))
		return local ? 0444 : 0644;
	if (!strcmp(file, "capacity") || !strcmp(file, "queue_depth"))
		return fixed ? 0444 : 0644;
	return 0444;
}

static void expect_modes(struct __test_metadata *_metadata, const char *name,
			 bool local, bool fixed)
{
	unsigned int mode;
	struct stat st;
	size_t i;

	for (i = 0; i < NR_FILES; i++) {
		mode = mode_of(files[i], local, fixed);
		ASSERT_EQ(0, stat(pool_path(name, files[i]), &st));
		EXPECT_EQ(S_IFREG | mode, st.st_mode)
			TH_LOG("%s", files[i]);
		if (mode == 0444)
			EXPECT_EQ(-EACCES, put(name, files[i], "1"));
	}
	ASSERT_EQ(0, stat(pool_path(name, "stats/busy"), &st));
	EXPECT_EQ(S_IFREG | 0444U, st.st_mode);
	ASSERT_EQ(0, stat(pool_path(name, "shard1"), &st));
	EXPECT_EQ(S_IFDIR | 0755U, st.st_mode);
}

CASE(multi, modes_are_0644_or_0444)
{
	expect_modes(_metadata, self->name, variant->nr == 2, false);
}

/* Not even after the modes were changed. */
CASE(multi, fixed_limits_are_read_only)
{
	static const char * const limits[] = {
		"capacity", "queue_depth", "shard1/capacity",
		"shard1/queue_depth", "shard1/nonblocking",
	};
	const char *before;
	size_t i;

	ASSERT_EQ(0, ctl("destroy %s", self->name));
	ASSERT_EQ(0, ctl("create_multi %s 4 2 %d %d", self->name, variant->nr,
			 FIXED));
	expect_modes(_metadata, self->name, variant->nr == 2, true);
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		before = get(self->name, limits[i]);
		EXPECT_EQ(-EACCES, put(self->name, limits[i], "1"));
		ASSERT_EQ(0, chmod(pool_path(self->name, limits[i]), 0644));
		EXPECT_EQ(-EPERM, put(self->name, limits[i], "1"))
			TH_LOG("%s", limits[i]);
		EXPECT_STREQ(before, get(self->name, limits[i]));
	}
	EXPECT_EQ(0, put(self->name, "nice", "1"));
}

CASE(multi, a_new_multi_shows_how_it_was_made)
{
	EXPECT_STREQ("4", get(self->name, "capacity"));
	EXPECT_STREQ("0", get(self->name, "queue_depth"));
	EXPECT_STREQ("0", get(self->name, "nice"));
	EXPECT_STREQ("normal", get(self->name, "sched"));
	EXPECT_STREQ("2", get(self->name, "nr_shards"));
	EXPECT_STREQ(variant->strategy, get(self->name, "strategy"));
	EXPECT_STREQ("open", get(self->name, "state"));
	EXPECT_STREQ("4", get(self->name, "stats/free"));
}

/* A single shard that is not empty keeps the multi draining. */
CASE(multi, state_open_draining_released_open)
{
	ASSERT_EQ(0, ctl("hold %s 1", self->name));
	EXPECT_STREQ("open", get(self->name, "state"));
	EXPECT_EQ(-EBUSY, ctl("reboot %s", self->name));
	EXPECT_EQ(0, ctl("release %s", self->name));
	EXPECT_STREQ("draining", get(self->name, "state"));
	EXPECT_EQ(-ESHUTDOWN, ctl("submit %s 1 0", self->name));
	EXPECT_EQ(-EBUSY, ctl("reboot %s", self->name));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_SOON(!strcmp(get(self->name, "state"), "released"));
	EXPECT_STREQ("released", get(self->name, "shard0/state"));
	EXPECT_STREQ("released", get(self->name, "shard1/state"));
	EXPECT_EQ(0, ctl("reboot %s", self->name));
	EXPECT_STREQ("open", get(self->name, "state"));
	EXPECT_EQ(0, ctl("submit %s 4 0", self->name));
	EXPECT_EQ(0, ctl("flush %s", self->name));
	EXPECT_STREQ("5", get(self->name, "stats/completed"));
}

CASE(multi, held_open_beyond_the_multi)
{
	static const char * const held[] = {
		"capacity", "queue_depth", "nice", "shard1/capacity",
	};
	int fd[sizeof(held) / sizeof(*held)], state, busy;
	size_t i;
	char buf[16];

	for (i = 0; i < sizeof(held) / sizeof(*held); i++)
		fd[i] = open(pool_path(self->name, held[i]), O_RDWR);
	state = open(pool_path(self->name, "state"), O_RDONLY);
	busy = open(pool_path(self->name, "stats/busy"), O_RDONLY);
	ASSERT_EQ(0, ctl("destroy %s", self->name));
	for (i = 0; i < sizeof(held) / sizeof(*held); i++) {
		EXPECT_EQ(-1, read(fd[i], buf, sizeof(buf)));
		EXPECT_EQ(ENODEV, errno);
		EXPECT_EQ(-1, write(fd[i], "5", 1));
		EXPECT_EQ(ENODEV, errno);
		close(fd[i]);
	}
	EXPECT_EQ(-1, read(state, buf, sizeof(buf)));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, read(busy, buf, sizeof(buf)));
	EXPECT_EQ(ENODEV, errno);
	close(state);
	close(busy);
}

CASE(multi, write_that_waits_can_be_interrupted)
{
	static const char * const written[] = {
		"capacity", "queue_depth", "nice", "cpulist",
	};
	const char *before;
	size_t i;
	pid_t pid = put_and_hold(self->name, "6");

	ASSERT_LT(0, pid);
	for (i = 0; i < sizeof(written) / sizeof(*written); i++) {
		if (mode_of(written[i], variant->nr == 2, false) != 0644)
			continue;
		before = get(self->name, written[i]);
		EXPECT_EQ(-EINTR, put_interrupted(self->name, written[i], "1"))
			TH_LOG("%s", written[i]);
		EXPECT_STREQ(before, get(self->name, written[i]));
	}
	EXPECT_EQ(0, ctl("let_tune %s", self->name));
	EXPECT_EQ(0, reap(pid));
	EXPECT_STREQ("6", get(self->name, "capacity"));
}

CASE(multi, cpulist_refuses_what_no_cpu_can_have)
{
	static const char * const lists[] = { "8", "0,4096", "4294967296" };
	const char *before = get(self->name, "cpulist");
	size_t i;

	if (variant->nr == 2)
		return;
	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		EXPECT_EQ(-ERANGE, put(self->name, "cpulist", lists[i]));
	EXPECT_STREQ(before, get(self->name, "cpulist"));
}

TEST_HARNESS_MAIN
