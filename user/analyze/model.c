// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/array.h"

/* The item of a span. The item of a query may be a definition of another crate. */
static uint32_t about(const struct trace_reader *r, const struct trace_span *span, bool foreign)
{
	uint32_t id = trace_reader__event_string(r, span);
	bool is_foreign =
		span->kind == TRACE_KIND_QUERY && trace_reader__is_foreign(r, span->process, id);

	return is_foreign == foreign ? id : TRACE_NO_STRING;
}

/* A query about another crate's definition is charged to the item around it. */
static uint32_t item_of(const void *ctx, const struct trace_span *span)
{
	return about(ctx, span, false);
}

static uint32_t foreign_of(const void *ctx, const struct trace_span *span)
{
	return about(ctx, span, true);
}

static bool foreign_results(const void *ctx, const struct trace_results *r)
{
	return r->n && trace_reader__is_foreign(ctx, r->process, r->items[0]);
}

static bool keyed_by_instance(const void *ctx, uint32_t label)
{
	const char *type = trace_reader__key_type(ctx, label);

	return type && !strcmp(type, "Instance");
}

static const struct trace_stack *stack_entry(const void *ctx, uint32_t id)
{
	return trace_reader__stack(ctx, id);
}

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	return trace_reader__location(ctx, locindex, out);
}

static const struct trace_llvm *llvm_entry(const void *ctx, uint32_t id)
{
	return trace_reader__llvm(ctx, id);
}

static uint32_t llvm_item(const void *ctx, uint32_t process, uint32_t symbol)
{
	return trace_reader__symbol_item(ctx, process, symbol);
}

/* As item_of(). */
static uint32_t job_item(const void *reader, uint32_t process, const struct trace_job *job)
{
	uint32_t id = trace_reader__job_string(reader, job);

	return trace_reader__is_foreign(reader, process, id) ? TRACE_NO_STRING : id;
}

struct model_options model_options_of(const struct trace_reader *r)
{
	return (struct model_options){
		.borrow_texts = true,
		.texts = trace_reader__texts(r),
		.item = item_of,
		.job = trace_reader__job_of,
		.job_item = job_item,
		.foreign = foreign_of,
		.foreign_results = foreign_results,
		.item_ctx = r,
		.keyed_by_instance = keyed_by_instance,
		.stacks = {r, stack_entry, locate},
		.llvm = {.ctx = r, .entry = llvm_entry, .item = llvm_item},
	};
}

static int take_sampled_interval(void *model, const struct sampled_interval *interval)
{
	return summary__sampled_interval(((struct model *)model)->summary, &interval->span);
}

int model__init(struct model *m, const struct model_options *options)
{
	const struct trace_texts *texts = &m->options.texts;
	unsigned int parts = options->parts;

	*m = (struct model){.options = *options};
	m->sampled_intervals = (struct sampled_intervals){
		.job = options->job,
		.job_ctx = options->item_ctx,
		.take = take_sampled_interval,
		.take_ctx = m,
	};
	for (unsigned int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++)
		m->stacks[cause] = (struct stack_sums){.cause = cause, .source = options->stacks};
	if (summary__new(&m->summary) || self_time__new(&m->self_time) ||
	    (parts & MODEL_BUILD && build__new(texts, &m->build)) ||
	    (parts & MODEL_CALLERS && pivot__new(PIVOT_CALLERS, &m->callers)) ||
	    (parts & MODEL_GROUPS && pivot__new(PIVOT_THREADS, &m->groups)) ||
	    (parts & MODEL_THREADS && pivot__new(PIVOT_THREADS, &m->threads)) ||
	    (parts & MODEL_HOT && hot_functions__new(&m->options.stacks, texts, &m->hot)) ||
	    (parts & MODEL_ITEMS && items__new(texts, &m->items)) ||
	    (parts & MODEL_LLVM &&
	     llvm__new(&m->options.llvm, &m->options.stacks, texts, &m->llvm)) ||
	    (parts & (MODEL_MACROS | MODEL_UNITS) &&
	     subjects__new(texts, m->summary,
			   parts & MODEL_MACROS ? SUBJECTS_MACROS : SUBJECTS_UNITS, &m->subjects)))
		return -ENOMEM;
	if (options->borrow_texts)
		summary__borrow_texts(m->summary);
	if (m->items)
		items__count_instances(m->items, options->keyed_by_instance, options->item_ctx);
	return 0;
}

static bool wants(const struct model_options *o, uint32_t label)
{
	return !o->wants || o->wants(o->wants_ctx, o->texts.text(o->texts.ctx, label));
}

/*
 * Others may be charged to an item that is not wanted. Modules are learned from unwanted
 * labels too, so that rows have the same names.
 */
