// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the writable files of a pool accept and refuse. Each test runs once for
 * each file; the fixture's variants name them.
 */
#include "util.h"

/* What is written, and what is read afterwards. */
struct good {
	const char *text;
	const char *read;
};

/* What is written, and the error. */
struct bad {
	const char *text;
	int err;
};

#define MOST	8

FIXTURE(values) {
	char pool[32];
};

FIXTURE_VARIANT(values) {
	const char *file;
	bool has_sign;
	struct good good[MOST];
	struct bad bad[MOST];
};

FIXTURE_VARIANT_ADD(values, capacity) {
	.file = "capacity",
	.good = {
		{ "1", "1" },
		{ "8\n", "8" },
		{ "0x10", "16" },
		{ "010", "8" },
		{ "+7", "7" },
		{ "max", "max" },
		{ "max\n", "max" },
		{ "2147483647", "2147483647" },
	},
	.bad = {
		{ "0", EINVAL },
		{ "2147483648", ERANGE },
		{ "4294967295", ERANGE },
		{ "MAX", EINVAL },
		{ "max ", EINVAL },
		{ "max\n\n", EINVAL },
		{ "maximum", EINVAL },
	},
};

FIXTURE_VARIANT_ADD(values, max_blocking) {
	.file = "max_blocking",
	.good = {
		{ "0", "0" },
		{ "3\n", "3" },
		{ "0x10", "16" },
		{ "010", "8" },
		{ "+7", "7" },
		{ "4294967295", "4294967295" },
	},
	.bad = { { "max", EINVAL } },
};

FIXTURE_VARIANT_ADD(values, queue_depth) {
	.file = "queue_depth",
	.good = {
		{ "0", "0" },
		{ "3\n", "3" },
		{ "0x10", "16" },
		{ "010", "8" },
		{ "+7", "7" },
		{ "2147483647", "2147483647" },
	},
	.bad = {
		{ "2147483648", EINVAL },
		{ "4294967295", EINVAL },
		{ "max", EINVAL },
	},
};

/* The pool has a capacity of 4. */
FIXTURE_VARIANT_ADD(values, min_workers) {
	.file = "min_workers",
	.good = {
		{ "0", "0" },
		{ "2\n", "2" },
		{ "0x4", "4" },
		{ "03", "3" },
		{ "+1", "1" },
	},
	.bad = {
		{ "5", EINVAL },
		{ "2147483648", EINVAL },
		{ "4294967295", EINVAL },
		{ "max", EINVAL },
	},
};

/* Reads as written, although the kernel counts in ticks. */
FIXTURE_VARIANT_ADD(values, expiry_ms) {
	.file = "expiry_ms",
	.good = {
		{ "1", "1" },
		{ "1000", "1000" },
		{ "21\n", "21" },
		{ "0x65", "101" },
		{ "0145", "101" },
		{ "+60001", "60001" },
		{ "2147483647", "2147483647" },
	},
	.bad = {
		{ "0", EINVAL },
		{ "2147483648", EINVAL },
		{ "4294967295", EINVAL },
		{ "max", EINVAL },
	},
};

FIXTURE_VARIANT_ADD(values, nonblocking) {
	.file = "nonblocking",
	.good = {
		{ "1", "1" },
		{ "0\n", "0" },
		{ "0x1", "1" },
		{ "00", "0" },
		{ "+1", "1" },
	},
	.bad = {
		{ "2", EINVAL },
		{ "2147483648", EINVAL },
		{ "4294967295", EINVAL },
		{ "y", EINVAL },
		{ "max", EINVAL },
	},
};

FIXTURE_VARIANT_ADD(values, stall_ms) {
	.file = "stall_ms",
	.good = {
		{ "0", "0" },
		{ "60000\n", "60000" },
		{ "0x7530", "30000" },
		{ "072460", "30000" },
		{ "+60001", "60001" },
		{ "2147483647", "2147483647" },
	},
	.bad = {
		{ "2147483648", EINVAL },
		{ "4294967295", EINVAL },
		{ "max", EINVAL },
	},
};

FIXTURE_VARIANT_ADD(values, max_faults) {
	.file = "max_faults",
	.good = {
		{ "1", "1" },
		{ "16\n", "16" },
		{ "0x20", "32" },
		{ "010", "8" },
		{ "+2", "2" },
		{ "2147483647", "2147483647" },
	},
	.bad = {
		{ "0", EINVAL },
		{ "2147483648", EINVAL },
		{ "4294967295", EINVAL },
		{ "max", EINVAL },
	},
};

