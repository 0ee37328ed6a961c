/* SPDX-License-Identifier: GPL-2.0-only */
/* What files of debugfs show, as text. */
#ifndef _ANTS_KUNIT_SHOW_H
#define _ANTS_KUNIT_SHOW_H

#include <linux/seq_file.h>
#include <linux/string.h>

#include "call.h"

#define SHOW_SIZE	(128 << 10)

/* Read the head of a file, and what it says about @pool, or about all pools. */
static inline void show(struct ants_pool *pool, unsigned int table, char *text,
			size_t size)
{
	struct seq_file seq = {
		.buf = text, .size = size, .private = (void *)(long)table,
	};
	const struct seq_operations *ops = &ants_tables_sops;
	loff_t pos = 0;
	void *entry;

	for (entry = ops->start(&seq, &pos); entry;
	     entry = ops->next(&seq, entry, &pos))
		if (!pool || !pos || entry == &pool->registered)
			ops->show(&seq, entry);
	ops->stop(&seq, NULL);
}

/* The memory is the test's. */
static inline const char *shown_in(struct kunit *test, struct ants_pool *pool,
				   unsigned int table, size_t size)
{
	char *text = kunit_kzalloc(test, size + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	show(pool, table, text, size);
	return text;
}

static inline const char *shown(struct kunit *test, struct ants_pool *pool,
				unsigned int table)
{
	return shown_in(test, pool, table, SHOW_SIZE);
}

/* Line @nr of @text, the first of which is 0; "" if there is none. */
static inline const char *line_of(const char *text, unsigned int nr)
{
	static char line[256];
	const char *end;

	while (nr-- && text) {
		text = strchr(text, '\n');
		text += !!text;
	}
	end = text ? strchr(text, '\n') : NULL;
	if (!end)
		return "";
	strscpy(line, text, min_t(size_t, end - text + 1, sizeof(line)));
	return line;
}

static inline unsigned int nr_lines(const char *text)
{
	unsigned int nr = 0;

	while ((text = strchr(text, '\n'))) {
		nr++;
		text++;
	}
	return nr;
}

static inline void expect_in(struct kunit *test, const char *text,
			     const char *part)
{
	KUNIT_EXPECT_TRUE_MSG(test, !!strstr(text, part), "no \"%s\" in \"%s\"",
			      part, text);
}

#endif /* _ANTS_KUNIT_SHOW_H */
