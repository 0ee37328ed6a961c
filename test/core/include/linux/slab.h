/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocations fail only if debug.c says so; leaks are counted. */
#ifndef _SHIM_SLAB_H
#define _SHIM_SLAB_H

#include <linux/types.h>

#define GFP_KERNEL		0U
#define GFP_NOIO		0U
#define GFP_NOWAIT		0U
#define GFP_ATOMIC		0U
#define __GFP_NORETRY		0U
#define __GFP_RETRY_MAYFAIL	0U
#define __GFP_NOWARN		0U

struct kmem_cache {
	size_t size;
};

void kfree(const void *p);
/* For gcc -fanalyzer. */
#ifdef __clang__
#define shim_freed_by(free)
#else
#define shim_freed_by(free)	__attribute__((__malloc__(free, 1)))
#endif
shim_freed_by(kfree)
void *shim_alloc(size_t size);

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return shim_alloc(size);
}

static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return shim_alloc(n * size);
}

#define kmalloc(size, gfp)	kzalloc(size, gfp)
#define kzalloc_node(size, gfp, node)	kzalloc(size, gfp)
#define kmalloc_node(size, gfp, node)	kmalloc(size, gfp)
#define kmalloc_array(n, size, gfp)	kcalloc(n, size, gfp)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + (size_t)(n) * sizeof((p)->member[0]))

static inline struct kmem_cache *shim_cache_create(size_t size)
{
	struct kmem_cache *cache = shim_alloc(sizeof(*cache));

	if (cache)
		cache->size = size;
	return cache;
}

#define KMEM_CACHE(type, flags)	shim_cache_create(sizeof(struct type))

#define kmem_cache_zalloc(cache, gfp)	shim_alloc((cache)->size)
#define kmem_cache_free(cache, p)	kfree(p)

static inline int kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t nr,
					void **p)
{
	size_t i;

	for (i = 0; i < nr; i++)
		p[i] = shim_alloc(cache->size);
	return nr;
}

static inline void kmem_cache_free_bulk(struct kmem_cache *cache, size_t nr, void **p)
{
	while (nr)
		kfree(p[--nr]);
}

static inline void kmem_cache_destroy(struct kmem_cache *cache)
{
	kfree(cache);
}

#endif
