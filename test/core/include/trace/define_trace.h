/* SPDX-License-Identifier: GPL-2.0-only */
/* There is nothing to be defined: see <linux/tracepoint.h>. */
