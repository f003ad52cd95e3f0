// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/trend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/change_points.h"
#include "base/array.h"
#include "base/diag.h"
#include "history/trend_points.h"

static const struct {
	const char *name, *unit;
} metrics[TREND_METRICS] = {
	[TREND_CPU] = {"cpu", "ns"},
	[TREND_WALL] = {"wall", "ns"},
	[TREND_COUNT] = {"count", "executions"},
	[TREND_RESULTS] = {"results", "results"},
	[TREND_MEMORY] = {"memory", "bytes"},
};

const char *trend_metric_name(enum trend_metric metric)
{
	return metrics[metric].name;
}

const char *trend_metric_unit(enum trend_metric metric)
{
	return metrics[metric].unit;
}

const char *trend_reason_name(enum trend_reason reason)
{
	static const char *const names[TREND_REASONS] = {
		[TREND_NO_VALUE] = "no value",	   [TREND_LOST] = "lost records",
		[TREND_FAILED] = "failed",	   [TREND_OTHER_WORK] = "other work",
		[TREND_OTHER_KIND] = "other kind", [TREND_OTHER_QUERIES] = "other queries",
	};

	return names[reason];
}

static uint64_t value_of(const struct trend *t, const struct history_build *b,
			 const struct history_sums *s)
{
	bool has_cost = !history_series__is_of_part(&t->question.of);

	switch (t->question.metric) {
	case TREND_WALL:
		return s->wall_ns;
	case TREND_COUNT:
		return s->count;
	case TREND_RESULTS:
		return s->results;
	case TREND_MEMORY:
		return s->peak_bytes;
	default:
		return has_cost ? history_build__without_cost(b, s->cpu_ns) : s->cpu_ns;
	}
}

static void add_point(struct trend *t, const struct history_build *b, const struct history_sums *s)
{
	struct trend_point *p = &t->points[t->n++];

	*p = (struct trend_point){.build = b, .value = value_of(t, b, s), .how = b->how};
	if (t->exact)
		p->how = "exact";
	else if (s->how)
		p->how = strcmp(s->how, "exact") ? "sampled" : "exact";
	if (p->value == HISTORY_UNKNOWN)
		p->reason = TREND_NO_VALUE;
	else if (b->lost && b->lost != HISTORY_UNKNOWN)
		p->reason = TREND_LOST;
	else if (s->exit_status && s->exit_status != HISTORY_UNKNOWN)
		p->reason = TREND_FAILED;
}

/* Builds by their ids, to find those that sums are of. */
struct ids {
	struct trend *t;
	const struct history_build **sorted;
	size_t n;
};

static int by_id(const void *a, const void *b)
{
	const struct history_build *const *x = a, *const *y = b;

	return strcmp((*x)->build, (*y)->build);
}

static int take_sums(void *ctx, const struct history_sums *sums)
{
	struct ids *ids = ctx;
	const struct history_build key = {.build = sums->build}, *key_p = &key, **found;

	found = bsearch(&key_p, ids->sorted, ids->n, sizeof(*ids->sorted), by_id);
	/* A build that was not asked for, or whose own row is not there yet. */
	if (!found)
		return 0;
	/* More rows of a build than one: not of this store. */
	if (ids->t->n == ids->n)
		return -EPROTO;
	add_point(ids->t, *found, sums);
	return 0;
}

static int ask_sums(struct store *s, struct trend *t, const struct history_builds *b)
{
	_free_ const struct history_build **sorted = calloc(b->n + 1, sizeof(*sorted));
	struct ids ids = {t, sorted, b->n};

	if (!sorted)
		return diag_error_r(-ENOMEM, "out of memory");
	for (size_t i = 0; i < b->n; i++)
		sorted[i] = &b->at[i];
	qsort(sorted, b->n, sizeof(*sorted), by_id);
	return history_sums__ask(s, &t->question.of, b->at[0].start_ns, b->at[b->n - 1].start_ns,
				 take_sums, &ids);
}

