/* SPDX-License-Identifier: GPL-2.0-only */
/* A file of Documentation/ABI/testing/ as a string, for one program. */
#ifndef _ANTS_USERSPACE_TEST_ABI_H
#define _ANTS_USERSPACE_TEST_ABI_H

#ifndef ABI_FILE
#define ABI_FILE	"sysfs-kernel-ants"
#endif

extern const char abi[];

__asm__(".section .rodata\n"
	"abi:\n"
	".incbin \"../Documentation/ABI/testing/" ABI_FILE "\"\n"
	".byte 0\n"
	".previous");

#endif /* _ANTS_USERSPACE_TEST_ABI_H */
