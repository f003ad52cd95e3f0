// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_unpacked.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "history/sqlite_packed.h"

/* The columns whose values a plan of SQLite gives; arguments come in this order. */
enum given {
	GIVEN_BUILD = 1 << 0,
	GIVEN_CRATE = 1 << 1,
	GIVEN_KEY = 1 << 2,
	GIVEN_FROM = 1 << 3,
	GIVEN_TO = 1 << 4,
};
#define GIVENS 5

/* For costs; only their relations matter. */
#define USUAL_BUILDS 10000.0
#define USUAL_CRATES 60.0
#define USUAL_ROWS   150.0

struct module {
	sqlite3 *db;
	struct sqlite_names *names;
	struct packed_table packed;
};

struct table {
	sqlite3_vtab base;
	struct module *module;
};

enum cursor_statement {
	BUILDS,
	BUILD,
	PART,
	PARTS,
	SHAPE,
	WHERE,
	STATEMENTS,
};

static const char *const sql[STATEMENTS] = {
	[BUILDS] = "SELECT n, build, start_ns FROM main.builds WHERE start_ns >= ?2 AND "
		   "start_ns <= ?3 ORDER BY start_ns",
	[BUILD] = "SELECT n, build, start_ns FROM main.builds WHERE build = ?1 AND "
		  "start_ns >= ?2 AND start_ns <= ?3",
	[PART] = "SELECT id, shape, times FROM main.%s_parts WHERE id = ?1",
	[PARTS] = "SELECT id, shape, times FROM main.%s_parts WHERE id > ?1 AND id <= ?2",
	[SHAPE] = "SELECT rows FROM main.%s_shapes WHERE id = ?1",
	[WHERE] = "SELECT crate FROM main.%s_crates WHERE name = ?1",
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct module *module;
	sqlite3_stmt *statements[STATEMENTS];
	sqlite3_stmt *builds; /* BUILDS or BUILD */
	int64_t build;
	/* The crates that are looked at, by number; `all` of a build if there is no list. */
	int64_t *crates;
	uint32_t n_crates;
	uint32_t crates_capacity;
	uint32_t next_crate;
	bool all;
	bool in_build;
	uint64_t key; /* 0: any */
	/* The current part. */
	int64_t crate;
	int64_t shape;
	struct pack_rows rows;
	uint32_t at;
	bool eof;
};

/* ---- The table ------------------------------------------------------------------------------- */

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **problem)
{
	struct module *m = aux;
	_free_ char *text = NULL;
	struct table *t;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc;

	(void)argc, (void)argv, (void)problem;
	if (!f)
		return SQLITE_NOMEM;
	fputs("CREATE TABLE t(", f);
	for (size_t i = 0; i < m->packed.table->n; i++) {
		const struct history_column *c = &m->packed.table->columns[i];

		fprintf(f, "%s\"%s\" %s", i ? ", " : "", c->name,
			c->type == HISTORY_TEXT ? "TEXT" : "INTEGER");
	}
	fputs(")", f);
	if (fclose(f))
		return SQLITE_NOMEM;
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	rc = sqlite3_declare_vtab(db, text);
	if (rc)
		return rc;
	t = calloc(1, sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	t->module = m;
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *t)
{
	free(t);
	return SQLITE_OK;
}

/* Index of the argument that a constraint would be, or -1. */
static int given_by(const struct module *m, const struct sqlite3_index_constraint *c)
{
	const struct history_column *column;
	bool equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;

	if (!c->usable || c->iColumn < 0)
		return -1;
	column = &m->packed.table->columns[c->iColumn];
	if (column == m->packed.crate)
		return equal ? 1 : -1;
	if (column == m->packed.key)
		return equal ? 2 : -1;
	if (!strcmp(column->name, "build"))
		return equal ? 0 : -1;
	if (strcmp(column->name, "start_ns"))
		return -1;
	if (c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT)
		return 3;
	return c->op == SQLITE_INDEX_CONSTRAINT_LE || c->op == SQLITE_INDEX_CONSTRAINT_LT ? 4 : -1;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct module *m = ((struct table *)base)->module;
	int by[GIVENS] = {-1, -1, -1, -1, -1}, n = 0;
	double builds = USUAL_BUILDS, crates = USUAL_CRATES, rows = USUAL_ROWS;

	for (int i = 0; i < info->nConstraint; i++) {
		int given = given_by(m, &info->aConstraint[i]);

		if (given >= 0 && by[given] < 0)
			by[given] = i;
	}
	for (int given = 0; given < GIVENS; given++) {
		if (by[given] < 0)
			continue;
		info->idxNum |= 1 << given;
		info->aConstraintUsage[by[given]].argvIndex = ++n;
	}
	if (info->idxNum & GIVEN_BUILD)
		builds = 1;
	else if (info->idxNum & (GIVEN_FROM | GIVEN_TO))
		builds /= 2;
	if (info->idxNum & GIVEN_CRATE || (info->idxNum & GIVEN_KEY && m->packed.where))
		crates = 1;
	if (info->idxNum & GIVEN_KEY)
		rows = 1;
	info->estimatedRows = (sqlite3_int64)(builds * crates * rows);
	info->estimatedCost = builds * (5 + crates * (20 + rows));
	return SQLITE_OK;
}

/* ---- The cursor ------------------------------------------------------------------------------ */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->module = ((struct table *)base)->module;
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(c->statements[i]);
	pack_rows__clear(&c->rows);
	free(c->crates);
	free(c);
	return SQLITE_OK;
}

