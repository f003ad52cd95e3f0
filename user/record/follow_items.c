// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/follow_items.h"

#include <errno.h>

#include "base/array.h"
#include "base/clock.h"

#define SPANS_PER_LOOK 4096 /* at the clock */
/* Sums of single queries are kept of so many spans at a time, or of one process. */
#define SPANS_PER_PASS 1000000

/* Spans, or samples, of each process. */
static uint64_t *count_spans(const struct follow *from, uint32_t n)
{
	uint64_t *spans = calloc(n + 1UL, sizeof(*spans));

	for (uint32_t i = 0; spans && i < n && i < from->n_samples; i++)
		spans[i] = from->samples[i].n;
	if (from->model.by_samples)
		return spans;
	for (uint32_t i = 0; spans && i < pivot__n_threads(from->model.threads); i++) {
		struct thread_row row = pivot__thread_at(from->model.threads, i);

		spans[row.process] += row.count;
	}
	return spans;
}

/*
 * Whether the items of a process are not those of what is known of it now. Of a compiler that runs
 * on, names may have been read when the recording stopped.
 */
static bool is_due(const struct follow_items *f, const struct follow *from, uint32_t process,
		   uint64_t spans)
{
	const struct followed_process *p = &f->processes[process];
	uint32_t mappings = trace_reader__mappings(from->reader, process);

	return mappings && (p->spans != spans || p->mappings != mappings);
}

/* Choose processes for the next pass; *first > *last: none. */
static int choose(struct follow_items *f, const struct follow *from, uint32_t *first,
		  uint32_t *last)
{
	uint32_t n = summary__n_processes(from->model.summary);
	_free_ uint64_t *spans = count_spans(from, n);
	uint64_t chosen = 0;
	int err = spans ? 0 : -ENOMEM;

	if (!err && n)
		err = array__reserve_at(&f->processes, n - 1, &f->n_processes,
					sizeof(*f->processes));
	f->n_left = 0;
	for (uint32_t i = 0; i < n && !err; i++) {
		if (!is_due(f, from, i, spans[i]))
			continue;
		f->n_left++;
		if (chosen >= SPANS_PER_PASS)
			continue;
		if (items__new(&from->model.options.texts, &f->processes[i].items))
			return -ENOMEM;
		f->processes[i].spans = spans[i];
		f->processes[i].mappings = trace_reader__mappings(from->reader, i);
		chosen += spans[i] + 1;
		*first = *first < i ? *first : i;
		*last = i;
	}
	return err;
}

/* Begin a pass over the spans if there is a reason for one. */
static int begin(struct follow_items *f, const struct follow *from)
{
	uint32_t first = UINT32_MAX, last = 0;
	int err = choose(f, from, &first, &last);

	if (err || first > last)
		return err;
	trace_replay__begin(f->replay, first, last);
	err = self_time__new(&f->self_time);
	if (!err && from->model.has_costs)
		self_time__set_costs(f->self_time, &from->model.costs);
	return err;
}

/* As model.c does. */
static int take(struct follow_items *f, const struct follow *from, const struct trace_span *span)
{
	const struct model_options *o = &from->model.options;
	struct items *items =
		span->process < f->n_processes ? f->processes[span->process].items : NULL;
	struct trace_times times;
	int err;

	if (!items || span->end_ns < span->start_ns)
		return 0;
	err = self_time__span(f->self_time, span, &times);
	if (err || span->kind == TRACE_KIND_OFF_CPU || span->kind == TRACE_KIND_HIT)
		return err;
	return items__span(items, span, &times, o->item(o->item_ctx, span));
}

static int end_pass(struct follow_items *f)
{
	int err = 0;

	for (uint32_t i = 0; i < f->n_processes && !err; i++) {
		struct followed_process *p = &f->processes[i];

		if (!p->items)
			continue;
		err = item_list__set(&f->list, i, p->items);
		items__free(take_ptr(p->items));
		f->n_left--;
	}
	self_time__free(take_ptr(f->self_time));
	return err;
}

/* 1: there is more. */
static int read_some(struct follow_items *f, const struct follow *from)
{
	struct trace_span span;
	int more = 1, err = 0;

	for (int i = 0; i < SPANS_PER_LOOK && more > 0 && !err; i++) {
		more = trace_replay__next(f->replay, &span);
		if (more > 0)
			err = take(f, from, &span);
	}
	return err ?: more;
}

/* Samples were kept while the trace was read: they need no second pass. */
static int read_samples(struct follow_items *f, const struct follow *from)
{
	uint32_t first = UINT32_MAX, last = 0;
	int err = choose(f, from, &first, &last);

	for (uint32_t i = 0; i < f->n_processes && i < from->n_samples && !err; i++) {
		const struct kept_samples *kept = &from->samples[i];

		for (uint32_t k = 0; f->processes[i].items && k < kept->by.n && !err; k++)
			err = model_charge_sample(&from->model.options, f->processes[i].items,
						  &kept->by.at[k]);
	}
	return err ?: end_pass(f);
}

int follow_items__read(struct follow_items *f, const struct follow *from, uint64_t until_ns)
{
	int err = 0;

	if (from->model.by_samples)
		return read_samples(f, from);
	if (!f->replay && !f->is_single) {
		err = trace_replay__new(from->reader, &f->replay);
		f->is_single = err;
		err = err == -ENOMEM ? err : 0;
	}
	if (f->is_single)
		return err;
	do {
		int more;

		if (!f->self_time)
			err = begin(f, from);
		if (err || !f->self_time)
			break;
		more = read_some(f, from);
		err = more > 0 ? 0 : more ?: end_pass(f);
	} while (!err && clock_ns(CLOCK_MONOTONIC) < until_ns);
	return err;
}

void follow_items__destroy(struct follow_items *f)
{
	for (uint32_t i = 0; i < f->n_processes; i++)
		items__free(f->processes[i].items);
	free(f->processes);
	self_time__free(f->self_time);
	trace_replay__free(f->replay);
	item_list__clear(&f->list);
	*f = (struct follow_items){};
}
