// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_series.h"

#include "base/array.h"
#include "history/sqlite_packed.h"
#include "history/sqlite_sums.h"

/* Columns of the table: those of a packed query come behind these. */
enum column {
	COLUMN_N,
	COLUMN_QUERY,
	COLUMNS,
};

struct module {
	sqlite3 *db;
	struct sqlite_names *names;
	struct packed_table packed;
};

struct table {
	sqlite3_vtab base;
	struct module *module;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct module *module;
	int64_t query;
	struct pack_rows rows; /* by numbers of builds */
	uint32_t at;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **problem)
{
	struct table *t;
	int rc;

	(void)argc, (void)argv, (void)problem;
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	rc = sqlite3_declare_vtab(db, "CREATE TABLE t(n INTEGER, query TEXT, kind TEXT, how TEXT, "
				      "count INTEGER, self_ns INTEGER, total_ns INTEGER)");
	if (rc)
		return rc;
	t = calloc(1, sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	t->module = aux;
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *t)
{
	free(t);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	(void)base;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];

		if (!c->usable || c->iColumn != COLUMN_QUERY || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->estimatedCost = 1000;
		return SQLITE_OK;
	}
	return SQLITE_CONSTRAINT;
}

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

	pack_rows__clear(&c->rows);
	free(c);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc,
		  sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	const struct module *m = c->module;
	const char *query = (const char *)sqlite3_value_text(argv[0]);
	int rc = SQLITE_OK;

	(void)plan, (void)plan_text, (void)argc;
	c->at = c->rows.n = 0;
	c->query = 0;
	if (query)
		rc = sqlite_names__find(m->names, query, &c->query);
	if (rc || !c->query)
		return rc;
	return sqlite_sums__read(m->db, &m->packed.format, c->query, &c->rows);
}

static int next_row(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (const struct cursor *)base;

	return c->at >= c->rows.n;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (const struct cursor *)base;
	const struct packed_table *p = &c->module->packed;
	const struct pack_row *row = &c->rows.at[c->at];
	unsigned int number = (unsigned int)i - COLUMNS;

	if (i == COLUMN_N)
		return packed__give_number(ctx, row->key);
	if (i == COLUMN_QUERY)
		return packed__give_name(ctx, c->module->names, (uint64_t)c->query);
	if (number >= p->format.exact)
		return packed__give_number(ctx, row->times[number - p->format.exact]);
	if (p->exact[number]->type == HISTORY_TEXT)
		return packed__give_name(ctx, c->module->names, row->exact[number]);
	return packed__give_number(ctx, row->exact[number]);
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = ((const struct cursor *)base)->at;
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

int sqlite_series__add(sqlite3 *db, struct sqlite_names *names)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		return SQLITE_NOMEM;
	*m = (struct module){db, names, packed_table(HISTORY_QUERY)};
	return sqlite3_create_module_v2(db, "query_series", &methods, m, free);
}
