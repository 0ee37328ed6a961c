/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lines_plugin.c needs of version 1 of QEMU's interface for plugins, which
 * QEMU 7.2 has: Debian has no package with the header. A QEMU without that
 * version refuses the plugin with an error.
 */
#ifndef _ANTS_BENCH_QEMU_PLUGIN_H
#define _ANTS_BENCH_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#define QEMU_PLUGIN_VERSION	1
#define QEMU_PLUGIN_EXPORT	__attribute__((visibility("default")))

/* Which registers callbacks use, and for which accesses they are called. */
enum { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum { QEMU_PLUGIN_MEM_RW = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(unsigned long id,
					   void (*translated)(unsigned long id,
							      void *block));
void qemu_plugin_register_vcpu_insn_exec_cb(void *insn,
					    void (*executed)(unsigned int cpu,
							     void *data),
					    int registers, void *data);
void qemu_plugin_register_vcpu_mem_cb(void *insn,
				      void (*accessed)(unsigned int cpu,
						       unsigned int info,
						       unsigned long address,
						       void *data),
				      int registers, int rw, void *data);
size_t qemu_plugin_tb_n_insns(const void *block);
void *qemu_plugin_tb_get_insn(const void *block, size_t nr);
const void *qemu_plugin_insn_data(const void *insn);
size_t qemu_plugin_insn_size(const void *insn);
unsigned int qemu_plugin_mem_size_shift(unsigned int info);
bool qemu_plugin_mem_is_store(unsigned int info);

/* QEMU looks for this symbol. */
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(unsigned long id, const void *info,
					   int argc, char **argv);

#endif /* _ANTS_BENCH_QEMU_PLUGIN_H */
