/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Doubly linked rings, and lists whose head is one pointer. The pointers of a
 * removed entry are cleared, and each removal checks that the entry is linked.
 */
#ifndef _SHIM_LIST_H
#define _SHIM_LIST_H

#include <linux/types.h>

#define SHIM_NOWHERE	((void *)0x100)

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)
#define HLIST_HEAD(name)	struct hlist_head name = { NULL }

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	WRITE_ONCE(list->next, list);
	list->prev = list;
}

static inline bool list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

static inline bool list_is_last(const struct list_head *entry,
				const struct list_head *head)
{
	return entry->next == head;
}

static inline void shim_list_join(struct list_head *a, struct list_head *b)
{
	WRITE_ONCE(a->next, b);
	b->prev = a;
}

/* Link @entry behind @prev. */
static inline void list_add(struct list_head *entry, struct list_head *prev)
{
	struct list_head *next = prev->next;

	if (unlikely(next->prev != prev))
		shim_fail("list: broken where an entry is added");
	shim_list_join(entry, next);
	shim_list_join(prev, entry);
}

static inline void list_add_tail(struct list_head *entry,
				 struct list_head *head)
{
	list_add(entry, head->prev);
}

static inline void __list_del(struct list_head *prev, struct list_head *next)
{
	shim_list_join(prev, next);
}

static inline void __list_del_entry(struct list_head *entry)
{
	if (unlikely(entry->next == SHIM_NOWHERE ||
		     entry->prev->next != entry || entry->next->prev != entry))
		shim_fail("list: what is removed is not in it");
	shim_list_join(entry->prev, entry->next);
}

static inline void list_del(struct list_head *entry)
{
	__list_del_entry(entry);
	WRITE_ONCE(entry->next, SHIM_NOWHERE);
	entry->prev = SHIM_NOWHERE;
}

static inline void list_del_init(struct list_head *entry)
{
	__list_del_entry(entry);
	INIT_LIST_HEAD(entry);
}

static inline void list_move_tail(struct list_head *entry,
				  struct list_head *head)
{
	__list_del_entry(entry);
	list_add_tail(entry, head);
}

/* Move all entries of @from to the front of @to. */
static inline void list_splice_init(struct list_head *from,
				    struct list_head *to)
{
	struct list_head *second = to->next;

	if (list_empty(from))
		return;
	shim_list_join(from->prev, second);
	shim_list_join(to, from->next);
	INIT_LIST_HEAD(from);
}

#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) \
	list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, typeof(*(pos)), member)
#define list_prev_entry(pos, member) \
	list_entry((pos)->member.prev, typeof(*(pos)), member)

#define list_for_each(node, head) \
	for (node = (head)->next; node != (head); node = node->next)
#define list_for_each_entry(pos, head, member)				\
	for (pos = list_first_entry(head, typeof(*(pos)), member);	\
	     &(pos)->member != (head);					\
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_reverse(pos, head, member)			\
	for (pos = list_last_entry(head, typeof(*(pos)), member);	\
	     &(pos)->member != (head);					\
	     pos = list_prev_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member)			\
	for (pos = list_first_entry(head, typeof(*(pos)), member),	\
	     n = list_next_entry(pos, member);				\
	     &(pos)->member != (head);					\
	     pos = n, n = list_next_entry(n, member))

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline bool hlist_empty(const struct hlist_head *head)
{
	return !READ_ONCE(head->first);
}

static inline bool hlist_unhashed(const struct hlist_node *node)
{
	return !node->pprev;
}

/* Link @node at @at. */
static inline void shim_hlist_insert(struct hlist_node *node,
				     struct hlist_node **at)
{
	node->next = *at;
	node->pprev = at;
	if (node->next)
		node->next->pprev = &node->next;
	WRITE_ONCE(*at, node);
}

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	shim_hlist_insert(node, &head->first);
}

static inline void hlist_add_behind(struct hlist_node *node,
				    struct hlist_node *prev)
{
	shim_hlist_insert(node, &prev->next);
}

static inline void shim_hlist_remove(struct hlist_node *node)
{
	if (unlikely(*node->pprev != node))
		shim_fail("hlist: what is removed is not in it");
	WRITE_ONCE(*node->pprev, node->next);
	if (node->next)
		node->next->pprev = node->pprev;
}

static inline void hlist_del(struct hlist_node *node)
{
	shim_hlist_remove(node);
	node->next = SHIM_NOWHERE;
	node->pprev = SHIM_NOWHERE;
}

static inline void hlist_del_init(struct hlist_node *node)
{
	if (hlist_unhashed(node))
		return;
	shim_hlist_remove(node);
	INIT_HLIST_NODE(node);
}

static inline void hlist_move_list(struct hlist_head *from,
				   struct hlist_head *to)
{
	to->first = from->first;
	if (to->first)
		to->first->pprev = &to->first;
	WRITE_ONCE(from->first, NULL);
}

#define hlist_entry(ptr, type, member)	container_of(ptr, type, member)
#define hlist_entry_safe(ptr, type, member) ({			\
	struct hlist_node *_node = (ptr);				\
	_node ? hlist_entry(_node, type, member) : NULL; })
#define hlist_for_each_entry(pos, head, member)				\
	for (pos = hlist_entry_safe((head)->first, typeof(*(pos)), \
					    member);			\
	     pos; pos = hlist_entry_safe((pos)->member.next,	\
						 typeof(*(pos)), member))
#define hlist_for_each_entry_safe(pos, n, head, member)			\
	for (pos = hlist_entry_safe((head)->first, typeof(*(pos)), \
					    member);			\
	     pos && ({ n = (pos)->member.next; 1; });			\
	     pos = hlist_entry_safe(n, typeof(*(pos)), member))

#endif
