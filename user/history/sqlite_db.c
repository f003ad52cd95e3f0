// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_db.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"

struct meaning {
	int rc;
	int err;
	const char *text;
};

static const struct meaning meanings[] = {
	{SQLITE_BUSY, -EBUSY,
	 "another process has kept it locked for too long; try again when that has ended"},
	{SQLITE_LOCKED, -EBUSY, "this process uses it already"},
	{SQLITE_FULL, -ENOSPC, "the disk is full; free some space, and try again"},
	{SQLITE_READONLY, -EROFS,
	 "it cannot be written; change the rights of the file and of its directory, or give "
	 "another file with --store"},
	{SQLITE_PERM, -EACCES, "no permission; change its rights, or give another with --store"},
	{SQLITE_CORRUPT, -EBADMSG,
	 "it is damaged; move it away, and take what can be read from it with "
	 "\"sqlite3 FILE .recover\""},
	{SQLITE_NOTADB, -EBADMSG,
	 "it is no history (not a SQLite file); give another file with --store"},
	{SQLITE_NOMEM, -ENOMEM, "out of memory"},
	{SQLITE_TOOBIG, -EBADMSG, "it has a value that is too large; it is no file of ours"},
};

int sqlite_db__error(sqlite3 *db, int rc, const char *name)
{
	int err;

	for (size_t i = 0; i < N_OF(meanings); i++)
		if (meanings[i].rc == (rc & 0xff))
			return diag_error_r(meanings[i].err, "%s: %s", name, meanings[i].text);
	err = db ? -sqlite3_system_errno(db) : 0;
	if (err == -ENOSPC || err == -EDQUOT)
		return diag_error_r(err, "%s: %s; free some space, and try again", name,
				    strerror(-err));
	if (err && ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_IOERR))
		return diag_error_r(err, "%s: %s: %s%s", name, sqlite3_errmsg(db), strerror(-err),
				    diag_step(err, ""));
	return diag_error_r(-EIO, "%s: %s", name, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
}

int sqlite_db__run(sqlite3 *db, const char *name, const char *sql)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc ? sqlite_db__error(db, rc, name) : 0;
}

int sqlite_db__prepare(sqlite3 *db, const char *name, const char *sql, sqlite3_stmt **out)
{
	int rc = sqlite3_prepare_v2(db, sql, -1, out, NULL);

	return rc ? sqlite_db__error(db, rc, name) : 0;
}

int sqlite_db__number(sqlite3 *db, const char *name, const char *sql, int64_t *out)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc, err = sqlite_db__prepare(db, name, sql, &stmt);

	if (err)
		return err;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sqlite_db__error(db, rc, name);
	*out = rc == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL
		       ? sqlite3_column_int64(stmt, 0)
		       : -1;
	return 0;
}