static int take_item_of(struct model *m, const struct trace_span *span,
			const struct trace_times *times)
{
	const struct model_options *o = &m->options;
	bool is_query = span->kind == TRACE_KIND_QUERY, wanted;
	uint32_t item, path = TRACE_NO_STRING;

	if (m->by_samples || span->kind == TRACE_KIND_HIT || (m->own && !m->own[span->process]) ||
	    (span->kind == TRACE_KIND_BLOCKED && o->no_blocked_items))
		return 0;
	if (is_query)
		items__note_compiler(m->items, span->process, span->label);
	item = o->item(o->item_ctx, span);
	wanted = wants(o, span->label);
	/* An instance that another crate's compile made of a generic function. */
	if (item == TRACE_NO_STRING && is_query && wanted && o->foreign &&
	    items__counts_instances_by(m->items, span->label))
		path = o->foreign(o->item_ctx, span);
	if (path != TRACE_NO_STRING && items__foreign_instance(m->items, span->label, path))
		return -ENOMEM;
	return wanted ? items__span(m->items, span, times, item)
		      : items__around(m->items, span, item);
}

int model__span(struct model *m, const struct trace_span *span, const struct trace_times *times)
{
	const struct model_options *o = &m->options;
	const char *label;
	int err = summary__span(m->summary, span, times);

	if (!err && m->build)
		err = build__span(m->build, span);
	if (err)
		return err;
	if (span->kind == TRACE_KIND_OFF_CPU) {
		/* If only some labels are wanted, only the off-CPU times of their own intervals
		 * count. */
		if (!m->groups || o->wants)
			return 0;
		label = o->texts.text(o->texts.ctx, span->label);
		return pivot__off_cpu(m->groups, span, !strcmp(label, TRACE_OFF_PREEMPTED));
	}
	m->self_ns += times->self_ns;
	m->self_probe_ns += times->self_probe_ns;
	m->self_off_ns += times->self_off_ns;
	if (m->by_samples && o->job && span->kind == TRACE_KIND_QUERY)
		err = sampled_intervals__probed(&m->sampled_intervals, span->label);
	if (!err && m->threads)
		err = pivot__span(m->threads, span, times);
	if (!err && m->subjects)
		err = subjects__span(m->subjects, span, times,
				     span->kind == TRACE_KIND_ACTIVITY ? o->item(o->item_ctx, span)
								       : TRACE_NO_STRING);
	if (!err && m->items)
		err = take_item_of(m, span, times);
	if (err || (!m->groups && !m->callers) || !wants(o, span->label))
		return err;
	if (m->groups)
		err = pivot__span(m->groups, span, times);
	if (!err && m->callers && span->kind == TRACE_KIND_QUERY)
		err = pivot__span(m->callers, span, times);
	return err;
}

static int take_process(struct model *m, const struct trace_process *p)
{
	int err = summary__process(m->summary, p);

	if (!err && m->options.own_items) {
		err = array__reserve_at(&m->own, p->index, &m->n_own, sizeof(*m->own));
		if (!err)
			m->own[p->index] = compile_is_own(p);
	}
	if (!err && m->build)
		err = build__process(m->build, p);
	if (!err && m->groups)
		err = pivot__process(m->groups, p);
	if (!err && m->llvm)
		err = llvm__process(m->llvm, p);
	return err;
}

static int take_thread(struct model *m, const struct trace_thread *t)
{
	int err = 0;

	if (t->process >= summary__n_processes(m->summary))
		return -EINVAL;
	if (m->build)
		err = build__thread(m->build, t);
	if (!err && m->groups)
		err = pivot__thread(m->groups, t);
	if (!err && m->subjects)
		err = subjects__thread(m->subjects, t);
	if (!err && m->threads)
		err = pivot__thread(m->threads, t);
	return err;
}

static int take_tally(struct model *m, const struct trace_tally *tally)
{
	int err = summary__tally(m->summary, tally);

	if (!err && m->items && tally->kind == TRACE_KIND_RESULTS_AT_LEAST)
		err = items__note_limit(m->items, tally->label);
	if (err || tally->kind != TRACE_KIND_RESULTS)
		return err;
	if (m->build)
		build__results(m->build, tally->process, tally->events);
	return m->groups && wants(&m->options, tally->label) ? pivot__results(m->groups, tally) : 0;
}

static int take_results(struct model *m, const struct trace_results *results)
{
	if (results->process >= summary__n_processes(m->summary))
		return -EINVAL;
	if (m->items)
		items__note_compiler(m->items, results->process, results->label);
	if (!m->items || (m->own && !m->own[results->process]) ||
	    !wants(&m->options, results->label))
		return 0;
	return m->options.foreign_results &&
			       m->options.foreign_results(m->options.item_ctx, results)
		       ? items__foreign_results(m->items, results)
		       : items__results(m->items, results);
}

