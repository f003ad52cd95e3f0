// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/function_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "pctab/linear.h"
#include "pctab/varint.h"
#include "qprof/trace_format.h"
#include "base/map.h"

/* Instructions may begin at any byte, whatever the processor: return addresses are what counts. */
#define QUANTUM_SHIFT 0
#define NOWHERE	      UINT32_MAX
#define UNKNOWN	      "<unknown>"

/* A table that is long, in the encoding whose look-ups do not read all of it. */
struct long_table {
	uint32_t at; /* in `indexed` */
	uint32_t size;
};

struct function {
	struct trace_function known;	/* texts only once they were asked for */
	uint32_t library, name;		/* string ids */
	uint32_t files_at, lines_at;	/* tables of all its bytes in `tables`; lines_at 0: none */
	struct long_table files, lines; /* size 0: not long, or not looked at yet */
	bool is_looked_at;
};

struct function_table {
	struct string_table *strings;
	const struct string_pairs *files;
	struct function *all; /* ranges ascend */
	uint32_t n;
	uint32_t capacity;
	uint32_t n_with_lines;
	uint32_t last; /* the one found last */
	bool has_gaps; /* some numbers between ranges are of no function */
	struct byte_buffer tables;
	struct pctab_buffer indexed; /* long tables that somebody asked for */
	struct pctab_runs runs;	     /* scratch */
};

int function_table__new(struct string_table *strings, const struct string_pairs *files,
			struct function_table **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->strings = strings;
	(*out)->files = files;
	return 0;
}

uint32_t function_table__n(const struct function_table *t)
{
	return t->n;
}

uint32_t function_table__n_with_lines(const struct function_table *t)
{
	return t->n_with_lines;
}

uint32_t function_table__end(const struct function_table *t, uint32_t n)
{
	const struct trace_function *last;

	if (!n)
		return TRACE_NO_LOCATION + 1;
	last = &t->all[n - 1].known;
	return last->first + last->size + 1;
}

/* Read a pc-value table of the payload into t->runs. */
static int take_runs(struct function_table *t, struct byte_reader *in)
{
	size_t used;
	int err = pctab_varint__decode(in->at, (size_t)(in->end - in->at), QUANTUM_SHIFT, &t->runs,
				       &used);

	if (err)
		return err;
	in->at += used;
	return 0;
}

/* Every run is of the next function, or of none. */
static int add_ranges(struct function_table *t, uint32_t base)
{
	uint32_t at = 0;

	for (size_t i = 0; i < t->runs.n; i++) {
		const struct pctab_run *run = &t->runs.runs[i];
		const struct function f = {
			.known = {.first = base + at, .size = run->end - at - 1}};

		at = run->end;
		if (run->value == QPT_NO_FUNCTION)
			continue;
		if ((uint32_t)run->value != t->n || t->n == QPT_FUNCTIONS_MAX)
			return -EBADMSG;
		t->has_gaps |= f.known.first != function_table__end(t, t->n);
		if (array__add(&t->all, &t->n, &t->capacity, &f))
			return -ENOMEM;
	}
	return 0;
}

static int take_functions(struct function_table *t, struct byte_reader *in, uint32_t n_strings)
{
	uint32_t from = t->n;
	uint64_t n = byte_reader__varint_max(in, QPT_FUNCTIONS_MAX);
	uint64_t base = byte_reader__varint_max(in, UINT32_MAX);
	int err;

	if (!n || in->bad || base < function_table__end(t, t->n))
		return -EBADMSG;
	err = take_runs(t, in);
	if (err)
		return err;
	/* The greatest number stays free, as do those beyond 32 bits. */
	if (base + pctab_runs__length(&t->runs) > UINT32_MAX)
		return -EBADMSG;
	err = add_ranges(t, base);
	if (err)
		return err;
	for (uint32_t i = from; i < t->n; i++) {
		struct function *f = &t->all[i];

		f->library = byte_reader__varint_max(in, UINT32_MAX);
		f->known.addr = byte_reader__varint(in);
		f->name = byte_reader__varint_max(in, UINT32_MAX);
		if (f->library >= n_strings || f->name >= n_strings)
			return -EBADMSG;
	}
	return t->n - from != n || in->bad || in->at != in->end ? -EBADMSG : 0;
}

