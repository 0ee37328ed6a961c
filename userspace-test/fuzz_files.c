// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeout: 400
 *
 * Random reads and writes of all files of ants, in sysfs and in debugfs, by four
 * processes at once; meanwhile tasks are submitted, pools come and go, and a client
 * is loaded and unloaded. No operation may have a result that the rules here do not
 * allow, Documentation/ABI must name each file that is there and no other, and each
 * task that was accepted has to run, once. There are 2,000 operations, and with
 * REPEATS=N in the environment N times as many; SEED=N repeats their choice, but not
 * how the processes interleave.
 */
#define ABI_MORE	"debugfs-ants"
#include "util.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "abi.h"
#include "fuzz_load.h"
#include "fuzz_rules.h"

#define FUZZERS		4
#define SUBMITTERS	2
#define HELPERS		(SUBMITTERS + 2)
#define OPERATIONS	2000
/* So many operations use each file, and files of pools that have gone. */
#define MANY		10000
/* So many operations of a process, and it looks for files again. */
#define REFRESH		64
#define MOST_ENTRIES	2048
#define MOST_HELD	8

/* Where the random numbers of the next process begin. */
static unsigned long long seed;

static struct file files[MOST_FILES];
static int nr_files;

/* Those of a root are together. */
static struct entry entries[MOST_ENTRIES];
static unsigned int first_entry[NR_ROOTS + 1];

/* Returns true if it was as asked for. */
static bool judge(const struct entry *e, const char *what, bool fits, int err)
{
	count(&shared->results[-err < MOST_ERRNO ? -err : MOST_ERRNO - 1]);
	if (!fits && !is_gone(e, err))
		complain("%s: %.40s: %d", e->path, what, err);
	return fits && !err;
}

/* --- files ----------------------------------------------------------------------- */

/* The name of a file, without the root, the pool and the shard. */
static const char *short_name(enum root root, const char *path)
{
	const char *name = path + strlen(roots[root]) + 1, *slash;

	slash = strchr(name, '/');
	if (slash)
		name = slash + 1;
	slash = strchr(name, '/');
	if (slash && !strncmp(name, "shard", strlen("shard")))
		name = slash + 1;
	return name;
}

static struct file *find_file(enum root root, const char *name)
{
	struct file *file;

	for (file = files; file < files + nr_files; file++)
		if (file->root == root && !strcmp(file->name, name))
			return file;
	return NULL;
}

/* The path and the description of a file; directories end with a slash. */
static void parse_entry(const char *path, const char *description)
{
	struct file file = {
		.writable = !strncmp(description, "(RW", 3),
	};
	int len = strcspn(path, "\n");
	char text[104];

	snprintf(text, sizeof(text), "%.*s", len, path);
	while (file.root < NR_ROOTS &&
	       strncmp(text, roots[file.root], strlen(roots[file.root])))
		file.root++;
	if (file.root == NR_ROOTS || text[len - 1] == '/')
		return;
	snprintf(file.name, sizeof(file.name), "%s",
		 short_name(file.root, text));
	if (!find_file(file.root, file.name) && nr_files < MOST_FILES)
		files[nr_files++] = file;
}

static void parse_abi(void)
{
	static const char what[] = "What:\t\t", text[] = "Description:\n\t\t";
	const char *line, *description;

	nr_files = 0;
	for (line = abi; (line = strstr(line, what)); line++) {
		description = strstr(line, text);
		if (description)
			parse_entry(line + strlen(what),
				    description + strlen(text));
	}
}

static void add_entry(enum root root, const char *path)
{
	struct entry *e = &entries[first_entry[root + 1]];

	e->file = find_file(root, short_name(root, path));
	snprintf(e->path, sizeof(e->path), "%s", path);
	if (e->file)
		first_entry[root + 1]++;
	else if (strcmp(path + strlen(roots[root]), "/pause_jitter_us"))
		/* that parameter is for tests, in debug builds */
		complain("%s is not documented", path);
}

static void walk(enum root root, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *child;
	char path[sizeof(entries->path)];

	while (d && (child = readdir(d))) {
		if (child->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir,
				     child->d_name) >= sizeof(path))
			complain("%s has a long name", path);
		else if (child->d_type == DT_DIR)
			walk(root, path);
		else if (first_entry[root + 1] < MOST_ENTRIES)
			add_entry(root, path);
	}
	if (d)
		closedir(d);
}

