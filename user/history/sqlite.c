// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/invoker.h"
#include "history/columns.h"
#include "history/sqlite_db.h"
#include "history/store_ops.h"

#define BUSY_MS 10000

struct sqlite_store {
	struct store store;
	sqlite3 *db;
};

static struct sqlite_store *of(struct store *s)
{
	return (struct sqlite_store *)s;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int bind_column(sqlite3_stmt *stmt, int i, const struct history_column *c, const void *row)
{
	const char *text;
	uint64_t number;

	if (c->type == HISTORY_TEXT) {
		text = history_column__text(c, row);
		return text ? sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC)
			    : sqlite3_bind_null(stmt, i);
	}
	number = history_column__number(c, row);
	return number == HISTORY_UNKNOWN ? sqlite3_bind_null(stmt, i)
					 : sqlite3_bind_int64(stmt, i, (int64_t)number);
}

/* "INSERT OR ABORT INTO build(...) VALUES(?, ...)", or NULL. */
static char *insert_text(const struct history_table *t)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "INSERT INTO \"%s\" VALUES(", t->name);
	for (size_t i = 0; i < t->n; i++)
		fputs(i ? ", ?" : "?", f);
	fputs(")", f);
	fclose(f);
	return text;
}

static int insert_rows(struct sqlite_store *s, const struct history_rows *rows,
		       enum history_table_id id)
{
	const struct history_table *t = history_table(id);
	_free_ char *sql = insert_text(t);
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_OK;
	int err = sql ? sqlite_db__prepare(s->db, s->store.name, sql, &stmt) : -ENOMEM;

	for (size_t row = 0; !err && row < history_rows__n(rows, id); row++) {
		for (size_t i = 0; i < t->n && !rc; i++)
			rc = bind_column(stmt, (int)i + 1, &t->columns[i],
					 history_rows__at(rows, id, row));
		if (!rc)
			rc = sqlite3_step(stmt);
		if (rc != SQLITE_DONE)
			return sqlite_db__error(s->db, rc, s->store.name);
		rc = sqlite3_reset(stmt);
	}
	return err;
}

static int has_build(struct sqlite_store *s, const char *build, bool *has)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc, err = sqlite_db__prepare(s->db, s->store.name,
					 "SELECT 1 FROM build WHERE build = ?", &stmt);

	if (err)
		return err;
	sqlite3_bind_text(stmt, 1, build, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	*has = rc == SQLITE_ROW;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0
						     : sqlite_db__error(s->db, rc, s->store.name);
}

static int add_in_transaction(struct sqlite_store *s, const struct history_rows *rows)
{
	bool has = false;
	int err = has_build(s, rows->build.build, &has);

	if (err || has)
		return err ?: 1;
	for (int id = 0; id < HISTORY_TABLES && !err; id++)
		err = insert_rows(s, rows, (enum history_table_id)id);
	return err ?: sqlite_db__run(s->db, s->store.name, "COMMIT");
}

static int add(struct store *store, const struct history_rows *rows)
{
	struct sqlite_store *s = of(store);
	int err = sqlite_db__run(s->db, store->name, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = add_in_transaction(s, rows);
	if (err)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int bind_value(sqlite3_stmt *stmt, int i, const struct store_value *v)
{
	switch (v->type) {
	case STORE_TEXT:
		return sqlite3_bind_text(stmt, i, v->text, -1, SQLITE_STATIC);
	case STORE_INTEGER:
		return sqlite3_bind_int64(stmt, i, v->integer);
	case STORE_REAL:
		return sqlite3_bind_double(stmt, i, v->real);
	case STORE_NULL:
		break;
	}
	return sqlite3_bind_null(stmt, i);
}

static struct store_value value_of(sqlite3_stmt *stmt, int i)
{
	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		return (struct store_value){.type = STORE_INTEGER,
					    .integer = sqlite3_column_int64(stmt, i)};
	case SQLITE_FLOAT:
		return (struct store_value){.type = STORE_REAL,
					    .real = sqlite3_column_double(stmt, i)};
	case SQLITE_TEXT:
		return (struct store_value){.type = STORE_TEXT,
					    .text = (const char *)sqlite3_column_text(stmt, i)};
	default:
		return (struct store_value){.type = STORE_NULL};
	}
}

static int select_rows(struct store *store, const char *sql, const struct store_value *args,
		       size_t n, store_row row, void *ctx)
{
	struct sqlite_store *s = of(store);
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	_free_ struct store_value *cells = NULL;
	int columns, rc = SQLITE_OK, err = sqlite_db__prepare(s->db, store->name, sql, &stmt);

	if (err)
		return err;
	columns = sqlite3_column_count(stmt);
	cells = calloc((size_t)columns + 1, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < n && !rc; i++)
		rc = bind_value(stmt, (int)i + 1, &args[i]);
	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++)
			cells[i] = value_of(stmt, i);
		err = row(ctx, cells, (size_t)columns);
		if (err)
			return err;
		rc = SQLITE_OK;
	}
	return rc == SQLITE_DONE ? 0 : sqlite_db__error(s->db, rc, store->name);
}

/* ---- Each build ------------------------------------------------------------------------------ */

struct filling {
	struct history_rows *rows;
	enum history_table_id table;
};

