// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/array.h"

/* A query about another crate's definition is charged to the item around it. */
static uint32_t item_of(const void *ctx, const struct trace_span *span)
{
	uint32_t id = trace_reader__event_string(ctx, span);

	return span->kind == TRACE_KIND_QUERY && trace_reader__is_foreign(ctx, span->process, id)
		       ? TRACE_NO_STRING
		       : id;
}

static uint32_t foreign_of(const void *ctx, const struct trace_span *span)
{
	uint32_t id = trace_reader__event_string(ctx, span);

	return span->kind == TRACE_KIND_QUERY && trace_reader__is_foreign(ctx, span->process, id)
		       ? id
		       : TRACE_NO_STRING;
}

static bool keyed_by_instance(const void *ctx, uint32_t label)
{
	const char *type = trace_reader__key_type(ctx, label);

	return type && !strcmp(type, "Instance");
}

/* By the type of its key, in rustc's words: docs/items.md. */
static bool may_be_about_item(const void *ctx, uint32_t label)
{
	static const char *const parts[] = {"Def", "OwnerId", "Instance", "GlobalId"};
	const char *type = trace_reader__key_type(ctx, label);

	for (size_t i = 0; type && i < N_OF(parts); i++)
		if (strstr(type, parts[i]))
			return true;
	return !type;
}

static const struct trace_stack *stack_entry(const void *ctx, uint32_t id)
{
	return trace_reader__stack(ctx, id);
}

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	return trace_reader__location(ctx, locindex, out);
}

static const struct trace_job *job_of(const void *reader, uint32_t id)
{
	return trace_reader__job(reader, id);
}

static uint32_t job_item(const void *reader, const struct trace_job *job)
{
	return trace_reader__job_string(reader, job);
}

struct model_options model_options_of(const struct trace_reader *r)
{
	return (struct model_options){
		.borrow_texts = true,
		.texts = trace_reader__texts(r),
		.budget_ppm = trace_reader__info(r)->budget_ppm,
		.item = item_of,
		.job = job_of,
		.job_item = job_item,
		.foreign = foreign_of,
		.item_ctx = r,
		.keyed_by_instance = keyed_by_instance,
		.may_be_about_item = may_be_about_item,
		.stacks = {r, stack_entry, locate},
	};
}

static int add_parts(struct model *m, unsigned int parts)
{
	if ((parts & MODEL_BUILD && build__new(&m->options.texts, &m->build)) ||
	    (parts & MODEL_CALLERS && callers__new(&m->callers)) ||
	    (parts & MODEL_GROUPS && groups__new(&m->groups)) ||
	    (parts & MODEL_THREADS && threads__new(&m->threads)) ||
	    (parts & MODEL_HOT &&
	     hot_functions__new(&m->options.stacks, &m->options.texts, &m->hot)) ||
	    (parts & MODEL_ITEMS && items__new(&m->options.texts, &m->items)) ||
	    (parts & MODEL_MODULES && modules__new(&m->options.texts, &m->modules)) ||
	    (parts & (MODEL_MACROS | MODEL_UNITS) &&
	     subjects__new(&m->options.texts,
			   parts & MODEL_MACROS ? SUBJECTS_MACROS : SUBJECTS_UNITS, &m->subjects)))
		return -ENOMEM;
	return 0;
}

int model__init(struct model *m, const struct model_options *options)
{
	*m = (struct model){.options = *options, .decisions.ppm = options->budget_ppm};
	if (summary__new(&m->summary) || self_time__new(&m->self_time))
		return -ENOMEM;
	for (unsigned int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++)
		m->stacks[cause] = (struct stack_sums){.cause = cause, .source = options->stacks};
	if (options->borrow_texts)
		summary__borrow_texts(m->summary);
	if (add_parts(m, options->parts))
		return -ENOMEM;
	if (m->items)
		items__count_instances(m->items, options->keyed_by_instance, options->item_ctx);
	if (m->groups && options->wants)
		groups__by_query(m->groups);
	return 0;
}

static const char *label_text(const struct model *m, uint32_t label)
{
	return m->options.texts.text(m->options.texts.ctx, label);
}

