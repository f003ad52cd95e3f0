/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Gives every different text one id, dense from 0. Holds a copy of each: what grows with the
 * names of a capture, not with its length.
 */
#ifndef QPROF_TRACE_INTERNER_H
#define QPROF_TRACE_INTERNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct interned;

/* All zeroes is an empty one. */
struct interner {
	struct interned *texts;
	uint32_t n;
	uint32_t capacity;
	uint64_t bytes;	       /* of all texts */
	struct u64_map newest; /* hash -> the last text that had it */
};

/*
 * The id of `text`; *is_new says whether this call made it. -ENOMEM; -E2BIG beyond what a trace
 * may hold. An error adds nothing.
 */
int interner__id(struct interner *t, const char *text, uint32_t *id, bool *is_new);

/* An id that interner__id() never gives for this text. Errors as there. */
int interner__add(struct interner *t, const char *text, uint32_t *id);

/* The text of an id that interner__id() gave; NULL for one of interner__add(). */
const char *interner__text(const struct interner *t, uint32_t id);

void interner__destroy(struct interner *t);

#endif /* QPROF_TRACE_INTERNER_H */
