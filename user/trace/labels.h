/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A label on disk stands for a name and a kind. Most labels are names of queries; all others are
 * listed in LABELS chunks.
 */
#ifndef QPROF_TRACE_LABELS_H
#define QPROF_TRACE_LABELS_H

#include <stdint.h>

#include "trace/bytes.h"
#include "trace/string_table.h"
#include "trace/trace.h"

/* Kinds by number: those of enum trace_kind, then those that a file adds. All zeroes is empty. */
struct kinds {
	char *other[TRACE_KINDS_MAX];
	unsigned int n_other;
};

/* The number of a kind, a new one if need be. -E2BIG, -ENOMEM. */
int kinds__number(struct kinds *k, const char *text, uint8_t *kind);
/* "<unknown>" for a number it does not hold. */
const char *kinds__text(const struct kinds *k, unsigned int kind);
void kinds__destroy(struct kinds *k);

struct label {
	uint32_t name; /* string id */
	uint8_t kind;
};

/* Of a reader: labels by their string id. All zeroes is a file that lists none. */
struct labels {
	struct label *by_id; /* kind TRACE_KIND_QUERY: not listed */
	uint32_t n;
	struct kinds kinds;
};

/*
 * Take the payload of a LABELS chunk of a file with `n_strings` strings up to there. 0; -ENOMEM;
 * -EBADMSG, with a text for a person in `*why`, if it is not as the specification says.
 */
int labels__take(struct labels *l, struct byte_reader *in, struct string_table *strings,
		 uint32_t n_strings, const char **why);

/* Replace a label as it is on disk by its name, and set its kind. */
static inline void labels__resolve(const struct labels *l, uint32_t *label, uint8_t *kind)
{
	*kind = TRACE_KIND_QUERY;
	if (*label < l->n && l->by_id[*label].kind != TRACE_KIND_QUERY) {
		*kind = l->by_id[*label].kind;
		*label = l->by_id[*label].name;
	}
}

void labels__destroy(struct labels *l);

#endif /* QPROF_TRACE_LABELS_H */
