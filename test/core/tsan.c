// SPDX-License-Identifier: GPL-2.0-only
/* The compiler calls these before a volatile access: see READ_ONCE(). */
#include <linux/types.h>

#define IGNORE(access)			\
	void access(void *p)		\
	{				\
	}

IGNORE(__tsan_volatile_read1)
IGNORE(__tsan_volatile_read2)
IGNORE(__tsan_volatile_read4)
IGNORE(__tsan_volatile_read8)
IGNORE(__tsan_volatile_write1)
IGNORE(__tsan_volatile_write2)
IGNORE(__tsan_volatile_write4)
IGNORE(__tsan_volatile_write8)
