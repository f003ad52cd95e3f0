// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/process_numbers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static bool has_number(const struct process_numbers *p, uint32_t index)
{
	return index < p->n_indices && p->number_of[index];
}

/* Give the process a number if it has none, and the item a record with that number. */
static int translate_process(struct process_numbers *p, struct trace_item *item)
{
	uint32_t index = item->process->index, n = p->n;
	struct trace_process *copy;

	if (!has_number(p, index)) {
		if (array__reserve_at(&p->number_of, index, &p->n_indices, sizeof(*p->number_of)) ||
		    array__reserve_one(&p->at, n, &p->capacity, sizeof(*p->at)) ||
		    array__reserve_one(&p->index_of, n, &p->index_capacity, sizeof(*p->index_of)))
			return -ENOMEM;
		p->at[n] = calloc(1, sizeof(*p->at[n]));
		if (!p->at[n])
			return -ENOMEM;
		p->index_of[n] = index;
		p->number_of[index] = ++p->n;
	}
	copy = p->at[p->number_of[index] - 1];
	*copy = *item->process;
	copy->index = p->number_of[index] - 1;
	item->process = copy;
	return 0;
}

static uint32_t *process_in(struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return &item->span.process;
	case TRACE_ITEM_THREAD:
		return &item->thread.process;
	case TRACE_ITEM_TALLY:
		return &item->tally.process;
	case TRACE_ITEM_RESULTS:
		return &item->results.process;
	case TRACE_ITEM_SAMPLE:
		return &item->sample.process;
	default:
		return NULL;
	}
}

bool process_numbers__translate(struct process_numbers *p, struct trace_item *item, int *err)
{
	uint32_t *process = process_in(item);

	if (!p->on)
		return true;
	if (item->kind == TRACE_ITEM_PROCESS)
		*err = translate_process(p, item);
	if (!process)
		return true;
	if (!has_number(p, *process))
		return false;
	*process = p->number_of[*process] - 1;
	return true;
}

uint32_t process_numbers__index(const struct process_numbers *p, uint32_t number)
{
	return p->on && number < p->n ? p->index_of[number] : number;
}

void process_numbers__destroy(struct process_numbers *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->at[i]);
	free(p->at);
	free(p->index_of);
	free(p->number_of);
	*p = (struct process_numbers){};
}

/* ---- A list ---------------------------------------------------------------------------------- */

struct trace_process *process_list__set(struct process_list *l, const struct trace_process *record)
{
	struct trace_process *p = record->index < l->n ? l->at[record->index] : NULL;

	if (!p) {
		if (array__reserve_one(&l->at, l->n, &l->capacity, sizeof(*l->at)))
			return NULL;
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		l->at[l->n++] = p;
	}
	*p = *record;
	return p;
}

void process_list__destroy(struct process_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->at[i]);
	free(l->at);
	*l = (struct process_list){0};
}
