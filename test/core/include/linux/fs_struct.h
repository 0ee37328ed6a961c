/* SPDX-License-Identifier: GPL-2.0-only */
/* No files are opened here. */
#ifndef _SHIM_FS_STRUCT_H
#define _SHIM_FS_STRUCT_H

#endif
