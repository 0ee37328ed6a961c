/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ants_torture does for ants_torture_client: it keeps the accounts of
 * tasks that outlive the client's exit function.
 */
#ifndef _ANTS_TORTURE_CLIENT_H
#define _ANTS_TORTURE_CLIENT_H

/* The number of a new task, or 0 if the table is full. */
unsigned long torture_open(void);

/* The call that was to submit the task has returned @err. */
void torture_close(unsigned long number, int err);

/* The task runs. */
void torture_ran(unsigned long number);

/* The task, which has run, may end its thread. */
void torture_end_thread(unsigned long number);

#endif /* _ANTS_TORTURE_CLIENT_H */