static int need_samples(struct model *m)
{
	summary__set_sampled(m->summary);
	return m->samples ? 0 : samples__new(&m->options.stacks, &m->samples);
}

uint32_t model_sample_label(const struct model_options *o, const struct trace_sample *sample)
{
	uint32_t activity = TRACE_NO_STRING;
	struct trace_stack entry;

	for (uint32_t id = sample->stack; stack_source__entry(&o->stacks, id, &entry);
	     id = entry.parent) {
		if (entry.kind < TRACE_STACK_QUERY || entry.kind == TRACE_STACK_UNKNOWN)
			continue;
		if (entry.kind != TRACE_STACK_ACTIVITY)
			return entry.place;
		if (activity == TRACE_NO_STRING)
			activity = entry.place;
	}
	if (activity != TRACE_NO_STRING)
		return activity;
	if (sample->label == TRACE_NO_STRING && sample->job != TRACE_NO_JOB && o->job) {
		const struct trace_job *job = o->job(o->item_ctx, sample->job);

		return job ? job->query : TRACE_NO_STRING;
	}
	return sample->label;
}

int model_charge_sample(const struct model_options *o, struct items *items,
			const struct trace_sample *sample)
{
	uint32_t label = model_sample_label(o, sample), item = TRACE_NO_STRING;
	uint32_t id = o->job ? sample->job : TRACE_NO_JOB;

	if (label == TRACE_NO_STRING || !wants(o, label))
		return 0;
	/* The nearest job that is about an item. */
	while (id != TRACE_NO_JOB && item == TRACE_NO_STRING) {
		const struct trace_job *job = o->job(o->item_ctx, id);
		uint32_t string;
		int is;

		if (!job)
			break;
		string = o->job_item(o->item_ctx, sample->process, job);
		is = items__about(items, job->query, string);
		if (is < 0)
			return is;
		if (is)
			item = string;
		id = job->parent < id ? job->parent : TRACE_NO_JOB;
	}
	return items__sample(items, label, item, sample->cause, sample->value);
}

bool model__charges(const struct model *m, uint8_t cause)
{
	bool light = m->samples && samples__totals(m->samples)->sampling.light;

	return m->by_samples || cause == TRACE_SAMPLE_OFF_CPU ||
	       (cause == TRACE_SAMPLE_FAULT && (!light || m->fault_jobs));
}

static int take_sample(struct model *m, const struct trace_sample *sample)
{
	int err = summary__sample(m->summary, sample)
			  ?: need_samples(m) ?: samples__add(m->samples, sample);

	if (!err && m->build)
		err = build__sample(m->build, sample);
	if (!err && m->by_samples && m->options.job)
		err = sampled_intervals__sample(&m->sampled_intervals, sample);
	m->fault_jobs |= sample->cause == TRACE_SAMPLE_FAULT && sample->job != TRACE_NO_JOB;
	/* Executions that were recorded have their CPU time. */
	if (!err && m->items && (sample->cause != TRACE_SAMPLE_CPU || m->by_samples) &&
	    (!m->own || m->own[sample->process]))
		err = model_charge_sample(&m->options, m->items, sample);
	if (!err && m->llvm)
		err = llvm__sample(m->llvm, sample);
	if (!err && m->hot)
		err = pivot__sample(m->threads, sample) ?: hot_functions__add(m->hot, sample);
	if (err || !(m->options.stack_causes & 1u << sample->cause))
		return err;
	/* Waits have queries by the jobs of their threads, but no functions. */
	if (sample->cause == TRACE_SAMPLE_OFF_CPU && !samples__totals(m->samples)->sampling.off_cpu)
		return 0;
	return stack_sums__add(&m->stacks[sample->cause], sample);
}

int model__item(struct model *m, const struct trace_item *item)
{
	const struct trace_span *span = &item->span;
	struct trace_times times;

	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		/* Before the span is taken for a child of later ones. */
		if (span->process >= summary__n_processes(m->summary) ||
		    span->end_ns < span->start_ns)
			return -EINVAL;
		return self_time__span(m->self_time, span, &times) ?: model__span(m, span, &times);
	case TRACE_ITEM_PROCESS:
		return take_process(m, item->process);
	case TRACE_ITEM_THREAD:
		return take_thread(m, &item->thread);
	case TRACE_ITEM_TALLY:
		return take_tally(m, &item->tally);
	case TRACE_ITEM_RESULTS:
		return take_results(m, &item->results);
	case TRACE_ITEM_LOSSES:
		m->losses = item->losses;
		m->has_losses = true;
		return 0;
	case TRACE_ITEM_COSTS:
		m->costs = item->costs;
		m->has_costs = true;
		if (!m->options.raw)
			self_time__set_costs(m->self_time, &item->costs);
		return 0;
	case TRACE_ITEM_OVERHEAD:
		m->overhead = item->overhead;
		m->has_overhead = true;
		return 0;
	case TRACE_ITEM_PART:
		m->part = item->part;
		return 0;
	case TRACE_ITEM_REBUILT:
		if (m->n_rebuilt == TRACE_REBUILT_MOST)
			return 0;
		return array__add(&m->rebuilt, &m->n_rebuilt, &m->rebuilt_capacity, &item->rebuilt);
	case TRACE_ITEM_SAMPLING:
		if (need_samples(m))
			return -ENOMEM;
		samples__set_sampling(m->samples, &item->sampling);
		m->by_samples = item->sampling.queries;
		if (m->by_samples)
			summary__set_unwatched(m->summary);
		return 0;
	case TRACE_ITEM_SAMPLE:
		return take_sample(m, &item->sample);
	case TRACE_ITEM_END:
		break;
	}
	return 0;
}

