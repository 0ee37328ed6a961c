/* SPDX-License-Identifier: GPL-2.0-only */
/* The shim is a kernel that has everything: see kernel/probe.sh. */
#define ANTS_HAVE_TIMER_DELETE
#define ANTS_HAVE_TIMER_DELETE_SYNC
#define ANTS_HAVE_TIMER_DESTROY_ON_STACK
#define ANTS_HAVE_TASK___STATE
#define ANTS_HAVE_TASK_PLUG
#define ANTS_HAVE_MIGHT_SLEEP_OF_TWO
#define ANTS_HAVE_HK_TYPE
#define ANTS_HAVE_SCHED_SETATTR
#define ANTS_HAVE_AFFINE_PREFERRED
#define ANTS_HAVE_KTHREAD_COMPLETE_AND_EXIT
