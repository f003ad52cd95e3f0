// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/trend_points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/table.h"
#include "history/rows.h"

/* A clean compile leaves 5 uncounted, an incremental one those that were loaded. */
#define MOST	    128
#define NAMES_SHOWN 5

/* Queries that some counted point does not count. */
struct left {
	struct trend *t;
	struct history_rows texts;
	TABLE(const char *) names; /* by the text's place */
	const char *subtracted;	   /* the one that is asked for */
	struct trend_point **by_id;
};

static void left__clear(struct left *l)
{
	table__destroy(&l->names);
	history_rows__clear(&l->texts);
	free(l->by_id);
}

/* The next name in `*at`, which is moved behind it; NULL: there is none, or no memory (*err). */
static const char *next_name(struct left *l, const char **at, int *err)
{
	_free_ char *name = NULL;
	const char *text;
	size_t n;

	*at += strspn(*at, " ");
	n = strcspn(*at, " ");
	if (!n)
		return NULL;
	name = strndup(*at, n);
	text = name ? history_rows__text(&l->texts, name) : NULL;
	*err = text ? 0 : -ENOMEM;
	*at += n;
	return text;
}

/* Whether all of a build's uncounted queries are among the names. */
static int knows_all(struct left *l, const char *uncounted, bool *all)
{
	const char *at = uncounted, *name;
	int err = 0;

	*all = true;
	while (*all && (name = next_name(l, &at, &err)))
		*all = table__find(&l->names, (uintptr_t)name);
	return err;
}

static void forget(struct trend_point *p)
{
	p->value = HISTORY_UNKNOWN;
	if (p->reason == TREND_COUNTED)
		p->reason = TREND_OTHER_QUERIES;
}

static size_t n_names(const char *uncounted)
{
	size_t n = 1;

	for (; *uncounted; uncounted++)
		n += *uncounted == ' ';
	return n;
}

/* The newest builds decide, should there be too many names. */
static int find_names(struct left *l)
{
	const char *last = NULL, *name, *at;
	int err = 0;

	for (size_t i = l->t->n; i-- && !err;) {
		struct trend_point *p = &l->t->points[i];
		const char *uncounted = p->build->uncounted;
		bool all;

		/* Most are equal, which are one text. */
		if (p->reason != TREND_COUNTED || !uncounted || uncounted == last)
			continue;
		err = knows_all(l, uncounted, &all);
		if (err || all)
			continue;
		if (l->names.n + n_names(uncounted) > MOST) {
			forget(p);
			continue;
		}
		last = at = uncounted;
		while (!err && (name = next_name(l, &at, &err)))
			if (!table__get(&l->names, (uintptr_t)name, name))
				err = -ENOMEM;
	}
	return err;
}

/* A point that does not count a query that others do has no value that is comparable. */
static int forget_others(struct left *l)
{
	for (size_t i = 0; i < l->t->n; i++) {
		struct trend_point *p = &l->t->points[i];
		bool all = true;
		int err = p->build->uncounted ? knows_all(l, p->build->uncounted, &all) : 0;

		if (err)
			return err;
		if (!all)
			forget(p);
	}
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct trend_point *const *x = a, *const *y = b;

	return strcmp((*x)->build->build, (*y)->build->build);
}

static int subtract(void *ctx, const struct history_sums *sums)
{
	struct left *l = ctx;
	const struct history_build build = {.build = sums->build};
	struct trend_point key = {.build = &build}, *key_p = &key, **found;

	found = bsearch(&key_p, l->by_id, l->t->n, sizeof(struct trend_point *), by_id);
	if (!found || (*found)->value == HISTORY_UNKNOWN ||
	    history_build__leaves_out((*found)->build, l->subtracted))
		return 0;
	if (sums->count == HISTORY_UNKNOWN || sums->count > (*found)->value)
		forget(*found);
	else
		(*found)->value -= sums->count;
	return 0;
}

/* Whether some point with a value counts a query. */
static bool any_counts(const struct trend *t, const char *query)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->points[i].value != HISTORY_UNKNOWN &&
		    !history_build__leaves_out(t->points[i].build, query))
			return true;
	return false;
}

static int subtract_all(struct left *l, struct store *s)
{
	const struct trend *t = l->t;
	uint64_t from_ns = UINT64_MAX, to_ns = 0;
	int err = 0;

	l->by_id = calloc(t->n + 1, sizeof(struct trend_point *));
	if (!l->by_id)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t start_ns = t->points[i].build->start_ns;

		l->by_id[i] = &l->t->points[i];
		from_ns = start_ns < from_ns ? start_ns : from_ns;
		to_ns = start_ns > to_ns ? start_ns : to_ns;
	}
	qsort(l->by_id, t->n, sizeof(struct trend_point *), by_id);
	for (uint32_t i = 0; i < l->names.n && !err; i++) {
		const struct history_series of = {
			.crate = t->question.of.crate,
			.query = l->names.at[i],
		};

		l->subtracted = of.query;
		if (any_counts(t, of.query))
			err = history_sums__ask(s, &of, from_ns, to_ns, subtract, l);
	}
	return err;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names as a text, and in the note those that it has room for. */
static int keep_names(struct left *l)
{
	_free_ char *shown = NULL;
	size_t size, n = l->names.n;
	FILE *all = open_memstream(&l->t->uncounted, &size);
	FILE *few = all ? open_memstream(&shown, &size) : NULL;

	if (!all)
		return -ENOMEM;
	qsort(l->names.at, n, sizeof(*l->names.at), by_text);
	for (size_t i = 0; i < n; i++) {
		fprintf(all, "%s%s", i ? " " : "", l->names.at[i]);
		if (few && i < NAMES_SHOWN)
			fprintf(few, "%s%s", i ? ", " : "", l->names.at[i]);
	}
	if (few && n > NAMES_SHOWN)
		fprintf(few, " and %zu more", n - NAMES_SHOWN);
	if (fclose(all) || !few || fclose(few))
		return -ENOMEM;
	return trend__note(l->t,
			   "without executions of %s, which a build without --exact does not count",
			   shown);
}

int trend_counted__level(struct store *s, struct trend *t)
{
	__cleanup(left__clear) struct left l = {.t = t};
	int err;

	if (t->question.metric != TREND_COUNT || t->question.of.query || t->question.of.item ||
	    !t->n)
		return 0;
	history_rows__init(&l.texts);
	err = find_names(&l) ?: forget_others(&l);
	if (err)
		return diag_error_r(err, "out of memory");
	if (!l.names.n)
		return 0;
	err = subtract_all(&l, s);
	if (err == -ENOMEM)
		return diag_error_r(err, "out of memory");
	if (!err && keep_names(&l))
		return diag_error_r(-ENOMEM, "out of memory");
	return err;
}
