/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The unwind rules of a file in rows: from an address on, a rule. Neighbouring rows have different
 * rules. What no function covers has rule 0. Padding is no exception but where another function
 * follows within UNWIND_PADDING_MAX bytes: there the rule before goes on, which saves a tenth of
 * the rows.
 *
 * Where functions overlap, the one that starts last counts, as for the table of .eh_frame_hdr that
 * libgcc bisects; of two that start at one address, the first in the section.
 */
#ifndef QPROF_UNWIND_ROWS_H
#define QPROF_UNWIND_ROWS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "unwind/input.h"
#include "unwind/rules.h"

/* Files with more are refused. LLVM 22 has 1.2 million. */
#define UNWIND_ROWS_MAX (8u << 20)

/* Compilers let functions begin at multiples of 16. */
#define UNWIND_PADDING_MAX 15

struct unwind_row {
	uint32_t at; /* from the start of the code on */
	uint32_t rule;
};

/* All zeroes is an empty one. */
struct unwind_rows {
	uint64_t start;		 /* ELF virtual address; a multiple of WIRE_UNWIND_PAGE_BYTES */
	struct unwind_row *rows; /* the last one has rule 0 */
	uint32_t n;
	uint32_t capacity;
	uint32_t end; /* of the last run that was added */
	struct unwind_rules rules;
	uint32_t functions;  /* that rows were made of */
	uint32_t unreadable; /* records and programs that were left out, wholly or from a pc on */
};

/*
 * The rows of a file. Replaces `out`, which is empty. 0; -ENODATA if nothing of it has a rule;
 * -EFBIG if there are too many, -ENOMEM.
 */
int unwind_rows__read(const struct unwind_input *input, struct unwind_rows *out);

void unwind_rows__destroy(struct unwind_rows *r);
#define _unwind_rows_ __cleanup(unwind_rows__destroy)

#endif /* QPROF_UNWIND_ROWS_H */
