// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a pool as files: which exist, what may be done with them, and
 * how they read. Documentation/ABI is linked into this program.
 */
#include "util.h"

#include <dirent.h>
#include <sys/stat.h>

#include "abi.h"

#define POOL_PREFIX	"/sys/kernel/ants/<pool>/"
#define MOST		64

static const char * const writable[] = {
	"capacity", "max_blocking", "queue_depth", "min_workers", "expiry_ms",
	"nonblocking", "nice", "sched", "cpulist", "stall_ms", "max_faults",
	"stats/timing",
};

FIXTURE(files) {
	char pool[32];
	char documented[MOST][64];
	int nr;
};

/* The name after "What:", if it is a file of a pool and not a directory. */
static bool parse_what(const char *line, char *name, size_t size)
{
	size_t len;

	if (strncmp(line, "What:", 5))
		return false;
	line += 5 + strspn(line + 5, " \t");
	if (strncmp(line, POOL_PREFIX, strlen(POOL_PREFIX)))
		return false;
	line += strlen(POOL_PREFIX);
	len = strcspn(line, " \t\n");
	snprintf(name, size, "%.*s", (int)len, line);
	return len > 0 && name[len - 1] != '/';
}

FIXTURE_SETUP(files)
{
	const char *line;

	for (line = abi; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		ASSERT_LT(self->nr, MOST);
		self->nr += parse_what(line, self->documented[self->nr],
				       sizeof(self->documented[0]));
	}
	ASSERT_LT(0, self->nr);
	snprintf(self->pool, sizeof(self->pool), "files%d", getpid());
	ASSERT_EQ(0, ctl("create %s 4", self->pool));
}

FIXTURE_TEARDOWN(files)
{
	ctl("destroy %s", self->pool);
}

static bool is_writable(const char *file)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(writable); i++)
		if (!strcmp(file, writable[i]))
			return true;
	return false;
}

static bool is_documented(struct _test_data_files *self, const char *file)
{
	int i;

	for (i = 0; i < self->nr; i++)
		if (!strcmp(file, self->documented[i]))
			return true;
	return false;
}

CASE(files, each_documented_file_exists)
{
	int i;

	for (i = 0; i < self->nr; i++)
		EXPECT_EQ(0, access(pool_path(self->pool, self->documented[i]),
				    F_OK))
			TH_LOG("%s does not exist", self->documented[i]);
}

/* Count the files below @dir that are not documented. */
static int undocumented(struct __test_metadata *_metadata,
			struct _test_data_files *self, const char *dir)
{
	DIR *d = opendir(pool_path(self->pool, dir));
	struct dirent *entry;
	char name[300];
	int nr = 0;

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s%s", dir, entry->d_name);
		if (entry->d_type != DT_REG || is_documented(self, name))
			continue;
		TH_LOG("%s is not documented", name);
		nr++;
	}
	return d && !closedir(d) ? nr : -1;
}

CASE(files, each_file_is_documented)
{
	EXPECT_EQ(0, undocumented(_metadata, self, ""));
	EXPECT_EQ(0, undocumented(_metadata, self, "stats/"));
}

/* Nothing but the pool's own files and stats/. */
CASE(files, one_directory_a_pool_with_stats_in_it)
{
	struct stat st;

	ASSERT_EQ(0, stat(pool_path(self->pool, ""), &st));
	EXPECT_EQ(S_IFDIR | 0755U, st.st_mode);
	EXPECT_EQ(3U, st.st_nlink);
	ASSERT_EQ(0, stat(pool_path(self->pool, "stats"), &st));
	EXPECT_EQ(S_IFDIR | 0755U, st.st_mode);
	EXPECT_EQ(2U, st.st_nlink);
}

CASE(files, modes_are_0644_or_0444)
{
	size_t nr_writable = 0;
	const char *file;
	int i;
	struct stat st;

	for (i = 0; i < self->nr; i++) {
		file = self->documented[i];
		ASSERT_EQ(0, stat(pool_path(self->pool, file), &st));
		EXPECT_EQ(S_IFREG | (is_writable(file) ? 0644U : 0444U),
			  st.st_mode)
			TH_LOG("%s", file);
		EXPECT_EQ(0U, st.st_uid);
		nr_writable += is_writable(file);
	}
	EXPECT_EQ(ARRAY_SIZE(writable), nr_writable);
}

/* Not even root may. */
CASE(files, read_only_files_cannot_be_opened_for_writing)
{
	const char *file;
	int i;

	for (i = 0; i < self->nr; i++) {
		file = self->documented[i];
		if (is_writable(file))
			continue;
		EXPECT_EQ(-EACCES, put(self->pool, file, "1"))
			TH_LOG("%s", file);
	}
}

