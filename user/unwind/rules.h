/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The unwind rules of a file, each of them once, with numbers. */
#ifndef QPROF_UNWIND_RULES_H
#define QPROF_UNWIND_RULES_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "qprof/wire_unwind.h"

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

#endif /* QPROF_UNWIND_RULES_H */
