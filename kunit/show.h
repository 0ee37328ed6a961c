/* SPDX-License-Identifier: GPL-2.0-only */
/* What files of debugfs show, as text. */
#ifndef _ANTS_KUNIT_SHOW_H
#define _ANTS_KUNIT_SHOW_H

#include <linux/seq_file.h>
#include <linux/string.h>

#include "call.h"

#include "../kernel/debugfs.h"

#define SHOW_SIZE	(128 << 10)

typedef int (*show_fn_t)(struct seq_file *seq, void *unused);

/* The text of a file; the memory is the test's. */
static inline const char *shown_in(struct kunit *test, struct ants_pool *pool,
				   show_fn_t show, size_t size)
{
	struct seq_file seq = { .size = size, .private = pool };

	seq.buf = kunit_kzalloc(test, size + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq.buf);
	KUNIT_EXPECT_EQ(test, show(&seq, NULL), 0);
	return seq.buf;
}

static inline const char *shown(struct kunit *test, struct ants_pool *pool,
				show_fn_t show)
{
	return shown_in(test, pool, show, SHOW_SIZE);
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