/* ANTS_FIXED, 256: not even after the modes were changed. */
CASE(files, fixed_limits_are_read_only)
{
	static const char * const limits[] = {
		"capacity", "queue_depth", "nonblocking",
	};
	struct stat st;
	size_t i;

	ASSERT_EQ(0, ctl("destroy %s", self->pool));
	ASSERT_EQ(0, ctl("create %s 3 0 256", self->pool));
	for (i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		ASSERT_EQ(0, stat(pool_path(self->pool, limits[i]), &st));
		EXPECT_EQ(S_IFREG | 0444U, st.st_mode);
		EXPECT_EQ(-EACCES, put(self->pool, limits[i], "1"));
		ASSERT_EQ(0, chmod(pool_path(self->pool, limits[i]), 0644));
		EXPECT_EQ(-EPERM, put(self->pool, limits[i], "1"));
	}
	EXPECT_STREQ("3", get(self->pool, "capacity"));
	EXPECT_EQ(0, put(self->pool, "max_blocking", "1"));
}

/* ANTS_CALLER_RUNS, 128: callers neither wait nor fail. */
CASE(files, callers_that_run_tasks_do_not_fail)
{
	ASSERT_EQ(0, ctl("destroy %s", self->pool));
	ASSERT_EQ(0, ctl("create %s 3 0 128", self->pool));
	EXPECT_EQ(-EINVAL, put(self->pool, "nonblocking", "1"));
	EXPECT_STREQ("0", get(self->pool, "nonblocking"));
	EXPECT_EQ(0, put(self->pool, "nonblocking", "0"));
}

/* ANTS_PREALLOC, 2: an unlimited number of threads cannot be preallocated. */
CASE(files, preallocated_pool_has_a_bound)
{
	ASSERT_EQ(0, ctl("destroy %s", self->pool));
	ASSERT_EQ(0, ctl("create %s 3 0 2", self->pool));
	EXPECT_EQ(-EINVAL, put(self->pool, "capacity", "max"));
	EXPECT_EQ(-EINVAL, put(self->pool, "queue_depth", "2147483645"));
	EXPECT_STREQ("3", get(self->pool, "capacity"));
	EXPECT_STREQ("0", get(self->pool, "queue_depth"));
	EXPECT_EQ(3, get_number(self->pool, "stats/running"));
	EXPECT_EQ(0, put(self->pool, "capacity", "5"));
	EXPECT_EQ(5, get_number(self->pool, "stats/running"));
}

CASE(files, only_root_may_write)
{
	int allowed = 0, i;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(1000) || setuid(1000))
			_exit(100);
		for (i = 0; i < self->nr; i++)
			allowed += put(self->pool, self->documented[i], "1") !=
				   -EACCES;
		_exit(allowed);
	}
	EXPECT_EQ(0, reap(pid));
}

CASE(files, everybody_may_read)
{
	char buf[4097];
	int refused = 0, i;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(1000) || setuid(1000))
			_exit(100);
		for (i = 0; i < self->nr; i++)
			refused += read_file(pool_path(self->pool,
						       self->documented[i]),
					     buf, sizeof(buf)) <= 0;
		_exit(refused);
	}
	EXPECT_EQ(0, reap(pid));
}

/* A number, a word or a list of CPUs, on exactly one line. */
CASE(files, one_value_and_one_newline)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz0123456789,-";
	const char *file;
	int i;
	char buf[4097];
	int len;

	for (i = 0; i < self->nr; i++) {
		file = self->documented[i];
		len = read_file(pool_path(self->pool, file), buf, sizeof(buf));
		ASSERT_LT(1, len)
			TH_LOG("%s", file);
		EXPECT_EQ((size_t)len - 1, strspn(buf, good))
			TH_LOG("%s: %s", file, buf);
		EXPECT_EQ('\n', buf[len - 1]);
	}
}

/* Reading byte by byte gives the same as reading all at once. */
CASE(files, partial_reads_add_up)
{
	char whole[4097], parts[4097];
	const char *file;
	int i;
	int fd, len;

	for (i = 0; i < self->nr; i++) {
		file = self->documented[i];
		ASSERT_LT(0, read_file(pool_path(self->pool, file), whole,
				       sizeof(whole)));
		fd = open(pool_path(self->pool, file), O_RDONLY);
		ASSERT_LE(0, fd);
		for (len = 0; read(fd, parts + len, 1) == 1; len++)
			;
		parts[len] = '\0';
		EXPECT_STREQ(whole, parts);
		EXPECT_EQ(0, read(fd, parts, 1));
		close(fd);
	}
}

CASE(files, read_at_an_offset)
{
	int fd = open(pool_path(self->pool, "state"), O_RDONLY);
	char buf[16] = "";

	ASSERT_LE(0, fd);
	EXPECT_EQ(3, pread(fd, buf, sizeof(buf), 2));
	EXPECT_STREQ("en\n", buf);
	EXPECT_EQ(0, pread(fd, buf, sizeof(buf), 5));
	EXPECT_EQ(0, pread(fd, buf, sizeof(buf), 4096));
	close(fd);
}

