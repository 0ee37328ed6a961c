/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_KMEMLEAK_H
#define _SHIM_KMEMLEAK_H

#include <linux/sched.h>

/* Keep @task, whose thread has died, as the kernel does: until the scenario is over. */
void kmemleak_not_leak(const void *task);

#endif
