/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints that are never on. */
#ifndef _SHIM_TRACEPOINT_H
#define _SHIM_TRACEPOINT_H

#include <linux/types.h>

#define TP_PROTO(args...)	args

#define SHIM_TRACEPOINT(name, proto...)					\
static inline void trace_##name(proto)					\
{									\
}									\
									\
static inline bool trace_##name##_enabled(void)				\
{									\
	return false;							\
}

#define tracepoint_enabled(name)	trace_##name##_enabled()

#define DECLARE_EVENT_CLASS(name, ...)
#define TRACE_EVENT(name, proto, ...)	SHIM_TRACEPOINT(name, proto)
#define DEFINE_EVENT(class, name, proto, ...)				\
	SHIM_TRACEPOINT(name, proto)
#define DEFINE_EVENT_PRINT(class, name, proto, ...)			\
	SHIM_TRACEPOINT(name, proto)

#endif