static void walk_all(void)
{
	enum root root;

	for (root = 0; root < NR_ROOTS; root++) {
		first_entry[root + 1] = first_entry[root];
		walk(root, roots[root]);
	}
}

/* --- operations -------------------------------------------------------------------- */

static const struct entry *pick_entry(void)
{
	enum root root = rnd(16) ? rnd(4) ? POOLS : TABLES : PARAMETERS;
	unsigned int nr = first_entry[root + 1] - first_entry[root];

	return nr ? &entries[first_entry[root] + rnd(nr)] : &entries[0];
}

/* Most files cannot be written; most writes are to those that can. */
static const struct entry *pick_writable(void)
{
	const struct entry *e = pick_entry();
	int tries = 20;

	while (!e->file->writable && --tries && rnd(32))
		e = pick_entry();
	return e;
}

static int open_entry(const struct entry *e, int flags)
{
	int fd = open(e->path, flags), err = fd < 0 ? -errno : 0;

	judge(e, "open", open_fits(e, flags != O_RDONLY, err), err);
	return fd;
}

/* From its beginning to its end, now and then in small parts. */
static void read_entry(const struct entry *e, int fd)
{
	size_t part = rnd(8) ? PAGE : 1 + rnd(50), len = 0;
	static char text[64 * PAGE];
	ssize_t ret;
	int err;

	lseek(fd, 0, SEEK_SET);
	while ((ret = read(fd, text + len, part)) > 0 &&
	       len + ret < sizeof(text) - PAGE)
		len += ret;
	err = ret < 0 ? -errno : 0;
	text[len] = '\0';
	if (judge(e, err ? "read" : text, !err && read_fits(e, text, len), err))
		count(&shared->read[e->file - files]);
}

static void write_entry(const struct entry *e, int fd)
{
	const struct text t = pick_text(e->file);
	ssize_t len = strlen(t.text), ret = write(fd, t.text, len);
	int err = ret < 0 ? -errno : ret != len ? -EMSGSIZE : 0;

	if (judge(e, t.text, write_fits(e, &t, err), err))
		count(&shared->written[e->file - files]);
}

/* Files that are held open, and may outlive their pools. */
static struct held {
	struct entry entry;
	int fd;
	bool writable;
} held[MOST_HELD];

static void use_held(void)
{
	struct held *h = &held[rnd(ARRAY_SIZE(held))];

	if (h->fd <= 0) {
		h->entry = *pick_writable();
		h->writable = h->entry.file->writable;
		h->fd = open_entry(&h->entry, h->writable ? O_RDWR : O_RDONLY);
	} else if (!rnd(8)) {
		close(h->fd);
		h->fd = 0;
	} else if (h->writable && rnd(2)) {
		write_entry(&h->entry, h->fd);
	} else {
		read_entry(&h->entry, h->fd);
	}
}

static void use_entry(const struct entry *e, int flags,
		      void (*use)(const struct entry *e, int fd))
{
	int fd = open_entry(e, flags);

	if (fd < 0)
		return;
	use(e, fd);
	close(fd);
}

static unsigned int operations(void)
{
	const char *repeats = getenv("REPEATS");

	return OPERATIONS * (repeats && atoi(repeats) > 0 ? atoi(repeats) : 1);
}

static void fuzz(void)
{
	unsigned int i, nr = operations() / FUZZERS;

	for (i = 0; i < nr; i++) {
		if (i % REFRESH == 0)
			walk_all();
		if (!rnd(4))
			use_held();
		else if (rnd(2))
			use_entry(pick_entry(), O_RDONLY, read_entry);
		else
			use_entry(pick_writable(), O_WRONLY, write_entry);
	}
}

/* --- the test ------------------------------------------------------------------------ */

FIXTURE(fuzz) {
	char system[MOST_FILES][64];
};

/* Other programs use the system pool, and the client. */
FIXTURE_SETUP(fuzz)
{
	const char *number = getenv("SEED");
	int i;

	seed = number && *number ? strtoull(number, NULL, 0) :
				   (unsigned long long)time(NULL) << 16 | getpid();
	parse_abi();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	for (i = 0; i < nr_files; i++)
		if (files[i].writable && files[i].root == POOLS)
			snprintf(self->system[i], sizeof(self->system[i]),
				 "%.60s", get("system", files[i].name));
	ASSERT_EQ(0, ctl("let"));
	ASSERT_EQ(0, ctl("create " STAY " 3"));
	ASSERT_EQ(0, unload_module("ants_client"));
}