/* For samples__rows(): the labels that have intervals. */
struct watching {
	struct u64_map recorded;
	bool any_recorded;
};

/*
 * Activities that were not asked for, beside intervals that were: their time is that of what is
 * around them. Queries are rows in any case.
 */
static bool hides(const void *ctx, uint32_t label, uint8_t kind)
{
	const struct watching *w = ctx;

	return kind == TRACE_KIND_ACTIVITY && w->any_recorded &&
	       u64_map__get(&w->recorded, label) == U64_MAP_NONE;
}

int model__show_samples(struct model *m)
{
	struct watching w = {.any_recorded = summary__spans(m->summary)};
	_free_ struct summary_row *known = NULL;
	_free_ struct samples_row *rows = NULL;
	size_t n = 0, n_known = 0;
	int err;

	summary__forget_samples(m->summary);
	if (!m->samples)
		return 0;
	err = summary__rows(m->summary, SUMMARY_ALL, &known, &n_known);
	for (size_t i = 0; i < n_known && !err; i++)
		if (known[i].count || known[i].raw_total_ns || known[i].raw_self_ns)
			err = u64_map__put(&w.recorded, known[i].label, 0);
	err = err ?: samples__rows(m->samples, hides, &w, &rows, &n);
	for (size_t i = 0; i < n && !err; i++)
		err = summary__samples(m->summary, rows[i].process, rows[i].label, rows[i].kinds,
				       &rows[i].sums);
	u64_map__destroy(&w.recorded);
	return err;
}

static uint64_t compiled_instances(const void *items, uint32_t item, bool *all)
{
	return items__compiled(items, item, all);
}

int model__end(struct model *m)
{
	bool misses = m->by_samples ? summary__misses_results(m->summary)
				    : trace_losses__total(&m->losses) > 0;
	_llvm_rows_ struct llvm_rows rows = {};
	int err = model__show_samples(m);

	err = err ?: sampled_intervals__over(&m->sampled_intervals, TRACE_NO_PROCESS);
	if (m->items && misses)
		items__miss_results(m->items);
	/* Items of the functions that LLVM compiled, where the recording knows which these are. */
	if (!err && m->items && m->llvm && m->options.llvm.item) {
		err = llvm__rows(m->llvm, NULL, NULL, &rows);
		for (uint32_t i = 0; i < rows.n_functions && !err; i++)
			if (rows.functions[i].item != TRACE_NO_STRING)
				err = items__llvm(m->items, rows.functions[i].item,
						  &rows.functions[i].self);
		llvm__set_instances(m->llvm,
				    &(struct llvm_instances){m->items, compiled_instances});
		err = err ?: items__count_compiled(m->items);
	}
	return err || !m->build ? err : build__end(m->build);
}

static int take_item(void *ctx, const struct trace_item *item)
{
	return model__item(ctx, item);
}

int model__read(struct model *m, struct trace_reader *r)
{
	const char *source = trace_reader__info(r)->source;

	if (source && !strcmp(source, TRACE_SOURCE_OUTSIDE))
		summary__set_outside(m->summary);
	return trace_reader__each(r, take_item, m) ?: model__end(m);
}

void model__destroy(struct model *m)
{
	summary__free(m->summary);
	build__free(m->build);
	pivot__free(m->callers);
	pivot__free(m->groups);
	pivot__free(m->threads);
	hot_functions__free(m->hot);
	items__free(m->items);
	subjects__free(m->subjects);
	llvm__free(m->llvm);
	samples__free(m->samples);
	for (int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++)
		stack_sums__destroy(&m->stacks[cause]);
	sampled_intervals__destroy(&m->sampled_intervals);
	free(m->own);
	free(m->rebuilt);
	self_time__free(m->self_time);
	*m = (struct model){};
}
