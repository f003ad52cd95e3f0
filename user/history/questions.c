// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "history/cells.h"
#include "history/columns.h"
#include "history/sql.h"

static void where_workspace(struct sql *q, const struct history_filter *f, const char *is)
{
	char condition[64];

	snprintf(condition, sizeof(condition), "coalesce(\"workspace\", '') %s ?", is);
	sql__where_text(q, condition, f->workspace);
}

/* All but the workspace. */
static void where_others(struct sql *q, const struct store *s, const struct history_filter *f)
{
	char contains[64], begins[64];

	snprintf(contains, sizeof(contains), "%s(\"toolchain\", ?) > 0",
		 dialect__find(store__kind(s)));
	sql__where_text(q, "\"branch\" = ?", f->branch);
	sql__where_text(q, contains, f->toolchain);
	if (f->commit)
		snprintf(begins, sizeof(begins), "substr(\"commit\", 1, %zu) = ?",
			 strlen(f->commit));
	sql__where_text(q, begins, f->commit);
	if (f->before_ns)
		sql__where_number(q, "\"start_ns\" < ?", f->before_ns);
}

static void where_filter(struct sql *q, const struct store *s, const struct history_filter *f)
{
	where_others(q, s, f);
	where_workspace(q, f, "=");
}

struct asked {
	struct history_builds *builds;
	const struct history_table *table;
};

static int take_build(void *ctx, const struct store_value *cells, size_t n)
{
	struct asked *a = ctx;
	struct history_builds *b = a->builds;
	struct history_build build;
	int err = 0;

	if (n != a->table->n)
		return -EPROTO;
	history_table__clear_row(a->table, &build);
	for (size_t i = 0; i < n && !err; i++)
		err = history_cell__set(&b->texts, &a->table->columns[i], &build, &cells[i]);
	if (err)
		return err;
	/* A store that was tampered with. */
	if (!build.build || build.start_ns == HISTORY_UNKNOWN)
		return 0;
	if (array__reserve_one(&b->at, b->n, &b->capacity, sizeof(*b->at)))
		return -ENOMEM;
	b->at[b->n++] = build;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct history_build *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return strcmp(x->build, y->build);
}

/* A store prints its own errors; those of a row are ours. */
static int told(const struct store *s, int err)
{
	if (err == -ENOMEM)
		return diag_error_r(err, "out of memory");
	if (err == -EPROTO)
		return diag_error_r(err, "%s answered with other columns than were asked for",
				    store__name(s));
	return err;
}

/* The time of the rows of builds: from the first of these to the last. */
struct window {
	uint64_t from_ns, to_ns;
	uint64_t rows; /* a build may have more than one */
};

static int take_window(void *ctx, const struct store_value *cells, size_t n)
{
	struct window *w = ctx;

	if (n != 3)
		return -EPROTO;
	*w = (struct window){sql_number(&cells[0]), sql_number(&cells[1]), sql_number(&cells[2])};
	return 0;
}

/* The window of the `most` newest rows (0: of all) that match. */
static int ask_window(struct store *s, const struct history_filter *f, uint64_t most,
		      struct window *out)
{
	struct sql q = {};

	sql__add(&q,
		 "SELECT min(\"start\"), max(\"start\"), count(*) FROM "
		 "(SELECT \"start_ns\" AS \"start\" FROM %s",
		 dialect__rows(HISTORY_BUILD));
	where_filter(&q, s, f);
	sql__where_text(&q, "\"state\" = ?", f->state);
	if (most)
		sql__add(&q, " ORDER BY \"start\" DESC LIMIT %llu", (unsigned long long)most);
	sql__add(&q, ") AS \"rows\"");
	return told(s, sql__select(&q, s, take_window, out));
}

static int ask_rows(struct store *s, const struct history_filter *f, const struct window *w,
		    struct history_builds *out)
{
	struct asked a = {out, history_table(HISTORY_BUILD)};
	struct sql q = {};

