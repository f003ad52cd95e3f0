/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The texts of a recording's labels, for what is shown while it runs. The trace gives a label its
 * number; once the trace has failed, numbers go on here.
 */
#ifndef QPROF_RECORD_LABEL_NAMES_H
#define QPROF_RECORD_LABEL_NAMES_H

#include "record/trace_output.h"

/* All zeroes is empty. */
struct label_names {
	char **names; /* by string id; NULL: no label */
	uint32_t end; /* above all ids in use */
	uint32_t capacity;
};

/* Set *id to the string id of a label, a new one if need be. 0 or -ENOMEM. */
int label_names__id(struct label_names *l, struct trace_output *trace, const char *name,
		    uint32_t *id);

/* The text of a label, or "<unknown>". */
const char *label_names__get(const struct label_names *l, uint32_t id);

void label_names__clear(struct label_names *l);

#endif /* QPROF_RECORD_LABEL_NAMES_H */