static int make_points(struct store *s, struct trend *t, const struct history_builds *b)
{
	const struct history_series *of = &t->question.of;
	bool of_builds = !of->crate && !history_series__is_of_part(of);
	int err = 0;

	t->points = calloc(b->n + 1, sizeof(*t->points));
	if (!t->points)
		return diag_error_r(-ENOMEM, "out of memory");
	if (!b->n)
		return 0;
	if (!of_builds)
		err = ask_sums(s, t, b);
	/* The sums of a whole build are in its row. */
	for (size_t i = 0; of_builds && i < b->n; i++) {
		const struct history_build *row = &b->at[i];
		const struct history_sums sums = {
			.cpu_ns = row->cpu_ns,
			.wall_ns = row->wall_ns,
			.count = row->executions,
			.results = row->results,
			.peak_bytes = row->peak_bytes,
			.exit_status = HISTORY_UNKNOWN,
		};

		add_point(t, row, &sums);
	}
	t->absent = b->n - t->n;
	return err;
}

/* A commit whose builds are of one source; NULL: a build of its own source. */
static const char *source_of(const struct trend_point *p)
{
	return p->build->dirty == 1 ? NULL : p->build->commit;
}

struct placed {
	struct trend_point point;
	uint64_t first_ns; /* when the first build of its commit started */
};

static int by_source(const void *a, const void *b)
{
	const struct trend_point *x = &((const struct placed *)a)->point;
	const struct trend_point *y = &((const struct placed *)b)->point;
	int order = strcmp(source_of(x) ?: "", source_of(y) ?: "");

	if (order)
		return order;
	if (x->build->start_ns != y->build->start_ns)
		return x->build->start_ns < y->build->start_ns ? -1 : 1;
	return strcmp(x->build->build, y->build->build);
}

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return by_source(a, b);
}

static bool is_same_source(const struct trend_point *a, const struct trend_point *b)
{
	const char *x = source_of(a), *y = source_of(b);

	return x && y && !strcmp(x, y);
}