static int statement(struct cursor *c, enum cursor_statement which, sqlite3_stmt **out)
{
	int rc = SQLITE_OK;

	if (!c->statements[which])
		rc = packed__prepare(&c->module->packed, c->module->db, sql[which],
				     &c->statements[which]);
	*out = c->statements[which];
	sqlite3_reset(*out);
	return rc;
}

static int load_shape(struct cursor *c, int64_t shape)
{
	sqlite3_stmt *stmt;
	int rc;

	if (shape == c->shape)
		return SQLITE_OK;
	c->shape = 0;
	rc = statement(c, SHAPE, &stmt);
	if (rc)
		return rc;
	sqlite3_bind_int64(stmt, 1, shape);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		rc = pack_shape__decode(sqlite3_column_blob(stmt, 0),
					(size_t)sqlite3_column_bytes(stmt, 0),
					&c->module->packed.format, &c->rows)
			     ? SQLITE_CORRUPT
			     : SQLITE_OK;
	else if (rc == SQLITE_DONE)
		rc = SQLITE_CORRUPT;
	sqlite3_reset(stmt);
	if (!rc)
		c->shape = shape;
	return rc;
}

/* The row that `stmt` is at becomes the current part. */
static int load_part(struct cursor *c, sqlite3_stmt *stmt)
{
	int rc;

	c->crate = sqlite3_column_int64(stmt, 0) & ((INT64_C(1) << PACKED_CRATE_BITS) - 1);
	rc = load_shape(c, sqlite3_column_int64(stmt, 1));
	c->at = 0;
	if (!rc &&
	    pack_times__decode(sqlite3_column_blob(stmt, 2), (size_t)sqlite3_column_bytes(stmt, 2),
			       &c->module->packed.format, c->key, &c->rows))
		rc = SQLITE_CORRUPT;
	return rc;
}

/* SQLITE_ROW: there is a next part in this build; SQLITE_DONE: there is none. */
static int next_part(struct cursor *c)
{
	sqlite3_stmt *stmt;
	int rc = SQLITE_DONE;

	if (c->all) {
		rc = sqlite3_step(c->statements[PARTS]);
		return rc == SQLITE_ROW ? load_part(c, c->statements[PARTS]) ?: SQLITE_ROW : rc;
	}
	while (c->next_crate < c->n_crates) {
		rc = statement(c, PART, &stmt);
		if (rc)
			return rc;
		sqlite3_bind_int64(stmt, 1, packed_id(c->build, c->crates[c->next_crate++]));
		rc = sqlite3_step(stmt);
		if (rc != SQLITE_DONE)
			return rc == SQLITE_ROW ? load_part(c, stmt) ?: SQLITE_ROW : rc;
	}
	return SQLITE_DONE;
}

static int next_build(struct cursor *c)
{
	sqlite3_stmt *stmt;
	int rc = sqlite3_step(c->builds);

	c->in_build = rc == SQLITE_ROW;
	c->eof = rc == SQLITE_DONE;
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	c->build = sqlite3_column_int64(c->builds, 0);
	c->next_crate = 0;
	if (!c->all)
		return SQLITE_OK;
	rc = statement(c, PARTS, &stmt);
	if (rc)
		return rc;
	sqlite3_bind_int64(stmt, 1, packed_id(c->build, 0));
	sqlite3_bind_int64(stmt, 2, packed_id(c->build, UINT32_MAX));
	return SQLITE_OK;
}

/* From row `at` on, the next that is wanted. */
static bool find_row(struct cursor *c)
{
	const struct pack_row *row;

	if (c->key && c->at < c->rows.n) {
		row = pack_rows__find(&c->rows, c->key);
		c->at = row ? (uint32_t)(row - c->rows.at) : c->rows.n;
	}
	while (c->at < c->rows.n && c->rows.at[c->at].absent)
		c->at = c->key ? c->rows.n : c->at + 1;
	return c->at < c->rows.n;
}

static int find_next(struct cursor *c)
{
	while (!find_row(c)) {
		int rc = c->in_build ? next_part(c) : SQLITE_DONE;

		if (rc == SQLITE_ROW)
			continue;
		if (rc != SQLITE_DONE)
			return rc;
		c->at = c->rows.n;
		rc = next_build(c);
		if (rc || c->eof)
			return rc;
	}
	return SQLITE_OK;
}

