/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks of pools with ANTS_CHARGE, whose memory and block I/O is charged to the
 * cgroup of their submitter. Only these pools have room for it in their slots.
 */
#ifndef _ANTS_CHARGE_H
#define _ANTS_CHARGE_H

#include "pool.h"
#include "worker.h"

struct ants_todo;

void ants_charge_set(struct ants_slot *slot, struct task_struct *task);
void ants_charge_accept(struct ants_slot *slot);
void ants_charge_move(struct ants_slot *slot, struct task_struct *task);
void ants_charge_take(struct ants_worker *w, struct ants_slot *slot,
		      struct ants_todo *todo);
void ants_charge_end(struct ants_worker *w, struct ants_todo *todo);
void ants_charge_apply(struct ants_worker *w);
void ants_charge_put(const struct ants_charge *charge);

#endif /* _ANTS_CHARGE_H */
