// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_former.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history/columns.h"
#include "history/sqlite_add.h"
#include "history/sqlite_db.h"
#include "history/sqlite_prune.h"
#include "history/sqlite_schema.h"
#include "trace/bytes.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

static void print_packed(FILE *f, const char *table)
{
	fprintf(f,
		"CREATE TABLE %s_parts(id INTEGER PRIMARY KEY, shape INTEGER NOT NULL, "
		"times BLOB NOT NULL);"
		"CREATE TABLE %s_shapes(id INTEGER PRIMARY KEY, crate INTEGER NOT NULL, "
		"rows BLOB NOT NULL);"
		"CREATE INDEX %s_shapes_crate ON %s_shapes(crate);",
		table, table, table, table);
	if (strcmp(table, "query"))
		fprintf(f,
			"CREATE TABLE %s_crates(name INTEGER NOT NULL, crate INTEGER NOT NULL, "
			"PRIMARY KEY(name, crate)) WITHOUT ROWID;",
			table);
}

void sqlite_former__print(FILE *f, int64_t version)
{
	print_packed(f, "query");
	print_packed(f, "item");
	if (version >= 2)
		fputs("CREATE TABLE sums_recent(n INTEGER PRIMARY KEY, rows BLOB NOT NULL);"
		      "CREATE TABLE sums_turned(id INTEGER PRIMARY KEY, rows BLOB NOT NULL);",
		      f);
	if (version >= 5)
		print_packed(f, "llvm");
}

/* ---- Bits ------------------------------------------------------------------------------------ */

#define CODE_END   (1u << 16) /* more than any code of a time */
#define ROWS_MOST  (1u << 16)
#define NUMBERS	   3 /* of a row, at most */
#define TIMES	   2
#define UNKNOWN	   UINT64_MAX
#define LESS_BITS  3
#define RICE_ONES  12
#define WIDTH_BITS 5

struct bits {
	const uint8_t *at, *end;
	uint64_t bits;
	unsigned int n;
	bool bad; /* read past the end: all that is read is 0 */
};

/* At most 32. */
static uint64_t get(struct bits *r, unsigned int n)
{
	uint64_t v;

	for (; r->n < n && r->at < r->end; r->n += 8)
		r->bits |= (uint64_t)*r->at++ << r->n;
	if (n > r->n)
		r->bad = true;
	if (r->bad)
		return 0;
	v = r->bits & ((UINT64_C(1) << n) - 1);
	r->bits >>= n;
	r->n -= n;
	return v;
}

static uint64_t get_rice(struct bits *r, unsigned int k)
{
	uint64_t ones = 0;

	while (ones < RICE_ONES && get(r, 1))
		ones++;
	return ones < RICE_ONES ? ones << k | get(r, k) : get(r, (unsigned int)get(r, WIDTH_BITS));
}

/* ---- Packed rows ----------------------------------------------------------------------------- */

/* A table: its columns of numbers; each of them may be NULL, which is the end. */
static const struct packed {
	enum history_table_id id;
	int64_t since; /* version */
	const char *numbers[NUMBERS + 1];
	const char *times[TIMES + 1];
} packed[] = {
	{HISTORY_QUERY, 1, {"kind", "how", "count"}, {"self_ns", "total_ns"}},
	{HISTORY_ITEM, 1, {"how", "count"}, {"self_ns"}},
	{HISTORY_LLVM, 5, {"kind", "how"}, {"self_ns"}},
};

struct row {
	uint64_t key;
	uint64_t numbers[NUMBERS];
	uint32_t expected[TIMES]; /* codes */
};

struct shape {
	struct row *rows;
	uint32_t n;
};

static void shape__clear(struct shape *s)
{
	free(s->rows);
}

/* SQLite's code. */
static int read_shape(const struct packed *p, sqlite3_stmt *stmt, int column, struct shape *s)
{
	const uint8_t *bytes = sqlite3_column_blob(stmt, column);
	size_t size = (size_t)sqlite3_column_bytes(stmt, column);
	struct byte_reader r = {.at = bytes, .end = size ? bytes + size : bytes};
	uint64_t key = 0, n = byte_reader__varint_max(&r, ROWS_MOST);

	/* Each takes a byte at least, so hostile bytes allocate no more than in proportion. */
	if (r.bad || n > size)
		return SQLITE_CORRUPT;
	s->rows = calloc(n + 1, sizeof(*s->rows));
	s->n = (uint32_t)n;
	if (!s->rows)
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t more = byte_reader__varint(&r);

		if (!more || more > SQLITE_NAMES_MAX)
			return SQLITE_CORRUPT;
		s->rows[i].key = key += more;
	}
	for (int c = 0; p->numbers[c]; c++) {
		bool common = byte_reader__varint_max(&r, s->n > 0);

		for (uint32_t i = 0; i < s->n; i++)
			s->rows[i].numbers[c] =
				i && common ? s->rows[0].numbers[c] : byte_reader__varint(&r) - 1;
	}
	for (int t = 0; p->times[t]; t++)
		for (uint32_t i = 0; i < s->n; i++)
			s->rows[i].expected[t] =
				(uint32_t)byte_reader__varint_max(&r, CODE_END - 1);
	return r.bad || r.at != r.end ? SQLITE_CORRUPT : SQLITE_OK;
}

