/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The labels of intervals: from the kernel half's numbers to strings of the trace. */
#ifndef QPROF_TRACKS_INTERVAL_LABELS_H
#define QPROF_TRACKS_INTERVAL_LABELS_H

#include "tracks/library.h"
#include "tracks/sink.h"

/*
 * Labels that only the compiler's memory holds. The kernel half sends the text of each once, with a
 * number, and only the number from then on.
 */

#define DYNAMIC_LABEL_NONE     UINT32_MAX	/* the number is not known */
#define DYNAMIC_LABEL_UNWANTED (UINT32_MAX - 1) /* spans with the label are not wanted */

/* All zeroes is empty. */
struct dynamic_labels {
	uint32_t *ids; /* by number - 1: string id, or one of the two above */
	uint32_t n;
};

/* Take a record. -EBADMSG if it is malformed, -ENOMEM, or the sink's error. */
int dynamic_labels__record(struct dynamic_labels *l, const struct tracks_sink *sink,
			   const struct wire_label *r);

/* The string id of a number that is not 0, or one of the two above. */
static inline uint32_t dynamic_labels__id(const struct dynamic_labels *l, uint32_t number)
{
	return number <= l->n ? l->ids[number - 1] : DYNAMIC_LABEL_NONE;
}

void dynamic_labels__clear(struct dynamic_labels *l);

_Static_assert(TRACKS_NO_LABEL == DYNAMIC_LABEL_NONE, "interval_labels__of() sets either");
_Static_assert(TRACKS_NO_LABEL == TRACE_NO_STRING, "a label is a string");

struct interval_labels {
	const struct tracks_sink *sink;	 /* outlives this, as do the libraries */
	const struct library *libraries; /* WIRE_MAX_LIBS + 1 */
	struct dynamic_labels dynamic;
	uint32_t unknown; /* string id of TRACKS_UNKNOWN, or TRACKS_NO_LABEL: not yet */
};

void interval_labels__init(struct interval_labels *l, const struct tracks_sink *sink,
			   const struct library *libraries);

/* Set *label to the string id of TRACKS_UNKNOWN. 0, -EBADMSG, or the sink's error. */
int interval_labels__unknown(struct interval_labels *l, uint32_t *label);

/* An interval as the kernel half describes it. */
struct interval_named {
	uint8_t lib;
	uint8_t kind;	/* enum wire_kind */
	uint16_t query; /* or guard */
	uint32_t label; /* number of a dynamic one, or 0 */
};

/*
 * Set *label to the string id of an interval's label, or DYNAMIC_LABEL_UNWANTED. 0; -EBADMSG: there
 * is no such query or guard; or the sink's error.
 */
int interval_labels__of(struct interval_labels *l, struct interval_named interval, uint32_t *label);

void interval_labels__clear(struct interval_labels *l);

#endif /* QPROF_TRACKS_INTERVAL_LABELS_H */
