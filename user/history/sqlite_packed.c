// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_packed.h"

#include <string.h>

#include "base/array.h"
#include "history/sqlite_db.h"
#include "history/sqlite_sums.h"

/* Shapes of a crate that are tried: of debug, release, check, and former compilers. */
#define SHAPES_TRIED 16
/* A shape with more rows than twice those of a build takes more bytes than a new one would save. */
#define SHAPE_SPARE 16

/* A row, and the number of its crate's name. */
struct packed_row {
	int64_t crate;
	struct pack_row row;
};

struct packed_rows {
	struct packed_row *at;
	uint32_t n;
	uint32_t capacity;
};

static void packed_rows__clear(struct packed_rows *r)
{
	free(r->at);
}

int packed__prepare(const struct packed_table *p, sqlite3 *db, const char *format,
		    sqlite3_stmt **out)
{
	char *sql = sqlite3_mprintf(format, p->table->name);
	int rc = sql ? sqlite3_prepare_v2(db, sql, -1, out, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc;
}

struct writer {
	const struct packed_table *p;
	sqlite3 *db;
	struct sqlite_names *names;
	int64_t build;
	sqlite3_stmt *shapes;
	sqlite3_stmt *add_shape;
	sqlite3_stmt *add_where;
	sqlite3_stmt *add_part;
};

static void writer__clear(struct writer *w)
{
	sqlite3_finalize(w->shapes);
	sqlite3_finalize(w->add_shape);
	sqlite3_finalize(w->add_where);
	sqlite3_finalize(w->add_part);
}

struct packed_table packed_table(enum history_table_id id)
{
	struct packed_table p = {
		.id = id,
		.table = history_table(id),
		.sums = id == HISTORY_QUERY,
		.where = id != HISTORY_QUERY,
	};

	p.crate = history_table__column(p.table, "crate");
	p.key = history_table__column(p.table, p.table->name)
			? history_table__column(p.table, p.table->name)
			: history_table__column(p.table, "name");
	for (size_t i = 0; i < p.table->n; i++) {
		const struct history_column *c = &p.table->columns[i];

		if (c == p.crate || c == p.key || !strcmp(c->name, "build") ||
		    !strcmp(c->name, "start_ns"))
			continue;
		if (!strcmp(c->unit, "ns"))
			p.times[p.format.times++] = c;
		else
			p.exact[p.format.exact++] = c;
	}
	return p;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int exact_number(struct writer *w, const struct history_column *c, const void *row,
			uint64_t *out)
{
	int64_t id = 0;
	int rc = SQLITE_OK;

	if (c->type == HISTORY_NUMBER) {
		*out = history_column__number(c, row);
		return SQLITE_OK;
	}
	if (history_column__text(c, row))
		rc = sqlite_names__add(w->names, history_column__text(c, row), &id);
	*out = id ? (uint64_t)id : PACK_UNKNOWN;
	return rc;
}

static int take_row(struct writer *w, const void *row, struct packed_row *out)
{
	const struct packed_table *p = w->p;
	int64_t key;
	int rc = sqlite_names__add(w->names, history_column__text(p->crate, row), &out->crate);

	*out = (struct packed_row){.crate = out->crate};
	if (!rc)
		rc = sqlite_names__add(w->names, history_column__text(p->key, row), &key);
	if (rc)
		return rc;
	out->row.key = (uint64_t)key;
	for (unsigned int i = 0; i < p->format.exact && !rc; i++)
		rc = exact_number(w, p->exact[i], row, &out->row.exact[i]);
	for (unsigned int i = 0; i < p->format.times; i++)
		out->row.times[i] = history_column__number(p->times[i], row);
	return rc;
}

static int by_crate_and_key(const void *a, const void *b)
{
	const struct packed_row *x = a, *y = b;

	if (x->crate != y->crate)
		return x->crate < y->crate ? -1 : 1;
	return x->row.key < y->row.key ? -1 : x->row.key > y->row.key;
}

static int take_rows(struct writer *w, const struct history_rows *rows, struct packed_rows *out)
{
	enum history_table_id id = w->p->id;

	for (size_t i = 0; i < history_rows__n(rows, id); i++) {
		struct packed_row row;
		int rc = take_row(w, history_rows__at(rows, id, i), &row);

		if (rc)
			return rc;
		if (array__add(&out->at, &out->n, &out->capacity, &row))
			return SQLITE_NOMEM;
	}
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_crate_and_key);
	for (uint32_t i = 1; i < out->n; i++)
		if (!by_crate_and_key(&out->at[i - 1], &out->at[i]))
			return SQLITE_CONSTRAINT;
	return SQLITE_OK;
}

/* ---- Sums over crates ------------------------------------------------------------------------ */

/* The column `how` among the numbers of a row, and the number of the word that a sum has of any. */
struct how {
	unsigned int column;
	uint64_t sampled;
};

static int find_how(struct writer *w, struct how *out)
{
	int64_t id = 0;
	int rc = sqlite_names__add(w->names, "sampled", &id);

	for (unsigned int i = 0; i < w->p->format.exact; i++)
		if (!strcmp(w->p->exact[i]->name, "how"))
			out->column = i;
	out->sampled = (uint64_t)id;
	return rc;
}

static void add_number(uint64_t *sum, uint64_t number)
{
	if (*sum == PACK_UNKNOWN || number == PACK_UNKNOWN ||
	    __builtin_add_overflow(*sum, number, sum))
		*sum = PACK_UNKNOWN;
}

static void add_row(const struct packed_table *p, const struct how *how, struct pack_row *sum,
		    const struct pack_row *row)
{
	if (row->exact[how->column] == how->sampled)
		sum->exact[how->column] = how->sampled;
	for (unsigned int i = 0; i < p->format.exact; i++)
		if (p->exact[i]->type == HISTORY_NUMBER)
			add_number(&sum->exact[i], row->exact[i]);
	for (unsigned int i = 0; i < p->format.times; i++)
		add_number(&sum->times[i], row->times[i]);
}

static int by_key(const void *a, const void *b)
{
	const struct packed_row *x = a, *y = b;

	return x->row.key < y->row.key ? -1 : x->row.key > y->row.key;
}

/* The order of `rows` changes. */
static int sum_rows(struct writer *w, struct packed_rows *rows, struct pack_rows *out)
{
	struct how how = {};
	int rc = find_how(w, &how);

	if (rc)
		return rc;
	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_key);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct pack_row *row = &rows->at[i].row;

		if (out->n && out->at[out->n - 1].key == row->key)
			add_row(w->p, &how, &out->at[out->n - 1], row);
		else if (array__add(&out->at, &out->n, &out->capacity, row))
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static int prepare_all(struct writer *w)
{
	int rc = packed__prepare(
		w->p, w->db, "SELECT id, rows FROM main.%s_shapes WHERE crate = ? ORDER BY id DESC",
		&w->shapes);

	if (!rc)
		rc = packed__prepare(w->p, w->db,
				     "INSERT INTO main.%s_shapes(crate, rows) VALUES(?, ?)",
				     &w->add_shape);
	if (!rc && w->p->where)
		rc = packed__prepare(w->p, w->db,
				     "INSERT OR IGNORE INTO main.%s_crates VALUES(?, ?)",
				     &w->add_where);
	if (!rc)
		rc = packed__prepare(w->p, w->db,
				     "INSERT INTO main.%s_parts(id, shape, times) VALUES(?, ?, ?)",
				     &w->add_part);
	return rc;
}

static int done(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Where an item of this shape may be found. */
static int add_where(struct writer *w, int64_t crate, const struct pack_rows *shape)
{
	int rc = SQLITE_OK;

	for (uint32_t i = 0; i < shape->n && !rc && w->add_where; i++) {
		sqlite3_bind_int64(w->add_where, 1, (int64_t)shape->at[i].key);
		sqlite3_bind_int64(w->add_where, 2, crate);
		rc = done(w->add_where);
	}
	return rc;
}

static int add_shape(struct writer *w, int64_t crate, const struct pack_rows *shape, int64_t *id)
{
	struct byte_buffer bytes = {};
	int rc = SQLITE_NOMEM;

	pack_shape__encode(&bytes, &w->p->format, shape);
	if (!bytes.failed) {
		sqlite3_bind_int64(w->add_shape, 1, crate);
		sqlite3_bind_blob64(w->add_shape, 2, bytes.data, bytes.size, SQLITE_STATIC);
		rc = done(w->add_shape);
	}
	byte_buffer__destroy(&bytes);
	*id = sqlite3_last_insert_rowid(w->db);
	return rc ?: add_where(w, crate, shape);
}

/* A shape that has the rows, of the newest; else 0, and `shape` is what a new one should have. */
static int find_shape(struct writer *w, const struct pack_rows *rows, struct pack_rows *shape,
		      int64_t *id)
{
	_pack_rows_ struct pack_rows tried = {};
	bool united = false;
	int rc = SQLITE_DONE;

	*id = 0;
	for (int i = 0; i < SHAPES_TRIED && !*id; i++) {
		rc = sqlite3_step(w->shapes);
		if (rc != SQLITE_ROW)
			break;
		if (pack_shape__decode(sqlite3_column_blob(w->shapes, 1),
				       (size_t)sqlite3_column_bytes(w->shapes, 1), &w->p->format,
				       &tried))
			return SQLITE_CORRUPT;
		if (tried.n > 2 * rows->n + SHAPE_SPARE)
			continue;
		if (pack_rows__fit(&tried, &w->p->format, rows)) {
			*id = sqlite3_column_int64(w->shapes, 0);
			pack_rows__clear(shape);
			*shape = tried;
			tried = (struct pack_rows){};
		} else if (!united) {
			united = !pack_rows__unite(&tried, &w->p->format, rows, shape) &&
				 shape->n <= 2 * rows->n + SHAPE_SPARE;
		}
	}
	if (!*id && !united && pack_rows__unite(&(struct pack_rows){}, &w->p->format, rows, shape))
		return SQLITE_NOMEM;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int write_part(struct writer *w, int64_t crate, const struct pack_rows *rows)
{
	_pack_rows_ struct pack_rows shape = {};
	struct byte_buffer times = {};
	int64_t id;
	int rc;

	sqlite3_bind_int64(w->shapes, 1, crate);
	rc = find_shape(w, rows, &shape, &id);
	sqlite3_reset(w->shapes);
	if (!rc && !id)
		rc = add_shape(w, crate, &shape, &id);
	if (rc)
		return rc;
	pack_times__encode(&times, &w->p->format, &shape);
	rc = SQLITE_NOMEM;
	if (!times.failed) {
		sqlite3_bind_int64(w->add_part, 1, packed_id(w->build, crate));
		sqlite3_bind_int64(w->add_part, 2, id);
		sqlite3_bind_blob64(w->add_part, 3, times.data ?: (uint8_t *)"", times.size,
				    SQLITE_STATIC);
		rc = done(w->add_part);
	}
	byte_buffer__destroy(&times);
	return rc;
}

static int write_crates(struct writer *w, struct packed_rows *rows)
{
	_pack_rows_ struct pack_rows part = {};
	int rc = SQLITE_OK;

	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_crate_and_key);
	for (uint32_t i = 0; i < rows->n && !rc; i++) {
		if (array__add(&part.at, &part.n, &part.capacity, &rows->at[i].row))
			return SQLITE_NOMEM;
		if (i + 1 < rows->n && rows->at[i + 1].crate == rows->at[i].crate)
			continue;
		rc = part.n <= PACK_ROWS ? write_part(w, rows->at[i].crate, &part) : SQLITE_TOOBIG;
		part.n = 0;
	}
	return rc;
}

static int write_sums(struct writer *w, struct packed_rows *rows)
{
	_pack_rows_ struct pack_rows sums = {};
	int rc = sum_rows(w, rows, &sums);

	if (!rc && sums.n > PACK_ROWS)
		rc = SQLITE_TOOBIG;
	return rc ?: sqlite_sums__add(w->db, &w->p->format, w->build, &sums);
}

int packed_table__write(const struct packed_table *p, sqlite3 *db, struct sqlite_names *names,
			int64_t build, const struct history_rows *rows)
{
	__cleanup(writer__clear) struct writer w = {
		.p = p, .db = db, .names = names, .build = build};
	__cleanup(packed_rows__clear) struct packed_rows taken = {};
	int rc = prepare_all(&w);

	if (!rc)
		rc = take_rows(&w, rows, &taken);
	if (!rc)
		rc = write_crates(&w, &taken);
	return rc || !p->sums ? rc : write_sums(&w, &taken);
}

int packed__give_name(sqlite3_context *ctx, struct sqlite_names *names, uint64_t id)
{
	const char *text;
	int rc;

	if (id == PACK_UNKNOWN)
		return SQLITE_OK;
	rc = sqlite_names__text(names, (int64_t)id, &text);
	if (!rc)
		sqlite3_result_text(ctx, text, -1, SQLITE_STATIC);
	return rc;
}

int packed__give_number(sqlite3_context *ctx, uint64_t number)
{
	if (number != PACK_UNKNOWN)
		sqlite3_result_int64(ctx, (sqlite3_int64)number);
	return SQLITE_OK;
}