FIXTURE_VARIANT_ADD(values, timing) {
	.file = "stats/timing",
	.good = {
		{ "1", "1" },
		{ "0", "0" },
		{ "0x40\n", "64" },
		{ "010", "8" },
		{ "+0", "0" },
		{ "1000000", "1000000" },
	},
	.bad = {
		{ "1000001", EINVAL },
		{ "4294967295", EINVAL },
		{ "y", EINVAL },
		{ "on", EINVAL },
	},
};

FIXTURE_VARIANT_ADD(values, nice) {
	.file = "nice",
	.has_sign = true,
	.good = {
		{ "5", "5" },
		{ "-7\n", "-7" },
		{ "0x10", "16" },
		{ "-010", "-8" },
		{ "+1", "1" },
		{ "-0", "0" },
		{ "19", "19" },
		{ "-20", "-20" },
	},
	.bad = {
		{ "20", EINVAL },
		{ "-21", EINVAL },
		{ "2147483647", EINVAL },
		{ "-2147483648", EINVAL },
		{ "2147483648", ERANGE },
		{ "-2147483649", ERANGE },
		{ "--1", EINVAL },
		{ "max", EINVAL },
	},
};

FIXTURE_SETUP(values)
{
	snprintf(self->pool, sizeof(self->pool), "values%d", getpid());
	ASSERT_EQ(0, ctl("create %s 4", self->pool));
}

FIXTURE_TEARDOWN(values)
{
	EXPECT_EQ(0, ctl("destroy %s", self->pool));
}

/* A refused write changes nothing. */
static void expect_refused(struct __test_metadata *_metadata, const char *pool,
			   const char *file, int err, const char *text)
{
	const char *before = get(pool, file);

	EXPECT_EQ(-err, put(pool, file, text))
		TH_LOG("%s: written '%.20s'", file, text);
	EXPECT_STREQ(before, get(pool, file));
}

#define EXPECT_REFUSED(err, text)					\
	expect_refused(_metadata, self->pool, variant->file, err, text)

CASE(values, takes_what_is_good)
{
	const struct good *g;

	for (g = variant->good; g < variant->good + MOST && g->text; g++) {
		EXPECT_EQ(0, put(self->pool, variant->file, g->text))
			TH_LOG("%s: written '%s'", variant->file, g->text);
		EXPECT_STREQ(g->read, get(self->pool, variant->file));
	}
}

CASE(values, refuses_what_is_out_of_range)
{
	const struct bad *b;

	for (b = variant->bad; b < variant->bad + MOST && b->text; b++)
		EXPECT_REFUSED(b->err, b->text);
}

