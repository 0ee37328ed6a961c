// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for QEMU: which cache lines a guest touches between the marks of
 * lines.h, and how many atomic instructions it executes there. QEMU calls the
 * plugin for each access with the virtual address, so nothing has to be decoded,
 * and the guest, whose clock counts instructions, runs as without the plugin.
 * Single steps by gdb would have to decode operands, and take a thousand times as
 * long.
 *
 * out=FILE gets a line for each window, from one mark to the next:
 *	window ROW FROM TO ATOMICS, then lines read and lines written of each kind
 * and at the end of a row, for each line of the pool, in how many windows it was
 * read and written:
 *	pool ROW LINE READ WRITTEN
 * A line that is written is not counted as read.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "qemu_plugin.h"

#define LINE_SHIFT	6
#define TABLE_BITS	18
#define TABLE_SIZE	0x40000
#define POOL_LINES	64

enum kind { OTHER, POOL, WORKER, TASK, NR_COUNTED, STACK = NR_COUNTED };

/**
 * struct line - a cache line that was touched, or that a mark has described
 * @address: its address divided by its size; 0 = this entry is free
 * @kind: what the memory is
 * @read: the last window in which it was read
 * @written: the last window in which it was written
 */
struct line {
	unsigned long address;
	enum kind kind;
	unsigned int read;
	unsigned int written;
};

/* Accesses of a window to one kind, or of a row to one line of the pool. */
struct touched {
	unsigned int read;
	unsigned int written;
};

int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static FILE *out;
static struct line table[TABLE_SIZE];
static unsigned int nr_lines, row, window, atomics;
static struct touched touched[NR_COUNTED + 1], of_pool[POOL_LINES];
static unsigned long first, pool;
static int since = -1;
static bool counting;

static void die(const char *why)
{
	fprintf(stderr, "lines_plugin: %s\n", why);
	exit(1);
}

static struct line *find(unsigned long address)
{
	unsigned long hash = address * 0x9e3779b97f4a7c15UL >> (64 - TABLE_BITS);

	while (table[hash].address && table[hash].address != address)
		hash = (hash + 1) % TABLE_SIZE;
	if (!table[hash].address) {
		if (++nr_lines > TABLE_SIZE / 2)
			die("the guest touches too many lines");
		table[hash].address = address;
	}
	return &table[hash];
}

static void count(struct touched *t, bool store, bool read_before)
{
	if (store) {
		t->written++;
		t->read -= read_before;
	} else {
		t->read++;
	}
}

static void touch(unsigned long address, bool store)
{
	struct line *line = find(address);
	unsigned long nr = address - pool;
	bool read = line->read == window;

	if (line->written == window || (read && !store))
		return;
	*(store ? &line->written : &line->read) = window;
	count(&touched[line->kind], store, read);
	if (line->kind == POOL && nr < POOL_LINES)
		count(&of_pool[nr], store, read);
}

static void on_access(unsigned int cpu, unsigned int info, unsigned long address,
		      void *data)
{
	bool store = qemu_plugin_mem_is_store(info);
	unsigned long last = address + (1U << qemu_plugin_mem_size_shift(info)) - 1;

	(void)cpu;
	(void)data;
	if (!counting)
		return;
	touch(address >> LINE_SHIFT, store);
	if (last >> LINE_SHIFT != address >> LINE_SHIFT)
		touch(last >> LINE_SHIFT, store);
}

static void on_atomic(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	atomics += counting;
}

/* Ignore the body of a task, and the caller between two submits. */
static bool is_of_interest(int from, int to)
{
	return from == LINES_SUBMIT || from == LINES_RAN ||
	       (from == LINES_SUBMITTED && to != LINES_SUBMIT && to != LINES_END);
}

static void end_window(int mark)
{
	int i;

	if (counting && is_of_interest(since, mark)) {
		fprintf(out, "window %u %d %d %u", row, since, mark, atomics);
		for (i = 0; i < NR_COUNTED; i++)
			fprintf(out, " %u %u", touched[i].read, touched[i].written);
		fputc('\n', out);
	}
	memset(touched, 0, sizeof(touched));
	atomics = 0;
	window++;
	since = mark;
}

static void end_row(void)
{
	int i;

	for (i = 0; i < POOL_LINES; i++)
		if (of_pool[i].read || of_pool[i].written)
			fprintf(out, "pool %u %d %u %u\n", row, i,
				of_pool[i].read, of_pool[i].written);
	if (fflush(out))
		die("cannot write");
	counting = false;
}

static void begin_row(void)
{
	memset(table, 0, sizeof(table));
	memset(of_pool, 0, sizeof(of_pool));
	nr_lines = 0;
	pool = 0;
	row++;
}

static void tell(enum kind kind, unsigned long last)
{
	unsigned long address;

	if (kind == POOL)
		pool = first;
	for (address = first; address <= last >> LINE_SHIFT; address++)
		find(address)->kind = kind;
}

static void on_mark(unsigned int cpu, unsigned int info, unsigned long address,
		    void *data)
{
	enum lines_mark mark = (uintptr_t)data;

	(void)cpu;
	(void)info;
	switch (mark) {
	case LINES_ROW:
		begin_row();
		break;
	case LINES_FIRST:
		first = address >> LINE_SHIFT;
		break;
	case LINES_POOL:
		tell(POOL, address);
		break;
	case LINES_WORKER:
		tell(WORKER, address);
		break;
	case LINES_TASK:
		tell(TASK, address);
		break;
	case LINES_STACK:
		tell(STACK, address);
		break;
	default:
		end_window(mark);
		if (mark == LINES_COUNT)
			counting = true;
		else if (mark == LINES_END)
			end_row();
	}
}

/* movb LINES_MAGIC + mark(%rax), %al */
static int mark_of(const unsigned char *code, size_t size)
{
	unsigned int displacement;

	if (size != 6 || code[0] != 0x8a || code[1] != 0x80)
		return -1;
	memcpy(&displacement, code + 2, sizeof(displacement));
	if ((displacement & ~0xffU) != LINES_MAGIC)
		return -1;
	return displacement & 0xff;
}

static bool is_prefix(unsigned char byte)
{
	return memchr("\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65\x66\x67", byte, 11);
}

/* True for a lock prefix, or an exchange with memory, which needs none. */
static bool is_atomic(const unsigned char *code, size_t size)
{
	size_t i;

	for (i = 0; i < size && is_prefix(code[i]); i++)
		if (code[i] == 0xf0)
			return true;
	if (i < size && (code[i] & 0xf0) == 0x40)
		i++;
	return i + 1 < size && (code[i] & 0xfe) == 0x86 && code[i + 1] < 0xc0;
}

static void on_instruction(void *insn)
{
	const unsigned char *code = qemu_plugin_insn_data(insn);
	size_t size = qemu_plugin_insn_size(insn);
	int mark = mark_of(code, size);

	if (mark >= 0) {
		qemu_plugin_register_vcpu_mem_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 (void *)(uintptr_t)mark);
		return;
	}
	if (is_atomic(code, size))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_atomic,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_translation(unsigned long id, void *block)
{
	size_t i;

	(void)id;
	for (i = 0; i < qemu_plugin_tb_n_insns(block); i++)
		on_instruction(qemu_plugin_tb_get_insn(block, i));
}

int qemu_plugin_install(unsigned long id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc == 1 && !strncmp(argv[0], "out=", 4))
		out = fopen(argv[0] + 4, "w");
	if (!out) {
		fprintf(stderr, "lines_plugin: out=FILE, which can be written\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
