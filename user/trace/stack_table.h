/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampled stacks of a trace as a tree of entries, each at a place. Many entries are at one
 * place, so places have numbers, in the order in which they first occur. The table reads STACKS
 * chunks; the writer keeps a table as well.
 */
#ifndef QPROF_TRACE_STACK_TABLE_H
#define QPROF_TRACE_STACK_TABLE_H

#include "base/map.h"
#include "qprof/trace_format.h"
#include "trace/bytes.h"
#include "trace/expansion.h"
#include "trace/trace.h"

struct stack_place {
	uint32_t place; /* as in trace_stack */
	uint8_t kind;
};

/* With `expansion` set, which outlives it, or NULL, and the rest zero, it is empty. */
struct stack_table {
	struct expansion *expansion;
	struct trace_stack *entries; /* the entry with the number i + 1 */
	uint32_t n, capacity;
	struct stack_place *places;
	uint32_t n_places, places_capacity;
	uint32_t last_new; /* the latest new location */
	/* Numbers of places + 1, the latest first: those of children of a parent's place. */
	uint32_t (*recent)[QPT_STACK_RECENT];
};

/* Numbers below these are in the file so far. */
struct stack_limits {
	uint32_t strings;
	uint32_t locations; /* at least 1: TRACE_NO_LOCATION may always be */
};

/* Whether a place is one that a file with these limits may refer to. */
bool stack_limits__allow(const struct stack_limits *limits, uint8_t kind, uint32_t place);

/*
 * Take a STACKS payload. 0; -ENOMEM; -E2BIG if it expands to too much; -EBADMSG, with a text for a
 * person in `*why`, if it is malformed: nothing is added then, but nothing may be taken any more.
 */
int stack_table__take(struct stack_table *t, struct byte_reader *in,
		      const struct stack_limits *limits, const char **why);

/* The entry with a number, or NULL. Valid until the next one is added. */
static inline const struct trace_stack *stack_table__get(const struct stack_table *t, uint32_t id)
{
	return id - 1 < t->n ? &t->entries[id - 1] : NULL;
}

void stack_table__destroy(struct stack_table *t);

/* Builds the STACKS chunks of a trace: finds an entry that there is, or adds it to the next one. */

/* All zeroes is empty. */
struct stack_writer {
	struct stack_table table;
	uint32_t *slots;	 /* entries' numbers, by hash; 0: empty */
	uint32_t n_slots;	 /* a power of two, or 0 */
	struct u64_map place_of; /* kind << 32 | place -> its number */
	/* Entries that are not in a payload yet, in columns. */
	uint32_t n_new;
	uint32_t n_chains;
	uint32_t chain; /* entries of the last one, whose length is not in its column */
	struct byte_buffer lengths, distances, places, new_places;
};

/*
 * Set *id to the number of an entry below s->parent at s->place. The depth of `s` is not used. 0;
 * -EINVAL if there is no such parent, or the file has no such place; -E2BIG beyond what a trace may
 * hold, or deeper; -ENOMEM.
 */
int stack_writer__add(struct stack_writer *w, const struct trace_stack *s,
		      const struct stack_limits *limits, uint32_t *id);

/* Append the payload of a STACKS chunk of those added since the last. 0 or -ENOMEM. */
int stack_writer__payload(struct stack_writer *w, struct byte_buffer *out);

void stack_writer__destroy(struct stack_writer *w);

#endif /* QPROF_TRACE_STACK_TABLE_H */