/* The files accept what kstrtouint() accepts, and nothing else. */
CASE(values, refuses_what_is_no_number)
{
	static const char * const texts[] = {
		"abc", "\n", " ", "-1", "-0", "--1", "+-1", "+", " 1", "1 ",
		"\t1", "1\n\n", "1\n2", "1x", "1 2", "1,2", "1.5", "1e3", "0x",
		"0xg", "08", "0b1", "#1",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (!variant->has_sign || texts[i][0] != '-')
			EXPECT_REFUSED(EINVAL, texts[i]);
}

CASE(values, refuses_what_does_not_fit)
{
	EXPECT_REFUSED(ERANGE, "4294967296");
	EXPECT_REFUSED(ERANGE, "0x100000000");
	EXPECT_REFUSED(ERANGE, "18446744073709551615");
	EXPECT_REFUSED(ERANGE, "18446744073709551616");
	EXPECT_REFUSED(ERANGE, "340282366920938463463374607431768211456");
}

/* A page of digits, and more than a page, of which sysfs passes one on. */
CASE(values, refuses_pages_of_digits)
{
	char text[8193];

	memset(text, '9', sizeof(text));
	text[4096] = '\0';
	EXPECT_REFUSED(ERANGE, text);
	text[4096] = '9';
	text[8192] = '\0';
	EXPECT_REFUSED(ERANGE, text);
}

/* sysfs does not pass an empty write on. */
CASE(values, empty_write_changes_nothing)
{
	const char *before = get(self->pool, variant->file);

	EXPECT_EQ(0, put(self->pool, variant->file, ""));
	EXPECT_STREQ(before, get(self->pool, variant->file));
}

/* Values have no position: a write in the middle is a write. */
CASE(values, position_of_a_write_is_ignored)
{
	const struct good *g = variant->good;
	int fd = open(pool_path(self->pool, variant->file), O_RDWR);
	char buf[32] = "";

	ASSERT_LE(0, fd);
	EXPECT_EQ((ssize_t)strlen(g->text),
		  pwrite(fd, g->text, strlen(g->text), 100));
	EXPECT_EQ((ssize_t)strlen(g->read) + 1,
		  pread(fd, buf, sizeof(buf) - 1, 0));
	EXPECT_EQ(0, strncmp(buf, g->read, strlen(g->read)));
	close(fd);
}

/* Each of many writes to one descriptor is a value. */
CASE(values, descriptor_can_be_written_again)
{
	const struct good *g = variant->good;
	int fd = open(pool_path(self->pool, variant->file), O_WRONLY);

	ASSERT_LE(0, fd);
	for (; g < variant->good + MOST && g->text; g++) {
		EXPECT_EQ((ssize_t)strlen(g->text),
			  write(fd, g->text, strlen(g->text)));
		EXPECT_STREQ(g->read, get(self->pool, variant->file));
	}
	EXPECT_EQ(-1, write(fd, "abc", 3));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

/* A word. */
FIXTURE(sched) {
	char pool[32];
};

FIXTURE_SETUP(sched)
{
	snprintf(self->pool, sizeof(self->pool), "sched%d", getpid());
	ASSERT_EQ(0, ctl("create %s 4", self->pool));
}

FIXTURE_TEARDOWN(sched)
{
	EXPECT_EQ(0, ctl("destroy %s", self->pool));
}

CASE(sched, takes_its_words)
{
	static const struct good good[] = {
		{ "fifo", "fifo" },
		{ "fifo_low\n", "fifo_low" },
		{ "normal", "normal" },
		{ "fifo\n", "fifo" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(0, put(self->pool, "sched", good[i].text));
		EXPECT_STREQ(good[i].read, get(self->pool, "sched"));
	}
}

CASE(sched, refuses_others)
{
	static const char * const texts[] = {
		"\n", " ", "0", "1", "-1", "4294967296", "FIFO", "fifo ",
		" fifo", "fifo_", "fifo_lo", "fif", "batch", "rr", "deadline",
		"fifo\n\n", "normal,fifo",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		expect_refused(_metadata, self->pool, "sched", EINVAL, texts[i]);
}

/* Threads that run in real time have no nice value. */
CASE(sched, refuses_a_nice_value_beside_it)
{
	EXPECT_EQ(0, put(self->pool, "nice", "5"));
	expect_refused(_metadata, self->pool, "sched", EINVAL, "fifo");
	EXPECT_EQ(0, put(self->pool, "nice", "0"));
	EXPECT_EQ(0, put(self->pool, "sched", "fifo"));
	expect_refused(_metadata, self->pool, "nice", EINVAL, "5");
	EXPECT_EQ(0, put(self->pool, "sched", "normal"));
	EXPECT_EQ(0, put(self->pool, "nice", "5"));
}

/* A list of CPUs. The guest has at least two, and CPU 0 stays. */
FIXTURE(cpulist) {
	char pool[32];
	char all[16];
};

FIXTURE_SETUP(cpulist)
{
	snprintf(self->pool, sizeof(self->pool), "cpulist%d", getpid());
	ASSERT_EQ(0, ctl("create %s 4", self->pool));
	snprintf(self->all, sizeof(self->all), "%s",
		 get(self->pool, "cpulist"));
}

FIXTURE_TEARDOWN(cpulist)
{
	EXPECT_EQ(0, ctl("destroy %s", self->pool));
}

CASE(cpulist, takes_lists)
{
	const struct good good[] = {
		{ "0", "0" },
		{ "1\n", "1" },
		{ "0,1", "0-1" },
		{ "1,0", "0-1" },
		{ "0-1", "0-1" },
		{ " 0 , 1 ", "0-1" },
		{ "0-1:1/2", "0" },
		{ "all", self->all },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(0, put(self->pool, "cpulist", good[i].text))
			TH_LOG("written '%s'", good[i].text);
		EXPECT_STREQ(good[i].read, get(self->pool, "cpulist"));
	}
}

CASE(cpulist, refuses_others)
{
	static const struct bad bad[] = {
		{ "\n", EINVAL },
		{ ",", EINVAL },
		{ "-1", EINVAL },
		{ "1-0", EINVAL },
		{ "0-", EINVAL },
		{ "0x1", EINVAL },
		{ "a", EINVAL },
		{ "1;0", EINVAL },
		{ "8", ERANGE },
		{ "0,8", ERANGE },
		{ "0,4096", ERANGE },
		{ "4294967295", EINVAL },
		{ "4294967296", ERANGE },
		{ "0,18446744073709551616", ERANGE },
		{ "0-99999999999999999999", ERANGE },
	};
	size_t i;

	EXPECT_EQ(0, put(self->pool, "cpulist", "1"));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		expect_refused(_metadata, self->pool, "cpulist", bad[i].err,
			       bad[i].text);
	EXPECT_STREQ("1", get(self->pool, "cpulist"));
}

TEST_HARNESS_MAIN
