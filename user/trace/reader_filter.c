// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/reader_state.h"

#include <string.h>

/* The place of verdict `i`, or NULL without memory: then the filter is asked each time. */
static uint8_t *verdict_at(uint8_t **verdicts, uint32_t *n, uint32_t i)
{
	if (i >= *n) {
		uint32_t more = i + 1 > 2 * *n ? i + 1 : 2 * *n;
		uint8_t *p = realloc(*verdicts, more);

		if (!p)
			return NULL;
		memset(p + *n, 0, more - *n);
		*verdicts = p;
		*n = more;
	}
	return &(*verdicts)[i];
}

bool reader__wants_process(struct trace_reader *r, uint32_t process)
{
	uint8_t *known;
	bool wanted;

	if (!r->filter.process || process >= r->n_processes)
		return true;
	known = verdict_at(&r->process_verdicts, &r->n_process_verdicts, process);
	if (known && *known)
		return *known == VERDICT_YES;
	wanted = r->filter.process(r->filter.ctx, r->processes[process]);
	if (known)
		*known = wanted ? VERDICT_YES : VERDICT_NO;
	return wanted;
}

void reader__forget_verdict(struct trace_reader *r, uint32_t process)
{
	if (process < r->n_process_verdicts)
		r->process_verdicts[process] = 0;
}

/* `label` as it is on disk: what it is called is asked. */
static bool wants_label(struct trace_reader *r, uint32_t label)
{
	uint8_t *known = NULL;
	uint8_t kind;
	bool wanted;

	if (!r->filter.label)
		return true;
	labels__resolve(&r->labels, &label, &kind);
	if (!(label & TRACE_VIRTUAL))
		known = verdict_at(&r->label_verdicts, &r->n_label_verdicts, label);
	if (known && *known)
		return *known == VERDICT_YES;
	wanted = r->filter.label(r->filter.ctx, trace_reader__string(r, label));
	if (known)
		*known = wanted ? VERDICT_YES : VERDICT_NO;
	return wanted;
}

/* An interval without length is within where it is. */
static bool wants_time(const struct trace_reader *r, uint64_t start_ns, uint64_t end_ns)
{
	return end_ns >= r->filter.from_ns && start_ns <= r->filter.to_ns;
}

bool reader__wants_span(struct trace_reader *r, const struct trace_span *s)
{
	return wants_time(r, s->start_ns, s->end_ns) && wants_label(r, s->label) &&
	       reader__wants_process(r, s->process);
}

bool reader__wants_tally(struct trace_reader *r, const struct trace_tally *t)
{
	return wants_label(r, t->label) && reader__wants_process(r, t->process);
}

bool reader__wants_decision(struct trace_reader *r, const struct trace_decision *d)
{
	return wants_time(r, d->time_ns, d->time_ns) && wants_label(r, d->label);
}

bool reader__wants_batch(struct trace_reader *r, const struct batch_summary *b)
{
	bool process = !b->n_processes, label = !b->n_labels;

	if (!wants_time(r, b->start_ns, b->end_ns))
		return false;
	for (uint32_t i = 0; i < b->n_processes && !process; i++)
		process = reader__wants_process(r, b->processes[i]);
	for (uint32_t i = 0; i < b->n_labels && !label; i++)
		label = b->labels[i] >= r->n_strings || wants_label(r, b->labels[i]);
	return process && label;
}
