// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items as objects of the kernel's debugobjects, in kernels that check their
 * own work items (CONFIG_DEBUG_OBJECTS_WORK). An item is active from when it
 * enters a pool until it leaves. The kernel complains about an item that is
 * initialised, or whose memory is freed, while it is active, and about one that
 * is queued and was never initialised. It does so before the pool's lock is
 * taken, because the console may not print under a raw lock.
 */
#include <linux/debugobjects.h>
#include <linux/export.h>
#include <linux/sched/task_stack.h>

#include "../internal.h"

void ants_object_init(struct ants_work *work)
{
	if (object_is_on_stack(work))
		debug_object_init_on_stack(work, &ants_work_descr);
	else
		debug_object_init(work, &ants_work_descr);
}

static void *hint(void *work)
{
	return ((struct ants_work *)work)->fn;
}

/* Is it as __ANTS_WORK_INITIALIZER() leaves it? */
static bool is_static(void *work)
{
	return ((struct ants_work *)work)->result == -EINVAL;
}

/*
 * The owner of an active item is about to overwrite it. Take it off the list
 * that it is in, which is all that can be done in every context; it may still
 * run.
 */
static bool withdraw(void *work, enum debug_obj_state state)
{
	ants_work_cancel(work);
	debug_object_deactivate(work, &ants_work_descr);
	return true;
}

/* An item is queued that was never initialised: be told once. */
static bool track(void *work, enum debug_obj_state state)
{
	ants_object_init(work);
	return true;
}

const struct debug_obj_descr ants_work_descr = {
	.name = "ants_work",
	.debug_hint = hint,
	.is_static_object = is_static,
	.fixup_init = withdraw,
	.fixup_free = withdraw,
	.fixup_assert_init = track,
};

void ants_destroy_work_on_stack(struct ants_work *work)
{
	debug_object_free(work, &ants_work_descr);
}
EXPORT_SYMBOL_GPL(ants_destroy_work_on_stack);
