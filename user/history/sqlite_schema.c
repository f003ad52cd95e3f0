// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "history/columns.h"
#include "history/sqlite_db.h"
#include "history/sqlite_names.h"
#include "history/sqlite_sums.h"
#include "history/sqlite_version_1.h"
#include "history/sqlite_version_2.h"

/* "qprf": of files that are ours. */
#define APPLICATION_ID 0x71707266

/* ---- The tables of a version ----------------------------------------------------------------- */

/* The columns of compile that its build has too. */
#define OF_BUILD 2

/* Those before version 3 have a budget, behind "how" of a build. */
static bool has_column(int64_t version, const struct history_column *c)
{
	if (!strcmp(c->name, "uncounted"))
		return version >= 4;
	return version >= 3 || strcmp(c->name, "results");
}

static bool has_budget_behind(int64_t version, const struct history_column *c)
{
	return version < 3 && !strcmp(c->name, "how");
}

static void print_builds(FILE *f, int64_t version)
{
	const struct history_table *t = history_table(HISTORY_BUILD);

	fputs("CREATE TABLE builds(n INTEGER PRIMARY KEY", f);
	for (size_t i = 0; i < t->n; i++)
		if (has_column(version, &t->columns[i]))
			fprintf(f, ", \"%s\" %s%s%s%s", t->columns[i].name,
				t->columns[i].type == HISTORY_TEXT ? "TEXT" : "INTEGER",
				t->columns[i].required ? " NOT NULL" : "", i ? "" : " UNIQUE",
				has_budget_behind(version, &t->columns[i])
					? ", \"budget_ppm\" INTEGER"
					: "");
	fputs("); CREATE INDEX builds_start ON builds(start_ns); CREATE VIEW build AS SELECT ", f);
	for (size_t i = 0; i < t->n; i++)
		if (has_column(version, &t->columns[i]))
			fprintf(f, "%s\"%s\"%s", i ? ", " : "", t->columns[i].name,
				has_budget_behind(version, &t->columns[i]) ? ", \"budget_ppm\""
									   : "");
	fputs(" FROM builds;", f);
}

static void print_compiles(FILE *f, int64_t version)
{
	const struct history_table *t = history_table(HISTORY_COMPILE);

	fputs("CREATE TABLE compiles(n INTEGER NOT NULL", f);
	for (size_t i = OF_BUILD; i < t->n; i++)
		if (has_column(version, &t->columns[i]))
			fprintf(f, ", \"%s\" INTEGER%s", t->columns[i].name,
				t->columns[i].required ? " NOT NULL" : "");
	fputs(", PRIMARY KEY(n, number)) WITHOUT ROWID;"
	      "CREATE INDEX compiles_crate ON compiles(crate, n);"
	      "CREATE VIEW compile AS SELECT builds.build, builds.start_ns",
	      f);
	for (size_t i = OF_BUILD; i < t->n; i++) {
		const struct history_column *c = &t->columns[i];

		if (!has_column(version, c))
			continue;
		if (!strcmp(c->name, "crate"))
			fputs(", names.text AS crate", f);
		else if (c->type == HISTORY_TEXT)
			fprintf(f, ", (SELECT text FROM names WHERE id = c.\"%s\") AS \"%s\"",
				c->name, c->name);
		else
			fprintf(f, ", c.\"%s\"", c->name);
	}
	fputs(" FROM compiles AS c JOIN builds ON builds.n = c.n"
	      " JOIN names ON names.id = c.crate;",
	      f);
}

static void print_packed(FILE *f, const char *table)
{
	fprintf(f,
		"CREATE TABLE %s_parts(id INTEGER PRIMARY KEY, shape INTEGER NOT NULL, "
		"times BLOB NOT NULL);"
		"CREATE TABLE %s_shapes(id INTEGER PRIMARY KEY, crate INTEGER NOT NULL, "
		"rows BLOB NOT NULL);"
		"CREATE INDEX %s_shapes_crate ON %s_shapes(crate);",
		table, table, table, table);
}

static void print_crates(FILE *f, const char *table)
{
	fprintf(f,
		"CREATE TABLE %s_crates(name INTEGER NOT NULL, crate INTEGER NOT NULL, "
		"PRIMARY KEY(name, crate)) WITHOUT ROWID;",
		table);
}

/* Since version 5. */
static void print_llvm(FILE *f)
{
	print_packed(f, "llvm");
	print_crates(f, "llvm");
}