/* A commit that is built again later is the level that it was. */
static int order_points(struct trend *t)
{
	_free_ struct placed *all = calloc(t->n + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		all[i].point = t->points[i];
	qsort(all, t->n, sizeof(*all), by_source);
	for (size_t i = 0; i < t->n; i++)
		all[i].first_ns = i && is_same_source(&all[i].point, &all[i - 1].point)
					  ? all[i - 1].first_ns
					  : all[i].point.build->start_ns;
	qsort(all, t->n, sizeof(*all), by_place);
	for (size_t i = 0; i < t->n; i++) {
		t->points[i] = all[i].point;
		t->points[i].begins = !i || !is_same_source(&t->points[i], &t->points[i - 1]);
	}
	return 0;
}

/* Add a change between points of one group, whose indices are `points`. */
static int add_change(struct trend *t, const size_t *points, const struct change_point *c)
{
	struct trend_change change = {
		.point = points[c->at],
		.former = points[c->at - 1],
		.before = c->before,
		.after = c->after,
		.change = c->change,
		.confidence = c->confidence,
	};
	const char *a = t->points[change.former].build->toolchain;
	const char *b = t->points[change.point].build->toolchain;

	change.toolchain = a && b && strcmp(a, b);
	if (array__reserve_one(&t->changes, t->n_changes, &t->capacity, sizeof(change)))
		return -ENOMEM;
	t->changes[t->n_changes++] = change;
	return 0;
}

static int by_point(const void *a, const void *b)
{
	const struct trend_change *x = a, *y = b;

	return (x->point > y->point) - (x->point < y->point);
}

/* One commit's changes of two groups are alike within this factor; else they are of two commits. */
#define ALIKE 3

/* Whether builds of two groups may show the change of one commit. `b` is the later one. */
static bool is_same_change(const struct trend_change *a, const struct trend_change *b)
{
	double x = fabs(a->change), y = fabs(b->change);

	return b->former < a->point && (a->change > 0) == (b->change > 0) && x <= ALIKE * y &&
	       y <= ALIKE * x;
}

/* Whether the commit of `a` is known more closely, or as closely and more surely. */
static bool is_better(const struct trend_change *a, const struct trend_change *b)
{
	size_t x = a->point - a->former, y = b->point - b->former;

	return x != y ? x < y : a->confidence > b->confidence;
}

/* A change that several groups show is one change. */
static void merge_groups(struct trend *t)
{
	size_t kept = 0;

	if (!t->n_changes)
		return;
	qsort(t->changes, t->n_changes, sizeof(*t->changes), by_point);
	for (size_t i = 1; i < t->n_changes; i++) {
		struct trend_change *last = &t->changes[kept], *next = &t->changes[i];

		if (!is_same_change(last, next))
			t->changes[++kept] = *next;
		else if (is_better(next, last))
			*last = *next;
	}
	t->n_changes = kept + 1;
}

static int find_changes(struct trend *t)
{
	/* The counted points of one group. */
	_free_ size_t *points = calloc(t->n + 1, sizeof(*points));
	_free_ double *values = calloc(t->n + 1, sizeof(*values));
	_free_ bool *begins = calloc(t->n + 1, sizeof(*begins));
	const struct change_points_options o = {
		.exact = t->exact,
		.begins = begins,
		.least = t->least,
	};
	int err = points && values && begins ? 0 : -ENOMEM;

	for (uint32_t group = 0; !err && group < t->n_groups; group++) {
		_free_ struct change_point *changes = NULL;
		size_t n = 0, n_changes;

		for (size_t i = 0; i < t->n; i++) {
			const struct trend_point *p = &t->points[i];

			if (p->reason != TREND_COUNTED || p->group != group)
				continue;
			begins[n] = !n || !is_same_source(p, &t->points[points[n - 1]]);
			values[n] = (double)p->value;
			points[n++] = i;
		}
		err = change_points__find(values, n, &o, &changes, &n_changes);
		for (size_t i = 0; !err && i < n_changes; i++)
			err = add_change(t, points, &changes[i]);
	}
	if (!err)
		merge_groups(t);
	return err;
}

/* "1 build", "7 builds" */
#define builds_of(n) (builds_text((char[32]){}, (n)))
static const char *builds_text(char text[32], uint64_t n)
{
	snprintf(text, 32, "%llu build%s", (unsigned long long)n, n == 1 ? "" : "s");
	return text;
}

/* rustc's tables hold results of some queries that may be no executions. */
static const char *why_unknown(const struct trend_question *q)
{
	if (q->metric == TREND_RESULTS)
		return "rustc's tables were not read, or not to the end, of some compiler";
	if (q->metric != TREND_COUNT)
		return "the number is not known";
	if (q->of.query)
		return "its results in rustc's tables may be no executions (record with --exact)";
	if (q->of.item)
		return "rustc's tables do not list its executions (record with --exact)";
	return "executions of some compiler are not known";
}

static int note_left_out(struct trend *t)
{
	const char *const texts[TREND_REASONS] = {
		[TREND_NO_VALUE] = why_unknown(&t->question),
		[TREND_LOST] = "records were lost",
		[TREND_FAILED] = "compiles failed",
		[TREND_OTHER_WORK] = "they did other work: incremental, or of other crates",
		[TREND_OTHER_KIND] = "there are too few of their profile, host or recording",
		[TREND_OTHER_QUERIES] = "they count executions of other queries, or of far fewer",
	};
	int err = 0;

	if (t->not_whole)
		err = trend__note(t, "left out, as they are not whole: %s",
				  builds_of(t->not_whole));
	if (t->absent && !err)
		err = trend__note(t, "left out, as they do not have it: %s", builds_of(t->absent));
	for (size_t i = 0; i < t->n; i++)
		t->reasons[t->points[i].reason]++;
	for (int r = TREND_COUNTED + 1; r < TREND_REASONS && !err; r++)
		if (t->reasons[r])
			err = trend__note(t, "not judged, as %s: %s", texts[r],
					  builds_of(t->reasons[r]));
	return err;
}

static int note_cost(struct trend *t)
{
	size_t unknown = 0;

	if (t->question.metric != TREND_CPU || history_series__is_of_part(&t->question.of))
		return 0;
	for (size_t i = 0; i < t->n; i++)
		unknown += t->points[i].reason == TREND_COUNTED &&
			   t->points[i].build->cost_ppm == HISTORY_UNKNOWN;
	if (!unknown)
		return 0;
	return trend__note(t, "CPU times with what recording added, as it is not known: %s",
			   builds_of(unknown));
}

static int check(const struct trend_question *q)
{
	if (q->of.llvm && q->metric != TREND_CPU)
		return diag_error_r(-EINVAL, "what LLVM does is known by its CPU time alone: ask "
					     "for cpu");
	if (q->of.llvm && (q->of.query || q->of.item))
		return diag_error_r(-EINVAL,
				    "a history has no sums of what LLVM did for a query or "
				    "an item");
	if (q->metric == TREND_MEMORY && (q->of.query || q->of.item))
		return diag_error_r(-EINVAL, "queries and items have no memory of their own: ask "
					     "for that of a crate");
	if (q->metric == TREND_RESULTS && (q->of.query || q->of.item))
		return diag_error_r(-EINVAL, "results are of whole builds and crates: ask for the "
					     "count of queries and items");
	if (q->metric == TREND_WALL && q->of.item)
		return diag_error_r(-EINVAL, "items have no wall time: ask for cpu or count");
	if (q->of.query && q->of.item)
		return diag_error_r(-EINVAL, "a history has no sums of a query about an item");
	return 0;
}

/* ---- The builds ------------------------------------------------------------------------------ */

int trend_builds__ask(struct store *s, const struct history_filter *f, struct trend_builds *out)
{
	_trend_builds_ struct trend_builds b = {};
	struct history_filter whole = *f;
	int err = 0;

	whole.state = "whole";
	if (!whole.last)
		whole.last = CHANGE_POINTS_MOST + 1;
	if (!whole.workspace) {
		err = history_builds__newest_workspace(s, &whole, &b.workspace);
		whole.workspace = b.workspace;
	}
	if (!err && b.workspace)
		err = history_builds__elsewhere(s, &whole, &b.elsewhere);
	err = err ?: history_builds__ask(s, &whole, &b.list);
	/* Those among the builds, but for ones that are older than all. */
	if (!err)
		err = history_builds__not_whole(s, &whole, b.list.n ? b.list.at[0].start_ns : 0,
						&b.not_whole);
	if (!err && b.list.n > CHANGE_POINTS_MOST)
		return diag_error_r(-E2BIG, "more than %d builds: give --last", CHANGE_POINTS_MOST);
	if (err)
		return err;
	*out = b;
	b = (struct trend_builds){};
	return 0;
}

void trend_builds__clear(struct trend_builds *b)
{
	history_builds__clear(&b->list);
	free(b->workspace);
	*b = (struct trend_builds){};
}

int trend__of(struct store *s, const struct trend_question *q, const struct trend_builds *b,
	      struct trend *out)
{
	_trend_ struct trend t = {
		.question = *q,
		.exact = q->metric == TREND_COUNT || q->metric == TREND_RESULTS,
		.n_builds = b->list.n,
		.not_whole = b->not_whole,
	};
	int err = check(q);

	t.least = t.exact ? TREND_LEAST_OF_COUNTS : TREND_LEAST_OF_OTHERS;
	if (!err && b->elsewhere &&
	    trend__note(&t, "only builds of workspace '%s', as the newest is: --workspace chooses",
			*b->workspace ? b->workspace : "unknown"))
		return diag_error_r(-ENOMEM, "out of memory");
	err = err ?: make_points(s, &t, &b->list);
	if (err)
		return err;
	err = order_points(&t) ?: trend_kinds__sort_out(&t);
	if (err)
		return diag_error_r(err, "out of memory");
	err = trend_counted__level(s, &t);
	if (err)
		return err;
	err = find_changes(&t) ?: note_left_out(&t) ?: note_cost(&t);
	if (err)
		return diag_error_r(err, "out of memory");
	*out = t;
	t = (struct trend){};
	return 0;
}

int trend__ask(struct store *s, const struct trend_question *q, struct trend *out)
{
	_trend_builds_ struct trend_builds b = {};
	int err = check(q) ?: trend_builds__ask(s, &q->filter, &b) ?: trend__of(s, q, &b, out);

	if (err)
		return err;
	out->own = b;
	b = (struct trend_builds){};
	return 0;
}

void trend__clear(struct trend *t)
{
	for (size_t i = 0; i < t->n_notes; i++)
		free(t->notes[i]);
	free(t->points);
	free(t->changes);
	free(t->uncounted);
	trend_builds__clear(&t->own);
	*t = (struct trend){};
}
