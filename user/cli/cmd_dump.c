// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/sampled_intervals.h"
#include "base/array.h"
#include "base/diag.h"
#include "cli/cmd.h"
#include "cli/dump_stacks.h"
#include "cli/process_filter.h"
#include "options/exit_code.h"
#include "options/value.h"
#include "trace/self_time.h"
#include "view/columns.h"
#include "view/view.h"

/* The processes seen so far, by index. */
struct seen {
	const struct trace_reader *r;
	const struct trace_process **by_index;
	uint32_t n;
	struct self_time *self_time; /* NULL with a filter, which hides the spans within a span */
	bool has_costs;		     /* the probe costs of spans are known */
	struct dump_stacks stacks;
	struct sampled_intervals sampled;
	bool has_header; /* it was printed */
	bool by_query;	 /* the samples are those of some queries only: no interval is whole */
	uint32_t jobs;	 /* that were printed */
	struct cmd_output bound;
	struct columns c;
};

static void seen__clear(struct seen *s)
{
	free(s->by_index);
	self_time__free(s->self_time);
	dump_stacks__clear(&s->stacks);
	sampled_intervals__destroy(&s->sampled);
}

static int seen__add(struct seen *s, const struct trace_process *p)
{
	if (array__reserve_at(&s->by_index, p->index, &s->n, sizeof(*s->by_index)))
		return -ENOMEM;
	s->by_index[p->index] = p;
	return 0;
}

static const struct trace_process *seen__get(const struct seen *s, uint32_t index)
{
	return index < s->n ? s->by_index[index] : NULL;
}

/* The question that a filter of the reader asks. */
struct wishes {
	const struct cli_dump_options *options;
	struct process_filter processes;
};

static bool wants_process(void *ctx, const struct trace_process *p)
{
	struct wishes *w = ctx;

	return process_filter__wants(&w->processes, p);
}

static bool wants_query(void *ctx, const char *name)
{
	const struct wishes *w = ctx;

	return value_matches(&w->options->queries, name);
}

static bool is_filtered(const struct cli_dump_options *o)
{
	return o->from_ns || o->to_ns != UINT64_MAX || process_filter__is_set(&o->of) ||
	       o->queries.n;
}

static void set_filter(struct trace_reader *r, struct wishes *w)
{
	const struct cli_dump_options *o = w->options;
	uint64_t begin = trace_reader__info(r)->clock_start_ns;
	const struct trace_filter filter = {
		.from_ns = o->from_ns ? begin + o->from_ns : 0,
		.to_ns = o->to_ns > UINT64_MAX - begin ? UINT64_MAX : begin + o->to_ns,
		.process = process_filter__is_set(&o->of) ? wants_process : NULL,
		.label = o->queries.n ? wants_query : NULL,
		.ctx = w,
	};

	if (is_filtered(o))
		trace_reader__filter(r, &filter);
}

/* False if it is unknown. */
static bool find_place(const struct trace_reader *r, const struct trace_span *span,
		       struct dump_place *out)
{
	uint32_t string = trace_reader__event_string(r, span);
	const struct trace_place *p = trace_reader__place(r, span->process, string);

	if (!p)
		return false;
	*out = (struct dump_place){.file = trace_reader__string(r, p->file), .line = p->line};
	if (p->call_file != TRACE_NO_STRING) {
		out->call_file = trace_reader__string(r, p->call_file);
		out->call_line = p->call_line;
	}
	return true;
}

static int dump_span_item(struct seen *s, const struct trace_span *span)
{
	const struct trace_reader *r = s->r;
	struct trace_location at;
	bool located =
		span->caller != TRACE_NO_LOCATION && trace_reader__location(r, span->caller, &at);
	struct trace_times times = {0};
	struct dump_place place;
	bool placed = find_place(r, span, &place);
	int err = s->self_time ? self_time__span(s->self_time, span, &times) : 0;
	const struct dump_span_texts texts = {
		.name = trace_reader__string(r, span->label),
		.kind = trace_reader__kind(r, span->kind),
		.event = trace_reader__event(r, span),
		.place = placed ? &place : NULL,
		.key_type = trace_reader__key_type(r, span->label),
		.caller = located ? &at : NULL,
		.times = &times,
		.probes = s->has_costs && span->kind != TRACE_KIND_OFF_CPU,
	};

	return err ?: dump_span(&s->c, span, seen__get(s, span->process), &texts);
}

static int dump_sampled(void *ctx, const struct sampled_interval *interval)
{
	const struct trace_span *span = &interval->span;
	struct seen *s = ctx;
	struct dump_place place;
	const struct dump_span_texts texts = {
		.name = trace_reader__string(s->r, span->label),
		.kind = trace_reader__kind(s->r, span->kind),
		.event = trace_reader__event(s->r, span),
		.place = find_place(s->r, span, &place) ? &place : NULL,
		.key_type = trace_reader__key_type(s->r, span->label),
	};

	return dump_interval(&s->c, interval, seen__get(s, span->process), &texts);
}

/* The jobs up to that of a sample. */
static int dump_jobs(struct seen *s, uint32_t last)
{
	const struct trace_reader *r = s->r;
	int err = 0;

	for (; s->jobs < last && !err; s->jobs++) {
		const struct trace_job *job = trace_reader__job(r, s->jobs + 1);
		uint32_t event = job ? trace_reader__job_string(r, job) : TRACE_NO_STRING;

		if (job)
			err = dump_job(&s->c, s->jobs + 1, job, trace_reader__string(r, job->query),
				       event == TRACE_NO_STRING ? NULL
								: trace_reader__string(r, event));
	}
	return err;
}

