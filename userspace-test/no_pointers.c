// SPDX-License-Identifier: GPL-2.0-only
/*
 * No address of the kernel is in a file that a program without privilege can read,
 * nor in a uevent: while tasks run and are pending, a caller waits, threads come and
 * go, and a task stalls. The files of debugfs it cannot read. What they are when a
 * thread has died is in the suite fault.
 */
#include "util.h"

#include <dirent.h>
#include <linux/netlink.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define PARAMETERS	"/sys/module/ants/parameters"
#define DEBUGFS		"/sys/kernel/debug"
#define NOBODY		1000
/* The number of digits of an address to the base 16; to the base 10 it has more. */
#define DIGITS		(2 * sizeof(void *))

static bool has_address(const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	size_t i, run = 0;

	for (i = 0; i < len; i++) {
		run = text[i] && strchr(digits, text[i]) ? run + 1 : 0;
		if (run >= DIGITS)
			return true;
		if (i + 1 < len && text[i] == '0' && text[i + 1] == 'x')
			return true;
	}
	return false;
}

/* What a process that reads files has found. */
static struct found {
	unsigned int nr_read;
	unsigned int nr_refused;
	unsigned int nr_addresses;
	char where[420];
} *found;

FIXTURE(no_pointers) {
	char pool[32];
	pid_t caller;
};

/* A line of the log that tests must not be surprised by. */
static void announce(const char *pool)
{
	char line[128];
	int len;

	len = snprintf(line, sizeof(line),
		       "ants-expect: ^ants: pool %s: .* has run for\n", pool);
	write_file("/dev/kmsg", line, len);
}

/* One task runs, and has been reported; one is pending; one caller waits. */
FIXTURE_SETUP(no_pointers)
{
	char line[64];

	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, found);
	snprintf(self->pool, sizeof(self->pool), "plain%d", getpid());
	ASSERT_EQ(0, ctl("create %s 1", self->pool));
	ASSERT_EQ(0, ctl("create_multi %sm 4 2 2", self->pool));
	ASSERT_EQ(0, put(self->pool, "stats/timing", "1"));
	ASSERT_EQ(0, put(self->pool, "queue_depth", "1"));
	ASSERT_EQ(0, ctl("submit %s 10 1", self->pool));
	ASSERT_EQ(0, ctl("flush %s", self->pool));
	announce(self->pool);
	ASSERT_EQ(0, put(self->pool, "stall_ms", "20"));
	ASSERT_EQ(0, ctl("hold %s 2", self->pool));
	snprintf(line, sizeof(line), "submit %s 1 0", self->pool);
	self->caller = ctl_async(line);
	EXPECT_SOON(get_number(self->pool, "stats/waiting") == 1);
	EXPECT_SOON(get_number(self->pool, "stats/stalled") > 0);
	/* One report is announced, and the tasks behind this one may be slow. */
	ASSERT_EQ(0, put(self->pool, "stall_ms", "0"));
}

FIXTURE_TEARDOWN(no_pointers)
{
	ctl("let");
	if (self->caller)
		EXPECT_EQ(0, reap(self->caller));
	EXPECT_EQ(0, ctl("destroy %s", self->pool));
	EXPECT_EQ(0, ctl("destroy %sm", self->pool));
	munmap(found, sizeof(*found));
}

static void read_one(const char *path)
{
	static char text[1 << 16];
	int len = read_file(path, text, sizeof(text));

	if (len < 0) {
		found->nr_refused++;
	} else {
		found->nr_read++;
		if (has_address(text, len)) {
			found->nr_addresses++;
			snprintf(found->where, sizeof(found->where), "%s: %.99s",
				 path, text);
		}
	}
}

static void read_all(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char path[300];

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir,
				     entry->d_name) >= sizeof(path))
			continue;
		if (entry->d_type == DT_DIR)
			read_all(path);
		else
			read_one(path);
	}
	if (d)
		closedir(d);
}

/* As a user without privilege. */
static int read_as_nobody(const char *dir)
{
	pid_t pid = fork();

	if (pid)
		return reap(pid);
	if (setgid(NOBODY) || setuid(NOBODY))
		_exit(EPERM);
	read_all(dir);
	_exit(0);
}

static size_t nr_with_address(const char * const *texts, size_t nr)
{
	size_t i, with = 0;

	for (i = 0; i < nr; i++)
		with += has_address(texts[i], strlen(texts[i]));
	return with;
}

CASE(no_pointers, addresses_are_known_by_their_length)
{
	static const char * const wrong[] = {
		"ffff888003a1b000", "task ffffffffc0401230 runs", "0x1000",
		"00000000f3a9c1d2", "18446612132400000000", "FFFFFFFF81000000",
	};
	static const char * const right[] = {
		"2147483647", "4294967295\n", "0-3,6", "open", "0,0,12,3,0",
		"hold_task [ants_ctl]", "STALLED=1", "999999999999999",
	};

	EXPECT_EQ(ARRAY_SIZE(wrong), nr_with_address(wrong, ARRAY_SIZE(wrong)));
	EXPECT_EQ(0U, nr_with_address(right, ARRAY_SIZE(right)));
}

CASE(no_pointers, none_is_in_sysfs)
{
	EXPECT_EQ(0, read_as_nobody(ANTS_DIR));
	EXPECT_EQ(0, read_as_nobody(PARAMETERS));
	EXPECT_LT(100U, found->nr_read);
	EXPECT_EQ(0U, found->nr_refused);
	EXPECT_EQ(0U, found->nr_addresses)
		TH_LOG("%s", found->where);
}

/* The modes of the files keep others out, where that of debugfs does not. */
CASE(no_pointers, debugfs_is_for_root)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEBUGFS, &st));
	ASSERT_EQ(0, chmod(DEBUGFS, 0755));
	EXPECT_EQ(0, read_as_nobody(DEBUGFS "/ants"));
	EXPECT_EQ(0, chmod(DEBUGFS, st.st_mode & 07777));
	EXPECT_LE(4U, found->nr_refused);
	EXPECT_EQ(0U, found->nr_read);
}

/* Any user may listen. */
static int uevent_socket(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	struct timeval limit = { .tv_sec = DEADLINE };
	int fd = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -1 : fd;
}

/* Read uevents until there is one with the setting; how many were wrong, or -1. */
static int nr_wrong_until(int fd, const char *setting)
{
	char buf[4097];
	const char *text;
	int nr = 0;
	ssize_t len;

	while ((len = recv(fd, buf, sizeof(buf) - 1, 0)) > 0) {
		buf[len] = '\0';
		nr += has_address(buf, len);
		for (text = buf; text < buf + len; text += strlen(text) + 1)
			if (!strcmp(text, setting))
				return nr;
	}
	return -1;
}

CASE(no_pointers, none_is_in_a_uevent)
{
	int fd;

	ASSERT_EQ(0, seteuid(NOBODY));
	fd = uevent_socket();
	ASSERT_EQ(0, seteuid(0));
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ctl("create %s-other 1", self->pool));
	ASSERT_EQ(0, ctl("release %s", self->pool));
	EXPECT_EQ(-ESHUTDOWN, reap(self->caller));
	self->caller = 0;
	EXPECT_EQ(0, nr_wrong_until(fd, "STATE=draining"));
	ASSERT_EQ(0, ctl("let"));
	EXPECT_EQ(0, nr_wrong_until(fd, "STATE=released"));
	ASSERT_EQ(0, ctl("destroy %s-other", self->pool));
	EXPECT_EQ(0, nr_wrong_until(fd, "ACTION=remove"));
	close(fd);
}

TEST_HARNESS_MAIN