/* Those of a version. The caller frees it. NULL: no memory. */
static char *tables(int64_t version)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(SQLITE_NAMES_TABLE ";", f);
	print_builds(f, version);
	print_compiles(f, version);
	print_packed(f, "query");
	print_packed(f, "item");
	if (version >= 2)
		fputs(SQLITE_SUMS_TABLES ";", f);
	print_crates(f, "item");
	if (version >= 5)
		print_llvm(f);
	fclose(f);
	return text;
}

/* ---- From version to version ----------------------------------------------------------------- */

/* The columns that a table has had since a version. */
static void print_kept(FILE *f, int64_t version, enum history_table_id id, size_t first)
{
	const struct history_table *t = history_table(id);

	fputc('n', f);
	for (size_t i = first; i < t->n; i++)
		if (has_column(version, &t->columns[i]))
			fprintf(f, ", \"%s\"", t->columns[i].name);
}

/* The tables are made anew, as SQLite adds a column behind all else and drops none before 3.35. */
static int remake(sqlite3 *db, int64_t version)
{
	_free_ char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);

	if (!f)
		return SQLITE_NOMEM;
	fputs("DROP VIEW build; DROP VIEW compile;"
	      "DROP INDEX builds_start; DROP INDEX compiles_crate;"
	      "ALTER TABLE builds RENAME TO former_builds;"
	      "ALTER TABLE compiles RENAME TO former_compiles;",
	      f);
	print_builds(f, version);
	print_compiles(f, version);
	for (int id = HISTORY_BUILD; id <= HISTORY_COMPILE; id++) {
		const char *table = history_table(id)->name;

		fprintf(f, "INSERT INTO %ss(", table);
		print_kept(f, version - 1, id, id == HISTORY_BUILD ? 0 : OF_BUILD);
		fputs(") SELECT ", f);
		print_kept(f, version - 1, id, id == HISTORY_BUILD ? 0 : OF_BUILD);
		fprintf(f, " FROM former_%ss; DROP TABLE former_%ss;", table, table);
	}
	fclose(f);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int take_to_version_3(sqlite3 *db)
{
	int rc = remake(db, 3);

	rc = rc
		     ?: sqlite3_exec(db, "UPDATE builds SET how = 'sampled' WHERE how = 'budget'",
				     NULL, NULL, NULL);
	return rc ?: sqlite_version_2__remove_estimates(db);
}

static int take_to_version_4(sqlite3 *db)
{
	return remake(db, 4);
}

static int take_to_version_5(sqlite3 *db)
{
	_free_ char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);

	if (!f)
		return SQLITE_NOMEM;
	print_llvm(f);
	if (fclose(f))
		return SQLITE_NOMEM;
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* From version i + 1 to i + 2. Packed rows of history_table() must not be used: they are today's.
 */
static const struct sqlite_step steps[] = {
	{"CREATE TABLE sums_recent(n INTEGER PRIMARY KEY, rows BLOB NOT NULL);"
	 "CREATE TABLE sums_turned(id INTEGER PRIMARY KEY, rows BLOB NOT NULL)",
	 sqlite_version_1__move_sums},
	{"", take_to_version_3},
	{"", take_to_version_4},
	{"", take_to_version_5},
};
_Static_assert(N_OF(steps) + 1 == SQLITE_FILE_VERSION, "a step leads to each version");

static int make_tables(sqlite3 *db, const char *name)
{
	_free_ char *sql = tables(SQLITE_FILE_VERSION);
	_free_ char *version = NULL;
	int64_t objects;
	int err = sql ? sqlite_db__number(db, name, "SELECT count(*) FROM sqlite_schema", &objects)
		      : -ENOMEM;

	/* Another process was faster. */
	if (err || objects)
		return err;
	if (asprintf(&version, "PRAGMA application_id = %d; PRAGMA user_version = %d",
		     APPLICATION_ID, SQLITE_FILE_VERSION) < 0)
		return -ENOMEM;
	return sqlite_db__run(db, name, sql) ?: sqlite_db__run(db, name, version);
}

