// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scenarios of groups.
 */
#include "explore.h"

const struct scenario scenarios_groups[] = {
	{}
};
