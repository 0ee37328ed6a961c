// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an administrator sees of a pool beside its numbers: the tables in debugfs,
 * and how programs are told of changes. Documentation/ABI/testing/debugfs-ants is
 * linked into this program.
 */
#include "util.h"

#include <dirent.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ABI_FILE	"debugfs-ants"
#include "abi.h"

#define DEBUG_DIR	"/sys/kernel/debug/ants"

FIXTURE(observe) {
	char pool[32];
};

FIXTURE_SETUP(observe)
{
	snprintf(self->pool, sizeof(self->pool), "observe%d", getpid());
	ASSERT_EQ(0, ctl("create %s 1", self->pool));
}

FIXTURE_TEARDOWN(observe)
{
	ctl("let");
	ctl("destroy %s", self->pool);
}

/* The text of a file in debugfs. */
static const char *table(const char *file)
{
	static char text[1 << 16];
	char path[128];
	int fd, len = 0;
	ssize_t ret;

	snprintf(path, sizeof(path), DEBUG_DIR "/%s", file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return "";
	while ((ret = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += ret;
	text[len] = '\0';
	close(fd);
	return text;
}

/* The first row of a file that is about the pool, or "". */
static const char *row(const char *file, const char *pool)
{
	static char line[256];
	const char *text = table(file);
	size_t len = strlen(pool);

	while (text && (strncmp(text, pool, len) || text[len] != ' ')) {
		text = strchr(text, '\n');
		text += !!text;
	}
	snprintf(line, sizeof(line), "%.*s",
		 text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	return line;
}

static bool is_documented(const char *file)
{
	char what[400];

	snprintf(what, sizeof(what), "What:\t\t" DEBUG_DIR "/%s\n", file);
	return strstr(abi, what);
}

/* How many files there are not documented, or not for root alone. */
static int nr_wrong(void)
{
	DIR *d = opendir(DEBUG_DIR);
	struct dirent *entry;
	struct stat st;
	int nr = 0;

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		nr += !is_documented(entry->d_name) ||
		      fstatat(dirfd(d), entry->d_name, &st, 0) ||
		      st.st_mode != (S_IFREG | 0400U);
	}
	return d && !closedir(d) ? nr : -1;
}

CASE(observe, each_table_is_documented_and_for_root)
{
	EXPECT_EQ(0, nr_wrong());
}

CASE(observe, each_documented_table_exists)
{
	const char *line;
	char path[128];
	int nr = 0;

	for (line = abi; (line = strstr(line, "What:\t\t" DEBUG_DIR)); nr++) {
		line += strlen("What:\t\t");
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(line, "\n"),
			 line);
		EXPECT_EQ(0, access(path, F_OK))
			TH_LOG("%s does not exist", path);
	}
	EXPECT_LT(4, nr);
}

CASE(observe, nobody_else_may_look)
{
	pid_t pid = fork();

	if (!pid) {
		if (setgid(1000) || setuid(1000))
			_exit(100);
		_exit(*table("workers") || *table("summary"));
	}
	EXPECT_EQ(0, reap(pid));
}

CASE(observe, tables_name_what_fills_a_pool)
{
	char line[64];
	pid_t pid;

	ASSERT_EQ(0, put(self->pool, "queue_depth", "1"));
	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	EXPECT_SOON(get_number(self->pool, "stats/busy") == 1);
	snprintf(line, sizeof(line), "submit %s 1 0", self->pool);
	pid = ctl_async(line);
	EXPECT_SOON(get_number(self->pool, "stats/waiting") == 1);
	EXPECT_NE(NULL, strstr(row("workers", self->pool), "[ants_ctl]"));
	EXPECT_NE(NULL, strstr(row("pending", self->pool), "[ants_ctl]"));
	EXPECT_NE(NULL, strstr(row("waiters", self->pool), "  (observe)"));
	EXPECT_NE(NULL, strstr(row("summary", self->pool), "open"));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_EQ(0, reap(pid));
}

/* As the number of the shard behind the name of the multi. */
CASE(observe, shards_are_in_the_tables)
{
	char shard[64], dir[64];

	ASSERT_EQ(0, ctl("create_multi %sm 2 2 0", self->pool));
	snprintf(shard, sizeof(shard), "%sm/1", self->pool);
	snprintf(dir, sizeof(dir), "%sm/shard1", self->pool);
	EXPECT_EQ(0, put(dir, "min_workers", "1"));
	EXPECT_SOON(strstr(row("workers", shard), "idle"));
	EXPECT_NE(NULL, strstr(row("summary", shard), "open"));
	EXPECT_EQ(0, ctl("destroy %sm", self->pool));
	EXPECT_STREQ("", row("workers", shard));
	EXPECT_STREQ("", row("summary", shard));
}

/*
 * A caller that destroys it waits for its tasks, and the tables show which. It does
 * not wait for a program that has read a part of a table.
 */
CASE(observe, tables_show_a_pool_that_is_destroyed)
{
	int fd = open(DEBUG_DIR "/workers", O_RDONLY);
	char line[64], buf[4];
	pid_t pid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ctl("hold %s 1", self->pool));
	EXPECT_SOON(get_number(self->pool, "stats/busy") == 1);
	snprintf(line, sizeof(line), "destroy %s", self->pool);
	pid = ctl_async(line);
	EXPECT_SOON(!strcmp(get(self->pool, "state"), "draining"));
	EXPECT_NE(NULL, strstr(row("workers", self->pool), "[ants_ctl]"));
	EXPECT_EQ((ssize_t)sizeof(buf), read(fd, buf, sizeof(buf)));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_EQ(0, reap(pid));
	EXPECT_STREQ("", row("workers", self->pool));
	EXPECT_STREQ("", row("summary", self->pool));
	EXPECT_EQ((ssize_t)sizeof(buf), read(fd, buf, sizeof(buf)));
	close(fd);
}

/* Wait until poll() says that the file has changed, and read it. */
static const char *await_change(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLPRI };
	static char buf[64];
	ssize_t len;

	if (poll(&pfd, 1, DEADLINE * 1000) != 1 || !(pfd.revents & POLLPRI))
		return "nothing";
	len = pread(fd, buf, sizeof(buf) - 1, 0);
	buf[len > 0 ? len - 1 : 0] = '\0';
	return buf;
}

