// SPDX-License-Identifier: GPL-2.0-only
/* A screen full of pools, the busiest first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "antstat.h"

#define NAME_MAX_WIDTH	24
#define BAR_MIN		10
#define BAR_MAX		50
#define LINE_LEN	512

#define BOLD		"\033[1m"
#define REVERSE		"\033[7m"
#define RED		"\033[31m"
#define NORMAL		"\033[0m"
#define LINE_END	"\033[K\r\n"

static u64 number(const struct pool *pool, enum field field)
{
	const struct value *value = &pool->value[field];

	return value->type == VALUE_NUMBER ? value->number : 0;
}

/* How much of the capacity runs tasks; nothing is much of what has no bound. */
static double share(const struct pool *pool)
{
	u64 capacity = number(pool, F_CAPACITY);

	return capacity ? (double)number(pool, F_BUSY) / capacity : 0;
}

static int more(double a, double b)
{
	return (a < b) - (a > b);
}

/* Busier ones first; of those that are alike the one that others wait for. */
static int by_business(const void *a, const void *b)
{
	const struct pool *p = *(const struct pool **)a;
	const struct pool *q = *(const struct pool **)b;
	int ret = more(share(p), share(q));

	if (!ret)
		ret = more(number(p, F_WAITING), number(q, F_WAITING));
	if (!ret)
		ret = more(number(p, F_PENDING), number(q, F_PENDING));
	if (!ret)
		ret = more(number(p, F_BUSY), number(q, F_BUSY));
	return ret ? ret : strcmp(p->name, q->name);
}

/* A part of the bar, which may not be longer than what is left of it. */
static int fill(char *bar, int from, int width, char c, double part)
{
	int nr = (part < 1 ? part : 1) * width + 0.5;

	if (nr > width - from)
		nr = width - from;
	if (nr <= 0)
		return from;
	memset(bar + from, c, nr);
	return from + nr;
}

/* "[###===...]"; one task that runs is seen, however many might. */
static void draw_bar(const struct pool *pool, char *bar, int width)
{
	u64 capacity = number(pool, F_CAPACITY);
	double busy = share(pool);
	int used, inner = width - 2;

	sprintf(bar, "[%*s]", inner, "");
	if (!capacity)
		return;
	memset(bar + 1, '.', inner);
	if (busy && busy < 1.0 / inner)
		busy = 1.0 / inner;
	used = fill(bar + 1, 0, inner, '#', busy);
	fill(bar + 1, used, inner, '=',
	     (double)number(pool, F_IDLE) / capacity);
}

static void capacity_text(const struct pool *pool, char *text, size_t size)
{
	const struct value *value = &pool->value[F_CAPACITY];

	if (value->type == VALUE_NUMBER)
		snprintf(text, size, "%llu/%llu", number(pool, F_BUSY),
			 value->number);
	else
		snprintf(text, size, "%llu/%s", number(pool, F_BUSY),
			 value->type == VALUE_MAX ? "max" : "?");
}

/* The part of a line that fits. */
static void put_line(const struct screen *screen, const char *style,
		     const char *line)
{
	printf("%s%.*s%s" LINE_END, style, screen->columns, line,
	       *style ? NORMAL : "");
}

struct layout {
	int name;
	int bar;
};

#define ROW_FORMAT	"%-*.*s  %-*s %13s %7s %7s %7s %6s  %s"
#define ROW_REST	58	/* columns of a row beside name and bar */

static struct layout layout_of(const struct screen *screen,
			       const struct pool **rows, size_t nr)
{
	struct layout layout = { .name = 4 };
	size_t i;
	int len;

	for (i = 0; i < nr; i++) {
		len = strlen(safe(rows[i]->name));
		if (layout.name < len)
			layout.name = len;
	}
	if (layout.name > NAME_MAX_WIDTH)
		layout.name = NAME_MAX_WIDTH;
	layout.bar = screen->columns - layout.name - ROW_REST;
	if (layout.bar < BAR_MIN)
		layout.bar = BAR_MIN;
	if (layout.bar > BAR_MAX)
		layout.bar = BAR_MAX;
	return layout;
}

