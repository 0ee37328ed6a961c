// SPDX-License-Identifier: GPL-2.0-only
/*
 * To whom a task is charged. A task that is accepted holds references to the
 * memory and the block I/O controller of its submitter's cgroup. Its worker
 * takes them over, and puts them when the task has ended.
 */
#include <linux/preempt.h>

#include "../internal.h"
#include "charge.h"

/* Charge the task in @slot, which is about to become pending, to @task. */
void ants_charge_set(struct ants_slot *slot, struct task_struct *task)
{
	struct ants_charge *charge = ants_slot_charge(slot);

	charge->memory = ants_css_memory(task);
	charge->blocks = ants_css_blocks(task);
	if (charge->memory || charge->blocks)
		slot->tag |= ANTS_TAG_CHARGED;
}

/*
 * Charge the task in @slot, which the caller submits, to the caller. A task
 * that is submitted in an interrupt is charged to nobody, and neither is a work
 * item, which has no room for the references.
 */
void ants_charge_accept(struct ants_slot *slot)
{
	if (in_task() && !(slot->tag & ANTS_TAG_WORK))
		ants_charge_set(slot, current);
}

/* Charge the task in @slot to @task, on whose behalf it was accepted. */
void ants_charge_move(struct ants_slot *slot, struct task_struct *task)
{
	if (slot->tag & ANTS_TAG_CHARGED)
		ants_charge_put(ants_slot_charge(slot));
	slot->tag &= ~ANTS_TAG_CHARGED;
	ants_charge_set(slot, task);
}

static void charge_later(struct ants_worker *w, struct ants_todo *todo)
{
	todo->worker = w;
	todo->bits |= ANTS_TODO_CHARGE;
}

/* The caller is @w, and takes the task in @slot. */
void ants_charge_take(struct ants_worker *w, struct ants_slot *slot,
		      struct ants_todo *todo)
{
	w->next_charge = *ants_slot_charge(slot);
	charge_later(w, todo);
}

/* The caller is @w, and has run such a task. */
void ants_charge_end(struct ants_worker *w, struct ants_todo *todo)
{
	w->next_charge = (struct ants_charge){};
	charge_later(w, todo);
}

void ants_charge_put(const struct ants_charge *charge)
{
	ants_css_put(charge->memory);
	ants_css_put(charge->blocks);
}

/*
 * What the caller, @w, does from now on is charged as it has noted. This does not
 * sleep, since the caller may be about to park.
 */
void ants_charge_apply(struct ants_worker *w)
{
	struct ants_charge was = w->charge;

	w->charge = w->next_charge;
	w->next_charge = (struct ants_charge){};
	ants_charge_memory(w->charge.memory);
	ants_charge_blocks(w->charge.blocks);
	ants_charge_put(&was);
}
