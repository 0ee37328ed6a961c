/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SHIM_EXPORT_H
#define _SHIM_EXPORT_H

#include <linux/types.h>

#define EXPORT_SYMBOL_GPL(symbol)	extern typeof(symbol) symbol
#define THIS_MODULE			((struct module *)NULL)

#endif
