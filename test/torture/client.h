/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ants_torture does for ants_torture_client, whose tasks outlive its exit
 * function: their accounts are kept here.
 */
#ifndef _ANTS_TORTURE_CLIENT_H
#define _ANTS_TORTURE_CLIENT_H

/* The number of a new task, 0 if there is no room. */
unsigned long torture_open(void);

/* The call that was to hand it over has returned @err. */
void torture_close(unsigned long number, int err);

/* The task runs. */
void torture_ran(unsigned long number);

#endif /* _ANTS_TORTURE_CLIENT_H */
