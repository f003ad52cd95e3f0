/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The labels of intervals: from the kernel half's numbers to strings of the trace. */
#ifndef QPROF_TRACKS_INTERVAL_LABELS_H
#define QPROF_TRACKS_INTERVAL_LABELS_H

#include "tracks/dynamic_labels.h"
#include "tracks/library.h"
#include "tracks/sink.h"

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
