/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules that were found last, by the place that they were found for.
 *
 * The outer functions of a stack are the same in most samples. A look-up in tables reads four to
 * six lines of memory, which rustc drives out of the caches between two samples; here it is one.
 *
 * Pure logic, compiled twice, like unwind.h. Each CPU has entries of its own, and the rule of a
 * place never changes: the user half clears all entries before the number of a file is given to
 * another one. A program may be interrupted by another walk on its CPU at any instruction: a writer
 * takes the place away first, and a reader looks at it again afterwards. No rule at all may be what
 * the user half has cleared meanwhile, so it is looked up again.
 */
#ifndef QPROF_UNWIND_RECENT_H
#define QPROF_UNWIND_RECENT_H

#include "qprof/wire_unwind.h"

/* Entries of each CPU; a power of two. */
#define UNWIND_RECENT_BITS 11
#define UNWIND_RECENT_MAX  (1u << UNWIND_RECENT_BITS)

struct unwind_recent {
	wire_u64 place; /* 0: nothing is known */
	wire_u64 rule;	/* struct wire_unwind_rule */
};

/* An entry of this CPU, or NULL. */
static struct unwind_recent *unwind_recent(wire_u32 at);

/* Keeps loads and stores in their order. */
#define UNWIND_IN_ORDER() __asm__ volatile("" ::: "memory")

union unwind_rule_word {
	wire_u64 word;
	struct wire_unwind_rule rule;
};

static inline wire_u32 unwind_recent_slot(wire_u64 place)
{
	return (wire_u32)((place * 0x9e3779b97f4a7c15ull) >> (64 - UNWIND_RECENT_BITS));
}

/* Nonzero: *rule is the one of this place. */
static inline int unwind_recall(wire_u64 place, struct wire_unwind_rule *rule)
{
	struct unwind_recent *r = unwind_recent(unwind_recent_slot(place));
	union unwind_rule_word found;

	if (!r || r->place != place)
		return 0;
	UNWIND_IN_ORDER();
	found.word = r->rule;
	UNWIND_IN_ORDER();
	if (!found.word || r->place != place)
		return 0;
	*rule = found.rule;
	return 1;
}

static inline void unwind_remember(wire_u64 place, const struct wire_unwind_rule *rule)
{
	struct unwind_recent *r = unwind_recent(unwind_recent_slot(place));
	const union unwind_rule_word new = {.rule = *rule};

	if (!r)
		return;
	r->place = 0;
	UNWIND_IN_ORDER();
	r->rule = new.word;
	UNWIND_IN_ORDER();
	r->place = place;
}

#endif /* QPROF_UNWIND_RECENT_H */