CASE(observe, poll_waits_for_the_next_state)
{
	int fd = open(pool_path(self->pool, "state"), O_RDONLY);
	struct pollfd pfd = { .fd = fd, .events = POLLPRI };
	char buf[16];

	ASSERT_LE(0, fd);
	ASSERT_EQ(5, pread(fd, buf, sizeof(buf), 0));
	EXPECT_EQ(0, poll(&pfd, 1, 50));
	ASSERT_EQ(0, ctl("hold %s 1", self->pool));
	ASSERT_EQ(0, ctl("release %s", self->pool));
	EXPECT_STREQ("draining", await_change(fd));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_STREQ("released", await_change(fd));
	EXPECT_SOON(!ctl("reboot %s", self->pool));
	EXPECT_STREQ("open", await_change(fd));
	close(fd);
}

static int uevent_socket(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	struct timeval limit = { .tv_sec = DEADLINE };
	int fd = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -1 : fd;
}

/* Wait for a uevent of the pool that has @setting. */
static bool await_uevent(int fd, const char *pool, const char *setting)
{
	char buf[4097], head[128];
	const char *text;
	ssize_t len;

	snprintf(head, sizeof(head), "change@/kernel/ants/%s", pool);
	while ((len = recv(fd, buf, sizeof(buf) - 1, 0)) > 0) {
		buf[len] = '\0';
		if (strcmp(buf, head))
			continue;
		for (text = buf; text < buf + len; text += strlen(text) + 1)
			if (!strcmp(text, setting))
				return true;
	}
	return false;
}

CASE(observe, uevents_tell_the_states)
{
	int fd = uevent_socket();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ctl("hold %s 1", self->pool));
	ASSERT_EQ(0, ctl("release %s", self->pool));
	EXPECT_TRUE(await_uevent(fd, self->pool, "STATE=draining"));
	EXPECT_EQ(0, ctl("let"));
	EXPECT_TRUE(await_uevent(fd, self->pool, "STATE=released"));
	EXPECT_SOON(!ctl("reboot %s", self->pool));
	EXPECT_TRUE(await_uevent(fd, self->pool, "STATE=open"));
	close(fd);
}

/* The report is announced, for else it would spoil the guest's log. */
static void announce(const char *pool)
{
	char line[128];
	int len;

	len = snprintf(line, sizeof(line),
		       "ants-expect: ^ants: pool %s: .* has run for\n", pool);
	write_file("/dev/kmsg", line, len);
}

CASE(observe, stalls_are_told)
{
	int fd = open(pool_path(self->pool, "stats/stalled"), O_RDONLY);
	int events = uevent_socket();
	char buf[16];

	ASSERT_LE(0, fd);
	ASSERT_LE(0, events);
	ASSERT_EQ(2, pread(fd, buf, sizeof(buf), 0));
	announce(self->pool);
	ASSERT_EQ(0, put(self->pool, "stall_ms", "20"));
	ASSERT_EQ(0, ctl("hold %s 1", self->pool));
	EXPECT_STREQ("1", await_change(fd));
	EXPECT_TRUE(await_uevent(events, self->pool, "STALLED=1"));
	EXPECT_EQ(0, ctl("let"));
	close(events);
	close(fd);
}

/* The sum of the numbers, or -1 if there are not 32 of them. */
static long sum_of(const char *list)
{
	long sum = 0;
	int nr = 0;
	char *end;

	for (;; list = end + 1) {
		sum += strtol(list, &end, 10);
		nr++;
		if (*end != ',')
			return nr == 32 && !*end ? sum : -1;
	}
}

CASE(observe, times_are_taken_when_asked_for)
{
	ASSERT_EQ(0, ctl("submit %s 5 0", self->pool));
	ASSERT_EQ(0, ctl("flush %s", self->pool));
	EXPECT_EQ(0, sum_of(get(self->pool, "stats/wait_us")));
	EXPECT_EQ(0, sum_of(get(self->pool, "stats/run_us")));
	ASSERT_EQ(0, put(self->pool, "stats/timing", "1"));
	ASSERT_EQ(0, ctl("submit %s 5 10", self->pool));
	ASSERT_EQ(0, ctl("flush %s", self->pool));
	EXPECT_EQ(5, sum_of(get(self->pool, "stats/wait_us")));
	EXPECT_SOON(sum_of(get(self->pool, "stats/run_us")) == 5);
	ASSERT_EQ(0, ctl("hold %s 1", self->pool));
	EXPECT_SOON(get_number(self->pool, "stats/longest_ms") > 50);
	EXPECT_EQ(0, ctl("let"));
	EXPECT_SOON(!get_number(self->pool, "stats/longest_ms"));
}

TEST_HARNESS_MAIN
