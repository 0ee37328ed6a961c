/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file of Documentation/ABI/testing/ as a string, for one program; if there is an
 * ABI_MORE, with that file behind it.
 */
#ifndef _ANTS_USERSPACE_TEST_ABI_H
#define _ANTS_USERSPACE_TEST_ABI_H

#define ABI_INCBIN(file) ".incbin \"../Documentation/ABI/testing/" file "\"\n"

#ifndef ABI_FILE
#define ABI_FILE	"sysfs-kernel-ants"
#endif

#ifdef ABI_MORE
#define ABI_REST	ABI_INCBIN(ABI_MORE)
#else
#define ABI_REST	""
#endif

extern const char abi[];

__asm__(".section .rodata\n"
	"abi:\n"
	ABI_INCBIN(ABI_FILE)
	ABI_REST
	".byte 0\n"
	".previous");

#endif /* _ANTS_USERSPACE_TEST_ABI_H */
