// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/html_spans.h"

#include <errno.h>

#include "analyze/cost.h"
#include "analyze/model.h"
#include "base/array.h"
#include "view/build.h"
#include "view/view.h"

#define BATCH 65536u

static void put(struct html_spans *s, enum html_column column, uint64_t v)
{
	byte_buffer__varint(&s->columns[column], v);
}

/* The low bytes of times are noise; the other bytes compress better without them. */
static void put_time(struct html_spans *s, enum html_column low, uint64_t v)
{
	uint8_t byte = (uint8_t)v;

	byte_buffer__bytes(&s->columns[low], &byte, 1);
	put(s, low + 1, v >> 8);
}

static int put_times(struct html_spans *s, const struct html_span *span)
{
	uint64_t from = 0;
	bool encloses = false;

	for (; s->n_open && s->open[s->n_open - 1].depth > span->depth; encloses = true)
		from = s->open[--s->n_open].start_ns;
	if (encloses) {
		put_time(s, HTML_A_LOW, bytes_zigzag(from - span->start_ns));
		put_time(s, HTML_B_LOW, bytes_zigzag(span->end_ns - s->last_end_ns));
	} else {
		put_time(s, HTML_A_LOW, bytes_zigzag(span->start_ns - s->last_end_ns));
		put_time(s, HTML_B_LOW, bytes_zigzag(span->end_ns - span->start_ns));
	}
	s->last_end_ns = span->end_ns;
	if (s->n_open && s->open[s->n_open - 1].depth == span->depth)
		return 0;
	if (array__reserve_one(&s->open, s->n_open, &s->open_capacity, sizeof(*s->open)))
		return -ENOMEM;
	s->open[s->n_open++] = (struct html_open){span->depth, span->start_ns};
	return 0;
}

static int put_batch(struct html_spans *s, struct gzip *to)
{
	struct byte_buffer head = {0};
	bool failed;

	byte_buffer__varint(&head, s->n);
	byte_buffer__varint(&head, s->n_runs);
	for (uint32_t i = 0; i < s->n_runs; i++) {
		byte_buffer__varint(&head, s->runs[i].thread);
		byte_buffer__varint(&head, s->runs[i].n);
		byte_buffer__varint(&head, bytes_zigzag(s->runs[i].gap));
	}
	failed = head.failed;
	gzip__bytes(to, head.data, head.size);
	byte_buffer__destroy(&head);
	for (int i = 0; i < HTML_COLUMNS; i++) {
		failed |= s->columns[i].failed;
		gzip__bytes(to, s->columns[i].data, s->columns[i].size);
		byte_buffer__clear(&s->columns[i]);
	}
	s->n = 0;
	s->n_runs = 0;
	return failed ? -ENOMEM : 0;
}

int html_spans__add(struct html_spans *s, const struct html_span *span, struct gzip *to)
{
	const struct html_run run = {span->thread, 0, span->start_ns - s->last_end_ns};

	if (!s->n_runs || s->runs[s->n_runs - 1].thread != span->thread) {
		if (array__add(&s->runs, &s->n_runs, &s->runs_capacity, &run))
			return -ENOMEM;
		s->last_end_ns = span->start_ns;
		s->n_open = 0;
	}
	s->runs[s->n_runs - 1].n++;
	put(s, HTML_DEPTH, bytes_zigzag((uint64_t)span->depth - s->last_depth));
	s->last_depth = span->depth;
	put(s, HTML_WHAT, span->what);
	byte_buffer__bytes(&s->columns[HTML_FLAGS], &span->flags, 1);
	if (span->key == HTML_NO_KEY) {
		put(s, HTML_KEY, 0);
	} else {
		put(s, HTML_KEY, 1 + bytes_zigzag((uint64_t)span->key - s->last_key - 1));
		s->last_key = span->key;
	}
	if (put_times(s, span))
		return -ENOMEM;
	return ++s->n == BATCH ? put_batch(s, to) : 0;
}

int html_spans__finish(struct html_spans *s, struct gzip *to)
{
	int err = s->n ? put_batch(s, to) : 0;

	gzip__bytes(to, "", 1);
	return err;
}

void html_spans__destroy(struct html_spans *s)
{
	for (int i = 0; i < HTML_COLUMNS; i++)
		byte_buffer__destroy(&s->columns[i]);
	free(s->runs);
	free(s->open);
	*s = (struct html_spans){0};
}

/* ---- The report in the page ------------------------------------------------------------------ */

/* Rows of LLVM's tables: a build has ten thousands of functions, most of them met once. */
#define LLVM_MOST 2000

struct html_report {
	const struct trace_reader *r;
	struct model model;
	bool chosen;
	const struct build *whole; /* of which they were chosen; NULL: not known */
};

int html_report__new(struct export_job *job, struct html_report **out)
{
	_html_report_ struct html_report *h = calloc(1, sizeof(*h));
	struct model_options options = model_options_of(job->r);

	options.parts = MODEL_GROUPS | MODEL_ITEMS | MODEL_BUILD | MODEL_LLVM;
	options.raw = job->raw;
	options.stack_causes = 1u << TRACE_SAMPLE_CPU;
	if (!h || model__init(&h->model, &options))
		return -ENOMEM;
	h->r = job->r;
	h->chosen = job->chosen;
	h->whole = job->whole;
	*out = take_ptr(h);
	return 0;
}

int html_report__item(struct html_report *h, const struct trace_item *item)
{
	return model__item(&h->model, item);
}

int html_report__print(struct html_report *h, FILE *to)
{
	struct model *m = &h->model;
	struct report_options opt = {
		.problem = trace_reader__problem(h->r),
		.groups = m->groups,
		.by = GROUP_BY_CRATE,
		.items = items__any(m->items) ? m->items : NULL,
		.costs = m->has_costs ? &m->costs : NULL,
		.raw = m->options.raw,
		.samples = m->samples,
		.llvm = m->llvm,
		.llvm_most = LLVM_MOST,
		.page = true,
	};
	const struct stack_sums *stacks = &m->stacks[TRACE_SAMPLE_CPU];
	struct build_view build;
	struct cost cost;
	int err = model__end(m);

	if (!err && h->chosen)
		err = build__set_whole(m->build, h->whole);
	cost = cost_of(m, trace_reader__stats(h->r).processes);
	if (!cost.is_part)
		opt.cost = &cost;
	/* Without items: the page has those of all crates. */
	build = (struct build_view){
		.build = m->build,
		.summary = m->summary,
		.losses = m->has_losses ? &m->losses : NULL,
		.names = &m->options.texts,
		.costs = opt.costs,
		.raw = opt.raw,
		.problem = opt.problem,
		.samples = opt.samples,
		.stacks = stacks->all.n ? stacks : NULL,
		.cost = &cost,
	};
	opt.build = &build;
	return err
		       ?: report_json(to, m->summary, m->has_losses ? &m->losses : NULL,
				      &m->options.texts, &opt);
}

void html_report__free(struct html_report *h)
{
	if (!h)
		return;
	model__destroy(&h->model);
	free(h);
}