static int add_crate(struct cursor *c, int64_t crate)
{
	return array__add(&c->crates, &c->n_crates, &c->crates_capacity, &crate) ? SQLITE_NOMEM
										 : SQLITE_OK;
}

/* The crates in which the key was ever found. */
static int add_crates_of_key(struct cursor *c)
{
	sqlite3_stmt *stmt;
	int rc = statement(c, WHERE, &stmt);

	if (rc)
		return rc;
	sqlite3_bind_int64(stmt, 1, (int64_t)c->key);
	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		rc = add_crate(c, sqlite3_column_int64(stmt, 0));
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The number of the name that an argument is; 0: no row has it. */
static int name_of(struct cursor *c, sqlite3_value *v, int64_t *id)
{
	const char *text = (const char *)sqlite3_value_text(v);

	*id = 0;
	return text ? sqlite_names__find(c->module->names, text, id) : SQLITE_OK;
}

/* `eof` if there can be no row. */
static int choose_crates(struct cursor *c, int given, sqlite3_value **argv)
{
	int64_t id = 0;
	int rc = SQLITE_OK;

	c->n_crates = 0;
	c->key = 0;
	if (given & GIVEN_KEY) {
		rc = name_of(c, argv[2], &id);
		c->key = (uint64_t)id;
		c->eof = !id;
	}
	c->all = !(given & GIVEN_CRATE) && !(given & GIVEN_KEY && c->module->packed.where);
	if (rc || c->eof || c->all)
		return rc;
	if (!(given & GIVEN_CRATE))
		return add_crates_of_key(c);
	rc = name_of(c, argv[1], &id);
	c->eof = !id;
	return rc ?: add_crate(c, id);
}

static int filter(sqlite3_vtab_cursor *base, int given, const char *text, int argc,
		  sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	sqlite3_value *by[GIVENS] = {};
	int rc;

	(void)text, (void)argc;
	for (int i = 0; i < GIVENS; i++)
		if (given & 1 << i)
			by[i] = *argv++;
	c->eof = c->in_build = false;
	c->at = c->rows.n;
	c->shape = 0; /* another transaction may have given the number to another shape */
	rc = choose_crates(c, given, by);
	if (!rc)
		rc = statement(c, by[0] ? BUILD : BUILDS, &c->builds);
	if (rc || c->eof)
		return rc;
	if (by[0])
		sqlite3_bind_value(c->builds, 1, by[0]);
	sqlite3_bind_int64(c->builds, 2, INT64_MIN);
	sqlite3_bind_int64(c->builds, 3, INT64_MAX);
	if (by[3])
		sqlite3_bind_value(c->builds, 2, by[3]);
	if (by[4])
		sqlite3_bind_value(c->builds, 3, by[4]);
	return find_next(c);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	c->at = c->key ? c->rows.n : c->at + 1;
	return find_next(c);
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->eof;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	struct cursor *c = (struct cursor *)base;
	const struct packed_table *p = &c->module->packed;
	const struct history_column *wanted = &p->table->columns[i];
	const struct pack_row *row = &c->rows.at[c->at];

	if (wanted == p->crate)
		return packed__give_name(ctx, c->module->names, (uint64_t)c->crate);
	if (wanted == p->key)
		return packed__give_name(ctx, c->module->names, row->key);
	for (unsigned int e = 0; e < p->format.exact; e++)
		if (wanted == p->exact[e])
			return wanted->type == HISTORY_TEXT
				       ? packed__give_name(ctx, c->module->names, row->exact[e])
				       : packed__give_number(ctx, row->exact[e]);
	for (unsigned int t = 0; t < p->format.times; t++)
		if (wanted == p->times[t])
			return packed__give_number(ctx, row->times[t]);
	sqlite3_result_value(ctx,
			     sqlite3_column_value(c->builds, wanted->type == HISTORY_TEXT ? 1 : 2));
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	const struct cursor *c = (const struct cursor *)base;

	*out = packed_id(c->build, c->at);
	return SQLITE_OK;
}

static const sqlite3_module methods = {
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next_row,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

static int add_module(sqlite3 *db, struct sqlite_names *names, enum history_table_id id)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return SQLITE_NOMEM;
	m->db = db;
	m->names = names;
	m->packed = packed_table(id);
	return sqlite3_create_module_v2(db, m->packed.table->name, &methods, m, free);
}

int sqlite_unpacked__add(sqlite3 *db, struct sqlite_names *names)
{
	int rc = SQLITE_OK;

	for (int id = HISTORY_QUERY; id < HISTORY_TABLES && !rc; id++)
		rc = add_module(db, names, (enum history_table_id)id);
	return rc;
}