int function_table__take(struct function_table *t, struct byte_reader *in, uint32_t n_strings)
{
	uint32_t n = t->n;
	int err = take_functions(t, in, n_strings);

	if (err)
		t->n = n;
	return err;
}

/* Take a table of all bytes of a function, with values up to `max`; *at: where it is kept. */
static int take_table(struct function_table *t, struct byte_reader *in, uint32_t size, uint32_t max,
		      uint32_t *at)
{
	const uint8_t *begin = in->at;
	int err = take_runs(t, in);

	if (err)
		return err;
	if (pctab_runs__length(&t->runs) != size)
		return -EBADMSG;
	for (size_t i = 0; i < t->runs.n; i++)
		if ((uint32_t)t->runs.runs[i].value > max)
			return -EBADMSG;
	*at = t->tables.size;
	if ((size_t)(in->at - begin) > QPT_LINE_BYTES_MAX - t->tables.size)
		return -EBADMSG;
	byte_buffer__bytes(&t->tables, begin, in->at - begin);
	return t->tables.failed ? -ENOMEM : 0;
}

static int take_lines(struct function_table *t, struct byte_reader *in, uint32_t n_strings)
{
	uint64_t n = byte_reader__varint_max(in, QPT_FUNCTIONS_MAX);

	if (!n)
		return -EBADMSG;
	for (; n; n--) {
		uint64_t number = byte_reader__varint(in);
		uint32_t files_at, lines_at, size;
		int err;

		if (in->bad || number >= t->n || t->all[number].lines_at)
			return -EBADMSG;
		size = t->all[number].known.size;
		err = take_table(t, in, size, n_strings, &files_at)
			      ?: take_table(t, in, size, UINT32_MAX, &lines_at);
		if (err)
			return err;
		t->all[number].files_at = files_at;
		t->all[number].lines_at = lines_at;
		t->n_with_lines++;
	}
	return in->at != in->end ? -EBADMSG : 0;
}

int function_table__take_lines(struct function_table *t, struct byte_reader *in, uint32_t n_strings)
{
	size_t from = t->tables.size;
	int err = take_lines(t, in, n_strings);

	if (!err)
		return 0;
	/* Lines that were kept from there on are of a payload that is malformed. */
	for (uint32_t i = 0; i < t->n; i++) {
		struct function *f = &t->all[i];

		if (f->lines_at <= from)
			continue;
		t->n_with_lines--;
		f->lines_at = 0;
	}
	t->tables.size = from;
	return err;
}

/* The number of the function whose range a locindex is in, or NOWHERE. */
static uint32_t find(struct function_table *t, uint32_t locindex)
{
	size_t behind;

	if (t->last < t->n && locindex - t->all[t->last].known.first <= t->all[t->last].known.size)
		return t->last;
	behind = bisect(t->n, i, t->all[i].known.first <= locindex);
	if (!behind || locindex - t->all[behind - 1].known.first > t->all[behind - 1].known.size)
		return NOWHERE;
	t->last = behind - 1;
	return t->last;
}

bool function_table__has(struct function_table *t, uint32_t locindex)
{
	if (t->has_gaps)
		return find(t, locindex) != NOWHERE;
	return locindex != TRACE_NO_LOCATION && locindex < function_table__end(t, t->n);
}

static const char *text_of(struct function_table *t, uint32_t id)
{
	const char *text;

	return string_table__text(t->strings, id, &text) ? UNKNOWN : text;
}

/* Bytes of a table from which on reading them for each look-up would take long. */
#define LONG_TABLE 128u

/* Without memory, it stays as it was, and slow. */
static void index_table(struct function_table *t, uint32_t at, struct long_table *table)
{
	size_t used, from = t->indexed.size;

	if (pctab_varint__decode(t->tables.data + at, t->tables.size - at, QUANTUM_SHIFT, &t->runs,
				 &used) ||
	    used < LONG_TABLE)
		return;
	if (pctab_linear__encode(&t->indexed, &t->runs, QUANTUM_SHIFT) ||
	    t->indexed.size > UINT32_MAX)
		t->indexed.size = from;
	else
		*table = (struct long_table){from, t->indexed.size - from};
}

