/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_DEBUGOBJECTS_H
#define _SHIM_DEBUGOBJECTS_H

struct debug_obj_descr;

static inline void debug_object_init(void *addr, const struct debug_obj_descr *descr)
{
}

static inline void debug_object_init_on_stack(void *addr,
					      const struct debug_obj_descr *descr)
{
}

static inline int debug_object_activate(void *addr, const struct debug_obj_descr *descr)
{
	return 0;
}

static inline void debug_object_assert_init(void *addr, const struct debug_obj_descr *descr)
{
}

static inline void debug_object_deactivate(void *addr, const struct debug_obj_descr *descr)
{
}

#endif
