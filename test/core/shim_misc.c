// SPDX-License-Identifier: GPL-2.0-only
/* Memory, interrupts and the log. */
#include <linux/preempt.h>
#include <linux/slab.h>

#include "shim.h"

static long nr_allocated;

void (*shim_on_fail)(void);
bool shim_verbose;

void *shim_alloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	__atomic_fetch_add(&nr_allocated, 1, __ATOMIC_RELAXED);
	shim_allocated(p, size);
	return memset(p, 0, size);
}

void kfree(const void *p)
{
	if (!p)
		return;
	shim_freed(p);
	__atomic_fetch_sub(&nr_allocated, 1, __ATOMIC_RELAXED);
	free((void *)p);
}

long shim_nr_allocated(void)
{
	return READ_ONCE(nr_allocated);
}

void shim_irq_disable(void)
{
	WARN(current->irqs_off, "interrupts are off already");
	current->irqs_off = true;
	shim_rcu_enter();
}

void shim_irq_enable(void)
{
	WARN(!current->irqs_off, "interrupts are on already");
	current->irqs_off = false;
	shim_rcu_leave();
}

unsigned long shim_irq_save(void)
{
	unsigned long flags = current->irqs_off;

	if (!flags)
		shim_irq_disable();
	return flags;
}

void shim_irq_restore(unsigned long flags)
{
	if (!flags)
		shim_irq_enable();
}

void preempt_disable(void)
{
	shim_rcu_enter();
}

void preempt_enable(void)
{
	shim_rcu_leave();
	shim_point();
}

/* All sections are left at once. */
void preempt_count_set(int count)
{
	while (preempt_count() > count)
		shim_rcu_leave();
}

void shim_log(const char *fmt, ...)
{
	va_list args;

	if (!shim_verbose)
		return;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
}

void shim_fail(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "FAIL: %s: ", shim_self ? shim_self->comm : "?");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	if (shim_on_fail)
		shim_on_fail();
	abort();
}
