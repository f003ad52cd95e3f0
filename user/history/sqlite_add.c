// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_add.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "history/columns.h"
#include "history/sqlite_db.h"
#include "history/sqlite_schema.h"

/* Lists of a crate that are tried: of debug, release, check, and former compilers. */
#define LISTS_TRIED "16"
/* Counts of a list that are tried: builds in other ways take turns. */
#define COUNTS_TRIED "8"
/* A list with more entries than twice those of a build takes more bytes than a new one. */
#define LIST_SPARE 16

enum statement {
	FIND_NAME,
	ADD_NAME,
	LISTS,
	ENTRIES,
	COUNTS,
	ADD_LIST,
	ADD_ENTRY,
	ADD_COUNTS,
	LARGE,
	ADD_LARGE,
	ADD_PART,
	STATEMENTS,
};

static const char *const sql[STATEMENTS] = {
	[FIND_NAME] = "SELECT id FROM main.names WHERE text = ?",
	[ADD_NAME] = "INSERT INTO main.names(text) VALUES(?)",
	[LISTS] = "SELECT list FROM main.lists WHERE crate IS ? AND what = ? "
		  "ORDER BY list DESC LIMIT " LISTS_TRIED,
	[ENTRIES] = "SELECT place, name, kind, how FROM main.entries WHERE list = ?",
	[COUNTS] = "SELECT id, counts FROM main.counts WHERE list = ? "
		   "ORDER BY id DESC LIMIT " COUNTS_TRIED,
	[ADD_LIST] = "INSERT INTO main.lists(crate, what) VALUES(?, ?)",
	[ADD_ENTRY] = "INSERT INTO main.entries VALUES(?, ?, ?, ?, ?)",
	[ADD_COUNTS] = "INSERT INTO main.counts(list, counts) VALUES(?, ?)",
	[LARGE] = "SELECT place, count FROM main.large_counts WHERE counts = ?",
	[ADD_LARGE] = "INSERT INTO main.large_counts VALUES(?, ?, ?)",
	[ADD_PART] = "INSERT INTO main.parts VALUES(?, ?, ?, ?, ?)",
};

struct adding {
	sqlite3 *db;
	int64_t build;		/* its number */
	struct u64_map numbers; /* of names: pointer -> number; equal texts of rows are one */
	sqlite3_stmt *statements[STATEMENTS];
};

static void adding__clear(struct adding *a)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(a->statements[i]);
	u64_map__destroy(&a->numbers);
}

static int adding__prepare(struct adding *a)
{
	int rc = SQLITE_OK;

	for (int i = 0; i < STATEMENTS && !rc; i++)
		rc = sqlite3_prepare_v2(a->db, sql[i], -1, &a->statements[i], NULL);
	return rc;
}

/* Run a statement without rows. */
static int run(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* The number of a text, which gets one if it has none; 0 of NULL. */
static int name_number(struct adding *a, const char *text, int64_t *out)
{
	uint32_t known = text ? u64_map__get(&a->numbers, (uintptr_t)text) : 0;
	sqlite3_stmt *stmt = a->statements[FIND_NAME];
	int rc;

	*out = known;
	if (known != U64_MAP_NONE)
		return SQLITE_OK;
	sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	*out = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_reset(stmt);
	if (rc == SQLITE_DONE) {
		stmt = a->statements[ADD_NAME];
		sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
		rc = run(stmt);
		*out = sqlite3_last_insert_rowid(a->db);
	}
	if (rc && rc != SQLITE_ROW)
		return rc;
	if (*out <= 0 || *out >= SQLITE_NAMES_MAX)
		return SQLITE_FULL;
	return u64_map__put(&a->numbers, (uintptr_t)text, (uint32_t)*out) ? SQLITE_NOMEM
									  : SQLITE_OK;
}

/* ---- Builds and compiles --------------------------------------------------------------------- */

/* Texts are stored as numbers of names, but for those of builds. */
static int bind_column(struct adding *a, sqlite3_stmt *stmt, int i, const struct history_column *c,
		       const void *row, bool as_names)
{
	const char *text = c->type == HISTORY_TEXT ? history_column__text(c, row) : NULL;
	uint64_t number =
		c->type == HISTORY_TEXT ? HISTORY_UNKNOWN : history_column__number(c, row);
	int64_t id;
	int rc;

	if (text && !as_names)
		return sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC);
	if (text) {
		rc = name_number(a, text, &id);
		return rc ?: sqlite3_bind_int64(stmt, i, id);
	}
	return number == HISTORY_UNKNOWN ? sqlite3_bind_null(stmt, i)
					 : sqlite3_bind_int64(stmt, i, (int64_t)number);
}