static bool wants(const struct model *m, uint32_t label)
{
	return !m->options.wants || m->options.wants(m->options.wants_ctx, label_text(m, label));
}

/* If only some labels are wanted, only the off-CPU times of their own intervals count. */
static int take_off_cpu(struct model *m, const struct trace_span *span)
{
	if (!m->groups || m->options.wants)
		return 0;
	return groups__off_cpu(m->groups, span,
			       !strcmp(label_text(m, span->label), TRACE_OFF_PREEMPTED));
}

/* An instance that another crate's compile made of a generic function. */
static int take_foreign(struct model *m, const struct trace_span *span)
{
	uint32_t path;

	if (!m->options.foreign || span->kind != TRACE_KIND_QUERY ||
	    !items__counts_instances_by(m->items, span->label) || !wants(m, span->label))
		return 0;
	path = m->options.foreign(m->options.item_ctx, span);
	return path == TRACE_NO_STRING ? 0 : items__foreign_instance(m->items, span->label, path);
}

/*
 * Others may be charged to an item that is not wanted. Modules are learned from unwanted
 * labels too, so that rows have the same names.
 */
static int take_item_of(struct model *m, const struct trace_span *span,
			const struct trace_times *times)
{
	uint32_t item;

	if (m->samples_items || span->kind == TRACE_KIND_HIT ||
	    (m->own && !m->own[span->process]) ||
	    (span->kind == TRACE_KIND_BLOCKED && m->options.no_blocked_items))
		return 0;
	item = m->options.item(m->options.item_ctx, span);
	if (m->modules && modules__span(m->modules, span, item))
		return -ENOMEM;
	if (item == TRACE_NO_STRING && take_foreign(m, span))
		return -ENOMEM;
	return wants(m, span->label) ? items__span(m->items, span, times, item)
				     : items__around(m->items, span, item);
}

static int take_interval(struct model *m, const struct trace_span *span,
			 const struct trace_times *times)
{
	int err = 0;

	m->self_ns += times->self_ns;
	m->self_probe_ns += times->self_probe_ns;
	m->self_off_ns += times->self_off_ns;
	if (m->threads)
		err = threads__span(m->threads, span, times);
	if (!err && m->subjects)
		err = subjects__span(m->subjects, span, times,
				     m->options.item(m->options.item_ctx, span));
	if (!err && m->items)
		err = take_item_of(m, span, times);
	if (err || (!m->groups && !m->callers) || !wants(m, span->label))
		return err;
	if (m->groups)
		err = groups__span(m->groups, span, times);
	if (!err && m->callers && span->kind == TRACE_KIND_QUERY)
		err = callers__span(m->callers, span, times);
	return err;
}

int model__span(struct model *m, const struct trace_span *span, const struct trace_times *times)
{
	int err = summary__span(m->summary, span, times);

	if (!err && m->build)
		err = build__span(m->build, span);
	if (err)
		return err;
	if (span->kind == TRACE_KIND_OFF_CPU)
		return take_off_cpu(m, span);
	return take_interval(m, span, times);
}

static int compute_span(struct model *m, const struct trace_span *span)
{
	struct trace_times times;

	/* Before the span is taken for a child of later ones. */
	if (span->process >= summary__n_processes(m->summary) || span->end_ns < span->start_ns)
		return -EINVAL;
	return self_time__span(m->self_time, span, &times) ?: model__span(m, span, &times);
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
		err = groups__process(m->groups, p);
	if (!err && m->subjects)
		err = subjects__process(m->subjects, p);
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
		err = groups__thread(m->groups, t);
	if (!err && m->subjects)
		err = subjects__thread(m->subjects, t);
	if (!err && m->threads)
		err = threads__name(m->threads, t);
	return err;
}

static void take_costs(struct model *m, const struct trace_costs *costs)
{
	m->costs = *costs;
	m->has_costs = true;
	if (!m->options.raw)
		self_time__set_costs(m->self_time, costs);
}

static int need_samples(struct model *m)
{
	summary__set_sampled(m->summary);
	return m->samples ? 0 : samples__new(&m->options.stacks, &m->samples);
}

