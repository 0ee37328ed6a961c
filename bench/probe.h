/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ANTS_BENCH_PROBE_H
#define _ANTS_BENCH_PROBE_H

struct tracepoint;

/**
 * struct probe - a function that a tracepoint shall call
 * @name: of the tracepoint
 * @fn: called with NULL and what the tracepoint's prototype says
 * @tp: while it is attached
 */
struct probe {
	const char *name;
	void *fn;
	struct tracepoint *tp;
};

int probes_attach(struct probe *probes, unsigned int nr);
void probes_detach(struct probe *probes, unsigned int nr);

#endif /* _ANTS_BENCH_PROBE_H */
