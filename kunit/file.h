/* SPDX-License-Identifier: GPL-2.0-only */
/* Access to sysfs files as an administrator has it. */
#ifndef _ANTS_KUNIT_FILE_H
#define _ANTS_KUNIT_FILE_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/string.h>

#include "test_compat.h"

static inline struct file *sys_open(const char *path, int flags)
{
	struct file *f;

	scoped_with_init_fs()
		f = filp_open(path, flags, 0);
	return f;
}

static inline int sys_write(const char *path, const char *text)
{
	struct file *f = sys_open(path, O_WRONLY);
	ssize_t ret;

	if (IS_ERR(f))
		return PTR_ERR(f);
	ret = kernel_write(f, text, strlen(text), NULL);
	filp_close(f, NULL);
	return ret < 0 ? ret : 0;
}

/* The text at the beginning of a file. */
static inline int sys_read(const char *path, char *text, size_t size)
{
	struct file *f = sys_open(path, O_RDONLY);
	ssize_t ret;

	if (IS_ERR(f))
		return PTR_ERR(f);
	ret = kernel_read(f, text, size - 1, NULL);
	filp_close(f, NULL);
	text[max(ret, 0L)] = '\0';
	return ret < 0 ? ret : 0;
}

#endif /* _ANTS_KUNIT_FILE_H */
