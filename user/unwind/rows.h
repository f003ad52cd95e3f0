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
#include "base/map.h"
#include "qprof/wire_unwind.h"
#include "unwind/input.h"

/* The unwind rules of a file, each of them once, with numbers. */

/* All zeroes is an empty one. Rule 0 is always WIRE_UNWIND_NONE, also in an empty one. */
struct unwind_rules {
	struct wire_unwind_rule *rules; /* by their numbers; NULL if there is only rule 0 */
	uint32_t n;			/* with rule 0, unless `rules` is NULL */
	uint32_t capacity;
	uint32_t refused; /* calls that have found no room */
	uint32_t last;	  /* number that was given; the next rule often is the same */
	struct u64_map numbers;
};

/*
 * The number of a rule, which is new if there is none like it. Number 0 if WIRE_UNWIND_RULES_MAX
 * other ones are there already. 0 or -ENOMEM.
 */
int unwind_rules__number(struct unwind_rules *r, struct wire_unwind_rule rule, uint32_t *number);

/*
 * Give the rules new numbers, so that those used most get the smallest ones: differences between
 * them are then short, and the rules that are looked up lie together. `uses` holds how often each
 * number is used; `numbers` gets the new number of each. Both have r->n items. 0 or -ENOMEM.
 */
int unwind_rules__sort(struct unwind_rules *r, const uint32_t *uses, uint32_t *numbers);

void unwind_rules__destroy(struct unwind_rules *r);
#define _unwind_rules_ __cleanup(unwind_rules__destroy)

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