/* End a transaction in which `err` came about. */
static int end_transaction(sqlite3 *db, const char *name, int err)
{
	err = err ?: sqlite_db__run(db, name, "COMMIT");
	if (err)
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

static int make(sqlite3 *db, const char *name)
{
	int err = sqlite_db__run(db, name, "BEGIN IMMEDIATE");

	return err ?: end_transaction(db, name, make_tables(db, name));
}

/* ---- Versions -------------------------------------------------------------------------------- */

static int take_steps(sqlite3 *db, const char *name, int from, const struct sqlite_step *taken,
		      int n)
{
	int64_t version;
	int err = sqlite_db__number(db, name, "PRAGMA user_version", &version);

	for (int64_t i = version - from; i < n && !err; i++) {
		_free_ char *text = NULL;
		int rc;

		if (i < 0)
			return -EINVAL;
		if (asprintf(&text, "%s; PRAGMA user_version = %d", taken[i].sql,
			     from + (int)i + 1) < 0)
			return -ENOMEM;
		err = sqlite_db__run(db, name, text);
		rc = !err && taken[i].run ? taken[i].run(db) : SQLITE_OK;
		if (rc)
			err = sqlite_db__error(db, rc, name);
	}
	return err;
}

/*
 * Take a file of version `from` through `n` steps to version `from` + n, whole or not at all.
 * Another process may have done it meanwhile.
 */
static int sqlite_schema__migrate(sqlite3 *db, const char *name, int from,
				  const struct sqlite_step *taken, int n)
{
	int err = sqlite_db__run(db, name, "BEGIN IMMEDIATE");

	return err ?: end_transaction(db, name, take_steps(db, name, from, taken, n));
}

/* ---- Whether they are ours ------------------------------------------------------------------- */

#define OBJECTS                                                                      \
	"SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') " \
	"FROM sqlite_schema ORDER BY 1"

static int same_rows(sqlite3_stmt *a, sqlite3_stmt *b, bool *same)
{
	int x, y;

	do {
		const char *s, *t;

		x = sqlite3_step(a);
		y = sqlite3_step(b);
		if (x != SQLITE_ROW || y != SQLITE_ROW)
			break;
		s = (const char *)sqlite3_column_text(a, 0);
		t = (const char *)sqlite3_column_text(b, 0);
		*same = s && t && !strcmp(s, t);
	} while (*same);
	*same = *same && x == SQLITE_DONE && y == SQLITE_DONE;
	return x == SQLITE_ROW || x == SQLITE_DONE ? SQLITE_OK : x;
}

/* A view or a trigger of another would run as ours, so nothing is asked of other objects. */
static int check_objects(sqlite3 *db, const char *name, int64_t version)
{
	_sqlite3_ sqlite3 *model = NULL;
	_sqlite3_stmt_ sqlite3_stmt *found = NULL;
	_sqlite3_stmt_ sqlite3_stmt *expected = NULL;
	_free_ char *sql = tables(version);
	bool same = true;
	int err, rc;

	if (!sql || sqlite3_open(":memory:", &model) ||
	    sqlite3_exec(model, sql, NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(model, OBJECTS, -1, &expected, NULL))
		return -ENOMEM;
	err = sqlite_db__prepare(db, name, OBJECTS, &found);
	if (err)
		return err;
	rc = same_rows(found, expected, &same);
	if (rc)
		return sqlite_db__error(db, rc, name);
	return same ? 0
		    : diag_error_r(-EBADMSG,
				   "%s: its tables are not those of a history; give another file "
				   "with --store",
				   name);
}

static int bring_up_to_date(sqlite3 *db, const char *name, bool write, int64_t version)
{
	int err;

	if (version > SQLITE_FILE_VERSION)
		return diag_error_r(-EPROTONOSUPPORT,
				    "%s has tables of version %d, this qprof-bpf knows %d: use "
				    "the qprof-bpf that wrote it, or a newer one",
				    name, (int)version, SQLITE_FILE_VERSION);
	err = check_objects(db, name, version);
	if (err || version == SQLITE_FILE_VERSION)
		return err;
	if (!write)
		return diag_error_r(-EPROTONOSUPPORT,
				    "%s has tables of the former version %d; `qprof-bpf history "
				    "add` brings them up to date",
				    name, (int)version);
	return sqlite_schema__migrate(db, name, (int)version, steps + version - 1,
				      SQLITE_FILE_VERSION - (int)version);
}

int sqlite_schema__settle(sqlite3 *db, const char *name, bool write)
{
	int64_t version, application, objects;
	int err = sqlite_db__number(db, name, "SELECT count(*) FROM sqlite_schema", &objects);

	if (!err && !objects && !write)
		return diag_error_r(-ENOENT, "%s is empty; `qprof-bpf history add` adds builds",
				    name);
	if (!err && !objects)
		err = make(db, name);
	err = err ?: sqlite_db__number(db, name, "PRAGMA application_id", &application);
	err = err ?: sqlite_db__number(db, name, "PRAGMA user_version", &version);
	if (err)
		return err;
	if (application != APPLICATION_ID || version <= 0)
		return diag_error_r(-EBADMSG,
				    "%s is a database of another program; give another file with "
				    "--store",
				    name);
	return bring_up_to_date(db, name, write, version);
}
