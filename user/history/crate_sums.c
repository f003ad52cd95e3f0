// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/crate_sums.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "base/table.h"

/* The sum over all processes of a crate, of a query or an item. */
struct sum {
	const char *crate; /* texts of the rows, so equal texts are one */
	const char *name;
	uint64_t count;
	uint64_t self_ns;
	uint64_t total_ns;
	bool is_sampled; /* its time is, of some process */
	bool no_count;	 /* not all executions were counted */
	bool no_total;
	bool is_activity; /* or a pass of LLVM */
	bool is_namesake; /* an activity with the name of a query of the crate */
};

struct sums {
	struct sum *at;
	uint32_t n;
	uint32_t capacity;
};

static void sums__destroy(struct sums *s)
{
	free(s->at);
}
#define _sums_ __cleanup(sums__destroy)

const char *crate_sums_text(struct history_rows *rows, const char *text)
{
	_free_ char *clean = format_clean(text ?: "");
	size_t len = clean ? strlen(clean) : 0;

	if (!clean)
		return NULL;
	if (len > HISTORY_TEXT_MAX) {
		len = HISTORY_TEXT_MAX;
		/* Not within a character. */
		while ((clean[len] & 0xc0) == 0x80)
			len--;
		clean[len] = 0;
	}
	return history_rows__text(rows, clean);
}

static int by_name(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	int order = x->crate == y->crate ? 0 : strcmp(x->crate, y->crate);

	if (!order)
		order = x->name == y->name ? 0 : strcmp(x->name, y->name);
	return order ?: x->is_activity - y->is_activity;
}

