/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The items of executions, as the decoder names them: they go into the trace alone. A trace that
 * holds no more of that is still a trace: one line says so, and the rest is left out.
 */
#ifndef QPROF_RECORD_ITEM_OUTPUT_H
#define QPROF_RECORD_ITEM_OUTPUT_H

#include "record/trace_output.h"

/* With `trace` set and the rest zero, nothing was written yet. */
struct item_output {
	struct trace_output *trace; /* the owner's */
	bool names_full;	    /* the trace holds no more names of items */
	bool places_full;	    /* the same of their files and lines */
};

/* Functions of a decoder_sink: `items` is a struct item_output. Errors are noted in `trace`. */
int item_output__text(void *items, const char *text, uint32_t *id);
int item_output__compose(void *items, const struct trace_piece *pieces, uint32_t n, uint32_t *id);
int item_output__foreign(void *items, uint32_t id);
int item_output__place(void *items, const struct trace_place *place);

void item_output__map(struct item_output *o, const struct trace_mapping *m);
/* Set *text, to be freed, to the name that `m` gives to virtual id `id`; untouched: it gives none.
 */
void item_output__name(const struct item_output *o, const struct trace_mapping *m, uint32_t id,
		       char **text);

#endif /* QPROF_RECORD_ITEM_OUTPUT_H */