/* Insert the rows of a table, whose first column is the number of the build. */
static int add_rows(struct adding *a, const struct history_rows *rows, enum history_table_id id)
{
	const struct history_table *t = history_table(id);
	size_t skip = id == HISTORY_BUILD ? 0 : SQLITE_OF_BUILD;
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc;

	if (!f)
		return SQLITE_NOMEM;
	fprintf(f, "INSERT INTO main.%ss VALUES(?", t->name);
	for (size_t i = skip; i < t->n; i++)
		fputs(", ?", f);
	fputs(")", f);
	if (fclose(f))
		return SQLITE_NOMEM;
	rc = sqlite3_prepare_v2(a->db, text, -1, &stmt, NULL);
	for (size_t row = 0; !rc && row < history_rows__n(rows, id); row++) {
		if (a->build)
			sqlite3_bind_int64(stmt, 1, a->build);
		for (size_t i = skip; i < t->n && !rc; i++)
			rc = bind_column(a, stmt, (int)(i - skip) + 2, &t->columns[i],
					 history_rows__at(rows, id, row), id != HISTORY_BUILD);
		rc = rc ?: run(stmt);
	}
	return rc;
}

/* ---- Rows of crates -------------------------------------------------------------------------- */

/* A row of query, item or llvm, or a sum of rows. Names are numbers; 0: null. */
struct entry {
	int64_t crate, name, kind, how;
	uint64_t count, self_ns, total_ns; /* or HISTORY_UNKNOWN */
	uint32_t place;			   /* in the list */
	bool sampled, estimated;
};

struct entries {
	struct entry *at;
	uint32_t n;
	uint32_t capacity;
};

static void entries__clear(struct entries *e)
{
	free(e->at);
}
#define _entries_ __cleanup(entries__clear)

static int compare_what(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int64_t order = x->name != y->name   ? x->name - y->name
			: x->kind != y->kind ? x->kind - y->kind
					     : x->how - y->how;

	return (order > 0) - (order < 0);
}

static int compare_crates(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->crate != y->crate ? (x->crate > y->crate) - (x->crate < y->crate)
				    : compare_what(a, b);
}

static uint64_t number_of(const struct history_table *t, const char *column, const void *row)
{
	const struct history_column *c = history_table__column(t, column);

	return c ? history_column__number(c, row) : HISTORY_UNKNOWN;
}

static const char *text_of(const struct history_table *t, const char *column, const void *row)
{
	const struct history_column *c = history_table__column(t, column);

	return c ? history_column__text(c, row) : NULL;
}

static int take_rows(struct adding *a, const struct history_rows *rows, enum history_table_id id,
		     struct entries *out)
{
	const struct history_table *t = history_table(id);

	for (size_t i = 0; i < history_rows__n(rows, id); i++) {
		const void *row = history_rows__at(rows, id, i);
		const char *how = text_of(t, "how", row);
		struct entry e = {
			.count = number_of(t, "count", row),
			.self_ns = number_of(t, "self_ns", row),
			.total_ns = number_of(t, "total_ns", row),
			.sampled = how && !strcmp(how, "sampled"),
			.estimated = how && !strcmp(how, "estimated"),
		};
		int rc = name_number(a, text_of(t, "crate", row), &e.crate)
				 ?: name_number(a, history_column__text(sqlite_key(t), row),
						&e.name)
				 ?: name_number(a, text_of(t, "kind", row), &e.kind)
				 ?: e.estimated ? SQLITE_OK : name_number(a, how, &e.how);

		if (!rc && (!e.crate || !e.name))
			rc = SQLITE_CONSTRAINT;
		if (!rc && array__add(&out->at, &out->n, &out->capacity, &e))
			rc = SQLITE_NOMEM;
		if (rc)
			return rc;
	}
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), compare_crates);
	for (uint32_t i = 1; i < out->n; i++)
		if (out->at[i - 1].crate == out->at[i].crate &&
		    out->at[i - 1].name == out->at[i].name)
			return SQLITE_CONSTRAINT;
	return SQLITE_OK;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static int read_entries(struct adding *a, int64_t list, struct entries *out)
{
	sqlite3_stmt *stmt = a->statements[ENTRIES];
	int rc;

	out->n = 0;
	sqlite3_bind_int64(stmt, 1, list);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t place = sqlite3_column_int64(stmt, 0);
		struct entry e = {
			.place = (uint32_t)place,
			.name = sqlite3_column_int64(stmt, 1),
			.kind = sqlite3_column_int64(stmt, 2),
			.how = sqlite3_column_int64(stmt, 3),
		};

		if (place < 0 || place >= SQLITE_LIST_MOST)
			rc = SQLITE_CORRUPT;
		else if (array__add(&out->at, &out->n, &out->capacity, &e))
			rc = SQLITE_NOMEM;
		if (rc != SQLITE_ROW)
			break;
	}
	sqlite3_reset(stmt);
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), compare_what);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* One more than the last place. */
static uint32_t end_of(const struct entries *list)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < list->n; i++)
		end = list->at[i].place >= end ? list->at[i].place + 1 : end;
	return end;
}

