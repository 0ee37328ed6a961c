/* SPDX-License-Identifier: GPL-2.0-only */
/* For cppcheck, which does not read the kernel's headers: what walks a list. */
#define list_for_each_entry_safe(pos, next, head, member) \
	for (pos = in(head); pos; pos = next = in(pos))
#define hlist_for_each_entry_safe(pos, next, head, member) \
	for (pos = in(head); pos; pos = next = in(pos))
#define list_for_each_entry(pos, head, member) \
	for (pos = in(head); pos; pos = in(pos))
#define hlist_for_each_entry(pos, head, member) \
	for (pos = in(head); pos; pos = in(pos))
/* And what declares a tracepoint: that is no C before it is expanded. */
#define DECLARE_EVENT_CLASS(...)
#define DEFINE_EVENT(...)
#define DEFINE_EVENT_PRINT(...)
#define TRACE_EVENT(...)
