// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads /sys/kernel/ants. There is no file with all numbers of one moment: each
 * is read by itself, and a pool may come or go in between.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "antstat.h"

enum field_kind { KIND_TEXT, KIND_NUMBER, KIND_SIGNED, KIND_BOUND };

static const struct {
	const char *file;
	enum field_kind kind;
} fields[F_NR] = {
	[F_STATE] = { "state", KIND_TEXT },
	[F_CAPACITY] = { "capacity", KIND_BOUND },
	[F_QUEUE_DEPTH] = { "queue_depth", KIND_NUMBER },
	[F_MAX_BLOCKING] = { "max_blocking", KIND_NUMBER },
	[F_MIN_WORKERS] = { "min_workers", KIND_NUMBER },
	[F_EXPIRY_MS] = { "expiry_ms", KIND_NUMBER },
	[F_NONBLOCKING] = { "nonblocking", KIND_NUMBER },
	[F_NICE] = { "nice", KIND_SIGNED },
	[F_SCHED] = { "sched", KIND_TEXT },
	[F_STALL_MS] = { "stall_ms", KIND_NUMBER },
	[F_MAX_FAULTS] = { "max_faults", KIND_NUMBER },
	[F_CPULIST] = { "cpulist", KIND_TEXT },
	[F_NR_SHARDS] = { "nr_shards", KIND_NUMBER },
	[F_STRATEGY] = { "strategy", KIND_TEXT },
	[F_RUNNING] = { "stats/running", KIND_NUMBER },
	[F_IDLE] = { "stats/idle", KIND_NUMBER },
	[F_BUSY] = { "stats/busy", KIND_NUMBER },
	[F_PENDING] = { "stats/pending", KIND_NUMBER },
	[F_WAITING] = { "stats/waiting", KIND_NUMBER },
	[F_FREE] = { "stats/free", KIND_BOUND },
	[F_PEAK_RUNNING] = { "stats/peak_running", KIND_NUMBER },
	[F_PEAK_BUSY] = { "stats/peak_busy", KIND_NUMBER },
	[F_PEAK_PENDING] = { "stats/peak_pending", KIND_NUMBER },
	[F_PEAK_WAITING] = { "stats/peak_waiting", KIND_NUMBER },
	[F_COMPLETED] = { "stats/completed", KIND_NUMBER },
	[F_CANCELLED] = { "stats/cancelled", KIND_NUMBER },
	[F_SUBMITTED] = { "stats/submitted", KIND_NUMBER },
	[F_CALLER_RUNS] = { "stats/caller_runs", KIND_NUMBER },
	[F_REJECTED] = { "stats/rejected", KIND_NUMBER },
	[F_BLOCKED] = { "stats/blocked", KIND_NUMBER },
	[F_SPAWNED] = { "stats/spawned", KIND_NUMBER },
	[F_REAPED] = { "stats/reaped", KIND_NUMBER },
	[F_SPURIOUS_WAKEUPS] = { "stats/spurious_wakeups", KIND_NUMBER },
	[F_STALLED] = { "stats/stalled", KIND_NUMBER },
	[F_HELD_BACK] = { "stats/held_back", KIND_NUMBER },
	[F_FAULTS] = { "stats/faults", KIND_NUMBER },
	[F_LOST] = { "stats/lost", KIND_NUMBER },
	[F_DIRTY] = { "stats/dirty", KIND_NUMBER },
	[F_LAST_FAULT] = { "stats/last_fault", KIND_TEXT },
};

/* The name of the file, without "stats/". */
const char *field_key(enum field field)
{
	const char *slash = strchr(fields[field].file, '/');

	return slash ? slash + 1 : fields[field].file;
}

