// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeout: 600
 *
 * Loads and writes that fail: at the first allocation, at the second one, and
 * so on, until nothing was left to fail. After each failure everything is as
 * before.
 */
#include "util.h"

#include <dirent.h>

#define NTH_FILE	"/proc/self/fail-nth"
#define INIT_NTH_FILE	"/sys/module/ants_fail/parameters/nth"
#define INIT_CALL_FILE	"/sys/module/ants_fail/parameters/call"
#define STATES_FILE	"/sys/devices/system/cpu/hotplug/states"
#define FAULTS_DIR	"/sys/kernel/debug"
#define MOST		3000
#define MOST_MODULES	16

static int set_number(const char *path, unsigned int number)
{
	char text[16];
	int ret, len = snprintf(text, sizeof(text), "%u", number);

	ret = write_file(path, text, len);
	return ret < 0 ? ret : 0;
}

/* Include allocations that may sleep, and log no failure. */
static int make_failable(void)
{
	return write_file(FAULTS_DIR "/failslab/ignore-gfp-wait", "N", 1) < 0 ||
	       write_file(FAULTS_DIR "/fail_page_alloc/ignore-gfp-wait", "N",
			  1) < 0 ||
	       set_number(FAULTS_DIR "/fail_page_alloc/min-order", 0) ||
	       set_number(FAULTS_DIR "/failslab/verbose", 0) ||
	       set_number(FAULTS_DIR "/fail_page_alloc/verbose", 0);
}

static bool is_loaded(const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

/* True for a thread of ants: a worker, or one of its workqueues. */
static bool is_thread(const char *pid)
{
	char path[300], comm[32];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	return read_file(path, comm, sizeof(comm)) > 0 &&
	       !strncmp(comm, "ants", 4);
}

static unsigned int nr_threads(void)
{
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir)))
		nr += *entry->d_name >= '0' && *entry->d_name <= '9' &&
		      is_thread(entry->d_name);
	closedir(dir);
	return nr;
}

/* Count the states of CPU hotplug; the name of a leftover state may be gone. */
static unsigned int nr_states(void)
{
	char text[4097], *p;
	unsigned int nr = 0;

	if (read_file(STATES_FILE, text, sizeof(text)) < 0)
		return 0;
	for (p = text; *p; p++)
		nr += *p == '\n';
	return nr;
}

/* How many calls failed, of how many that had a fault. */
struct tally {
	const char *what;
	unsigned int failed;
	unsigned int nth;
};

static void tell(const struct tally *tally)
{
	printf("# %s: %u calls failed, of %u with a fault\n", tally->what,
	       tally->failed, tally->nth - 1);
	/* The harness ends a case's process without flushing. */
	fflush(stdout);
}

/*
 * Load once. Returns what the load returned; *@left is not 0 if nothing failed.
 */
static int load_nth(const char *name, unsigned int nth, unsigned int *left)
{
	int fd = open(NTH_FILE, O_RDWR);
	char text[16] = "";
	int err;

	set_number(INIT_NTH_FILE, nth);
	err = load_module(name, "");
	/*
	 * The file is already open, so no allocation of its open can fail here.
	 */
	if (pread(fd, text, sizeof(text) - 1, 0) < 0 || pwrite(fd, "0", 1, 0) < 0)
		err = -errno;
	set_number(INIT_NTH_FILE, 0);
	close(fd);
	*left = strtoul(text, NULL, 10);
	return err;
}

/* Modules of this project that are loaded, ants_fail excepted, newest first. */
FIXTURE(loads) {
	char names[MOST_MODULES][32];
	int nr;
	unsigned int states;
};

static void list_modules(struct _test_data_loads *self)
{
	FILE *file = fopen("/proc/modules", "r");
	char line[512], *name;

	while (file && self->nr < MOST_MODULES &&
	       fgets(line, sizeof(line), file)) {
		name = strtok(line, " ");
		if (!strncmp(name, "ants", 4) && strcmp(name, "ants_fail"))
			strcpy(self->names[self->nr++], name);
	}
	fclose(file);
}

