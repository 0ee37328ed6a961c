/* SPDX-License-Identifier: GPL-2.0-only */
/* Nothing: there are no cgroups here. */
