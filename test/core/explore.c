// SPDX-License-Identifier: GPL-2.0-only
/* Threads are coroutines, and each switch is a choice. */
#include <linux/spinlock.h>

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>

#include "explore.h"
#include "explore_trace.h"

#define STACK_SIZE	(128 * 1024)
#define MAX_THREADS	192
/* With -r, one step in so many is a deviation. */
#define CHANCE		16

/**
 * struct shim_thread - a coroutine
 * @sp: its stack pointer while it does not run
 * @stack: its memory, used again in the next run
 * @size: of @stack
 * @fake: the sanitizer's fake stack
 * @task: the task that it runs, which goes before the thread
 * @met: the condition it waits for, or NULL
 * @arg: the argument of @met
 * @trace: a hash of what it has done and seen: see explore_trace.c
 * @live: it exists
 */
struct shim_thread {
	void *sp;
	const void *stack;
	size_t size;
	void *fake;
	struct task_struct *task;
	bool (*met)(void *arg);
	void *arg;
	u64 trace;
	bool live;
};

struct run explore_run;
bool shim_has_read;

static struct shim_thread threads[MAX_THREADS], outside;
static unsigned int nr_threads;
static struct shim_thread *running;
/* The last thread that ended, if its stack is not out of bounds yet. */
static struct shim_thread *ended;
static const struct scenario *scenario;
static unsigned long now;
static bool exploring;
static unsigned long nr_passed;

#ifndef __x86_64__
#error "shim_switch() is written for x86-64 alone"
#endif

/* Store the stack pointer at @from and continue with @to. */
void shim_switch(void **from, void *to);
__asm__(".text\n"
	"shim_switch:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n");

/* The caller has come from another stack. */
static void switched(void *fake)
{
	const void *stack;
	size_t size;

	__sanitizer_finish_switch_fiber(fake, &stack, &size);
	if (!outside.stack) {
		outside.stack = stack;
		outside.size = size;
	}
	if (ended)
		ASAN_POISON_MEMORY_REGION(ended->stack, STACK_SIZE);
	ended = NULL;
	shim_self = running->task;
}

static void switch_to(struct shim_thread *to)
{
	struct shim_thread *from = running;

	running = to;
	trace_self = &to->trace;
	shim_has_read = false;
	/* A thread that loops alone passes points, too. */
	if (++nr_passed > 10 * MAX_STEPS)
		shim_fail("the run does not end");
	if (to == from)
		return;
	__sanitizer_start_switch_fiber(from->live ? &from->fake : NULL,
				       to->stack, to->size);
	shim_switch(&from->sp, to->sp);
	switched(from->fake);
}

/* --- choices ---------------------------------------------------------------------- */

static bool is_softirq(const struct shim_thread *t)
{
	return t->task && t->task->softirq;
}

/* Timers come last, after threads that lag. */
static unsigned int rank(const struct shim_thread *t)
{
	if (t == running || !t->task)
		return 0;
	return is_softirq(t) ? 2 : t->task->lags;
}

static bool can_run(struct shim_thread *t)
{
	return t->live && (!t->met || t->met(t->arg));
}

/* The caller if it can continue, and the others in turn, by rank. */
static unsigned int find_options(struct shim_thread **options)
{
	unsigned int i, r, nr = 0, first = running - threads;
	bool traced = trace_on;
	struct shim_thread *t;

	trace_on = false;
	for (r = 0; r <= 2; r++) {
		for (i = 0; i < nr_threads; i++) {
			t = &threads[(first + i) % nr_threads];
			if (rank(t) == r && can_run(t))
				options[nr++] = t;
		}
	}
	trace_on = traced;
	return nr;
}

static void fail_deadlock(void)
{
	unsigned int i;

	for (i = 0; i < nr_threads; i++)
		if (threads[i].live && !is_softirq(&threads[i]))
			fprintf(stderr, "  %s[%u] waits\n",
				threads[i].task->comm, i);
	shim_fail("deadlock");
}

unsigned int explore_random(unsigned int below)
{
	explore_run.random = explore_run.random * 6364136223846793005ULL + 1;
	return (explore_run.random >> 33) % below;
}

/* A hash of everything that was done and seen, the running thread first. */
static u64 state_key(void)
{
	unsigned int i, first = running - threads;
	u64 key = 0;

	for (i = 0; i < nr_threads; i++)
		key = trace_mix(key, threads[(first + i) % nr_threads].trace);
	return key ?: 1;
}

/*
 * Record the final state: runs that lead to the same state have the same one.
 */
static void note_end(void)
{
	u64 key = 0;
	unsigned int i;

	for (i = 0; i < nr_threads; i++)
		key += trace_mix(threads[i].trace, 6);
	explore_run.end = key ?: 1;
}

/*
 * A hash of some of the memory, to check whether two states really are the
 * same.
 */
static u64 state_digest(void)
{
	u64 digest = trace_mix(trace_watched(), now);
	unsigned int i;

	for (i = 0; i < nr_threads; i++) {
		digest = trace_mix(digest, threads[i].live);
		if (threads[i].live && threads[i].task)
			digest = trace_mix(digest, threads[i].task->__state);
	}
	return digest;
}

/* If this state was seen before, nothing is left to choose. */
static void look_up(struct run *run)
{
	if (run->known || run->nr < run->given || run->used >= run->bound)
		return;
	run->known = !trace_set_add(run->states, state_key(), run->used,
				    run->checked ? state_digest() : 0);
}