	for (size_t i = 0; i < a.table->n; i++)
		sql__add(&q, "%s\"%s\"", i ? ", " : "SELECT ", a.table->columns[i].name);
	sql__add(&q, " FROM %s", dialect__table(store__kind(s), HISTORY_BUILD));
	where_filter(&q, s, f);
	sql__where_text(&q, "\"state\" = ?", f->state);
	if (w) {
		sql__where_number(&q, "\"start_ns\" >= ?", w->from_ns);
		sql__where_number(&q, "\"start_ns\" <= ?", w->to_ns);
	}
	sql__add(&q, " ORDER BY \"start_ns\" DESC, \"build\" DESC");
	if (f->last)
		sql__add(&q, " LIMIT %llu", (unsigned long long)f->last);
	return told(s, sql__select(&q, s, take_build, &a));
}

/* So many rows may be of fewer builds. */
static int ask_in_window(struct store *s, const struct history_filter *f,
			 struct history_builds *out)
{
	uint64_t most = f->last;

	for (;;) {
		struct window w = {};
		int err = ask_window(s, f, most, &w);

		if (err || !w.rows)
			return err;
		err = ask_rows(s, f, &w, out);
		if (err || !most || out->n >= f->last || w.rows < most)
			return err;
		history_builds__clear(out);
		most *= 2;
	}
}

int history_builds__ask(struct store *s, const struct history_filter *f, struct history_builds *out)
{
	_history_builds_ struct history_builds builds = {};
	int err = dialect__wants_window(store__kind(s)) ? ask_in_window(s, f, &builds)
							: ask_rows(s, f, NULL, &builds);

	if (err)
		return err;
	if (builds.n)
		qsort(builds.at, builds.n, sizeof(*builds.at), by_start);
	*out = builds;
	builds = (struct history_builds){};
	return 0;
}

static int take_number(void *ctx, const struct store_value *cells, size_t n)
{
	if (n != 1)
		return -EPROTO;
	*(uint64_t *)ctx = sql_number(&cells[0]);
	return 0;
}

static int ask_number(struct store *s, struct sql *q, uint64_t *n)
{
	*n = 0;
	return told(s, sql__select(q, s, take_number, n));
}

int history_builds__count(struct store *s, const struct history_filter *f, uint64_t *n)
{
	struct sql q = {};

	sql__add(&q, "SELECT count(DISTINCT \"build\") FROM %s", dialect__rows(HISTORY_BUILD));
	where_filter(&q, s, f);
	return ask_number(s, &q, n);
}

int history_builds__not_whole(struct store *s, const struct history_filter *f, uint64_t from_ns,
			      uint64_t *n)
{
	struct sql q = {};

	sql__add(&q, "SELECT count(*) FROM %s", dialect__table(store__kind(s), HISTORY_BUILD));
	where_filter(&q, s, f);
	sql__where_text(&q, "\"state\" <> ?", "whole");
	sql__where_number(&q, "\"start_ns\" >= ?", from_ns);
	return ask_number(s, &q, n);
}

int history_builds__newest_workspace(struct store *s, const struct history_filter *f,
				     char **workspace)
{
	struct history_filter newest = *f;
	_history_builds_ struct history_builds builds = {};
	int err;

	newest.last = 1;
	*workspace = NULL;
	err = history_builds__ask(s, &newest, &builds);
	if (err || !builds.n)
		return err;
	*workspace = strdup(builds.at[0].workspace ?: "");
	return *workspace ? 0 : told(s, -ENOMEM);
}

int history_builds__elsewhere(struct store *s, const struct history_filter *f, bool *any)
{
	struct sql q = {};
	uint64_t one;
	int err;

	sql__add(&q, "SELECT 1 FROM %s", dialect__rows(HISTORY_BUILD));
	where_others(&q, s, f);
	where_workspace(&q, f, "<>");
	sql__where_text(&q, "\"state\" = ?", "whole");
	sql__add(&q, " LIMIT 1");
	err = ask_number(s, &q, &one);
	*any = one;
	return err;
}

void history_builds__clear(struct history_builds *b)
{
	free(b->at);
	history_rows__clear(&b->texts);
	*b = (struct history_builds){};
}

/* A number of history_sums: that of all rows, if it is known of all. */
struct sum_of {
	size_t field;
	const char *sql; /* "sum(x), count(x)" */
};

#define SUM(to, function, column)                                          \
	{                                                                  \
		offsetof(struct history_sums, to),                         \
			function "(\"" column "\"), count(\"" column "\")" \
	}
/* Known if it is of any row. */
#define ANY(to, function, column)                                                        \
	{                                                                                \
		offsetof(struct history_sums, to), function "(\"" column "\"), count(*)" \
	}
