// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/clickhouse_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/cells.h"
#include "history/columns.h"
#include "history/json_lines.h"
#include "history/sql_text.h"

/* Builds whose rows are read together: their tables are in another order. */
#define BUILDS_AT_ONCE 16

/* ---- There ----------------------------------------------------------------------------------- */

static int insert_rows(struct clickhouse_server *s, enum history_table_id id,
		       const struct history_rows *const *builds, size_t n)
{
	_free_ char *body = NULL;
	char sql[64];
	size_t len;
	FILE *out = open_memstream(&body, &len);
	bool failed;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t row = 0; row < history_rows__n(builds[i], id); row++)
			json_lines__row(out, id, history_rows__at(builds[i], id, row));
	failed = ferror(out);
	if (fclose(out) || failed)
		return -ENOMEM;
	snprintf(sql, sizeof(sql), "INSERT INTO %s FORMAT JSONEachRow", history_table(id)->name);
	return len ? clickhouse_server__run(s, sql, body, len) : 0;
}

int clickhouse_rows__insert(struct clickhouse_server *s, const struct history_rows *const *builds,
			    size_t n)
{
	for (int id = HISTORY_BUILD + 1; id < HISTORY_TABLES; id++) {
		int err = insert_rows(s, id, builds, n);

		if (err)
			return err;
	}
	return insert_rows(s, HISTORY_BUILD, builds, n);
}

struct known {
	const struct history_rows *builds;
	size_t n;
	bool *known;
};

static int mark_known(void *ctx, const struct store_value *cells, size_t n)
{
	struct known *k = ctx;

	bool whole;

	if (n != 2 || cells->type != STORE_TEXT)
		return -EPROTO;
	whole = cells[1].type == STORE_TEXT && !strcmp(cells[1].text, "whole");
	for (size_t i = 0; i < k->n; i++)
		if (!strcmp(k->builds[i].build.build, cells->text) &&
		    (whole || !history_rows__are_whole(&k->builds[i])))
			k->known[i] = true;
	return 0;
}

/* The time finds the rows: they are in its order. */
static void put_builds(FILE *out, const struct history_rows *builds, size_t n)
{
	fputs(" WHERE start_ns IN (", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", builds[i].build.start_ns);
	fputs(") AND build IN (", out);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", out);
		sql_text__quote(out, builds[i].build.build);
	}
	fputs(")", out);
}

int clickhouse_rows__known(struct clickhouse_server *s, const struct history_rows *builds, size_t n,
			   bool *known)
{
	struct known k = {builds, n, known};
	_free_ char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);

	if (!out)
		return -ENOMEM;
	memset(known, 0, n * sizeof(*known));
	fputs("SELECT build, state FROM build", out);
	put_builds(out, builds, n);
	return fclose(out) ? -ENOMEM : clickhouse_server__select(s, sql, mark_known, &k);
}

/* ---- Back ------------------------------------------------------------------------------------ */

struct reading {
	struct history_rows builds[BUILDS_AT_ONCE];
	size_t n;
	enum history_table_id table;
};

static int set_row(struct history_rows *rows, const struct history_table *t, void *row,
		   const struct store_value *cells, size_t n)
{
	int err = row ? 0 : -ENOMEM;

	if (n != t->n)
		return -EPROTO;
	for (size_t i = 0; !err && i < n; i++)
		err = t->columns[i].required && cells[i].type == STORE_NULL
			      ? -EPROTO
			      : history_cell__set(rows, &t->columns[i], row, &cells[i]);
	return err;
}

static int take_build(void *ctx, const struct store_value *cells, size_t n)
{
	struct reading *r = ctx;
	struct history_rows *rows = &r->builds[r->n];

	if (r->n == BUILDS_AT_ONCE)
		return -EPROTO;
	history_rows__init(rows);
	r->n++;
	return set_row(rows, history_table(HISTORY_BUILD), &rows->build, cells, n);
}

