// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that use memory of the process that calls a pool; see
 * test/modules/ants_user.c.
 */
#include "util.h"

#define USER_DIR	"/sys/kernel/debug/ants_user"

FIXTURE(memory) {
	char buf[3];
};

FIXTURE_SETUP(memory)
{
	memset(self->buf, '-', sizeof(self->buf));
}

FIXTURE_TEARDOWN(memory)
{
}

/* The share of the caller can use it, that of a thread of the pool cannot. */
CASE(memory, is_there_for_the_caller_only)
{
	EXPECT_EQ(-EFAULT, read_file(USER_DIR "/plain", self->buf, 3));
	EXPECT_EQ('c', self->buf[0]);
	EXPECT_EQ('-', self->buf[1]);
}

CASE(memory, can_be_borrowed)
{
	EXPECT_EQ(2, read_file(USER_DIR "/borrows", self->buf, 3));
	EXPECT_STREQ("ct", self->buf);
}

TEST_HARNESS_MAIN