void *xrealloc(void *p, size_t nr, size_t size)
{
	p = reallocarray(p, nr ? nr : 1, size);
	if (!p)
		die(STATUS_ERROR, "out of memory");
	return p;
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Was all there once that was asked for? */
static bool seen;

static void cannot_open(const char *path, int err)
{
	if (err == EACCES)
		die(STATUS_NO_PERMISSION, "you may not read %s: %s", safe(path),
		    error_words(err));
	if (err != ENOENT)
		die(STATUS_ERROR, "cannot read %s: %s", safe(path),
		    error_words(err));
	*strrchr(path, '/') = '\0';
	if (access(path, F_OK))
		die(STATUS_ERROR, "there is no %s: is sysfs mounted?",
		    safe(path));
	die(STATUS_NOT_LOADED, "ants is not loaded%s: there is no %s/ants%s",
	    seen ? " any more" : "", safe(path),
	    seen ? "" : "; \"modprobe ants\" loads it");
}

/* The directory with the pools, without which there is nothing to do. */
int ants_dir(void)
{
	char *path;
	int dir;

	if (asprintf(&path, "%s/sys/kernel/ants", opt.root) < 0)
		die(STATUS_ERROR, "out of memory");
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		cannot_open(path, errno);
	free(path);
	return dir;
}

/* A descriptor of the pool's directory, or -errno. */
int pool_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Does that error say that there is no such pool? Others say nothing about it. */
bool is_no_pool(int err)
{
	return err == ENOENT || err == ENODEV || err == ENOTDIR ||
	       err == ENAMETOOLONG;
}

/* All of a file, with a 0 behind it; NULL and errno on error. */
char *read_text(int dir, const char *file, size_t *len)
{
	static char text[FILE_MAX + 2];
	ssize_t ret = -1;
	int fd, err;

	fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	do {
		ret = read(fd, text, sizeof(text) - 1);
	} while (ret < 0 && errno == EINTR);
	err = errno;
	close(fd);
	errno = err;
	if (ret < 0)
		return NULL;
	text[ret] = '\0';
	*len = ret;
	return text;
}

/* Digits and nothing else, within 64 bits. */
static bool parse_number(const char *text, u64 *number)
{
	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	*number = strtoull(text, NULL, 10);
	return !errno;
}

static enum value_type parse(struct value *value, const char *text,
			     enum field_kind kind)
{
	if (kind == KIND_TEXT) {
		value->text = strdup(text);
		return value->text ? VALUE_TEXT : VALUE_BAD;
	}
	if (kind == KIND_BOUND && !strcmp(text, "max"))
		return VALUE_MAX;
	value->negative = kind == KIND_SIGNED && *text == '-';
	if (!parse_number(text + value->negative, &value->number))
		return VALUE_BAD;
	return VALUE_NUMBER;
}

/* A value without its newline is not all of it. */
static void read_value(int dir, enum field field, struct value *value)
{
	size_t len = 0;
	char *text = read_text(dir, fields[field].file, &len);

	if (!text) {
		value->type = errno == ENOENT || errno == ENODEV ?
			      VALUE_ABSENT : VALUE_BAD;
		return;
	}
	value->type = VALUE_BAD;
	if (!len || len > FILE_MAX || text[len - 1] != '\n')
		return;
	text[len - 1] = '\0';
	if (strlen(text) == len - 1)
		value->type = parse(value, text, fields[field].kind);
}

static void pool_free(struct pool *pool)
{
	size_t i;

	for (i = 0; i < pool->nr_shards; i++)
		pool_free(&pool->shards[i]);
	for (i = 0; i < F_NR; i++)
		free(pool->value[i].text);
	free(pool->shards);
	free(pool->name);
}

/* Is the directory that was read still the one of that name? */
bool is_there(int dir, const char *name, ino_t ino)
{
	struct stat st;

	return !fstatat(dir, name, &st, 0) && st.st_ino == ino;
}

static int pool_read(int dir, const char *name, const char *path,
		     struct pool *pool);

static int shard_read(int dir, const struct pool *pool, u64 nr,
		      struct pool *shard)
{
	char name[32], *path;
	int err;

	snprintf(name, sizeof(name), "shard%llu", nr);
	if (asprintf(&path, "%s/%s", pool->name, name) < 0)
		die(STATUS_ERROR, "out of memory");
	err = pool_read(dir, name, path, shard);
	free(path);
	return err;
}

/* They are numbered from 0, and have no shards themselves. */
static void shards_read(int dir, struct pool *pool)
{
	u64 i, nr = pool->value[F_NR_SHARDS].number;
	struct pool shard;

	if (strchr(pool->name, '/'))
		return;
	for (i = 0; i < nr && !shard_read(dir, pool, i, &shard); i++) {
		pool->shards = xrealloc(pool->shards, i + 1, sizeof(shard));
		pool->shards[pool->nr_shards++] = shard;
	}
}

static void values_read(int dir, struct pool *pool)
{
	struct stat st;
	int i;

	if (!fstat(dir, &st))
		pool->ino = st.st_ino;
	pool->when = now();
	for (i = 0; i < F_NR; i++)
		read_value(dir, i, &pool->value[i]);
	if (pool->value[F_NR_SHARDS].type == VALUE_NUMBER)
		shards_read(dir, pool);
}

/* All about the pool @name in @dir; -ENOENT if it went away. */
static int pool_read(int dir, const char *name, const char *path,
		     struct pool *pool)
{
	int fd = pool_dir(dir, name);

	if (fd < 0)
		return fd;
	memset(pool, 0, sizeof(*pool));
	pool->name = strdup(path);
	if (!pool->name)
		die(STATUS_ERROR, "out of memory");
	values_read(fd, pool);
	close(fd);
	if (pool->value[F_STATE].type != VALUE_ABSENT &&
	    pool->value[F_REAPED].type != VALUE_ABSENT)
		return 0;
	if (is_there(dir, name, pool->ino))
		return 0;
	pool_free(pool);
	return -ENOENT;
}

static void snapshot_add(struct snapshot *snap, const struct pool *pool)
{
	snap->pools = xrealloc(snap->pools, snap->nr + 1, sizeof(*pool));
	snap->pools[snap->nr++] = *pool;
}

/* Every entry that is a directory is a pool, unless it vanishes. */
static void read_entry(struct snapshot *snap, int dir, const char *name)
{
	struct pool pool;
	int err = pool_read(dir, name, name, &pool);

	if (!err)
		snapshot_add(snap, &pool);
	else if (err == -ENOENT || err == -ENODEV)
		say("pool %s went away while it was read", safe(name));
	else if (err != -ENOTDIR)
		say("cannot read pool %s: %s", safe(name), error_words(-err));
	snap->denied |= err == -EACCES;
}

static int not_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_all(struct snapshot *snap, int dir)
{
	struct dirent **names;
	int i, nr = scandirat(dir, ".", &names, not_dots, by_name);

	if (nr < 0)
		die(STATUS_ERROR, "cannot list the pools: %s",
		    error_words(errno));
	for (i = 0; i < nr; i++) {
		read_entry(snap, dir, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

/* A pool that was asked for by its name has to be there. */
static void read_named(struct snapshot *snap, int dir, const char *name)
{
	struct pool pool;
	int err = pool_read(dir, name, name, &pool);

	if (err == -EACCES)
		die(STATUS_NO_PERMISSION, "you may not read pool %s: %s",
		    safe(name), error_words(-err));
	if (err && !is_no_pool(-err))
		die(STATUS_ERROR, "cannot read pool %s: %s", safe(name),
		    error_words(-err));
	if (err && seen)
		die(STATUS_NO_POOL, "pool %s is gone", safe(name));
	if (err)
		die(STATUS_NO_POOL, "there is no pool %s", safe(name));
	snapshot_add(snap, &pool);
}

void snapshot_read(struct snapshot *snap)
{
	int dir = ants_dir();
	size_t i;

	memset(snap, 0, sizeof(*snap));
	for (i = 0; i < opt.nr_pools; i++)
		read_named(snap, dir, opt.pools[i]);
	if (!opt.nr_pools)
		read_all(snap, dir);
	close(dir);
	seen = true;
}

void snapshot_free(struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->nr; i++)
		pool_free(&snap->pools[i]);
	free(snap->pools);
	memset(snap, 0, sizeof(*snap));
}

/* What has a row in a table: pools, and their shards if they are asked for. */
const struct pool **snapshot_rows(const struct snapshot *snap, size_t *nr)
{
	const struct pool **rows = NULL;
	size_t i, shard, nr_shards;

	*nr = 0;
	for (i = 0; i < snap->nr; i++) {
		nr_shards = opt.shards ? snap->pools[i].nr_shards : 0;
		rows = xrealloc(rows, *nr + 1 + nr_shards, sizeof(*rows));
		rows[(*nr)++] = &snap->pools[i];
		for (shard = 0; shard < nr_shards; shard++)
			rows[(*nr)++] = &snap->pools[i].shards[shard];
	}
	return rows;
}

/* The pool or shard of that name, or NULL. */
const struct pool *find_pool(const struct snapshot *snap, const char *name)
{
	const struct pool *pool;
	size_t i, shard;

	for (i = 0; i < snap->nr; i++) {
		pool = &snap->pools[i];
		if (!strcmp(pool->name, name))
			return pool;
		for (shard = 0; shard < pool->nr_shards; shard++)
			if (!strcmp(pool->shards[shard].name, name))
				return &pool->shards[shard];
	}
	return NULL;
}