/* The most expensive first, in each crate; of those that no sample met, the most executed. */
static int by_time(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->crate != y->crate)
		return strcmp(x->crate, y->crate);
	if (x->self_ns != y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Make one of those of the same names, in the order of their times. */
static void merge(struct sums *s)
{
	uint32_t n = 0;

	if (!s->n)
		return;
	qsort(s->at, s->n, sizeof(*s->at), by_name);
	for (uint32_t i = 1; i < s->n; i++) {
		const struct sum *from = &s->at[i];
		struct sum *to = &s->at[n];

		if (by_name(to, from)) {
			s->at[++n] = *from;
			continue;
		}
		to->count += from->count;
		to->self_ns += from->self_ns;
		to->total_ns += from->total_ns;
		to->is_sampled |= from->is_sampled;
		to->no_count |= from->no_count;
		to->no_total |= from->no_total;
	}
	s->n = n + 1;
	for (uint32_t i = 1; i < s->n; i++)
		s->at[i].is_namesake = !strcmp(s->at[i - 1].crate, s->at[i].crate) &&
				       !strcmp(s->at[i - 1].name, s->at[i].name);
	qsort(s->at, s->n, sizeof(*s->at), by_time);
}

static const char *how_of(const struct sum *s)
{
	return s->is_sampled ? "sampled" : "exact";
}

static uint64_t known_number(bool unknown, uint64_t number)
{
	return unknown ? HISTORY_UNKNOWN : crate_sums_number(number);
}

static int add_query(struct sums *s, struct history_rows *rows, const struct model *m,
		     const char *crate, const struct summary_row *row)
{
	const struct trace_texts *texts = &m->options.texts;
	bool is_sampled = row->self_by == SUMMARY_SELF_SAMPLES;
	bool has_spans = !is_sampled || row->raw_total_ns;
	bool by_tables = m->by_samples && !row->is_activity;
	/* A compiler of which nothing was read may have executed any query. */
	bool all_tables = rows->build.results != HISTORY_UNKNOWN;
	uint64_t count = summary_row__executions(row);
	struct sum sum = {
		.crate = crate,
		.count = count,
		.self_ns = row->best_cpu_ns,
		.total_ns = row->total_ns,
		.is_sampled = is_sampled,
		.no_count = by_tables ? !count || !all_tables : !count && !has_spans,
		.no_total = !has_spans,
		.is_activity = row->is_activity,
	};

	/* Results that may be no executions make a sum unknown. */
	if (!count && !row->best_cpu_ns && !row->total_ns && !(by_tables && row->results))
		return 0;
	sum.name = crate_sums_text(rows, texts->text(texts->ctx, row->label));
	return sum.name ? array__add(&s->at, &s->n, &s->capacity, &sum) : -ENOMEM;
}

/* The kind of a row is in no store's key: of two rows of one name, one has it there. */
static int name_of(struct history_rows *rows, const struct sum *s, const char *kind,
		   const char **name)
{
	_free_ char *text = NULL;

	*name = s->name;
	if (!s->is_namesake)
		return 0;
	if (asprintf(&text, "%s (%s)", s->name, kind) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	*name = crate_sums_text(rows, text);
	return *name ? 0 : -ENOMEM;
}

static int put_query(struct history_rows *rows, const struct sum *s)
{
	struct history_query *row = history_rows__append(rows, HISTORY_QUERY);
	const char *name = NULL;
	int err = name_of(rows, s, "activity", &name);

	if (!row || err)
		return -ENOMEM;
	*row = (struct history_query){
		.build = rows->build.build,
		.start_ns = rows->build.start_ns,
		.crate = s->crate,
		.query = name,
		.kind = history_rows__text(rows, s->is_activity ? "activity" : "query"),
		.how = history_rows__text(rows, how_of(s)),
		.count = known_number(s->no_count, s->count),
		.self_ns = crate_sums_number(s->self_ns),
		.total_ns = known_number(s->no_total, s->total_ns),
	};
	return row->kind && row->how ? 0 : -ENOMEM;
}

int crate_sums__queries(struct history_rows *rows, const struct model *m, const char *const *crates)
{
	_sums_ struct sums sums = {};
	int err = 0;

	for (uint32_t i = 0; i < summary__n_processes(m->summary) && !err; i++) {
		_free_ struct summary_row *of = NULL;
		size_t n = 0;

		if (crates[i])
			err = summary__rows(m->summary, i, &of, &n);
		for (size_t k = 0; k < n && !err; k++)
			err = add_query(&sums, rows, m, crates[i], &of[k]);
	}
	merge(&sums);
	for (uint32_t i = 0; i < sums.n && !err; i++)
		err = put_query(rows, &sums.at[i]);
	return err;
}

/* Those of a process; NULL: no memory. */
static struct items *items_of(struct crate_items *c, const struct model *m, uint32_t process)
{
	if (array__reserve_at(&c->at, process, &c->n, sizeof(struct items *)) ||
	    (!c->at[process] && items__new(&m->options.texts, &c->at[process])))
		return NULL;
	return c->at[process];
}

int crate_items__span(struct crate_items *c, const struct model *m, const struct trace_span *span,
		      const struct trace_times *times)
{
	const struct model_options *o = &m->options;
	struct items *items;

	if (m->by_samples || span->kind == TRACE_KIND_OFF_CPU || span->kind == TRACE_KIND_HIT)
		return 0;
	items = items_of(c, m, span->process);
	return items ? items__span(items, span, times, o->item(o->item_ctx, span)) : -ENOMEM;
}

int crate_items__sample(struct crate_items *c, const struct model *m,
			const struct trace_sample *sample)
{
	struct items *items;

	if (!m->by_samples || sample->cause != TRACE_SAMPLE_CPU)
		return 0;
	items = items_of(c, m, sample->process);
	return items ? model_charge_sample(&m->options, items, sample) : -ENOMEM;
}

int crate_items__results(struct crate_items *c, const struct model *m,
			 const struct trace_results *results)
{
	struct items *items = m->by_samples ? items_of(c, m, results->process) : NULL;

	if (!m->by_samples)
		return 0;
	return items ? items__results(items, results) : -ENOMEM;
}

void crate_items__destroy(struct crate_items *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		items__free(c->at[i]);
	free(c->at);
	*c = (struct crate_items){};
}

static int put_item(struct history_rows *rows, const struct sum *s)
{
	struct history_item *row = history_rows__append(rows, HISTORY_ITEM);

	if (!row)
		return -ENOMEM;
	*row = (struct history_item){
		.build = rows->build.build,
		.start_ns = rows->build.start_ns,
		.crate = s->crate,
		.item = s->name,
		.how = history_rows__text(rows, how_of(s)),
		.count = known_number(s->no_count, s->count),
		.self_ns = crate_sums_number(s->self_ns),
	};
	return row->how ? 0 : -ENOMEM;
}

/* Not all executions were recorded: those that the tables list count, if these list all. */
static int add_items(struct sums *s, struct history_rows *rows, const struct model *m,
		     const char *crate, struct items *items)
{
	const struct trace_texts *texts = &m->options.texts;
	_free_ struct item_row *of = NULL;
	bool no_count = m->by_samples &&
			(items__misses_results(items) || rows->build.executions == HISTORY_UNKNOWN);
	size_t n = 0;
	int err = items__rows(items, &of, &n);

	for (size_t i = 0; i < n && !err; i++) {
		struct sum sum = {
			.crate = crate,
			.count = m->by_samples ? of[i].results : of[i].executions,
			.self_ns = of[i].cpu_ns,
			.is_sampled = m->by_samples,
			.no_count = no_count || (m->by_samples && !of[i].results),
		};

		if (of[i].item == TRACE_NO_STRING || !(of[i].n_queries || of[i].results))
			continue;
		sum.name = crate_sums_text(rows, texts->text(texts->ctx, of[i].item));
		err = sum.name ? array__add(&s->at, &s->n, &s->capacity, &sum) : -ENOMEM;
	}
	return err;
}

int crate_sums__items(struct history_rows *rows, const struct model *m, struct crate_items *items,
		      const char *const *crates)
{
	_sums_ struct sums sums = {};
	uint32_t in_crate = 0;
	int err = 0;

	/* They take most of the memory. */
	for (uint32_t i = 0; i < items->n && !err; i++) {
		if (items->at[i] && crates[i])
			err = add_items(&sums, rows, m, crates[i], items->at[i]);
		items__free(take_ptr(items->at[i]));
	}
	merge(&sums);
	for (uint32_t i = 0; i < sums.n && !err; i++) {
		in_crate = i && sums.at[i].crate == sums.at[i - 1].crate ? in_crate + 1 : 0;
		if (in_crate < HISTORY_ITEMS)
			err = put_item(rows, &sums.at[i]);
	}
	return err;
}

static int add_llvm(struct sums *s, struct history_rows *rows, const char *crate, bool is_pass,
		    const char *name, const struct sample_sum *self)
{
	struct sum sum = {
		.crate = crate,
		.self_ns = self->value,
		.is_sampled = true,
		.is_activity = is_pass,
	};

	/* A pass may have no name. */
	if (!name)
		return 0;
	sum.name = crate_sums_text(rows, name);
	return sum.name ? array__add(&s->at, &s->n, &s->capacity, &sum) : -ENOMEM;
}

/* Crates by number; equal names are one text. */
struct crate_number {
	const char *crate;
};

struct llvm_sums {
	struct sums sums;
	struct history_rows *rows;
	TABLE(struct crate_number) crates;
};

/* What LLVM did in the compiles of one crate. */
static int add_llvm_of(void *ctx, uint32_t number, const struct llvm_rows *of)
{
	struct llvm_sums *s = ctx;
	const char *crate = s->crates.at[number].crate;
	int err = 0;

	for (uint32_t i = 0; i < of->n_generics && !err; i++)
		err = add_llvm(&s->sums, s->rows, crate, false, of->generics[i].path,
			       &of->generics[i].self);
	for (uint32_t i = 0; i < of->n_passes && !err; i++)
		err = add_llvm(&s->sums, s->rows, crate, true, of->passes[i].name,
			       &of->passes[i].self);
	return err;
}

static void llvm_sums__clear(struct llvm_sums *s)
{
	sums__destroy(&s->sums);
	table__destroy(&s->crates);
}

/* The number of the crate of each process; the caller frees it. */
static uint32_t *number_crates(struct llvm_sums *s, const char *const *crates, uint32_t n)
{
	uint32_t *numbers = calloc(n + 1UL, sizeof(*numbers));

	for (uint32_t i = 0; i < n && numbers; i++) {
		const struct crate_number *of = NULL;

		numbers[i] = LLVM_NO_GROUP;
		if (!crates[i])
			continue;
		of = table__get(&s->crates, (uintptr_t)crates[i], .crate = crates[i]);
		if (!of) {
			free(numbers);
			return NULL;
		}
		numbers[i] = (uint32_t)(of - s->crates.at);
	}
	return numbers;
}

static int put_llvm(struct history_rows *rows, const struct sum *s)
{
	struct history_llvm *row = history_rows__append(rows, HISTORY_LLVM);
	const char *name = NULL;
	int err = name_of(rows, s, "pass", &name);

	if (!row || err)
		return -ENOMEM;
	*row = (struct history_llvm){
		.build = rows->build.build,
		.start_ns = rows->build.start_ns,
		.crate = s->crate,
		.name = name,
		.kind = history_rows__text(rows, s->is_activity ? "pass" : "function"),
		.how = history_rows__text(rows, how_of(s)),
		.self_ns = crate_sums_number(s->self_ns),
	};
	return row->kind && row->how ? 0 : -ENOMEM;
}

int crate_sums__llvm(struct history_rows *rows, const struct model *m, const char *const *crates)
{
	uint32_t n = summary__n_processes(m->summary), functions = 0;
	__cleanup(llvm_sums__clear) struct llvm_sums s = {.rows = rows};
	_free_ uint32_t *numbers = m->llvm ? number_crates(&s, crates, n) : NULL;
	const struct sum *at;
	int err = m->llvm && !numbers ? -ENOMEM : 0;

	if (numbers)
		err = llvm__rows_by_group(m->llvm, numbers, n, add_llvm_of, &s);
	merge(&s.sums);
	at = s.sums.at;
	for (uint32_t i = 0; i < s.sums.n && !err; i++) {
		if (!i || at[i].crate != at[i - 1].crate)
			functions = 0;
		functions += !at[i].is_activity;
		if (at[i].is_activity || functions <= HISTORY_FUNCTIONS)
			err = put_llvm(rows, &at[i]);
	}
	return err;
}