FIXTURE_TEARDOWN(fuzz)
{
	int i;

	EXPECT_EQ(0, put("system", "min_workers", "0"));
	EXPECT_EQ(1, write_file("/sys/module/ants/parameters/max_threads", "0", 1));
	for (i = 0; i < nr_files; i++)
		if (files[i].writable && files[i].root == POOLS)
			EXPECT_EQ(0, put("system", files[i].name,
					 self->system[i]))
				TH_LOG("%s", files[i].name);
	EXPECT_EQ(0, ctl("destroy " STAY));
	EXPECT_EQ(0, load_module("ants_client", ""));
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	seed++;
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	state = seed << 32;
	run();
	_exit(0);
}

static void run_all(struct __test_metadata *_metadata)
{
	pid_t fuzzers[FUZZERS], helpers[HELPERS];
	unsigned int i;

	for (i = 0; i < HELPERS; i++)
		helpers[i] = start(i < SUBMITTERS ? submit_tasks :
				   i == SUBMITTERS ? come_and_go : use_clients);
	for (i = 0; i < FUZZERS; i++)
		fuzzers[i] = start(fuzz);
	for (i = 0; i < FUZZERS; i++)
		EXPECT_EQ(0, reap(fuzzers[i]));
	__atomic_store_n(&shared->over, true, __ATOMIC_RELAXED);
	for (i = 0; i < HELPERS; i++)
		EXPECT_EQ(0, reap(helpers[i]));
}

static void tell(unsigned long long number, time_t seconds)
{
	unsigned int i;

	printf("# seed %llu: %u operations in %ld s:", number, operations(),
	       (long)seconds);
	for (i = 0; i < MOST_ERRNO; i++)
		if (shared->results[i])
			printf(" %u %s,", shared->results[i],
			       i ? strerrorname_np(i) : "good");
	printf(" %u wrong\n", shared->nr_complaints);
	printf("# %u tasks accepted, %u refused, %u pools made, %u clients\n",
	       shared->accepted, shared->refused, shared->made,
	       shared->clients);
	/* The harness ends a case's process without flushing. */
	fflush(stdout);
}

CASE(fuzz, each_writable_file_has_a_rule)
{
	unsigned int i, nr = 0;

	for (i = 0; i < (unsigned int)nr_files; i++) {
		if (!files[i].writable)
			continue;
		EXPECT_NE(NULL, find_rule(files[i].name))
			TH_LOG("%s", files[i].name);
		nr++;
	}
	EXPECT_EQ(ARRAY_SIZE(rules), nr);
}

static void expect_all_used(struct __test_metadata *_metadata)
{
	int i;

	for (i = 0; i < nr_files; i++) {
		EXPECT_LT(0U, shared->read[i])
			TH_LOG("%s was never read", files[i].name);
		if (files[i].writable)
			EXPECT_LT(0U, shared->written[i])
				TH_LOG("%s was never written", files[i].name);
	}
	EXPECT_LT(0U, shared->results[ENODEV]);
}

static void expect_no_task_lost(struct __test_metadata *_metadata,
				unsigned int ran_before)
{
	EXPECT_EQ(0, ctl("flush " STAY));
	EXPECT_LT(0U, shared->accepted);
	EXPECT_EQ(shared->accepted, ctl_count("ran") - ran_before);
	EXPECT_EQ(0, get_number(STAY, "stats/busy"));
	EXPECT_EQ(0, get_number(STAY, "stats/pending"));
	EXPECT_EQ(0, get_number(STAY, "stats/waiting"));
	EXPECT_EQ(get_number(STAY, "stats/submitted"),
		  get_number(STAY, "stats/completed") +
		  get_number(STAY, "stats/cancelled"));
}

TEST_F_TIMEOUT(fuzz, random_reads_and_writes, 2000)
{
	unsigned int ran = ctl_count("ran"), i;
	time_t begin = time(NULL);
	unsigned long long number = seed;

	run_all(_metadata);
	tell(number, time(NULL) - begin);
	for (i = 0; i < shared->nr_complaints && i < MOST_COMPLAINTS; i++)
		TH_LOG("%s", shared->complaints[i]);
	EXPECT_EQ(0U, shared->nr_complaints);
	EXPECT_LT(0U, shared->made);
	EXPECT_LT(0U, shared->clients);
	if (operations() >= MANY)
		expect_all_used(_metadata);
	expect_no_task_lost(_metadata, ran);
}

TEST_HARNESS_MAIN