/* Back at the start the value is read anew, not from a copy. */
CASE(files, reread_after_lseek_is_fresh)
{
	int fd = open(pool_path(self->pool, "capacity"), O_RDONLY);
	char buf[16] = "";

	ASSERT_LE(0, fd);
	EXPECT_EQ(2, read(fd, buf, sizeof(buf)));
	EXPECT_STREQ("4\n", buf);
	EXPECT_EQ(0, put(self->pool, "capacity", "7"));
	EXPECT_EQ(0, lseek(fd, 0, SEEK_SET));
	EXPECT_EQ(2, read(fd, buf, sizeof(buf)));
	EXPECT_STREQ("7\n", buf);
	close(fd);
}

CASE(files, one_descriptor_reads_and_writes)
{
	int fd = open(pool_path(self->pool, "capacity"), O_RDWR);
	char buf[16] = "";

	ASSERT_LE(0, fd);
	EXPECT_EQ(2, read(fd, buf, sizeof(buf)));
	EXPECT_EQ(3, write(fd, "12\n", 3));
	EXPECT_EQ(0, lseek(fd, 0, SEEK_SET));
	EXPECT_EQ(3, read(fd, buf, sizeof(buf)));
	EXPECT_STREQ("12\n", buf);
	close(fd);
}

/* echo opens with O_TRUNC, other programs with O_CREAT or O_APPEND. */
CASE(files, flags_of_open_do_not_matter)
{
	int fd = open(pool_path(self->pool, "capacity"),
		      O_WRONLY | O_TRUNC | O_CREAT | O_APPEND, 0600);

	ASSERT_LE(0, fd);
	EXPECT_EQ(1, write(fd, "9", 1));
	close(fd);
	EXPECT_STREQ("9", get(self->pool, "capacity"));
}

CASE(files, nothing_can_be_added_or_removed)
{
	EXPECT_EQ(-1, open(pool_path(self->pool, "new"), O_WRONLY | O_CREAT, 0600));
	EXPECT_EQ(-1, unlink(pool_path(self->pool, "capacity")));
	EXPECT_EQ(-1, mkdir(pool_path(self->pool, "new"), 0700));
	EXPECT_EQ(-1, rmdir(pool_path(self->pool, "stats")));
	EXPECT_EQ(-1, rename(pool_path(self->pool, "capacity"),
			     pool_path(self->pool, "new")));
	EXPECT_STREQ("4", get(self->pool, "capacity"));
}

/*
 * The file outlives its pool, and never becomes that of another pool of the
 * same name.
 */
CASE(files, held_open_beyond_the_pool)
{
	int fd = open(pool_path(self->pool, "capacity"), O_RDWR);
	char buf[16];

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ctl("destroy %s", self->pool));
	EXPECT_EQ(-1, read(fd, buf, sizeof(buf)));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-1, write(fd, "5", 1));
	EXPECT_EQ(ENODEV, errno);
	ASSERT_EQ(0, ctl("create %s 4", self->pool));
	EXPECT_EQ(-1, write(fd, "5", 1));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_STREQ("4", get(self->pool, "capacity"));
	close(fd);
}

CASE(files, name_is_free_again_after_destroy)
{
	EXPECT_EQ(-EEXIST, ctl("create %s 4", self->pool));
	ASSERT_EQ(0, ctl("destroy %s", self->pool));
	EXPECT_EQ(-1, access(pool_path(self->pool, ""), F_OK));
	ASSERT_EQ(0, ctl("create %s 3", self->pool));
	EXPECT_STREQ("3", get(self->pool, "capacity"));
}

/* The possible CPUs, as the kernel lists them. */
static const char *possible_cpus(void)
{
	static char list[64];

	read_file("/sys/devices/system/cpu/possible", list, sizeof(list));
	list[strcspn(list, "\n")] = '\0';
	return list;
}

CASE(files, a_new_pool_shows_the_defaults)
{
	EXPECT_STREQ("4", get(self->pool, "capacity"));
	EXPECT_STREQ("0", get(self->pool, "max_blocking"));
	EXPECT_STREQ("0", get(self->pool, "queue_depth"));
	EXPECT_STREQ("0", get(self->pool, "min_workers"));
	EXPECT_STREQ("1000", get(self->pool, "expiry_ms"));
	EXPECT_STREQ("0", get(self->pool, "nonblocking"));
	EXPECT_STREQ("0", get(self->pool, "nice"));
	EXPECT_STREQ("normal", get(self->pool, "sched"));
	EXPECT_STREQ(possible_cpus(), get(self->pool, "cpulist"));
	EXPECT_STREQ("0", get(self->pool, "stall_ms"));
	EXPECT_STREQ("16", get(self->pool, "max_faults"));
	EXPECT_STREQ("open", get(self->pool, "state"));
	EXPECT_STREQ("4", get(self->pool, "stats/free"));
	EXPECT_STREQ("0", get(self->pool, "stats/running"));
	EXPECT_STREQ("0", get(self->pool, "stats/submitted"));
	EXPECT_STREQ("0", get(self->pool, "stats/timing"));
	EXPECT_STREQ("0", get(self->pool, "stats/longest_ms"));
}

TEST_HARNESS_MAIN
