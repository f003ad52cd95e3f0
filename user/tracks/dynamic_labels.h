/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Labels that only the compiler's memory holds. The kernel half sends the text of each once, with a
 * number, and only the number from then on.
 */
#ifndef QPROF_TRACKS_DYNAMIC_LABELS_H
#define QPROF_TRACKS_DYNAMIC_LABELS_H

#include "tracks/sink.h"

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

#endif /* QPROF_TRACKS_DYNAMIC_LABELS_H */