#define SUMS_MOST 6

static const struct kind_of_sums {
	enum history_table_id table;
	bool has_how;
	struct sum_of sums[SUMS_MOST];
} of_compiles = {HISTORY_COMPILE,
		 false,
		 {SUM(cpu_ns, "sum", "cpu_ns"), SUM(wall_ns, "max", "wall_ns"),
		  SUM(count, "sum", "executions"), SUM(peak_bytes, "max", "peak_bytes"),
		  SUM(results, "sum", "results"), ANY(exit_status, "max", "exit_status")}},
  of_queries = {HISTORY_QUERY,
		true,
		{SUM(cpu_ns, "sum", "self_ns"), SUM(wall_ns, "sum", "total_ns"),
		 SUM(count, "sum", "count")}},
  of_items = {HISTORY_ITEM, true, {SUM(cpu_ns, "sum", "self_ns"), SUM(count, "sum", "count")}},
  of_llvm = {HISTORY_LLVM, true, {SUM(cpu_ns, "sum", "self_ns")}};

struct sums_asked {
	const struct kind_of_sums *kind;
	int (*take)(void *ctx, const struct history_sums *sums);
	void *ctx;
};

/* "build", count(*), the least exact "how" or nothing, and two for each sum. */
static int take_sums(void *ctx, const struct store_value *cells, size_t n)
{
	const struct sums_asked *a = ctx;
	const struct store_value *end = cells + n, *c = &cells[2 + a->kind->has_how];
	struct history_sums sums = {
		.wall_ns = HISTORY_UNKNOWN,
		.count = HISTORY_UNKNOWN,
		.peak_bytes = HISTORY_UNKNOWN,
		.results = HISTORY_UNKNOWN,
		.exit_status = HISTORY_UNKNOWN,
	};

	for (size_t i = 0; i < SUMS_MOST && a->kind->sums[i].sql; i++, c += 2) {
		if (end - c < 2)
			return -EPROTO;
		if (sql_number(&c[1]) == sql_number(&cells[1]))
			*(uint64_t *)((char *)&sums + a->kind->sums[i].field) = sql_number(&c[0]);
		else
			*(uint64_t *)((char *)&sums + a->kind->sums[i].field) = HISTORY_UNKNOWN;
	}
	sums.build = sql_text(&cells[0]);
	/* The last of the alphabet is "sampled". */
	sums.how = a->kind->has_how ? sql_text(&cells[2]) : NULL;
	if (c != end)
		return -EPROTO;
	return sums.build ? a->take(a->ctx, &sums) : 0;
}

int history_sums__ask(struct store *s, const struct history_series *of, uint64_t from_ns,
		      uint64_t to_ns, int (*take)(void *ctx, const struct history_sums *sums),
		      void *ctx)
{
	struct sums_asked a = {
		.kind = of->llvm    ? &of_llvm
			: of->item  ? &of_items
			: of->query ? &of_queries
				    : &of_compiles,
		.take = take,
		.ctx = ctx,
	};
	const char *table = dialect__table(store__kind(s), a.kind->table);
	bool is_file = store__kind(s) == STORE_SQLITE;
	struct sql q = {};

	if (a.kind == &of_queries && !of->crate)
		table = dialect__query_sums(store__kind(s));
	/* SQLite groups what views read, with all of it, unless they end first: twice the time. */
	sql__add(&q, "SELECT \"build\", count(*)%s", a.kind->has_how ? ", max(\"how\")" : "");
	for (size_t i = 0; i < SUMS_MOST && a.kind->sums[i].sql; i++)
		sql__add(&q, ", %s", a.kind->sums[i].sql);
	sql__add(&q, " FROM %s%s", is_file ? "(SELECT * FROM " : "", table);
	sql__where_text(&q, "\"crate\" = ?", of->crate);
	sql__where_text(&q, "\"query\" = ?", of->query);
	sql__where_text(&q, "\"item\" = ?", of->item);
	sql__where_text(&q, "\"name\" = ?", of->llvm);
	sql__where_number(&q, "\"start_ns\" >= ?", from_ns);
	sql__where_number(&q, "\"start_ns\" <= ?", to_ns);
	sql__add(&q, "%s GROUP BY \"build\"", is_file ? " LIMIT -1)" : "");
	return told(s, sql__select(&q, s, take_sums, &a));
}
