/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core in userspace: what the compiler provides, and what all headers need.
 * These headers are written from the documented meaning of what they declare;
 * they serve kernel/ only, and contain no more than it uses.
 */
#ifndef _SHIM_TYPES_H
#define _SHIM_TYPES_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include <linux/errno.h>
#include <linux/limits.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef unsigned int gfp_t;

struct module;

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	long counter;
} atomic_long_t;

typedef struct {
	s64 counter;
} atomic64_t;

#include <linux/compiler.h>

#endif