static int dump_sample_item(struct seen *s, const struct trace_item *item)
{
	const struct trace_sample *sample = &item->sample;
	struct dump_sample_texts texts = {.llvm = trace_reader__llvm(s->r, sample->llvm)};
	int err = dump_stacks__print(&s->stacks, s->r, sample->stack, &s->c);

	if (sample->label != TRACE_NO_STRING) {
		texts.name = trace_reader__string(s->r, sample->label);
		texts.kind = trace_reader__kind(s->r, sample->kind);
	}
	if (texts.llvm && texts.llvm->pass != TRACE_NO_STRING)
		texts.pass = trace_reader__string(s->r, texts.llvm->pass);
	if (texts.llvm && texts.llvm->function != TRACE_NO_STRING)
		texts.function = trace_reader__string(s->r, texts.llvm->function);
	err = err ?: dump_jobs(s, sample->job) ?: sampled_intervals__item(&s->sampled, item);
	return err ?: dump_sample(&s->c, sample, seen__get(s, sample->process), &texts);
}

static int dump_item(struct seen *s, const struct trace_item *item)
{
	const struct trace_reader *r = s->r;
	struct trace_texts names;
	int err;

	switch (item->kind) {
	case TRACE_ITEM_PROCESS:
		err = seen__add(s, item->process);
		return err ?: dump_process(&s->c, item->process);
	case TRACE_ITEM_THREAD:
		return dump_thread(&s->c, &item->thread, seen__get(s, item->thread.process));
	case TRACE_ITEM_SPAN:
		err = sampled_intervals__item(&s->sampled, item);
		return err ?: dump_span_item(s, &item->span);
	case TRACE_ITEM_TALLY:
		return dump_tally(&s->c, &item->tally, trace_reader__string(r, item->tally.label),
				  trace_reader__kind(r, item->tally.kind));
	case TRACE_ITEM_RESULTS:
		names = trace_reader__texts(r);
		return dump_results(&s->c, &item->results, &names);
	case TRACE_ITEM_SAMPLING:
		err = s->by_query ? 0 : sampled_intervals__item(&s->sampled, item);
		return err ?: dump_sampling(&s->c, &item->sampling);
	case TRACE_ITEM_SAMPLE:
		return dump_sample_item(s, item);
	case TRACE_ITEM_LOSSES:
		return dump_losses(&s->c, &item->losses);
	case TRACE_ITEM_COSTS:
		if (s->self_time && !item->costs.subtracted &&
		    item->costs.ps[TRACE_COST_EMULATED]) {
			self_time__set_costs(s->self_time, &item->costs);
			s->has_costs = true;
		}
		return dump_costs(&s->c, &item->costs);
	case TRACE_ITEM_OVERHEAD:
		return dump_overhead(&s->c, &item->overhead);
	case TRACE_ITEM_PART:
		return dump_part(&s->c, item->part);
	case TRACE_ITEM_REBUILT:
		return dump_rebuilt(&s->c, &item->rebuilt,
				    trace_reader__string(r, item->rebuilt.crate),
				    item->rebuilt.detail == TRACE_NO_STRING
					    ? NULL
					    : trace_reader__string(r, item->rebuilt.detail));
	default:
		return 0;
	}
}

static int take_item(void *ctx, const struct trace_item *item)
{
	struct seen *s = ctx;
	int err = 0;

	s->bound.most = cmd_most_output(trace_reader__bytes_read(s->r));
	/* How a recording samples comes before all else. */
	if (!s->has_header)
		err = dump_header(&s->c, trace_reader__info(s->r),
				  item->kind == TRACE_ITEM_SAMPLING && item->sampling.queries &&
					  !s->by_query);
	s->has_header = true;
	return err ?: dump_item(s, item);
}

static int dump_items(struct trace_reader *r, struct seen *s)
{
	int err;

	s->r = r;
	s->bound.most = cmd_most_output(trace_reader__bytes_read(r));
	s->sampled = (struct sampled_intervals){
		.job = trace_reader__job_of, .job_ctx = r, .take = dump_sampled, .take_ctx = s};
	err = trace_reader__each(r, take_item, s)
		      ?: sampled_intervals__over(&s->sampled, TRACE_NO_PROCESS);
	if (!s->has_header)
		err = dump_header(&s->c, trace_reader__info(r), false) ?: err;
	return err;
}

int cmd_dump(const struct cli_dump_options *o)
{
	_trace_reader_ struct trace_reader *r = NULL;
	__cleanup(seen__clear) struct seen seen = {.c.to = COLUMNS_JSON};
	struct wishes wishes = {.options = o, .processes = {.of = &o->of}};
	int err = -ENOMEM;

	if (o->schema) {
		dump_schema(stdout);
		return cmd_finish_stdout(EXIT_CODE_OK);
	}
	if (cmd_open_trace(o->file, &r))
		return EXIT_CODE_FAILURE;
	set_filter(r, &wishes);
	if (is_filtered(o) || !self_time__new(&seen.self_time))
		seen.c.out = cmd_open_output(&seen.bound);
	seen.by_query = o->queries.n;
	if (seen.c.out)
		err = dump_items(r, &seen);
	err = cmd_close_output(&seen.bound, seen.c.out, err);
	if (ferror(stdout))
		return cmd_finish_stdout(EXIT_CODE_FAILURE);
	if (err) {
		cmd_unreadable(o->file, NULL, err);
		return EXIT_CODE_FAILURE;
	}
	if (trace_reader__problem(r))
		diag_warn("%s: %s", o->file, trace_reader__problem(r));
	return cmd_finish_stdout(EXIT_CODE_OK);
}