static int take_sampling(struct model *m, const struct trace_sampling *sampling)
{
	if (need_samples(m))
		return -ENOMEM;
	samples__set_sampling(m->samples, sampling);
	m->samples_items = sampling->queries;
	return 0;
}

/* The innermost interval that the stack of a sample shows; else that of the probes. */
static uint32_t innermost_label(const struct model *m, const struct trace_sample *sample)
{
	struct trace_stack entry;

	for (uint32_t id = sample->stack; stack_source__entry(&m->options.stacks, id, &entry);
	     id = entry.parent)
		if (entry.kind >= TRACE_STACK_QUERY && entry.kind != TRACE_STACK_UNKNOWN)
			return entry.place;
	if (sample->label == TRACE_NO_STRING && sample->job != TRACE_NO_JOB && m->options.job) {
		const struct trace_job *job = m->options.job(m->options.item_ctx, sample->job);

		return job ? job->query : TRACE_NO_STRING;
	}
	return sample->label;
}

/* The item of the nearest job that is about one: 0 and *item, or -ENOMEM. */
static int item_around(struct model *m, const struct trace_sample *sample, uint32_t *item)
{
	uint32_t id = sample->job;

	*item = TRACE_NO_STRING;
	while (id != TRACE_NO_JOB && m->options.job) {
		const struct trace_job *job = m->options.job(m->options.item_ctx, id);
		struct trace_span about = {.kind = TRACE_KIND_QUERY};
		uint32_t string;
		int is;

		if (!job)
			break;
		string = m->options.job_item(m->options.item_ctx, job);
		is = string == TRACE_NO_STRING ? 0 : items__is(m->items, string);
		about.label = job->query;
		if (is < 0 || (is && m->modules && modules__span(m->modules, &about, string)))
			return -ENOMEM;
		if (is) {
			*item = string;
			break;
		}
		id = job->parent < id ? job->parent : TRACE_NO_JOB;
	}
	return 0;
}

static int take_item_sample(struct model *m, const struct trace_sample *sample)
{
	uint32_t label, item;

	if (sample->cause != TRACE_SAMPLE_CPU || (m->own && !m->own[sample->process]))
		return 0;
	label = innermost_label(m, sample);
	if (label == TRACE_NO_STRING || !wants(m, label))
		return 0;
	return item_around(m, sample, &item) ?: items__sample(m->items, label, item, sample->value);
}

static int take_sample(struct model *m, const struct trace_sample *sample)
{
	int err;

	if (sample->process >= summary__n_processes(m->summary))
		return -EINVAL;
	err = need_samples(m) ?: samples__add(m->samples, sample);
	if (!err && m->items && m->samples_items)
		err = take_item_sample(m, sample);
	if (!err && m->hot)
		err = threads__sample(m->threads, sample) ?: hot_functions__add(m->hot, sample);
	if (err || !(m->options.stack_causes & 1u << sample->cause))
		return err;
	return stack_sums__add(&m->stacks[sample->cause], sample);
}

int model__item(struct model *m, const struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return compute_span(m, &item->span);
	case TRACE_ITEM_PROCESS:
		return take_process(m, item->process);
	case TRACE_ITEM_THREAD:
		return take_thread(m, &item->thread);
	case TRACE_ITEM_TALLY:
		return summary__tally(m->summary, &item->tally);
	case TRACE_ITEM_DECISION:
		return decisions__add(&m->decisions, &item->decision);
	case TRACE_ITEM_LOSSES:
		m->losses = item->losses;
		m->has_losses = true;
		return 0;
	case TRACE_ITEM_COSTS:
		take_costs(m, &item->costs);
		return 0;
	case TRACE_ITEM_OVERHEAD:
		m->overhead = item->overhead;
		m->has_overhead = true;
		return 0;
	case TRACE_ITEM_PART:
		m->part = item->part;
		return 0;
	case TRACE_ITEM_SAMPLING:
		return take_sampling(m, &item->sampling);
	case TRACE_ITEM_SAMPLE:
		return take_sample(m, &item->sample);
	case TRACE_ITEM_END:
		break;
	}
	return 0;
}

