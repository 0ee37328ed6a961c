/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ANTS_BENCH_PROBE_H
#define _ANTS_BENCH_PROBE_H

struct tracepoint;

/**
 * struct probe - a function that a tracepoint is to call
 * @name: the name of the tracepoint
 * @fn: called with NULL and the arguments of the tracepoint's prototype
 * @tp: the tracepoint, while the probe is attached
 */
struct probe {
	const char *name;
	void *fn;
	struct tracepoint *tp;
};

int probes_attach(struct probe *probes, unsigned int nr);
void probes_detach(struct probe *probes, unsigned int nr);

#endif /* _ANTS_BENCH_PROBE_H */