static int look_up(const struct function_table *t, const struct function *f, uint32_t at,
		   const struct long_table *table, uint32_t pc, int32_t *value)
{
	struct pctab_linear linear;

	if (!table->size)
		return pctab_varint__lookup(t->tables.data + at, t->tables.size - at, QUANTUM_SHIFT,
					    pc, value);
	linear = (struct pctab_linear){
		.data = t->indexed.data + table->at,
		.size = table->size,
		.length = f->known.size,
	};
	return pctab_linear__lookup(&linear, QUANTUM_SHIFT, pc, value);
}

/* The line of the instruction before the pc: a return address may be the next line's. */
static void find_line(struct function_table *t, struct function *f, struct trace_location *out)
{
	int32_t ref, line;

	if (!f->lines_at || !out->offset)
		return;
	if (!f->is_looked_at) {
		index_table(t, f->files_at, &f->files);
		index_table(t, f->lines_at, &f->lines);
		f->is_looked_at = true;
	}
	if (look_up(t, f, f->files_at, &f->files, out->offset - 1, &ref) ||
	    look_up(t, f, f->lines_at, &f->lines, out->offset - 1, &line) || !ref || !line)
		return;
	out->file = text_of(t, (uint32_t)ref - 1);
	out->line = (uint32_t)line;
}

bool function_table__locate(struct function_table *t, uint32_t locindex, struct trace_location *out)
{
	uint32_t number = find(t, locindex), file;
	struct function *f;

	if (number == NOWHERE)
		return false;
	f = &t->all[number];
	if (!f->known.name) {
		file = string_pairs__get(t->files, f->library);
		f->known.library = text_of(t, f->library);
		f->known.name = text_of(t, f->name);
		f->known.file = file == TRACE_NO_STRING ? NULL : text_of(t, file);
	}
	*out = (struct trace_location){
		.function = &f->known,
		.offset = locindex - f->known.first,
	};
	find_line(t, f, out);
	return true;
}

void function_table__free(struct function_table *t)
{
	if (!t)
		return;
	free(t->all);
	byte_buffer__destroy(&t->tables);
	pctab_buffer__destroy(&t->indexed);
	pctab_runs__destroy(&t->runs);
	free(t);
}

/* ---- The writer's list ----------------------------------------------------------------------- */

#define TABLES_MOST (QPT_PAYLOAD_MAX / 2) /* bytes of the lines of one function */

uint32_t function_list__end(const struct function_list *l)
{
	const struct listed_function *last;

	if (!l->n)
		return TRACE_NO_LOCATION + 1;
	last = &l->all[l->n - 1];
	return last->first + last->size + 1;
}

int function_list__add(struct function_list *l, const struct trace_function *f, uint32_t library,
		       uint32_t name)
{
	uint32_t at;
	int err = 0;

	if (f->first < function_list__end(l) || f->size >= UINT32_MAX - f->first)
		return -EINVAL;
	if (l->n == QPT_FUNCTIONS_MAX)
		return -E2BIG;
	if (array__reserve_one(&l->all, l->n, &l->capacity, sizeof(*l->all)))
		return -ENOMEM;
	if (!l->ranges.n)
		l->base = f->first;
	at = f->first - l->base;
	/* Numbers between this range and the one before in the payload belong to no function. */
	if (at > pctab_runs__length(&l->ranges))
		err = pctab_runs__add(&l->ranges, at, QPT_NO_FUNCTION);
	err = err ?: pctab_runs__add(&l->ranges, at + f->size + 1, (int32_t)l->n);
	if (err)
		return err;
	l->all[l->n++] = (struct listed_function){.first = f->first, .size = f->size};
	l->n_new++;
	byte_buffer__varint(&l->records, library);
	byte_buffer__varint(&l->records, f->addr);
	byte_buffer__varint(&l->records, name);
	return 0;
}

