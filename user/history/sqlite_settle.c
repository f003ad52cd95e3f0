// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_settle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "history/sqlite_db.h"
#include "history/sqlite_former.h"
#include "history/sqlite_schema.h"

/* "qprf": of files that are ours. */
#define APPLICATION_ID 0x71707266

/* Those of a version. The caller frees it. NULL: no memory. */
static char *tables(int64_t version)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("CREATE TABLE names(id INTEGER PRIMARY KEY AUTOINCREMENT, "
	      "text TEXT NOT NULL UNIQUE);",
	      f);
	sqlite_schema__print_builds(f, version);
	if (version < SQLITE_FILE_VERSION)
		sqlite_former__print(f, version);
	else
		sqlite_schema__print_lists(f);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static int set_version(sqlite3 *db, const char *name)
{
	_free_ char *sql = NULL;

	if (asprintf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
		     SQLITE_FILE_VERSION) < 0)
		return -ENOMEM;
	return sqlite_db__run(db, name, sql);
}

/* End a transaction in which `err` came about. */
static int end_transaction(sqlite3 *db, const char *name, int err)
{
	err = err ?: sqlite_db__run(db, name, "COMMIT");
	if (err)
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* Make our tables in an empty file. */
static int make(sqlite3 *db, const char *name)
{
	_free_ char *sql = tables(SQLITE_FILE_VERSION);
	int64_t objects = 0;
	int err = sqlite_db__run(db, name, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = sql ? sqlite_db__number(db, name, "SELECT count(*) FROM sqlite_schema", &objects)
		  : -ENOMEM;
	/* Another process may have been faster. */
	if (!err && !objects)
		err = sqlite_db__run(db, name, sql) ?: set_version(db, name);
	return end_transaction(db, name, err);
}

/* Whole or not at all. Another process may have done it meanwhile. */
static int migrate(sqlite3 *db, const char *name)
{
	int64_t version = 0;
	int rc, err = sqlite_db__run(db, name, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = sqlite_db__number(db, name, "PRAGMA user_version", &version);
	if (!err && version < SQLITE_FILE_VERSION) {
		rc = sqlite_former__move(db, version);
		err = rc ? sqlite_db__error(db, rc, name) : set_version(db, name);
	}
	return end_transaction(db, name, err);
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

int sqlite_settle(sqlite3 *db, const char *name, bool write)
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
	return migrate(db, name);
}
