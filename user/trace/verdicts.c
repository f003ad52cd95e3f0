// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* An answer of the filter; 0: it was not asked yet. */
enum verdict {
	VERDICT_NO = 1,
	VERDICT_YES = 2,
};

void verdicts__set_filter(struct verdicts *v, const struct trace_filter *filter)
{
	v->filter = *filter;
	v->filtered = true;
	if (v->of_process)
		memset(v->of_process, 0, v->n_of_process);
	if (v->of_label)
		memset(v->of_label, 0, v->n_of_label);
}

void verdicts__forget_process(struct verdicts *v, uint32_t process)
{
	if (process < v->n_of_process)
		v->of_process[process] = 0;
}

/* The place of verdict `i`. NULL without memory: the filter is then asked each time. */
static uint8_t *verdict_at(uint8_t **verdicts, uint32_t *n, uint32_t i)
{
	return array__reserve_at(verdicts, i, n, sizeof(**verdicts)) ? NULL : &(*verdicts)[i];
}

static bool want_process(struct verdicts *v, uint32_t process)
{
	uint8_t *known;
	bool wanted;

	if (!v->filter.process || process >= v->processes->n)
		return true;
	known = verdict_at(&v->of_process, &v->n_of_process, process);
	if (known && *known)
		return *known == VERDICT_YES;
	wanted = v->filter.process(v->filter.ctx, v->processes->at[process]);
	if (known)
		*known = wanted ? VERDICT_YES : VERDICT_NO;
	return wanted;
}

/* `label` is as on disk; the filter gets the text of its name. */
static bool want_label(struct verdicts *v, uint32_t label)
{
	uint8_t *known = NULL;
	uint8_t kind;
	bool wanted;

	if (!v->filter.label)
		return true;
	labels__resolve(&v->names->labels, &label, &kind);
	if (!(label & TRACE_VIRTUAL))
		known = verdict_at(&v->of_label, &v->n_of_label, label);
	if (known && *known)
		return *known == VERDICT_YES;
	wanted = v->filter.label(v->filter.ctx, name_tables__text(v->names, label));
	if (known)
		*known = wanted ? VERDICT_YES : VERDICT_NO;
	return wanted;
}

/* An interval without length is wanted if its moment is. */
static bool want_time(const struct verdicts *v, uint64_t start_ns, uint64_t end_ns)
{
	return end_ns >= v->filter.from_ns && start_ns <= v->filter.to_ns;
}

bool verdicts__want_span(struct verdicts *v, const struct trace_span *s)
{
	return want_time(v, s->start_ns, s->end_ns) && want_label(v, s->label) &&
	       want_process(v, s->process);
}

/* Without memory, it is wanted. */
static bool want_stack(struct verdicts *v, uint32_t id)
{
	const struct stack_table *stacks = &v->names->stacks;
	const struct trace_stack *s;

	/* Parents come first. */
	while (v->n_interval_of <= stacks->n) {
		uint32_t interval = 0;

		s = stack_table__get(stacks, v->n_interval_of);
		if (s && s->kind != TRACE_STACK_LOCATION && s->kind != TRACE_STACK_UNKNOWN)
			interval = v->n_interval_of;
		else if (s)
			interval = v->interval_of[s->parent];
		if (array__add(&v->interval_of, &v->n_interval_of, &v->interval_capacity,
			       &interval))
			return true;
	}
	s = stack_table__get(stacks, v->interval_of[id]);
	return s && want_label(v, s->place);
}

bool verdicts__want_sample(struct verdicts *v, const struct trace_sample *s)
{
	uint64_t ns = s->cause == TRACE_SAMPLE_OFF_CPU ? s->value : 0;

	return want_time(v, s->time_ns, s->time_ns + ns) && want_process(v, s->process) &&
	       (!v->filter.label || want_stack(v, s->stack));
}

bool verdicts__want_record(struct verdicts *v, const struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_THREAD:
		return want_process(v, item->thread.process);
	case TRACE_ITEM_REBUILT: /* of the build as a whole */
		return true;
	case TRACE_ITEM_TALLY:
		return want_label(v, item->tally.label) && want_process(v, item->tally.process);
	case TRACE_ITEM_RESULTS:
		return want_label(v, item->results.label) && want_process(v, item->results.process);
	default:
		return want_process(v, item->process->index);
	}
}

bool verdicts__want_batch(struct verdicts *v, const struct batch_summary *b)
{
	bool process = !b->n_processes, label = !b->n_labels;

	if (!want_time(v, b->start_ns, b->end_ns))
		return false;
	for (uint32_t i = 0; i < b->n_processes && !process; i++)
		process = want_process(v, b->processes[i]);
	for (uint32_t i = 0; i < b->n_labels && !label; i++)
		label = b->labels[i] >= v->names->n_strings || want_label(v, b->labels[i]);
	return process && label;
}

void verdicts__destroy(struct verdicts *v)
{
	free(v->of_process);
	free(v->of_label);
	free(v->interval_of);
}