static int fill_row(void *ctx, const struct store_value *cells, size_t n)
{
	struct filling *f = ctx;
	const struct history_table *t = history_table(f->table);
	void *row = f->table == HISTORY_BUILD ? &f->rows->build
					      : history_rows__append(f->rows, f->table);

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct history_column *c = &t->columns[i];

		if (cells[i].type == STORE_TEXT && c->type == HISTORY_TEXT) {
			const char *text = history_rows__text(f->rows, cells[i].text);

			if (!text)
				return -ENOMEM;
			history_column__set_text(c, row, text);
		} else if (cells[i].type == STORE_INTEGER && c->type == HISTORY_NUMBER) {
			history_column__set_number(c, row, (uint64_t)cells[i].integer);
		}
	}
	return 0;
}

struct each {
	struct store *store;
	int (*take)(void *ctx, const struct history_rows *rows);
	void *ctx;
};

static int take_build(void *ctx, const struct store_value *cells, size_t n)
{
	struct each *e = ctx;
	_history_rows_ struct history_rows rows;
	int err = 0;

	(void)n;
	history_rows__init(&rows);
	for (int id = 0; id < HISTORY_TABLES && !err; id++) {
		struct filling f = {&rows, (enum history_table_id)id};
		_free_ char *sql = NULL;

		if (asprintf(&sql, "SELECT * FROM \"%s\" WHERE build = ?",
			     history_table(f.table)->name) < 0)
			return -ENOMEM;
		err = select_rows(e->store, sql, cells, 1, fill_row, &f);
	}
	return err ?: e->take(e->ctx, &rows);
}

static int each(struct store *store, int (*take)(void *ctx, const struct history_rows *rows),
		void *ctx)
{
	struct each e = {store, take, ctx};

	return select_rows(store, "SELECT build FROM build ORDER BY start_ns, build", NULL, 0,
			   take_build, &e);
}

/* ---- Removing -------------------------------------------------------------------------------- */

static int prune(struct store *store, uint64_t before_ns, uint64_t *n)
{
	struct sqlite_store *s = of(store);
	int err = 0;

	*n = 0;
	for (int id = HISTORY_TABLES - 1; id >= 0 && !err; id--) {
		_free_ char *sql = NULL;

		if (asprintf(&sql, "DELETE FROM \"%s\" WHERE start_ns < %" PRIu64,
			     history_table((enum history_table_id)id)->name, before_ns) < 0)
			return -ENOMEM;
		err = sqlite_db__run(s->db, store->name, sql);
		*n = (uint64_t)sqlite3_changes64(s->db);
	}
	return err;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void close_store(struct store *store)
{
	sqlite3_close(of(store)->db);
	free(store);
}

static const struct store_ops ops = {
	.kind = STORE_SQLITE,
	.add = add,
	.select = select_rows,
	.each = each,
	.prune = prune,
	.close = close_store,
};

static int make_tables(struct sqlite_store *s)
{
	int err = 0;

	for (int id = 0; id < HISTORY_TABLES && !err; id++) {
		const struct history_table *t = history_table((enum history_table_id)id);
		_free_ char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		if (!f)
			return -ENOMEM;
		fprintf(f, "CREATE TABLE IF NOT EXISTS \"%s\"(", t->name);
		for (size_t i = 0; i < t->n; i++)
			fprintf(f, "%s\"%s\" %s%s", i ? ", " : "", t->columns[i].name,
				t->columns[i].type == HISTORY_TEXT ? "TEXT" : "INTEGER",
				id == HISTORY_BUILD && !i ? " PRIMARY KEY" : "");
		fputs(")", f);
		fclose(f);
		err = sqlite_db__run(s->db, s->store.name, text);
	}
	return err;
}

/* $XDG_DATA_HOME/qprof-bpf/history.db; the XDG specification says to ignore a relative path. */
static int default_path(bool create, char **out)
{
	_invoker_ struct invoker inv = {};
	const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	_free_ char *base = NULL, *dir = NULL;
	int err = invoker__get(&inv);

	if (err)
		return err;
	if (!home || *home != '/')
		home = inv.home;
	if (xdg && *xdg == '/')
		base = strdup(xdg);
	else if (asprintf(&base, "%s/.local/share", home) < 0)
		base = NULL;
	if (!base || asprintf(&dir, "%s/qprof-bpf", base) < 0)
		return -ENOMEM;
	if (create) {
		for (char *p = base + 1; (p = strchr(p, '/')); *p++ = '/') {
			*p = 0;
			mkdir(base, 0700);
		}
		mkdir(base, 0700);
		mkdir(dir, 0700);
	}
	return asprintf(out, "%s/history.db", dir) < 0 ? -ENOMEM : 0;
}

static int open_file(struct sqlite_store *s, enum store_access access)
{
	const char *name = s->store.name;
	struct stat st;
	int fd, rc;

	if (access != STORE_WRITE && stat(name, &st))
		return diag_error_r(-errno, "cannot open %s: %s; `qprof-bpf history add` makes it",
				    name, strerror(errno));
	if (access == STORE_WRITE &&
	    (fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) >= 0)
		close(fd);
	rc = sqlite3_open_v2(name, &s->db,
			     access == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE,
			     NULL);
	if (rc)
		return sqlite_db__error(s->db, rc, name);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	if (access == STORE_READ)
		return 0;
	return sqlite_db__run(s->db, name, "PRAGMA journal_mode = WAL") ?: make_tables(s);
}

int sqlite__open(const char *path, enum store_access access, struct store **out)
{
	struct sqlite_store *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	if (err)
		return err;
	s->store.ops = &ops;
	if (path)
		s->store.name = strdup(path);
	else
		err = default_path(access == STORE_WRITE, &s->store.name);
	if (!err)
		err = s->store.name ? open_file(s, access) : -ENOMEM;
	if (err) {
		store__close(&s->store);
		return err;
	}
	*out = &s->store;
	return 0;
}