/*
 * How many low bits a difference usually has: the first time of a row differs by its noise, the
 * others, beyond that, by what they have more than the first.
 */
static unsigned int usual_bits(const struct row *row, int t)
{
	uint32_t first = row->expected[0], other = row->expected[t];
	uint32_t apart = !t ? first : other > first ? other - first : first - other;
	unsigned int width = apart ? 32 - (unsigned int)__builtin_clz(apart) : 0;

	if (!t)
		return width < 2 ? 0 : width < 7 ? width - 1 : 5;
	return width < 4 ? width : 4 + width / 2;
}

/* ---- A build --------------------------------------------------------------------------------- */

struct moving {
	sqlite3 *db;
	char **names; /* by number; NULL: there is none */
	uint32_t n_names;
	struct history_rows rows; /* of the current build */
};

static void moving__clear(struct moving *m)
{
	for (uint32_t i = 0; i < m->n_names; i++)
		free(m->names[i]);
	free(m->names);
	history_rows__clear(&m->rows);
}

static int read_names(struct moving *m)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(m->db, "SELECT id, text FROM main.names", -1, &stmt, NULL);

	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		const char *text = (const char *)sqlite3_column_text(stmt, 1);

		if (id <= 0 || id >= SQLITE_NAMES_MAX || !text)
			return SQLITE_CORRUPT;
		if (array__reserve_at(&m->names, (uint32_t)id, &m->n_names, sizeof(*m->names)))
			return SQLITE_NOMEM;
		m->names[id] = strdup(text);
		rc = m->names[id] ? SQLITE_OK : SQLITE_NOMEM;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int set_name(struct moving *m, const struct history_column *c, void *row, uint64_t id)
{
	const char *text;

	if (id == UNKNOWN && !c->required)
		return SQLITE_OK;
	if (id >= m->n_names || !m->names[id])
		return SQLITE_CORRUPT;
	text = history_rows__text(&m->rows, m->names[id]);
	history_column__set_text(c, row, text);
	return text ? SQLITE_OK : SQLITE_NOMEM;
}

static int set_number(const struct history_column *c, void *row, uint64_t number)
{
	if (number != UNKNOWN && number >= HISTORY_NUMBER_MAX)
		return SQLITE_CORRUPT;
	history_column__set_number(c, row, number);
	return SQLITE_OK;
}

/* Append a row with its codes; a time that is not known has CODE_END. */
static int append(struct moving *m, const struct packed *p, uint64_t crate, const struct row *from,
		  const uint32_t *codes)
{
	const struct history_table *t = history_table(p->id);
	void *row = history_rows__append(&m->rows, p->id);
	int rc;

	if (!row)
		return SQLITE_NOMEM;
	rc = set_name(m, history_table__column(t, "crate"), row, crate)
		     ?: set_name(m, sqlite_key(t), row, from->key);
	for (int i = 0; p->numbers[i] && !rc; i++) {
		const struct history_column *c = history_table__column(t, p->numbers[i]);

		rc = c->type == HISTORY_TEXT ? set_name(m, c, row, from->numbers[i])
					     : set_number(c, row, from->numbers[i]);
	}
	for (int i = 0; p->times[i] && !rc; i++)
		if (codes[i] != CODE_END)
			rc = set_number(history_table__column(t, p->times[i]), row,
					sqlite_time__ns(codes[i]));
	return rc;
}

static int take_times(struct moving *m, const struct packed *p, sqlite3_stmt *stmt, int column,
		      uint64_t crate, const struct shape *s)
{
	const uint8_t *bytes = sqlite3_column_blob(stmt, column);
	size_t size = (size_t)sqlite3_column_bytes(stmt, column);
	struct bits r = {.at = bytes, .end = size ? bytes + size : bytes};
	bool absent = get(&r, 1), unknown = get(&r, 1);
	unsigned int less[TIMES] = {};
	int rc = SQLITE_OK;

	for (int t = 0; p->times[t]; t++)
		less[t] = (unsigned int)get(&r, LESS_BITS);
	for (uint32_t i = 0; i < s->n && !rc; i++) {
		const struct row *row = &s->rows[i];
		uint32_t codes[TIMES] = {}, first = 0;

		if (absent && get(&r, 1))
			continue;
		for (int t = 0; p->times[t]; t++) {
			unsigned int usual = usual_bits(row, t);
			uint32_t expected = row->expected[t] + (t ? first - row->expected[0] : 0);

			codes[t] = CODE_END;
			if (unknown && get(&r, 1))
				continue;
			codes[t] = expected + (uint32_t)bytes_unzigzag(get_rice(
						      &r, usual > less[t] ? usual - less[t] : 0));
			if (codes[t] >= CODE_END)
				return SQLITE_CORRUPT;
			first = t ? first : codes[0];
		}
		rc = r.bad ? SQLITE_CORRUPT : append(m, p, crate, row, codes);
	}
	return rc ?: r.bad ? SQLITE_CORRUPT : SQLITE_OK;
}