static int take_row(void *ctx, const struct store_value *cells, size_t n)
{
	struct reading *r = ctx;

	if (!n || cells->type != STORE_TEXT)
		return -EPROTO;
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->builds[i].build.build, cells->text))
			return set_row(&r->builds[i], history_table(r->table),
				       history_rows__append(&r->builds[i], r->table), cells, n);
	return -EPROTO;
}

static void put_columns(FILE *out, const struct history_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", t->columns[i].name);
}

static int read_table(struct clickhouse_server *s, struct reading *r)
{
	static const char *const orders[HISTORY_TABLES] = {
		[HISTORY_COMPILE] = " ORDER BY number",
		[HISTORY_QUERY] = " ORDER BY crate, query",
		[HISTORY_ITEM] = " ORDER BY crate, item",
		[HISTORY_LLVM] = " ORDER BY crate, name",
	};
	const struct history_table *t = history_table(r->table);
	_free_ char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);

	if (!out)
		return -ENOMEM;
	fputs("SELECT ", out);
	put_columns(out, t);
	fprintf(out, " FROM %s FINAL", t->name);
	put_builds(out, r->builds, r->n);
	fputs(orders[r->table], out);
	return fclose(out) ? -ENOMEM : clickhouse_server__select(s, sql, take_row, r);
}

/* The builds after the last one that was read. */
static int read_builds(struct clickhouse_server *s, struct reading *r, const char *after)
{
	_free_ char *sql = NULL;
	size_t len;
	FILE *out = open_memstream(&sql, &len);

	if (!out)
		return -ENOMEM;
	fputs("SELECT ", out);
	put_columns(out, history_table(HISTORY_BUILD));
	fprintf(out, " FROM build FINAL%s ORDER BY start_ns, toString(build) LIMIT %d", after,
		BUILDS_AT_ONCE);
	return fclose(out) ? -ENOMEM : clickhouse_server__select(s, sql, take_build, r);
}

static void clear_builds(struct reading *r)
{
	for (size_t i = 0; i < r->n; i++)
		history_rows__clear(&r->builds[i]);
	r->n = 0;
}
#define _reading_ __cleanup(clear_builds)

/* Where the next page begins. */
struct place {
	uint64_t start_ns;
	char build[HISTORY_ID_SIZE];
};

/* False if a page does not go on from there: the pages would never end. */
static bool advance(struct place *last, const struct reading *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct history_build *b = &r->builds[i].build;

		if (b->start_ns < last->start_ns ||
		    (b->start_ns == last->start_ns && strcmp(b->build, last->build) <= 0))
			return false;
		last->start_ns = b->start_ns;
		snprintf(last->build, sizeof(last->build), "%s", b->build);
	}
	return true;
}

static int read_page(struct clickhouse_server *s, struct reading *r, struct place *last)
{
	char after[160] = "";
	int err;

	if (*last->build)
		snprintf(after, sizeof(after),
			 " WHERE start_ns > %" PRIu64 " OR (start_ns = %" PRIu64
			 " AND toString(build) > '%s')",
			 last->start_ns, last->start_ns, last->build);
	err = read_builds(s, r, after);
	if (!err && !advance(last, r))
		err = -EPROTO;
	for (int id = HISTORY_BUILD + 1; !err && r->n && id < HISTORY_TABLES; id++) {
		r->table = id;
		err = read_table(s, r);
	}
	if (err == -EPROTO && !*s->why)
		snprintf(s->why, sizeof(s->why), "its rows are not those of a history");
	return err;
}

int clickhouse_rows__each(struct clickhouse_server *s,
			  int (*take)(void *ctx, const struct history_rows *rows), void *ctx)
{
	struct place last = {};
	int err = 0;

	for (bool more = true; !err && more;) {
		_reading_ struct reading r = {};

		err = read_page(s, &r, &last);
		more = r.n == BUILDS_AT_ONCE;
		for (size_t i = 0; !err && i < r.n; i++)
			err = take(ctx, &r.builds[i]);
	}
	return err;
}
