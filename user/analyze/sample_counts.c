// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sample_counts.h"

#include <errno.h>

void sample_counts__entry(struct sample_counts *c, const struct trace_stack *entry)
{
	if (entry->kind < TRACE_STACK_QUERY || entry->kind == TRACE_STACK_UNKNOWN ||
	    c->n_labels == SAMPLE_COUNTS_DEEPEST)
		return;
	c->labels[c->n_labels] = entry->place;
	c->kinds[c->n_labels++] = (uint8_t)(entry->kind - TRACE_STACK_QUERY);
}

/* Add to a row; as its self time, too, if it is the innermost. 0 or -ENOMEM. */
static int add(struct sample_counts *c, uint32_t label, uint8_t kind, const struct sample_sum *sum,
	       bool total, bool self)
{
	struct sample_count *row = table__get(&c->rows, label, .label = label, .kind = kind);

	if (!row)
		return -ENOMEM;
	if (total)
		sample_sum__add(&row->total, sum);
	if (self)
		sample_sum__add(&row->self, sum);
	return 0;
}

int sample_counts__sample(struct sample_counts *c, const struct trace_sample *sample)
{
	const struct sample_sum sum = {1, sample->value};
	uint32_t n = c->n_labels;
	int err = 0;

	c->n_labels = 0;
	if (sample->cause != TRACE_SAMPLE_CPU)
		return 0;
	sample_sum__add(&c->all, &sum);
	if (!n)
		return add(c, TRACE_NO_STRING, TRACE_KIND_QUERY, &sum, true, true);
	for (uint32_t i = 0, k; i < n && !err; i++) {
		/* One that is further out, too, is counted there. */
		for (k = 0; k < i && c->labels[k] != c->labels[i];)
			k++;
		err = add(c, c->labels[i], c->kinds[i], &sum, k == i, i + 1 == n);
	}
	return err;
}

void sample_counts__destroy(struct sample_counts *c)
{
	table__destroy(&c->rows);
	*c = (struct sample_counts){0};
}
