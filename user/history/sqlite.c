// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/own_path.h"
#include "history/cells.h"
#include "history/columns.h"
#include "history/sqlite_add.h"
#include "history/sqlite_db.h"
#include "history/sqlite_place.h"
#include "history/sqlite_prune.h"
#include "history/sqlite_settle.h"

#define BUSY_MS 10000
/* Bytes of a text: more than any has. */
#define VALUE_MAX (1 << 20)

struct sqlite_store {
	struct store store;
	sqlite3 *db;
	int directory; /* of a file that is written to; else -1 */
};

static struct sqlite_store *of(struct store *s)
{
	return (struct sqlite_store *)s;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static int fail(struct sqlite_store *s, int rc)
{
	return rc ? sqlite_db__error(s->db, rc, s->store.name) : 0;
}

/* The number of a build, or 0; and whether its trace was whole. Returns SQLite's code. */
static int find_build(struct sqlite_store *s, const char *build, int64_t *n, bool *whole)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(s->db,
				    "SELECT n, state = 'whole' FROM main.builds WHERE build = ?",
				    -1, &stmt, NULL);

	if (rc)
		return rc;
	sqlite3_bind_text(stmt, 1, build, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	*n = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	*whole = *n && sqlite3_column_int(stmt, 1);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int add_in_transaction(struct sqlite_store *s, const struct history_rows *rows)
{
	bool was_whole = false;
	int64_t n = 0;
	int rc = find_build(s, rows->build.build, &n, &was_whole);

	if (!rc && n && (was_whole || !history_rows__are_whole(rows)))
		return 1;
	if (!rc && n)
		rc = sqlite_prune__build(s->db, n);
	if (!rc)
		rc = sqlite_add(s->db, rows);
	if (rc == SQLITE_CONSTRAINT)
		return diag_error_r(-EINVAL,
				    "%s: build %s has two rows for the same thing, or one "
				    "without a name; it is not added",
				    s->store.name, rows->build.build);
	return fail(s, rc) ?: sqlite_db__run(s->db, s->store.name, "COMMIT");
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
	const char *store;
};

/* The file may be another user's: a row may have nothing that a line of history/json_lines.h may
 * not. */
static int fill_row(void *ctx, const struct store_value *cells, size_t n)
{
	struct filling *f = ctx;
	const struct history_table *t = history_table(f->table);
	void *row = f->table == HISTORY_BUILD ? &f->rows->build
					      : history_rows__append(f->rows, f->table);
	char why[128];
	int err = row ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		err = history_cell__set(f->rows, &t->columns[i], row, &cells[i]);
		if (err == -EPROTO)
			return diag_error_r(-EBADMSG,
					    "%s: a row of the table \"%s\" has a wrong \"%s\"",
					    f->store, t->name, t->columns[i].name);
	}
	if (!err && !row_check(f->table, row, why, sizeof(why)))
		return diag_error_r(-EBADMSG, "%s: a row of the table \"%s\" is wrong: %s",
				    f->store, t->name, why);
	return err;
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
		struct filling f = {&rows, (enum history_table_id)id, e->store->name};
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
	int err = sqlite_db__run(s->db, store->name, "BEGIN IMMEDIATE");

	if (err)
		return err;
	err = fail(s, sqlite_prune__before(s->db, before_ns, n));
	err = err ?: sqlite_db__run(s->db, store->name, "COMMIT");
	if (err) {
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return err;
	}
	/* The file becomes smaller; readers may keep the log for now, which is no error. */
	err = sqlite_db__run(s->db, store->name, "PRAGMA incremental_vacuum");
	sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	return err;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void close_store(struct store *store)
{
	struct sqlite_store *s = of(store);

	sqlite3_close(s->db);
	cleanup_close_p(&s->directory);
	free(s);
}

static const struct store_ops ops = {
	.kind = STORE_SQLITE,
	.add = add,
	.select = select_rows,
	.each = each,
	.prune = prune,
	.close = close_store,
};

/*
 * Another user may have made the file: nothing in it is to be run, and it has views, which are
 * allowed once they are known to be ours.
 */
static int settle(struct sqlite_store *s, bool write)
{
	const char *name = s->store.name;
	int rc = SQLITE_OK, err = 0;

	sqlite3_busy_timeout(s->db, BUSY_MS);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	/* A mapped file that its owner truncates would end this process. */
	sqlite3_exec(s->db, "PRAGMA mmap_size = 0; PRAGMA cell_size_check = 1", NULL, NULL, NULL);
	if (write)
		err = sqlite_db__run(s->db, name,
				     "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL");
	/*
	 * The mode changes only while no other connection is open, so a second writer of a new file
	 * may find it busy, for which SQLite does not wait.
	 */
	for (int waited = 0; write && !err && waited < BUSY_MS; waited += 10) {
		rc = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if (rc != SQLITE_BUSY)
			break;
		usleep(10000);
	}
	err = err ?: fail(s, rc);
	err = err ?: sqlite_settle(s->db, name, write);
	if (!err)
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
	return err;
}

/* SQLite would take these for ours, wait for a FIFO, or write what a journal has into the store. */
static int check_beside(const char *name, const char *path, uid_t owner)
{
	static const char *const suffixes[] = {"-wal", "-shm", "-journal"};

	for (size_t i = 0; i < N_OF(suffixes); i++) {
		_free_ char *beside = NULL;
		struct stat st;

		if (asprintf(&beside, "%s%s", path, suffixes[i]) < 0)
			return -ENOMEM;
		if (!lstat(beside, &st) &&
		    (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != owner)))
			return diag_error_r(-EPERM,
					    "%s%s is not of its owner; remove it, or give a "
					    "file in a directory that only you may write to",
					    name, suffixes[i]);
	}
	return 0;
}

static int no_history(const char *name)
{
	return diag_error_r(-ENOENT, "there is no history %s; `qprof-bpf history add` makes it",
			    name);
}

/*
 * How the file at `path` is to be opened; `why_not` is the error of making it. Another user's is
 * taken as it is on the disk, without the log and the memory that its users share: `*as_it_is`.
 */
static int look_at_file(const char *name, const char *path, enum store_access access, int why_not,
			bool *as_it_is)
{
	_free_ char *log = NULL;
	struct stat st;

	if (stat(path, &st) && access != STORE_WRITE && errno != ENOENT)
		return diag_error_r(-errno, "cannot read %s: %s", name, strerror(errno));
	if (stat(path, &st))
		return errno == ENOENT && access != STORE_WRITE
			       ? no_history(name)
			       : diag_error_r(-why_not,
					      "cannot make %s: %s; give another file with "
					      "--store",
					      name, strerror(why_not));
	if (!S_ISREG(st.st_mode))
		return diag_error_r(-EINVAL, "%s is no file; give a file with --store", name);
	*as_it_is = st.st_uid != geteuid();
	if (*as_it_is && access != STORE_READ)
		return diag_error_r(-EPERM,
				    "%s belongs to another user; give a file of your own, and take "
				    "these builds with `qprof-bpf history merge`",
				    name);
	if (!*as_it_is)
		return check_beside(name, path, st.st_uid);
	if (asprintf(&log, "%s-wal", path) < 0)
		return -ENOMEM;
	if (!stat(log, &st) && st.st_size)
		return diag_error_r(-EBUSY,
				    "%s is in use by its owner; try again later, or have it "
				    "written with `qprof-bpf history export`",
				    name);
	return 0;
}

/* "file:NAME?immutable=1", with the characters escaped that mean something there. */
static char *immutable_name(const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("file:", f);
	for (; *name; name++)
		fprintf(f, strchr("%?#", *name) ? "%%%02X" : "%c", *name);
	fputs("?immutable=1", f);
	fclose(f);
	return text;
}

/* Set *path to the name to open the file by. */
static int find_place(struct sqlite_store *s, enum store_access access, char **path)
{
	const char *name = s->store.name;
	_own_path_refusal_ struct own_path_refusal why = {0};
	_free_ char *real = NULL;
	int err;

	if (access == STORE_READ) {
		*path = realpath(name, NULL) ?: strdup(name);
		return *path ? 0 : -ENOMEM;
	}
	err = own_path__resolve(name, false, &real, &why)
		      ?: sqlite_place__open(real, &s->directory, path);
	if (why.at || err == -ELOOP)
		return diag_error_r(err, "cannot write %s: %s; give a file of your own", name,
				    own_path_error(err));
	if (err == -ENOENT && access == STORE_EXISTING)
		return no_history(name);
	return err ? diag_error_r(err, "cannot %s %s: %s; give another file with --store",
				  access == STORE_WRITE ? "make" : "open", name, strerror(-err))
		   : 0;
}

static int open_file(struct sqlite_store *s, enum store_access access)
{
	const char *name = s->store.name;
	bool write = access != STORE_READ, as_it_is = false;
	_free_ char *path = NULL, *uri = NULL;
	_close_ int fd = -1;
	const char *vfs = write ? sqlite_place__vfs() : NULL;
	int rc, err = write && !vfs ? -ENOMEM : find_place(s, access, &path);

	if (err)
		return err;
	if (access == STORE_WRITE)
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = look_at_file(name, path, access, errno, &as_it_is);
	if (err)
		return err;
	uri = as_it_is ? immutable_name(path) : NULL;
	if (as_it_is && !uri)
		return -ENOMEM;
	/* Before SQLite opens it: closing any descriptor of a file releases its locks. */
	if (fd >= 0)
		close(take_fd(fd));
	rc = sqlite3_open_v2(uri ?: path, &s->db,
			     (write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
				     (uri ? SQLITE_OPEN_URI : 0),
			     vfs);
	if (rc)
		return sqlite_db__error(s->db, rc, name);
	return settle(s, write);
}

int sqlite__open(const char *path, enum store_access access, struct store **out)
{
	_free_ char *directory = path ? NULL : xdg__path(XDG_DATA, "qprof-bpf");
	struct sqlite_store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->directory = -1;
	s->store.ops = &ops;
	/* One that cannot be made is no error here: opening the file fails, and reports one. */
	if (directory && access == STORE_WRITE)
		xdg__make(directory);
	if (path)
		s->store.name = strdup(path);
	else if (directory && asprintf(&s->store.name, "%s/history.db", directory) < 0)
		s->store.name = NULL;
	err = s->store.name ? open_file(s, access) : -ENOMEM;
	if (err) {
		store__close(&s->store);
		return err;
	}
	*out = &s->store;
	return 0;
}