FIXTURE_SETUP(loads)
{
	int i;

	ASSERT_EQ(0, make_failable());
	self->nr = 0;
	list_modules(self);
	for (i = 0; i < self->nr; i++)
		ASSERT_EQ(0, unload_module(self->names[i]))
			TH_LOG("%s", self->names[i]);
	self->states = nr_states();
}

FIXTURE_TEARDOWN(loads)
{
	while (self->nr--)
		EXPECT_EQ(0, load_module(self->names[self->nr], ""))
			TH_LOG("%s", self->names[self->nr]);
}

static void expect_no_ants(struct __test_metadata *_metadata,
			   unsigned int states)
{
	EXPECT_FALSE(is_loaded("ants"));
	EXPECT_NE(0, access(ANTS_DIR, F_OK));
	EXPECT_NE(0, access("/sys/kernel/slab/ants_slot", F_OK));
	EXPECT_NE(0, access("/sys/kernel/slab/ants_pool", F_OK));
	EXPECT_EQ(states, nr_states());
	EXPECT_SOON(!nr_threads());
}

static void expect_ants(struct __test_metadata *_metadata, unsigned int states)
{
	EXPECT_STREQ("open", get("system", "state"));
	EXPECT_EQ(states + 2, nr_states());
	EXPECT_EQ(0, unload_module("ants"));
}

/*
 * So many faults are tried one by one; the later ones are much alike. A long run
 * tries each.
 */
#define EACH	12
#define STRIDE	37

static unsigned int next_fault(unsigned int nth)
{
	const char *repeats = getenv("REPEATS");
	bool is_long = repeats && atoi(repeats) > 1;

	return nth + (nth < EACH || is_long ? 1 : STRIDE);
}

TEST_F_TIMEOUT(loads, of_ants_fail_and_leave_nothing, 500)
{
	struct tally tally = { .what = "loading ants" };
	unsigned int left = 0;
	int err;

	for (tally.nth = 1; PASSED_SO_FAR && tally.nth < MOST;
	     tally.nth = next_fault(tally.nth)) {
		err = load_nth("ants", tally.nth, &left);
		EXPECT_TRUE(!err || (!left && err == -ENOMEM))
			TH_LOG("fault %u: %d", tally.nth, err);
		if (!err)
			expect_ants(_metadata, self->states);
		expect_no_ants(_metadata, self->states);
		tally.failed += !!err;
		if (left)
			break;
	}
	EXPECT_TRUE(!!left);
	EXPECT_TRUE(!!tally.failed);
	tell(&tally);
}

/* Two caches, two states of CPU hotplug, the notifier and the system pool. */
TEST_F_TIMEOUT(loads, of_ants_fail_without_need_of_memory, 300)
{
	static const int errors[] = {
		ENOMEM, ENOMEM, ENOSPC, ENOSPC, EIO, ENOMEM,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors) && PASSED_SO_FAR; i++) {
		EXPECT_EQ(0, set_number(INIT_CALL_FILE, i + 1));
		EXPECT_EQ(-errors[i], load_module("ants", ""))
			TH_LOG("call %u", i + 1);
		expect_no_ants(_metadata, self->states);
	}
	EXPECT_EQ(0, set_number(INIT_CALL_FILE, i + 1));
	EXPECT_EQ(0, load_module("ants", ""));
	EXPECT_EQ(0, set_number(INIT_CALL_FILE, 0));
	expect_ants(_metadata, self->states);
}

/* A client whose pool cannot be made, or does not accept a task. */
TEST_F_TIMEOUT(loads, of_a_client_fail_and_leave_nothing, 300)
{
	struct tally tally = { .what = "loading ants_hello" };
	unsigned int left = 0;
	int err;

	EXPECT_EQ(0, load_module("ants", ""));
	for (tally.nth = 1; PASSED_SO_FAR && tally.nth < MOST;
	     tally.nth = next_fault(tally.nth)) {
		err = load_nth("ants_hello", tally.nth, &left);
		EXPECT_TRUE(!err || (!left && err == -ENOMEM));
		if (!err)
			EXPECT_EQ(0, unload_module("ants_hello"));
		EXPECT_FALSE(is_loaded("ants_hello"));
		EXPECT_NE(0, access(ANTS_DIR "/hello", F_OK));
		tally.failed += !!err;
		if (left)
			break;
	}
	EXPECT_TRUE(!!left);
	EXPECT_TRUE(!!tally.failed);
	tell(&tally);
	EXPECT_EQ(0, unload_module("ants"));
}

