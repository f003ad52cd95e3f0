// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_names.h"

#include <string.h>

#include "base/array.h"
#include "base/map.h"

enum names_statement {
	FIND,
	ADD,
	TEXT,
	STATEMENTS,
};

static const char *const sql[STATEMENTS] = {
	[FIND] = "SELECT id FROM main.names WHERE text = ?",
	[ADD] = "INSERT INTO main.names(text) VALUES(?)",
	[TEXT] = "SELECT text FROM main.names WHERE id = ?",
};

struct sqlite_names {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	struct u64_map added; /* of this transaction: pointer -> number */
	char **texts;	      /* by number; NULL: not read yet */
	uint32_t n_texts;
};

struct sqlite_names *sqlite_names__new(sqlite3 *db)
{
	struct sqlite_names *n = calloc(1, sizeof(*n));

	if (n)
		n->db = db;
	return n;
}

/* The statement, ready to be bound; the caller resets it. */
static int statement(struct sqlite_names *n, enum names_statement which, sqlite3_stmt **out)
{
	int rc = SQLITE_OK;

	if (!n->statements[which])
		rc = sqlite3_prepare_v3(n->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
					&n->statements[which], NULL);
	*out = n->statements[which];
	return rc;
}

int sqlite_names__find(struct sqlite_names *n, const char *text, int64_t *id)
{
	sqlite3_stmt *stmt;
	int rc = statement(n, FIND, &stmt);

	if (rc)
		return rc;
	sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	*id = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	if (*id < 0 || *id >= SQLITE_NAMES_MAX)
		return SQLITE_CORRUPT;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int insert(struct sqlite_names *n, const char *text, int64_t *id)
{
	sqlite3_stmt *stmt;
	int rc = statement(n, ADD, &stmt);

	if (rc)
		return rc;
	sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	*id = sqlite3_last_insert_rowid(n->db);
	if (rc == SQLITE_DONE)
		return *id < SQLITE_NAMES_MAX ? SQLITE_OK : SQLITE_FULL;
	return rc;
}

int sqlite_names__add(struct sqlite_names *n, const char *text, int64_t *id)
{
	uint32_t known = u64_map__get(&n->added, (uintptr_t)text);
	int rc;

	if (known != U64_MAP_NONE) {
		*id = known;
		return SQLITE_OK;
	}
	rc = sqlite_names__find(n, text, id);
	if (!rc && !*id)
		rc = insert(n, text, id);
	if (!rc && u64_map__put(&n->added, (uintptr_t)text, (uint32_t)*id))
		rc = SQLITE_NOMEM;
	return rc;
}

void sqlite_names__end(struct sqlite_names *n)
{
	u64_map__clear(&n->added);
}

static int read_text(struct sqlite_names *n, int64_t id)
{
	sqlite3_stmt *stmt;
	int rc = statement(n, TEXT, &stmt);

	if (rc)
		return rc;
	sqlite3_bind_int64(stmt, 1, id);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);

		n->texts[id] = text ? strdup(text) : NULL;
		rc = n->texts[id] ? SQLITE_OK : SQLITE_NOMEM;
	} else if (rc == SQLITE_DONE) {
		rc = SQLITE_CORRUPT;
	}
	sqlite3_reset(stmt);
	return rc;
}

int sqlite_names__text(struct sqlite_names *n, int64_t id, const char **text)
{
	int rc = SQLITE_OK;

	if (id <= 0 || id >= SQLITE_NAMES_MAX)
		return SQLITE_CORRUPT;
	if (array__reserve_at(&n->texts, (uint32_t)id, &n->n_texts, sizeof(*n->texts)))
		return SQLITE_NOMEM;
	if (!n->texts[id])
		rc = read_text(n, id);
	*text = n->texts[id];
	return rc;
}

void sqlite_names__free(struct sqlite_names *n)
{
	if (!n)
		return;
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(n->statements[i]);
	for (uint32_t i = 0; i < n->n_texts; i++)
		free(n->texts[i]);
	free(n->texts);
	u64_map__destroy(&n->added);
	free(n);
}