static unsigned int pick_step(unsigned int nr)
{
	struct run *run = &explore_run;
	struct step *step = &run->steps[run->nr];

	if (run->nr == MAX_STEPS)
		shim_fail("too many steps");
	if (run->states)
		look_up(run);
	step->nr = run->used < run->bound && !run->known ? nr : 1;
	if (run->nr >= run->given) {
		step->pick = 0;
		if (run->seed && step->nr > 1 && !explore_random(CHANCE))
			step->pick = explore_random(nr);
	}
	if (step->pick >= nr)
		shim_fail("step %u has no thread %u", run->nr, step->pick);
	run->nr++;
	run->used += !!step->pick;
	return step->pick;
}

static void reschedule(void)
{
	struct shim_thread *options[MAX_THREADS];
	unsigned int nr = find_options(options), pick = 0;

	if (!nr)
		fail_deadlock();
	if (exploring && nr > 1)
		pick = pick_step(nr);
	switch_to(options[pick]);
}

void shim_point(void)
{
	shim_has_read = false;
	trace_step();
	if (exploring && running != &outside)
		reschedule();
}

void shim_soft_point(void)
{
	if (shim_has_read)
		shim_point();
}

void shim_yield(void)
{
	shim_point();
}

void shim_wait_until(bool (*met)(void *arg), void *arg)
{
	bool traced = trace_on, now_met;

	trace_on = false;
	now_met = met(arg);
	trace_on = traced;
	trace_step();
	if (now_met)
		return;
	running->met = met;
	running->arg = arg;
	reschedule();
	running->met = NULL;
	trace_step();
}

void explore_begin(void)
{
	exploring = true;
}

void explore_end(void)
{
	exploring = false;
	note_end();
}

/* --- threads ---------------------------------------------------------------------- */

static void thread_gone(void)
{
	running->task = NULL;
	running->live = false;
	ended = running;
}

void shim_thread_exit(void)
{
	thread_gone();
	reschedule();
	__builtin_unreachable();
}

static void thread_entry(void)
{
	bool first = running == threads;

	switched(NULL);
	if (!first) {
		shim_task_main(running->task);
		shim_thread_exit();
	}
	scenario->run();
	thread_gone();
	switch_to(&outside);
	__builtin_unreachable();
}

static void *stack_make(void)
{
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		shim_fail("no stack to be had");
	return stack;
}

static struct shim_thread *thread_start(struct task_struct *task)
{
	struct shim_thread *t = &threads[nr_threads++];
	void **sp;

	if (nr_threads > MAX_THREADS)
		shim_fail("too many threads");
	if (!t->stack)
		t->stack = stack_make();
	t->size = STACK_SIZE;
	ASAN_UNPOISON_MEMORY_REGION(t->stack, t->size);
	/* As if thread_entry()'s caller had called shim_switch(). */
	sp = (void *)t->stack + STACK_SIZE - 8;
	*--sp = thread_entry;
	t->sp = sp - 6;
	t->fake = NULL;
	t->task = task;
	t->met = NULL;
	trace_step();
	t->trace = trace_mix(*trace_self, 7);
	t->live = true;
	return t;
}

void shim_thread_make(struct task_struct *task)
{
	if (task->fn)
		task->thread = thread_start(task);
	else
		running->task = task;
}

void shim_thread_free(struct task_struct *task)
{
	if (!task->fn)
		running->task = NULL;
}

void explore_lag(struct task_struct *task)
{
	task->lags = true;
}

static bool is_awake(void *task)
{
	return ((struct task_struct *)task)->__state == TASK_RUNNING;
}

void shim_park(void)
{
	shim_wait_until(is_awake, current);
	shim_wrote(&current->__state);
}

bool shim_unpark(struct task_struct *task)
{
	bool slept = task->__state != TASK_RUNNING;

	task->__state = TASK_RUNNING;
	shim_wrote(&task->__state);
	return slept;
}

/* --- locks ------------------------------------------------------------------------ */

void shim_lock_init(struct shim_lock *lock)
{
	lock->owner = NULL;
}

static bool is_free(void *lock)
{
	return !((struct shim_lock *)lock)->owner;
}

void shim_lock(struct shim_lock *lock)
{
	if (lock->owner && lock->owner == current)
		shim_fail("a lock is taken twice");
	shim_wait_until(is_free, lock);
	lock->owner = current;
	shim_wrote(lock);
}

void shim_unlock(struct shim_lock *lock)
{
	WARN(lock->owner != current, "another thread's lock is dropped");
	lock->owner = NULL;
}

bool shim_lock_held(const struct shim_lock *l)
{
	return l->owner == current;
}

/* --- time: it goes on when a timer fires ------------------------------------------- */

unsigned long shim_jiffies(void)
{
	shim_saw(now);
	return now;
}

void shim_timer_kick(void)
{
}

static bool timer_may_fire(void *unused)
{
	unsigned long when;

	return shim_timers_stopping() ||
	       (shim_timer_next(&when) && time_before(when, now + EXPLORE_FAR));
}

void shim_timer_rest(void)
{
	unsigned long when = now;

	shim_wait_until(timer_may_fire, NULL);
	if (shim_timer_next(&when) && time_after(when, now) &&
	    !shim_timers_stopping())
		now = when;
	shim_saw(now);
}

/* --- a run ------------------------------------------------------------------------ */

void explore_once(const struct scenario *s)
{
	scenario = s;
	nr_threads = 0;
	nr_passed = 0;
	exploring = false;
	now = 1000;
	explore_run.nr = 0;
	explore_run.used = 0;
	explore_run.known = false;
	explore_run.end = 0;
	explore_run.outcome = 1;
	trace_watch(NULL);
	trace_begin();
	trace_self = &outside.trace;
	outside.trace = 0;
	trace_on = explore_run.traced;
	explore_run.random = explore_run.seed * 0x9e3779b97f4a7c15ULL;
	outside.live = true;
	running = &outside;
	switch_to(thread_start(NULL));
}