/* Writes to a file of a preallocated pool. */
FIXTURE(writes) {
	char pool[32];
};

/* The file has the first value, and the second one is written. */
FIXTURE_VARIANT(writes) {
	const char *file;
	const char *values[2];
};

FIXTURE_VARIANT_ADD(writes, capacity) {
	.file = "capacity", .values = { "3", "6" },
};

FIXTURE_VARIANT_ADD(writes, queue_depth) {
	.file = "queue_depth", .values = { "0", "300" },
};

FIXTURE_VARIANT_ADD(writes, min_workers) {
	.file = "min_workers", .values = { "1", "2" },
};

FIXTURE_VARIANT_ADD(writes, max_blocking) {
	.file = "max_blocking", .values = { "1", "2" },
};

FIXTURE_VARIANT_ADD(writes, expiry_ms) {
	.file = "expiry_ms", .values = { "1000", "2000" },
};

FIXTURE_VARIANT_ADD(writes, nonblocking) {
	.file = "nonblocking", .values = { "0", "1" },
};

FIXTURE_VARIANT_ADD(writes, nice) {
	.file = "nice", .values = { "0", "5" },
};

FIXTURE_VARIANT_ADD(writes, sched) {
	.file = "sched", .values = { "fifo_low", "normal" },
};

FIXTURE_VARIANT_ADD(writes, cpulist) {
	.file = "cpulist", .values = { "0", "0-1" },
};

FIXTURE_SETUP(writes)
{
	ASSERT_EQ(0, make_failable());
	snprintf(self->pool, sizeof(self->pool), "fail%d", getpid());
	/* ANTS_PREALLOC */
	ASSERT_EQ(0, ctl("create %s 4 1 2", self->pool));
}

FIXTURE_TEARDOWN(writes)
{
	EXPECT_EQ(0, ctl("destroy %s", self->pool));
}

/* As load_nth(), for a write to an open file. */
static int write_nth(int file, const char *text, unsigned int nth,
		     unsigned int *left)
{
	int err = 0, fd = open(NTH_FILE, O_RDWR);
	char number[16];

	snprintf(number, sizeof(number), "%u", nth);
	if (pwrite(fd, number, strlen(number), 0) < 0)
		return -errno;
	if (write(file, text, strlen(text)) < 0)
		err = -errno;
	memset(number, 0, sizeof(number));
	if (pread(fd, number, sizeof(number) - 1, 0) < 0 ||
	    pwrite(fd, "0", 1, 0) < 0)
		err = -errno;
	close(fd);
	*left = strtoul(number, NULL, 10);
	return err;
}

CASE(writes, fail_and_change_nothing)
{
	struct tally tally = { .what = variant->file };
	int file = open(pool_path(self->pool, variant->file), O_WRONLY);
	const char *was = variant->values[0], *value = variant->values[1];
	unsigned int left = 0;
	int err;

	ASSERT_LE(0, file);
	for (tally.nth = 1; PASSED_SO_FAR && tally.nth < MOST;
	     tally.nth = next_fault(tally.nth)) {
		EXPECT_EQ(0, put(self->pool, variant->file, was));
		err = write_nth(file, value, tally.nth, &left);
		EXPECT_TRUE(!err || (!left && err == -ENOMEM));
		EXPECT_STREQ(err ? was : value, get(self->pool, variant->file));
		tally.failed += !!err;
		if (left)
			break;
	}
	EXPECT_TRUE(!!left);
	tell(&tally);
	close(file);
}

TEST_HARNESS_MAIN
