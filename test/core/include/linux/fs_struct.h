/* SPDX-License-Identifier: GPL-2.0-only */
/* Nobody opens files here. */
#ifndef _SHIM_FS_STRUCT_H
#define _SHIM_FS_STRUCT_H

#endif
