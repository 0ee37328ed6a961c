/* SPDX-License-Identifier: GPL-2.0-only */
/* Nothing is left out of the log. */
#ifndef _SHIM_RATELIMIT_H
#define _SHIM_RATELIMIT_H

struct ratelimit_state {
	int unused;
};

#define RATELIMIT_STATE_INIT(name, interval, burst)	{}
#define DEFINE_RATELIMIT_STATE(name, interval, burst)	\
	struct ratelimit_state name

#define __ratelimit(state)	((void)(state), true)

#endif
