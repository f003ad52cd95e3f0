/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of definitions, where no function is known that returns its ends:
 *
 *	TyCtxt::def_path		lea  DEFINITIONS(%r14), %rsi
 *					call Definitions::def_path
 *	Definitions::def_path		mov  0x10(%rsi), %rax		the count, which the number
 *					mov  0x8(%rsi), %r15		of a definition is compared
 *					shl  $4, %rdi			with; the first entry
 *					mov  (%r15,%rdi,1), %r12d
 */
#ifndef QPROF_PLAN_MINE_LAYOUT_TABLE_H
#define QPROF_PLAN_MINE_LAYOUT_TABLE_H

#include "plan/mine/layout_function.h"

/* Offsets, in bytes. */
struct layout_table {
	uint32_t definitions; /* of the Definitions, within the context */
	uint32_t first;	      /* of the first entry's address, within the Definitions */
	uint32_t count;	      /* of the number of entries, likewise */
	uint32_t size;	      /* of an entry */
};

/* 0 and *problem, as layout_mine(); -ENOMEM. */
int layout_table_find(const struct elf_image *img, const struct layout_function *functions,
		      size_t n, struct layout_table *out, const char **problem);

#endif /* QPROF_PLAN_MINE_LAYOUT_TABLE_H */