static void put_heads(const struct screen *screen, struct layout layout)
{
	char line[LINE_LEN];

	snprintf(line, sizeof(line), ROW_FORMAT, layout.name, layout.name,
		 "pool", layout.bar, "", "busy/capacity", "pending", "waiting",
		 "done/s", "rej/s", "state");
	put_line(screen, REVERSE, line);
}

static void put_row(const struct screen *screen, struct layout layout,
		    const struct snapshot *then, const struct pool *pool)
{
	char line[LINE_LEN], bar[BAR_MAX + 1], busy[48], pending[24], waiting[24];
	const struct value *state = &pool->value[F_STATE];

	draw_bar(pool, bar, layout.bar);
	capacity_text(pool, busy, sizeof(busy));
	snprintf(pending, sizeof(pending), "%llu", number(pool, F_PENDING));
	snprintf(waiting, sizeof(waiting), "%llu", number(pool, F_WAITING));
	snprintf(line, sizeof(line), ROW_FORMAT, layout.name, layout.name,
		 safe(pool->name), layout.bar, bar, busy, pending, waiting,
		 rate_text(then, pool, F_COMPLETED),
		 rate_text(then, pool, F_REJECTED),
		 state->type == VALUE_TEXT ? safe(state->text) : "?");
	put_line(screen, number(pool, F_WAITING) ? RED : "", line);
}

/* Shards count once, with the whole. */
static void put_summary(const struct screen *screen,
			const struct snapshot *snap)
{
	u64 threads = 0, busy = 0, waiting = 0;
	time_t seconds = time(NULL);
	char line[LINE_LEN], clock[32];
	size_t i;

	for (i = 0; i < snap->nr; i++) {
		threads += number(&snap->pools[i], F_RUNNING);
		busy += number(&snap->pools[i], F_BUSY);
		waiting += number(&snap->pools[i], F_WAITING);
	}
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&seconds));
	snprintf(line, sizeof(line),
		 "antstat %s  %zu pools, %llu threads, %llu busy, %llu waiting",
		 clock, snap->nr, threads, busy, waiting);
	put_line(screen, BOLD, line);
	put_line(screen, "", "# busy  = idle thread  . room  q quits");
}

/* What was said since the last frame. No line ends here, for it may be the last one. */
static void put_message(const struct screen *screen)
{
	printf("%.*s", screen->columns - 1, held_message);
	*held_message = '\0';
}

static void put_frame(const struct snapshot *then, const struct snapshot *snap)
{
	const struct pool **rows;
	struct screen screen;
	struct layout layout;
	size_t i, nr;

	term_size(&screen);
	rows = snapshot_rows(snap, &nr);
	if (nr)
		qsort(rows, nr, sizeof(*rows), by_business);
	layout = layout_of(&screen, rows, nr);
	fputs("\033[H", stdout);
	put_summary(&screen, snap);
	put_heads(&screen, layout);
	/* three lines are above, and the last one is for a message */
	for (i = 0; i < nr && (int)i < screen.rows - 4; i++)
		put_row(&screen, layout, then, rows[i]);
	put_message(&screen);
	fputs("\033[J", stdout);
	write_out();
	free(rows);
}

/* A key or a new size of the terminal is answered with a frame, too. */
int show_top(void)
{
	struct snapshot then = {}, snap;
	bool denied = false;
	unsigned long i;

	/* what cannot be read is said before the screen is there */
	close(ants_dir());
	if (!term_enter())
		die(STATUS_ERROR, "top needs a terminal; try antstat 1");
	for (i = 0; !opt.count || i < opt.count; i++) {
		snapshot_read(&snap);
		denied |= snap.denied;
		put_frame(&then, &snap);
		snapshot_free(&then);
		then = snap;
		if (!term_wait(now() + opt.interval))
			break;
	}
	snapshot_free(&then);
	term_leave();
	return denied ? STATUS_NO_PERMISSION : STATUS_OK;
}
