// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of work items.
 */
#include "explore.h"

const struct scenario scenarios_items[] = {
	{}
};
