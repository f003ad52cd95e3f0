// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/function_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/map.h"
#include "pctab/varint.h"
#include "qprof/trace_format.h"

/* Instructions may begin at any byte, whatever the processor: return addresses are what counts. */
#define QUANTUM_SHIFT 0
#define TABLES_MOST   (QPT_PAYLOAD_MAX / 2) /* bytes of the lines of one function */

uint32_t function_list__end(const struct function_list *l)
{
	const struct listed_function *last;

	if (!l->n)
		return TRACE_NO_LOCATION + 1;
	last = &l->all[l->n - 1];
	return last->first + last->size + 1;
}

static int make_room(struct function_list *l)
{
	if (l->n == QPT_FUNCTIONS_MAX)
		return -E2BIG;
	return array__reserve_one(&l->all, l->n, &l->capacity, sizeof(*l->all));
}

/* Numbers between this range and the one before in the payload belong to no function. */
static int add_range(struct function_list *l, const struct trace_function *f)
{
	uint32_t at;
	int err = 0;

	if (!l->ranges.n)
		l->base = f->first;
	at = f->first - l->base;
	if (at > pctab_runs__length(&l->ranges))
		err = pctab_runs__add(&l->ranges, at, QPT_NO_FUNCTION);
	return err ?: pctab_runs__add(&l->ranges, at + f->size + 1, (int32_t)l->n);
}

int function_list__add(struct function_list *l, const struct trace_function *f, uint32_t library,
		       uint32_t name)
{
	int err;

	if (f->first < function_list__end(l) || f->size >= UINT32_MAX - f->first)
		return -EINVAL;
	err = make_room(l) ?: add_range(l, f);
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

static struct listed_function *find(const struct function_list *l, uint32_t first)
{
	size_t i = bisect(l->n, k, l->all[k].first < first);

	return i < l->n && l->all[i].first == first ? &l->all[i] : NULL;
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
	struct listed_function *f = find(l, first);
	int err;

	if (!f || f->has_lines)
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

/* Reserve a number for each byte of a function and one for its end. */
static int reserve(struct locations *l, uint64_t key, uint32_t size, uint32_t *start)
{
	int err;

	if (size >= LOCATIONS_END - l->next)
		return -EOVERFLOW;
	err = u64_map__put(&l->start_of, key, l->next);
	if (err)
		return err;
	*start = l->next;
	l->next += size + 1;
	return 0;
}

int locations__index(struct locations *l, uint64_t key, uint32_t size, uint32_t offset,
		     uint32_t *locindex, bool *is_new)
{
	uint32_t start;
	int err;

	if (offset > size)
		return -EINVAL;
	start = u64_map__get(&l->start_of, key);
	*is_new = start == U64_MAP_NONE;
	if (*is_new) {
		err = reserve(l, key, size, &start);
		if (err)
			return err;
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
