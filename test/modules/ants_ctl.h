/* SPDX-License-Identifier: GPL-2.0-only */
/* What ants_ctl provides for the module ants_client. */
#ifndef _ANTS_CTL_H
#define _ANTS_CTL_H

#include <linux/ants.h>
#include <linux/atomic.h>

/* Counts what a client has done; outlives the client. */
extern atomic_t ants_ctl_progress;

/* Wait while the gate is closed. */
void ants_ctl_pass(void);

/* The same, for ants_call_release(): a function that is not the client's. */
int ants_ctl_call(void *unused);

/* A task that is not the client's, and does nothing. */
void ants_ctl_task(void *unused);

/* A pool that was made by the command "create". */
struct ants_pool *ants_ctl_pool(const char *name);

#endif /* _ANTS_CTL_H */
