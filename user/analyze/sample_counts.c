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

static struct sample_count *row_of(struct sample_counts *c, uint32_t label, uint8_t kind)
{
	return table__get(&c->rows, label, .label = label, .kind = kind);
}

static bool is_further_out(const struct sample_counts *c, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (c->labels[k] == c->labels[i])
			return true;
	return false;
}

static int count(struct sample_counts *c, const struct sample_sum *sum)
{
	struct sample_count *row;

	sample_sum__add(&c->all, sum);
	for (uint32_t i = 0; i < c->n_labels; i++) {
		if (is_further_out(c, i))
			continue;
		row = row_of(c, c->labels[i], c->kinds[i]);
		if (!row)
			return -ENOMEM;
		sample_sum__add(&row->total, sum);
	}
	if (c->n_labels) {
		row = row_of(c, c->labels[c->n_labels - 1], c->kinds[c->n_labels - 1]);
	} else {
		row = row_of(c, TRACE_NO_STRING, TRACE_KIND_QUERY);
		if (row)
			sample_sum__add(&row->total, sum);
	}
	if (!row)
		return -ENOMEM;
	sample_sum__add(&row->self, sum);
	return 0;
}

int sample_counts__sample(struct sample_counts *c, const struct trace_sample *sample)
{
	const struct sample_sum sum = {1, sample->value};
	int err = sample->cause == TRACE_SAMPLE_CPU ? count(c, &sum) : 0;

	c->n_labels = 0;
	return err;
}

void sample_counts__destroy(struct sample_counts *c)
{
	table__destroy(&c->rows);
	*c = (struct sample_counts){0};
}
