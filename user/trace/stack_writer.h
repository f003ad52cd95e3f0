/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Builds the STACKS chunks of a trace: finds an entry that there is, or adds it to the next one. */
#ifndef QPROF_TRACE_STACK_WRITER_H
#define QPROF_TRACE_STACK_WRITER_H

#include "base/map.h"
#include "trace/stack_table.h"

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

#endif /* QPROF_TRACE_STACK_WRITER_H */
