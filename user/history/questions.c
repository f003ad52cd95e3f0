// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "history/cells.h"
#include "history/columns.h"
#include "history/dialect.h"
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

/* The sums of a table, as its rows have them; a sum is known if as many parts are as there are. */
struct kind_of_sums {
	enum history_table_id table;
	const char *columns;
};

static const struct kind_of_sums of_compiles = {
	HISTORY_COMPILE,
	"sum(\"cpu_ns\"), count(\"cpu_ns\"), max(\"wall_ns\"), count(\"wall_ns\"), "
	"sum(\"executions\"), count(\"executions\"), max(\"peak_bytes\"), count(\"peak_bytes\"), "
	"sum(\"results\"), count(\"results\"), max(\"exit_status\")",
};

static const struct kind_of_sums of_queries = {
	HISTORY_QUERY,
	"sum(\"self_ns\"), count(\"self_ns\"), sum(\"total_ns\"), count(\"total_ns\"), "
	"sum(\"count\"), count(\"count\"), max(\"how\")",
};

static const struct kind_of_sums of_items = {
	HISTORY_ITEM,
	"sum(\"self_ns\"), count(\"self_ns\"), sum(\"count\"), count(\"count\"), max(\"how\")",
};

static const struct kind_of_sums of_llvm = {
	HISTORY_LLVM,
	"sum(\"self_ns\"), count(\"self_ns\"), max(\"how\")",
};

struct sums_asked {
	const struct kind_of_sums *kind;
	int (*take)(void *ctx, const struct history_sums *sums);
	void *ctx;
};

static uint64_t known_sum(const struct store_value *sum_and_count, uint64_t rows)
{
	return sql_number(&sum_and_count[1]) == rows ? sql_number(&sum_and_count[0])
						     : HISTORY_UNKNOWN;
}

static int take_sums(void *ctx, const struct store_value *cells, size_t n)
{
	const struct sums_asked *a = ctx;
	const struct store_value *c = &cells[1];
	struct history_sums sums = {
		.wall_ns = HISTORY_UNKNOWN,
		.count = HISTORY_UNKNOWN,
		.peak_bytes = HISTORY_UNKNOWN,
		.results = HISTORY_UNKNOWN,
		.exit_status = HISTORY_UNKNOWN,
	};
	uint64_t rows;

	if (n != (a->kind == &of_compiles  ? 13
		  : a->kind == &of_queries ? 9
		  : a->kind == &of_items   ? 7
					   : 5))
		return -EPROTO;
	sums.build = sql_text(&cells[0]);
	rows = sql_number(&cells[n - 1]);
	if (!sums.build)
		return 0;
	sums.cpu_ns = known_sum(c, rows);
	if (a->kind == &of_llvm) {
		sums.how = sql_text(c + 2);
		return a->take(a->ctx, &sums);
	}
	if (a->kind == &of_items) {
		sums.count = known_sum(c + 2, rows);
		sums.how = sql_text(c + 4);
		return a->take(a->ctx, &sums);
	}
	sums.wall_ns = known_sum(c + 2, rows);
	sums.count = known_sum(c + 4, rows);
	if (a->kind == &of_queries) {
		/* The last of the alphabet is "sampled". */
		sums.how = sql_text(c + 6);
	} else {
		sums.peak_bytes = known_sum(c + 6, rows);
		sums.results = known_sum(c + 8, rows);
		sums.exit_status = sql_number(c + 10);
	}
	return a->take(a->ctx, &sums);
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
	sql__add(&q, "SELECT \"build\", %s, count(*) FROM %s%s", a.kind->columns,
		 is_file ? "(SELECT * FROM " : "", table);
	sql__where_text(&q, "\"crate\" = ?", of->crate);
	sql__where_text(&q, "\"query\" = ?", of->query);
	sql__where_text(&q, "\"item\" = ?", of->item);
	sql__where_text(&q, "\"name\" = ?", of->llvm);
	sql__where_number(&q, "\"start_ns\" >= ?", from_ns);
	sql__where_number(&q, "\"start_ns\" <= ?", to_ns);
	sql__add(&q, "%s GROUP BY \"build\"", is_file ? " LIMIT -1)" : "");
	return told(s, sql__select(&q, s, take_sums, &a));
}
