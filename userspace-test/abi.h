/* SPDX-License-Identifier: GPL-2.0-only */
/* Documentation/ABI/testing/sysfs-kernel-ants as a string, for one program. */
#ifndef _ANTS_USERSPACE_TEST_ABI_H
#define _ANTS_USERSPACE_TEST_ABI_H

extern const char abi[];

__asm__(".section .rodata\n"
	"abi:\n"
	".incbin \"../Documentation/ABI/testing/sysfs-kernel-ants\"\n"
	".byte 0\n"
	".previous");

#endif /* _ANTS_USERSPACE_TEST_ABI_H */
