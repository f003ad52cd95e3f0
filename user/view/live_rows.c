// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/live_rows.h"

#include <errno.h>
#include <string.h>

#include "analyze/sample_counts.h"
#include "base/format.h"
#include "analyze/compile_name.h"
#include "base/cleanup.h"
#include "view/item_text.h"

struct rows {
	TABLE(struct live_row) by_key;
};

static struct live_row *row_of(struct rows *all, uint32_t label, uint8_t kind)
{
	return table__get(&all->by_key, live_row__key(label, kind == TRACE_KIND_ACTIVITY),
			  .label = label, .kind = kind);
}

static int add_samples(struct rows *all, const struct sample_counts *samples)
{
	for (uint32_t i = 0; i < samples->rows.n; i++) {
		const struct sample_count *from = &samples->rows.at[i];
		struct live_row *to = row_of(all, from->label, from->kind);

		if (!to)
			return -ENOMEM;
		to->self = from->self;
		to->total = from->total;
	}
	return 0;
}

/* Intervals that are over, and the results of compilers that are. */
static int add_summary(struct rows *all, const struct summary *s)
{
	_free_ struct summary_row *rows = NULL;
	size_t n = 0;
	int err = summary__rows(s, SUMMARY_ALL, &rows, &n);

	for (size_t i = 0; i < n && !err; i++) {
		uint8_t kind = rows[i].is_activity ? TRACE_KIND_ACTIVITY : TRACE_KIND_QUERY;
		uint64_t count = rows[i].count + rows[i].results;
		struct live_row *to = count ? row_of(all, rows[i].label, kind) : NULL;

		err = count && !to ? -ENOMEM : 0;
		if (!to)
			continue;
		to->count += count;
		to->unsure += rows[i].results_unsure;
		to->at_least |= rows[i].results_missing;
	}
	return err;
}

static int add_results(struct rows *all, const struct live_results *results)
{
	for (uint32_t i = 0; i < results->n; i++) {
		const struct trace_tally *from = &results->at[i];
		struct live_row *to = row_of(all, from->label, TRACE_KIND_QUERY);

		if (!to)
			return -ENOMEM;
		to->count += from->events;
		to->unsure += from->sum;
		to->at_least |= from->kind == TRACE_KIND_RESULTS_AT_LEAST;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;

	if (x->self.value != y->self.value)
		return x->self.value < y->self.value ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->label > y->label) - (x->label < y->label);
}

int live_rows__make(const struct live_state *state, struct live_row **rows, uint32_t *n)
{
	struct rows all = {};
	int err = add_samples(&all, state->samples) ?: add_summary(&all, state->summary);

	if (!err && state->results)
		err = add_results(&all, state->results);
	/* A compiler that runs may execute any query once more. */
	for (uint32_t i = 0; i < all.by_key.n; i++)
		if (all.by_key.at[i].kind != TRACE_KIND_ACTIVITY && all.by_key.at[i].count)
			all.by_key.at[i].at_least |= state->running > 0;
	if (!err && all.by_key.n)
		qsort(all.by_key.at, all.by_key.n, sizeof(*all.by_key.at), compare);
	*rows = err ? NULL : take_ptr(all.by_key.at);
	*n = err ? 0 : all.by_key.n;
	table__destroy(&all.by_key);
	return err;
}

int live_rates__set(struct live_rates *all, const struct live_state *state, struct live_row *rows,
		    uint32_t n)
{
	bool anew = state->results && state->results->rounds != all->rounds;

	for (uint32_t i = 0; i < n; i++) {
		struct live_row *row = &rows[i];
		uint64_t key = live_row__key(row->label, row->kind == TRACE_KIND_ACTIVITY);
		struct live_rate *rate = table__get(&all->rates, key, .count = 0);

		if (!rate)
			return -ENOMEM;
		if (anew) {
			uint64_t more = row->count > rate->count ? row->count - rate->count : 0;

			rate->rate = format_rate(more, state->now_ns - all->last_ns);
			rate->count = row->count;
		}
		row->rate = rate->rate;
		row->is_rated = row->count && (all->is_known || (anew && all->last_ns));
	}
	if (!anew)
		return 0;
	all->is_known = all->last_ns;
	all->last_ns = state->now_ns;
	all->rounds = state->results->rounds;
	return 0;
}

/* ---- What runs now --------------------------------------------------------------------------- */

#define GAP	   2
#define NAME_WIDTH 24 /* columns of a crate's name at most */
#define IN_LEAST   16 /* columns that are left to what it is in */

static const struct top_now *in_of(const struct top_nows *nows, const struct trace_process *p)
{
	for (uint32_t i = 0; i < nows->n && !p->end_ns; i++)
		if (nows->at[i].pid == p->pid)
			return &nows->at[i];
	return NULL;
}

size_t live_now__find(const struct top_nows *nows, const struct summary *s,
		      struct live_now found[TOP_NOW_MAX])
{
	size_t n = 0;

	for (uint32_t i = 0; nows && i < summary__n_processes(s) && n < TOP_NOW_MAX; i++) {
		const struct trace_process *p = summary__process_at(s, i);
		const struct top_now *in = in_of(nows, p);

		if (in)
			found[n++] = (struct live_now){p, in};
	}
	return n;
}

struct names {
	char *at[TOP_NOW_MAX];
	size_t width; /* of the widest */
};

static void names__clear(struct names *names)
{
	for (size_t i = 0; i < TOP_NOW_MAX; i++)
		free(names->at[i]);
}

static int make_names(struct names *names, const struct live_now *found, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_free_ char *name = compile_name(found[i].process);
		size_t width;

		names->at[i] = name ? format_clean(name) : NULL;
		if (!names->at[i])
			return -ENOMEM;
		format_cut(names->at[i], NAME_WIDTH);
		width = format_width(names->at[i]);
		names->width = width > names->width ? width : names->width;
	}
	return 0;
}

int live_now__print(const struct live_now *found, size_t n, size_t columns, const char *indent,
		    FILE *out)
{
	__cleanup(names__clear) struct names names = {};
	int err = make_names(&names, found, n);
	size_t before = strlen(indent) + names.width + GAP;
	size_t room = columns > before + IN_LEAST ? columns - before : IN_LEAST;

	for (size_t i = 0; i < n && !err; i++) {
		_free_ char *line = NULL;
		char in[ITEM_TEXT_MAX];
		int pad = (int)(names.width - format_width(names.at[i]) + GAP);

		_free_ char *function = format_clean(found[i].in->function);

		item_text(in, room, found[i].in->name, found[i].in->item);
		if (!function || asprintf(&line, "%s%s%*s%s%s%s", indent, names.at[i], pad, "", in,
					  *function ? "  in " : "", function) < 0)
			return -ENOMEM;
		fprintf(out, "%.*s\n", (int)format_fit(line, columns), line);
	}
	return err;
}

void live_now__columns(struct columns *c, const struct live_now *found, size_t n)
{
	if (!LIST(c, "now", true, "what compilers are in"))
		return;
	EACH_ROW (c, i, n) {
		const struct top_now *in = found[i].in;

		NUMBER(c, ID, "pid", NULL, found[i].process->pid, "process");
		OWNED(c, "crate", NULL, compile_name(found[i].process), "of the compile");
		TEXT(c, "name", NULL, in->name, "of the query or activity");
		TEXT(c, "event", NULL, in->item[0] ? in->item : NULL, "what it is about");
		TEXT(c, "function", NULL, in->function[0] ? in->function : NULL, "in LLVM");
	}
}