static uint32_t count_missing(const struct entries *list, const struct entry *rows, uint32_t n)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < n; i++)
		missing += !list->n ||
			   !bsearch(&rows[i], list->at, list->n, sizeof(*list->at), compare_what);
	return missing;
}

/* The list that lacks the fewest of the rows, the newest of such, with its entries; else a new one.
 */
static int find_list(struct adding *a, const char *what, const struct entry *rows, uint32_t n,
		     int64_t *list, struct entries *entries)
{
	sqlite3_stmt *lists = a->statements[LISTS], *add = a->statements[ADD_LIST];
	_entries_ struct entries tried = {};
	uint32_t least = UINT32_MAX;
	int rc = SQLITE_DONE;

	*list = 0;
	if (rows->crate)
		sqlite3_bind_int64(lists, 1, rows->crate);
	else
		sqlite3_bind_null(lists, 1);
	sqlite3_bind_text(lists, 2, what, -1, SQLITE_STATIC);
	while (least && (rc = sqlite3_step(lists)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(lists, 0);
		uint32_t missing;

		rc = read_entries(a, id, &tried);
		if (rc)
			break;
		missing = count_missing(&tried, rows, n);
		if (missing < least && end_of(&tried) + missing <= 2 * n + LIST_SPARE) {
			struct entries former = *entries;

			*entries = tried;
			tried = former;
			*list = id;
			least = missing;
		}
		rc = SQLITE_DONE;
	}
	sqlite3_reset(lists);
	if (rc != SQLITE_DONE || *list)
		return rc == SQLITE_DONE ? SQLITE_OK : rc;
	entries->n = 0;
	if (rows->crate)
		sqlite3_bind_int64(add, 1, rows->crate);
	else
		sqlite3_bind_null(add, 1);
	sqlite3_bind_text(add, 2, what, -1, SQLITE_STATIC);
	rc = run(add);
	*list = sqlite3_last_insert_rowid(a->db);
	return rc;
}

/* Give each row its place in the list, which grows by those that it lacks. */
static int place_rows(struct adding *a, int64_t list, const struct entries *entries,
		      struct entry *rows, uint32_t n, uint32_t *end)
{
	sqlite3_stmt *add = a->statements[ADD_ENTRY];
	int rc = SQLITE_OK;

	*end = end_of(entries);
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct entry *found = entries->n ? bsearch(&rows[i], entries->at, entries->n,
								 sizeof(*entries->at), compare_what)
						       : NULL;

		rows[i].place = found ? found->place : (*end)++;
		if (found)
			continue;
		if (rows[i].place >= SQLITE_LIST_MOST)
			return SQLITE_TOOBIG;
		sqlite3_bind_int64(add, 1, list);
		sqlite3_bind_int64(add, 2, rows[i].place);
		sqlite3_bind_int64(add, 3, rows[i].name);
		sqlite3_bind_null(add, 4);
		sqlite3_bind_null(add, 5);
		if (rows[i].kind)
			sqlite3_bind_int64(add, 4, rows[i].kind);
		if (rows[i].how)
			sqlite3_bind_int64(add, 5, rows[i].how);
		rc = run(add);
	}
	return rc;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* In UTF-8; there are no characters from 0xd800 to 0xffff. */
static void put_character(FILE *f, uint32_t c)
{
	static const uint8_t firsts[] = {0, 0xc0, 0xe0, 0xf0};
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	putc((int)(firsts[more] | c >> 6 * more), f);
	while (more--)
		putc((int)(0x80 | (c >> 6 * more & 0x3f)), f);
}

/* What put_character() wrote; 0: the end, or another has written it. */
static uint32_t get_character(const unsigned char **at)
{
	const unsigned char *p = *at;
	int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
	uint32_t c = more ? *p & (0x3f >> more) : *p;

	if (!*p)
		return 0;
	for (p++; more--; p++) {
		if ((*p & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (*p & 0x3f);
	}
	*at = p;
	return c;
}

/* The counts of an id, of which the text is one; those that it has not are unknown. */
static int read_counts(struct adding *a, int64_t id, const unsigned char *text, uint64_t *counts,
		       uint32_t end)
{
	sqlite3_stmt *large = a->statements[LARGE];
	int rc;

	for (uint32_t i = 0; i < end; i++) {
		uint32_t c = text ? get_character(&text) : 0;

		counts[i] = c ? sqlite_count__of(c) : HISTORY_UNKNOWN;
	}
	sqlite3_bind_int64(large, 1, id);
	while ((rc = sqlite3_step(large)) == SQLITE_ROW) {
		int64_t place = sqlite3_column_int64(large, 0);

		if (place >= 0 && place < end)
			counts[place] = (uint64_t)sqlite3_column_int64(large, 1);
	}
	sqlite3_reset(large);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static bool fit(const uint64_t *counts, const struct entry *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (counts[rows[i].place] != rows[i].count)
			return false;
	return true;
}

static int add_counts(struct adding *a, int64_t list, const uint64_t *counts, uint32_t end,
		      int64_t *id)
{
	sqlite3_stmt *add = a->statements[ADD_COUNTS], *large = a->statements[ADD_LARGE];
	_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc;

	if (!f)
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < end; i++)
		put_character(f, sqlite_count(counts[i]));
	if (fclose(f))
		return SQLITE_NOMEM;
	sqlite3_bind_int64(add, 1, list);
	sqlite3_bind_text(add, 2, text, (int)size, SQLITE_STATIC);
	rc = run(add);
	*id = sqlite3_last_insert_rowid(a->db);
	for (uint32_t i = 0; i < end && !rc; i++) {
		if (counts[i] == HISTORY_UNKNOWN || sqlite_count(counts[i]) != SQLITE_LARGE)
			continue;
		sqlite3_bind_int64(large, 1, *id);
		sqlite3_bind_int64(large, 2, i);
		sqlite3_bind_int64(large, 3, (int64_t)counts[i]);
		rc = run(large);
	}
	return rc;
}

/*
 * The number of counts that have those of the rows. What the build has not may be anything there,
 * as else each item that comes and goes would make new ones: new ones take it from the newest.
 */
static int find_counts(struct adding *a, int64_t list, const struct entry *rows, uint32_t n,
		       uint32_t end, int64_t *id)
{
	_free_ uint64_t *tried = calloc(end, sizeof(*tried));
	_free_ uint64_t *newest = calloc(end, sizeof(*newest));
	sqlite3_stmt *stmt = a->statements[COUNTS];
	bool any = false;
	int rc = SQLITE_DONE;

	if (!tried || !newest)
		return SQLITE_NOMEM;
	*id = 0;
	sqlite3_bind_int64(stmt, 1, list);
	while (!*id && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t found = sqlite3_column_int64(stmt, 0);

		rc = read_counts(a, found, sqlite3_column_text(stmt, 1), tried, end);
		if (rc)
			break;
		*id = fit(tried, rows, n) ? found : 0;
		if (!any)
			memcpy(newest, tried, end * sizeof(*newest));
		any = true;
	}
	sqlite3_reset(stmt);
	if (*id || rc != SQLITE_DONE)
		return *id ? SQLITE_OK : rc;
	for (uint32_t i = 0; i < end && !any; i++)
		newest[i] = HISTORY_UNKNOWN;
	for (uint32_t i = 0; i < n; i++)
		newest[rows[i].place] = rows[i].count;
	return add_counts(a, list, newest, end, id);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* A time of each place as a character. NULL: no memory. */
static char *times_text(const struct entry *rows, uint32_t n, uint32_t end, bool total)
{
	_free_ const struct entry **at = calloc(end, sizeof(*at));
	char *text = NULL;
	size_t size;
	FILE *f = at ? open_memstream(&text, &size) : NULL;

	if (!f)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		at[rows[i].place] = &rows[i];
	while (end && !at[end - 1])
		end--;
	for (uint32_t i = 0; i < end; i++)
		put_character(f, !at[i] ? SQLITE_ABSENT
					: sqlite_time(total ? at[i]->total_ns : at[i]->self_ns));
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Write rows of one crate: `n`, at least one. */
static int write_part(struct adding *a, enum history_table_id id, const char *what,
		      struct entry *rows, uint32_t n)
{
	const struct history_table *t = history_table(id);
	_entries_ struct entries entries = {};
	_free_ char *self = NULL, *total = NULL;
	sqlite3_stmt *add = a->statements[ADD_PART];
	int64_t list, counts = 0;
	uint32_t end;
	int rc =
		n > SQLITE_LIST_MOST ? SQLITE_TOOBIG : find_list(a, what, rows, n, &list, &entries);

	rc = rc ?: place_rows(a, list, &entries, rows, n, &end);
	if (!rc && history_table__column(t, "count"))
		rc = find_counts(a, list, rows, n, end, &counts);
	if (rc)
		return rc;
	self = times_text(rows, n, end, false);
	if (history_table__column(t, "total_ns"))
		total = times_text(rows, n, end, true);
	if (!self || (!total && history_table__column(t, "total_ns")))
		return SQLITE_NOMEM;
	sqlite3_bind_int64(add, 1, a->build);
	sqlite3_bind_int64(add, 2, list);
	sqlite3_bind_null(add, 3);
	if (counts)
		sqlite3_bind_int64(add, 3, counts);
	sqlite3_bind_text(add, 4, self, -1, SQLITE_STATIC);
	sqlite3_bind_text(add, 5, total, -1, SQLITE_STATIC);
	return run(add);
}

static void add_number(uint64_t *sum, uint64_t number)
{
	if (*sum == HISTORY_UNKNOWN || number == HISTORY_UNKNOWN ||
	    __builtin_add_overflow(*sum, number, sum))
		*sum = HISTORY_UNKNOWN;
}

/* The sums of queries over all crates. The order of the rows changes. */
static int write_sums(struct adding *a, struct entries *rows)
{
	_entries_ struct entries sums = {};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		rows->at[i].crate = 0;
	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), compare_crates);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct entry *row = &rows->at[i];
		struct entry *sum = sums.n ? &sums.at[sums.n - 1] : NULL;

		if (!sum || sum->name != row->name) {
			if (array__add(&sums.at, &sums.n, &sums.capacity, row))
				return SQLITE_NOMEM;
			continue;
		}
		add_number(&sum->count, row->count);
		add_number(&sum->self_ns, row->self_ns);
		add_number(&sum->total_ns, row->total_ns);
		sum->how = row->sampled ? row->how : sum->how;
		sum->sampled |= row->sampled;
		sum->estimated |= row->estimated;
	}
	for (uint32_t i = 0; i < sums.n; i++)
		if (!sums.at[i].estimated)
			sums.at[kept++] = sums.at[i];
	return kept ? write_part(a, HISTORY_QUERY, SQLITE_SUMS, sums.at, kept) : SQLITE_OK;
}

static int write_tables(struct adding *a, const struct history_rows *rows)
{
	int rc = SQLITE_OK;

	for (int id = HISTORY_QUERY; id < HISTORY_TABLES && !rc; id++) {
		_entries_ struct entries taken = {}, part = {};

		rc = take_rows(a, rows, id, &taken);
		for (uint32_t i = 0; i < taken.n && !rc; i++) {
			const struct entry *e = &taken.at[i];

			if (!e->estimated && array__add(&part.at, &part.n, &part.capacity, e))
				return SQLITE_NOMEM;
			if (i + 1 < taken.n && e[1].crate == e->crate)
				continue;
			if (part.n)
				rc = write_part(a, id, history_table(id)->name, part.at, part.n);
			part.n = 0;
		}
		if (!rc && id == HISTORY_QUERY)
			rc = write_sums(a, &taken);
	}
	return rc;
}

int sqlite_add(sqlite3 *db, const struct history_rows *rows)
{
	__cleanup(adding__clear) struct adding a = {.db = db};
	int rc = adding__prepare(&a) ?: add_rows(&a, rows, HISTORY_BUILD);

	a.build = sqlite3_last_insert_rowid(db);
	return rc ?: add_rows(&a, rows, HISTORY_COMPILE) ?: write_tables(&a, rows);
}

int sqlite_add__crates(sqlite3 *db, int64_t build, const struct history_rows *rows)
{
	__cleanup(adding__clear) struct adding a = {.db = db, .build = build};

	return adding__prepare(&a) ?: write_tables(&a, rows);
}