int model__fold(struct model *m, uint32_t process)
{
	return summary__fold(m->summary, process);
}

/* For samples__rows(): the decisions, and the labels that have intervals. */
struct watching {
	const struct model *m;
	struct u64_map recorded;
	bool any_recorded;
};

static void watching__clear(struct watching *w)
{
	u64_map__destroy(&w->recorded);
}

static int watching__init(struct watching *w, const struct model *m)
{
	_free_ struct summary_row *rows = NULL;
	size_t n;
	int err = summary__rows(m->summary, SUMMARY_ALL, &rows, &n);

	w->m = m;
	w->any_recorded = summary__spans(m->summary);
	for (size_t i = 0; i < n && !err; i++)
		if (rows[i].count || rows[i].raw_total_ns || rows[i].raw_self_ns)
			err = u64_map__put(&w->recorded, rows[i].label, 0);
	return err;
}

/*
 * Activities that were not asked for, beside intervals that were: their time is that of what is
 * around them. Queries are rows in any case.
 */
static enum samples_watch watch_of(const void *ctx, uint32_t label, uint8_t kind)
{
	const struct watching *w = ctx;
	const struct model_options *o = &w->m->options;

	if (decisions__is_off(&w->m->decisions, label))
		return o->may_be_about_item && !o->may_be_about_item(o->item_ctx, label)
			       ? SAMPLES_UNWATCHED
			       : SAMPLES_UNWATCHED_ITEM;
	if (!w->any_recorded || u64_map__get(&w->recorded, label) != U64_MAP_NONE)
		return SAMPLES_WATCHED;
	return kind == TRACE_KIND_ACTIVITY ? SAMPLES_HIDDEN : SAMPLES_UNWATCHED;
}

static int end_samples(struct model *m)
{
	__cleanup(watching__clear) struct watching w = {};
	_free_ struct samples_row *rows = NULL;
	size_t n = 0;
	int err = 0;

	if (decisions__queries(&m->decisions))
		summary__set_unwatched(m->summary);
	if (m->samples)
		err = watching__init(&w, m) ?: samples__rows(m->samples, watch_of, &w, &rows, &n);
	for (size_t i = 0; i < n && !err; i++)
		err = summary__samples(m->summary, rows[i].process, rows[i].label, rows[i].kinds,
				       &rows[i].sums);
	return err;
}

static int divide(struct model *m)
{
	int err = own_shares__init(&m->own_shares, m->summary, OWN_SHARES_OF_QUERY)
			  ?: own_shares__init(&m->item_shares, m->summary, OWN_SHARES_OF_ITEM);

	if (m->items)
		items__divide(m->items, m->options.wants ? &m->own_shares : &m->item_shares);
	if (!err && m->groups && groups__are_by_query(m->groups)) {
		err = process_shares__init(&m->process_shares, m->summary);
		groups__divide(m->groups, &m->process_shares);
	}
	if (m->callers)
		callers__divide(m->callers, &m->own_shares);
	return err;
}

int model__end(struct model *m)
{
	int err = end_samples(m) ?: divide(m);

	return err || !m->build ? err : build__end(m->build);
}

static int take_item(void *ctx, const struct trace_item *item)
{
	return model__item(ctx, item);
}

int model__read(struct model *m, struct trace_reader *r)
{
	return trace_reader__each(r, take_item, m) ?: model__end(m);
}

void model__destroy(struct model *m)
{
	summary__free(m->summary);
	build__free(m->build);
	callers__free(m->callers);
	groups__free(m->groups);
	threads__free(m->threads);
	hot_functions__free(m->hot);
	items__free(m->items);
	modules__free(m->modules);
	subjects__free(m->subjects);
	samples__free(m->samples);
	for (int cause = 0; cause < TRACE_SAMPLE_CAUSES; cause++)
		stack_sums__destroy(&m->stacks[cause]);
	free(m->own);
	self_time__free(m->self_time);
	own_shares__destroy(&m->own_shares);
	own_shares__destroy(&m->item_shares);
	process_shares__destroy(&m->process_shares);
	decisions__destroy(&m->decisions);
	*m = (struct model){};
}