int function_list__payload(struct function_list *l, struct byte_buffer *out)
{
	int err;

	l->table.size = 0;
	err = pctab_varint__encode(&l->table, &l->ranges, QUANTUM_SHIFT);
	if (err)
		return err;
	byte_buffer__varint(out, l->n_new);
	byte_buffer__varint(out, l->base);
	byte_buffer__bytes(out, l->table.data, l->table.size);
	byte_buffer__bytes(out, l->records.data, l->records.size);
	out->failed |= l->records.failed;
	byte_buffer__clear(&l->records);
	pctab_runs__clear(&l->ranges);
	l->n_new = 0;
	return 0;
}

/* Rows that do not ascend, or go beyond `size`, are runs that no table takes: -EINVAL. */
static int make_runs(struct function_list *l, const struct trace_line *rows, size_t n,
		     uint32_t size, uint32_t n_strings)
{
	int err = 0;

	pctab_runs__clear(&l->files);
	pctab_runs__clear(&l->lines);
	if (rows->offset)
		err = pctab_runs__add(&l->files, rows->offset, 0)
			      ?: pctab_runs__add(&l->lines, rows->offset, 0);
	for (size_t i = 0; i < n && !err; i++) {
		uint32_t end = i + 1 < n ? rows[i + 1].offset : size;
		uint32_t ref = rows[i].line ? rows[i].file + 1 : 0;

		if (rows[i].line && rows[i].file >= n_strings)
			return -EINVAL;
		err = pctab_runs__add(&l->files, end, (int32_t)ref)
			      ?: pctab_runs__add(&l->lines, end, (int32_t)rows[i].line);
	}
	return err;
}

int function_list__lines(struct function_list *l, uint32_t first, const struct trace_line *rows,
			 size_t n, uint32_t n_strings, struct byte_buffer *out)
{
	size_t i = bisect(l->n, k, l->all[k].first < first);
	struct listed_function *f = i < l->n ? &l->all[i] : NULL;
	int err;

	if (!f || f->first != first || f->has_lines)
		return -EINVAL;
	if (!n) {
		f->has_lines = true;
		return 0;
	}
	l->table.size = 0;
	err = make_runs(l, rows, n, f->size, n_strings)
		      ?: pctab_varint__encode(&l->table, &l->files, QUANTUM_SHIFT)
		      ?: pctab_varint__encode(&l->table, &l->lines, QUANTUM_SHIFT);
	if (err)
		return err;
	if (l->table.size > TABLES_MOST || l->table.size > QPT_LINE_BYTES_MAX - l->line_bytes)
		return -E2BIG;
	l->line_bytes += l->table.size;
	f->has_lines = true;
	byte_buffer__varint(out, (uint64_t)(f - l->all));
	byte_buffer__bytes(out, l->table.data, l->table.size);
	return out->failed ? -ENOMEM : 0;
}

void function_list__destroy(struct function_list *l)
{
	free(l->all);
	byte_buffer__destroy(&l->records);
	pctab_runs__destroy(&l->ranges);
	pctab_runs__destroy(&l->files);
	pctab_runs__destroy(&l->lines);
	pctab_buffer__destroy(&l->table);
	*l = (struct function_list){0};
}

/* ---- Locations ------------------------------------------------------------------------------- */

/* The last number is not assigned: in a map it means "none". */
#define LOCATIONS_END UINT32_MAX

struct locations {
	struct u64_map start_of; /* key -> locindex of offset 0 */
	uint32_t next;		 /* the first number that is not assigned */
};

int locations__new(struct locations **out)
{
	struct locations *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->next = TRACE_NO_LOCATION + 1;
	*out = l;
	return 0;
}

int locations__index(struct locations *l, uint64_t key, uint32_t size, uint32_t offset,
		     uint32_t *locindex, bool *is_new)
{
	uint32_t start;

	if (offset > size)
		return -EINVAL;
	start = u64_map__get(&l->start_of, key);
	*is_new = start == U64_MAP_NONE;
	if (*is_new) {
		if (size >= LOCATIONS_END - l->next)
			return -EOVERFLOW;
		if (u64_map__put(&l->start_of, key, l->next))
			return -ENOMEM;
		/* A number for each byte of the function, and one for its end. */
		start = l->next;
		l->next += size + 1;
	}
	*locindex = start + offset;
	return 0;
}

void locations__free(struct locations *l)
{
	if (!l)
		return;
	u64_map__destroy(&l->start_of);
	free(l);
}
