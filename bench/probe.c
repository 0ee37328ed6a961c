// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's tracepoints by name: modules cannot call most of them by symbol.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "probe.h"

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tp, void *data)
{
	struct search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

static int attach(struct probe *probe)
{
	struct search search = { .name = probe->name };

	for_each_kernel_tracepoint(compare, &search);
	if (!search.found)
		return -ENOENT;
	probe->tp = search.found;
	return tracepoint_probe_register(probe->tp, probe->fn, NULL);
}

/*
 * Returns 0, or -errno with none attached; -ENOENT: there is no such
 * tracepoint.
 */
int probes_attach(struct probe *probes, unsigned int nr)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		err = attach(&probes[i]);
		if (err) {
			probes_detach(probes, i);
			return err;
		}
	}
	return 0;
}

void probes_detach(struct probe *probes, unsigned int nr)
{
	while (nr--)
		tracepoint_probe_unregister(probes[nr].tp, probes[nr].fn, NULL);
	tracepoint_synchronize_unregister();
}