/* Without the sums of version 1: they are made anew. */
static int take_packed(struct moving *m, const struct packed *p, int64_t build)
{
	_sqlite3_stmt_ sqlite3_stmt *stmt = NULL;
	const char *table = history_table(p->id)->name;
	char *sql = sqlite3_mprintf("SELECT p.id & 4294967295, s.rows, p.times "
				    "FROM main.%s_parts AS p JOIN main.%s_shapes AS s "
				    "ON s.id = p.shape "
				    "WHERE p.id > ?1 << 32 AND p.id < (?1 + 1) << 32 ORDER BY p.id",
				    table, table);
	int rc = sql ? sqlite3_prepare_v2(m->db, sql, -1, &stmt, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (!rc)
		sqlite3_bind_int64(stmt, 1, build);
	while (!rc && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		__cleanup(shape__clear) struct shape s = {};

		rc = read_shape(p, stmt, 1, &s);
		rc = rc ?: take_times(m, p, stmt, 2, (uint64_t)sqlite3_column_int64(stmt, 0), &s);
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- A file ---------------------------------------------------------------------------------- */

/* Names stay, as others refer to them by number. Before version 3 a recording had a budget. */
static const char before[] = "DROP VIEW build; DROP VIEW compile;"
			     "DROP INDEX builds_start; DROP INDEX compiles_crate;"
			     "ALTER TABLE builds RENAME TO former_builds;"
			     "ALTER TABLE compiles RENAME TO former_compiles;";
static const char between[] = "UPDATE builds SET how = 'sampled' WHERE how = 'budget';";

static void print_columns(FILE *f, int64_t version, enum history_table_id id)
{
	const struct history_table *t = history_table(id);

	fputc('n', f);
	for (size_t i = id == HISTORY_BUILD ? 0 : SQLITE_OF_BUILD; i < t->n; i++)
		if (sqlite_schema__has(version, &t->columns[i]))
			fprintf(f, ", \"%s\"", t->columns[i].name);
}

/* Those of our version, of which builds and compiles are complete. */
static int make_tables(sqlite3 *db, int64_t version)
{
	_free_ char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);

	if (!f)
		return SQLITE_NOMEM;
	fputs(before, f);
	sqlite_schema__print_builds(f, SQLITE_FILE_VERSION);
	sqlite_schema__print_lists(f);
	for (int id = HISTORY_BUILD; id <= HISTORY_COMPILE; id++) {
		fprintf(f, "INSERT INTO %ss(", history_table(id)->name);
		print_columns(f, version, id);
		fputs(") SELECT ", f);
		print_columns(f, version, id);
		fprintf(f, " FROM former_%ss;", history_table(id)->name);
	}
	fputs(between, f);
	return fclose(f) ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* Not all versions have all. */
static const char behind[] =
	"DROP TABLE former_builds; DROP TABLE former_compiles;"
	"DROP TABLE query_parts; DROP TABLE query_shapes;"
	"DROP TABLE item_parts; DROP TABLE item_shapes; DROP TABLE item_crates;"
	"DROP TABLE IF EXISTS sums_recent; DROP TABLE IF EXISTS sums_turned;"
	"DROP TABLE IF EXISTS llvm_parts; DROP TABLE IF EXISTS llvm_shapes;"
	"DROP TABLE IF EXISTS llvm_crates;";

int sqlite_former__move(sqlite3 *db, int64_t version)
{
	__cleanup(moving__clear) struct moving m = {.db = db};
	_sqlite3_stmt_ sqlite3_stmt *build = NULL;
	int rc = make_tables(db, version) ?: read_names(&m);

	history_rows__init(&m.rows);
	rc = rc ?: sqlite3_prepare_v2(db, "SELECT n FROM main.builds ORDER BY n", -1, &build, NULL);
	while (!rc && (rc = sqlite3_step(build)) == SQLITE_ROW) {
		int64_t n = sqlite3_column_int64(build, 0);

		rc = SQLITE_OK;
		history_rows__clear(&m.rows);
		for (size_t i = 0; i < N_OF(packed) && !rc; i++)
			if (packed[i].since <= version)
				rc = take_packed(&m, &packed[i], n);
		rc = rc ?: sqlite_add__crates(db, n, &m.rows);
	}
	if (rc != SQLITE_DONE)
		return rc;
	sqlite3_finalize(take_ptr(build));
	return sqlite3_exec(db, behind, NULL, NULL, NULL) ?: sqlite_prune__unused(db);
}
