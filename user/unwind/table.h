/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The unwind table of a file: rules, and per page of its code a pc-value table in the linear-index
 * encoding, whose values are numbers of rules (include/qprof/wire_unwind.h, docs/unwind.md).
 *
 * A table may come from a damaged file or a hostile one. Then its rules may be wrong, but no
 * look-up reads outside of it.
 *
 * To learn how the room user/unwind works, read in this order:
 *
 *	input.h		what a table is made of: segments, .eh_frame, procedure linkage tables
 *	rows.c		from these to rows: from an address on, a rule
 *	table.h		from rows to the table: this file
 *	job.c		the table is taken from a store, or a child process makes it (codec.h)
 *	area.h		the memory in which the kernel half looks tables up
 *	step.h		from the registers of a frame to those of its caller, in the user half
 */
#ifndef QPROF_UNWIND_TABLE_H
#define QPROF_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/mine/llvm.h"
#include "unwind/rows.h"

/* Of the pc-value tables of one file. Those of LLVM 22 have 4 MB. */
#define UNWIND_TABLE_BYTES_MAX (7u << 20)

#define UNWIND_NO_TABLE UINT32_MAX

struct unwind_table {
	uint64_t start; /* ELF virtual address of the first page */
	uint32_t pages;
	uint32_t n_rules;
	uint32_t n_segments;
	struct elf_segment segments[UNWIND_SEGMENTS_MAX]; /* those that are executable */
	struct wire_unwind_rule *rules;
	/*
	 * Per page the offset of its table, or UNWIND_NO_TABLE. They rise; a table ends where the
	 * next one begins.
	 */
	uint32_t *directory;
	const uint8_t *tables;
	uint32_t size;
	uint32_t rows; /* that the table was made of */
	uint32_t functions;
	uint32_t unreadable; /* records of .eh_frame left out, wholly or from a pc on */
	uint32_t refused;    /* runs whose rule found no room */
	/* The file's plan of LLVM, made with its table; NULL: the file has none. */
	struct llvm_plan *llvm;
	/* The memory that holds `tables`, if the table owns it: either of the two. */
	uint8_t *bytes; /* malloc'd */
	void *map;
	size_t map_size;
};

/*
 * The table of a file's rows, whose rules it sorts. 0 and a table the caller frees; -EFBIG if it
 * would be longer than UNWIND_TABLE_BYTES_MAX; -ENOMEM.
 */
int unwind_table__make(const struct unwind_input *in, struct unwind_rows *rows,
		       struct unwind_table **out);

/*
 * The rule at an ELF virtual address; its base is WIRE_UNWIND_NONE if there is none. A return
 * address is looked up less 1.
 */
struct wire_unwind_rule unwind_table__rule(const struct unwind_table *t, uint64_t addr);

/*
 * Of a mapping that begins at `start`, and at `offset` in the file: what is subtracted from its
 * addresses to have ELF virtual addresses. False if it begins in none of the segments.
 */
bool unwind_segments__bias(const struct elf_segment *segments, uint32_t n, uint64_t start,
			   uint64_t offset, uint64_t *bias);

/* The bytes of the pc-value table of a page: 0 if it has none. */
uint32_t unwind_table__page_size(const struct unwind_table *t, uint32_t page);

/* The memory that its rules, directory and pc-value tables take. */
uint32_t unwind_table__bytes(const struct unwind_table *t);

void unwind_table__free(struct unwind_table *t);
DEFINE_CLEANUP(struct unwind_table, unwind_table__free)
#define _unwind_table_ __cleanup(unwind_table__free_p)

#endif /* QPROF_UNWIND_TABLE_H */
