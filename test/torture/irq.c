// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls from hard interrupts, and from softirqs that these raise. A kicker
 * interrupts some CPU, whatever runs there. On PREEMPT_RT an interrupt from
 * another CPU may not raise a softirq, so the kicker does.
 */
#define pr_fmt(fmt) "ants_torture: " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/smp.h>

#include "torture.h"

#define MOST_KICKERS	8

/**
 * struct kicker - a thread that sends interrupts
 * @hard: the caller in the hard interrupt
 * @soft: the caller in the softirq
 * @tasklet: runs in the softirq
 * @task: the thread
 * @rnd: decides which CPU is next
 */
static struct kicker {
	struct actor hard;
	struct actor soft;
	struct tasklet_struct tasklet;
	struct task_struct *task;
	struct rnd_state rnd;
} kickers[MOST_KICKERS];

static void act_somewhere(struct actor *actor)
{
	struct target *target = target_get(actor);

	if (!target)
		return;
	act(actor, target, target_pool(target), false);
	target_put(target);
}

static void act_soft(struct tasklet_struct *tasklet)
{
	struct kicker *kicker = from_tasklet(kicker, tasklet, tasklet);

	act_somewhere(&kicker->soft);
}

static void act_hard(void *arg)
{
	struct kicker *kicker = arg;

	act_somewhere(&kicker->hard);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		tasklet_schedule(&kicker->tasklet);
}

static int kick(void *arg)
{
	struct kicker *kicker = arg;

	while (!kthread_should_stop()) {
		unsigned int cpu = prandom_u32_state(&kicker->rnd) % nr_cpu_ids;

		/* Skip a CPU that is offline. */
		if (cpu_online(cpu))
			smp_call_function_single(cpu, act_hard, kicker, 1);
		if (IS_ENABLED(CONFIG_PREEMPT_RT))
			tasklet_schedule(&kicker->tasklet);
		usleep_range(knob_kick_us.value, 2 * knob_kick_us.value);
	}
	return 0;
}

int kickers_start(void)
{
	unsigned int i;

	for (i = 0; i < knob_kickers.value; i++) {
		struct kicker *kicker = &kickers[i];

		actor_seed(&kicker->hard, knob_seed.value ^ (0x10000 + i), 0);
		actor_seed(&kicker->soft, knob_seed.value ^ (0x20000 + i), 0);
		prandom_seed_state(&kicker->rnd, knob_seed.value + i);
		kicker->hard.atomic = true;
		kicker->soft.atomic = true;
		actor_watch(&kicker->hard);
		actor_watch(&kicker->soft);
		tasklet_setup(&kicker->tasklet, act_soft);
		kicker->task = kthread_run(kick, kicker, "torture/irq%u", i);
		if (IS_ERR(kicker->task)) {
			kicker->task = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

void kickers_stop(void)
{
	unsigned int i;

	for (i = 0; i < MOST_KICKERS; i++) {
		if (!kickers[i].task)
			continue;
		kthread_stop(kickers[i].task);
		tasklet_kill(&kickers[i].tasklet);
		kickers[i].task = NULL;
	}
}
