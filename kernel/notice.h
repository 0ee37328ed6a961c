/* SPDX-License-Identifier: GPL-2.0-only */
/* The beginning and the end of notice.c. */
#ifndef _ANTS_NOTICE_H
#define _ANTS_NOTICE_H

struct ants_pool;

void ants_notice_begin(struct ants_pool *pool);
void ants_notice_end(struct ants_pool *pool);
int ants_notice_init(void);
void ants_notice_exit(void);

#endif /* _ANTS_NOTICE_H */
