// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

#define FILE_HEAD     20
#define INTERNED_SIZE 12
/* A span whose length is this has an index in place of a position. */
#define LENGTH_INTERNED 0xffffu
/* In a length: the context is a definition in place of a macro. */
#define LENGTH_PARENT 0x8000u
/* A span whose context is this has it interned too. */
#define CONTEXT_INTERNED 0xffffu

/* Macros that call macros: deeper ones are left out. rustc allows 128, unless a crate asks for
 * more. */
#define NESTED_MAX 256

/* A piece may be missing: what was in it is unknown. */
static int add_bytes(struct byte_buffer *b, const struct wire_piece *r)
{
	size_t gap;

	if ((uint64_t)r->offset + r->size > SOURCES_BYTES_MAX)
		return -EBADMSG;
	/* A second copy of the same process adds nothing. */
	if (r->offset < b->size)
		return 0;
	gap = r->offset - b->size;
	if (gap && !byte_buffer__reserve(b, gap))
		return -ENOMEM;
	if (gap)
		memset(b->data + b->size, 0, gap);
	b->size += gap;
	byte_buffer__bytes(b, r->bytes, r->size);
	return b->failed ? -ENOMEM : 0;
}

static int add_interned(struct sources *p, const struct wire_piece *r)
{
	for (uint32_t at = 0; at < r->size; at += INTERNED_SIZE) {
		struct place_interned span;
		uint32_t index;

		if (r->size - at < INTERNED_SIZE)
			return -EBADMSG;
		index = bytes_load_u32(r->bytes + at);
		span.position = bytes_load_u32(r->bytes + at + 4);
		span.context = bytes_load_u32(r->bytes + at + 8);
		if (p->n_interned >= SOURCES_BYTES_MAX / INTERNED_SIZE ||
		    u64_map__get(&p->interned_of, index) != U64_MAP_NONE)
			continue;
		if (array__add(&p->interned, &p->n_interned, &p->interned_capacity, &span) ||
		    u64_map__put(&p->interned_of, index, p->n_interned - 1))
			return -ENOMEM;
	}
	return 0;
}

/* A name that is shown as it is: no control characters. */
static bool is_name(const uint8_t *text, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] == 0x7f)
			return false;
	return n;
}

static int add_file(struct sources *p, struct place_file *file, const uint8_t *name, uint32_t n)
{
	if (!is_name(name, n) || p->n_files >= SOURCES_FILES_MAX ||
	    p->names.size + n + 1 > SOURCES_BYTES_MAX)
		return 0;
	file->name = (uint32_t)p->names.size;
	byte_buffer__bytes(&p->names, name, n);
	byte_buffer__bytes(&p->names, "", 1);
	p->sorted = false;
	return p->names.failed || array__add(&p->files, &p->n_files, &p->files_capacity, file)
		       ? -ENOMEM
		       : 0;
}

static int add_files(struct sources *p, const struct wire_piece *r)
{
	for (uint32_t at = 0, n; at < r->size; at += FILE_HEAD + ((n + 3) & ~3u)) {
		const uint8_t *bytes = r->bytes + at;
		struct place_file file = {0};
		int err;

		if (r->size - at < FILE_HEAD)
			return -EBADMSG;
		file.number = bytes_load_u32(bytes);
		file.start = bytes_load_u32(bytes + 4);
		file.length = bytes_load_u32(bytes + 8);
		file.n_lines = bytes_load_u32(bytes + 12);
		n = bytes_load_u32(bytes + 16);
		if (n > WIRE_FILE_NAME_MAX || r->size - at - FILE_HEAD < ((n + 3) & ~3u))
			return -EBADMSG;
		err = add_file(p, &file, bytes + FILE_HEAD, n);
		if (err)
			return err;
	}
	return 0;
}

/* Only the table that was begun last grows: of two copies, the first one counts. */
static int add_lines(struct sources *p, const struct wire_piece *r)
{
	uint32_t known = u64_map__get(&p->lines_of, r->number);
	struct place_lines table = {.at = (uint32_t)(p->lines.size / 4)};

	if (r->size % 4)
		return -EBADMSG;
	if (p->lines.size + r->size > SOURCES_BYTES_MAX ||
	    (known == U64_MAP_NONE
		     ? r->offset != 0
		     : known != p->n_tables - 1 || r->offset != 4 * p->tables[known].n))
		return 0;
	if (known == U64_MAP_NONE) {
		if (p->n_tables >= SOURCES_FILES_MAX)
			return 0;
		if (array__add(&p->tables, &p->n_tables, &p->tables_capacity, &table) ||
		    u64_map__put(&p->lines_of, r->number, p->n_tables - 1))
			return -ENOMEM;
	}
	byte_buffer__bytes(&p->lines, r->bytes, r->size);
	if (p->lines.failed)
		return -ENOMEM;
	p->tables[p->n_tables - 1].n += r->size / 4;
	return 0;
}

int sources__add(struct sources *p, const struct wire_piece *r)
{
	switch (r->table) {
	case WIRE_TABLE_SPANS:
		return r->number < SOURCES_BUCKETS ? add_bytes(&p->spans[r->number], r) : -EBADMSG;
	case WIRE_TABLE_INTERNED:
		return add_interned(p, r);
	case WIRE_TABLE_FILES:
		return add_files(p, r);
	case WIRE_TABLE_LINES:
		return add_lines(p, r);
	case WIRE_TABLE_CONTEXTS:
		return add_bytes(&p->contexts, r);
	case WIRE_TABLE_EXPANSIONS:
		return add_bytes(&p->expansions, r);
	default:
		return -EBADMSG;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct place_file *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* A file that is not as it must be has no lines. */
static void check_lines(struct sources *p, struct place_file *file)
{
	uint32_t i = u64_map__get(&p->lines_of, file->number);
	const struct place_lines *table = i == U64_MAP_NONE ? NULL : &p->tables[i];
	const uint8_t *at;

	if (!table || !table->n || table->n != file->n_lines) {
		file->n_lines = 0;
		return;
	}
	at = p->lines.data + 4ull * table->at;
	if (bytes_load_u32(at))
		file->n_lines = 0;
	for (uint32_t k = 1; k < file->n_lines; k++)
		if (bytes_load_u32(at + 4ull * k) <= bytes_load_u32(at + 4ull * (k - 1))) {
			file->n_lines = 0;
			return;
		}
}

static void sort(struct sources *p)
{
	if (p->sorted)
		return;
	if (p->n_files)
		qsort(p->files, p->n_files, sizeof(*p->files), by_start);
	for (uint32_t i = 0; i < p->n_files; i++)
		check_lines(p, &p->files[i]);
	p->sorted = true;
}

static struct place_file *file_at(struct sources *p, uint32_t position)
{
	size_t after = bisect(p->n_files, i, p->files[i].start <= position);
	struct place_file *file = after ? &p->files[after - 1] : NULL;

	return file && position - file->start <= file->length ? file : NULL;
}

/* The number of the line, from 1. */
static uint32_t line_at(const struct sources *p, const struct place_file *file, uint32_t at)
{
	const struct place_lines *table = &p->tables[u64_map__get(&p->lines_of, file->number)];
	const uint8_t *lines = p->lines.data + 4ull * table->at;

	return (uint32_t)bisect(table->n, i, bytes_load_u32(lines + 4ull * i) <= at);
}

/* layout_places.c has proven that the compiler unpacks spans in this way. */
static bool unpack(const struct sources *p, uint64_t span, struct place_interned *out)
{
	uint32_t length = span >> 32 & 0xffff, context = (uint32_t)(span >> 48), i;

	if (!span)
		return false;
	if (length == LENGTH_INTERNED) {
		i = u64_map__get(&p->interned_of, (uint32_t)span);
		if (i == U64_MAP_NONE)
			return false;
		*out = p->interned[i];
		if (context != CONTEXT_INTERNED)
			out->context = context;
		return true;
	}
	out->position = (uint32_t)span;
	out->context = length & LENGTH_PARENT ? 0 : context;
	return true;
}

/* Bucket b begins with definition (first << step * b) - first. */
static bool find_span(const struct sources *p, const struct wire_layout_places *l, uint32_t index,
		      uint64_t *span)
{
	uint64_t from = l->first, number = (uint64_t)index + l->first;
	uint32_t bucket = 0;

	while (number >= from << l->step && bucket < SOURCES_BUCKETS) {
		from <<= l->step;
		bucket++;
	}
	if (bucket == SOURCES_BUCKETS || (number - from + 1) * 8 > p->spans[bucket].size)
		return false;
	*span = bytes_load_u64(p->spans[bucket].data + (number - from) * 8);
	return true;
}

static bool find_place(struct sources *p, const struct place_interned *span, struct place *out)
{
	sort(p);
	out->file = file_at(p, span->position);
	if (!out->file || !out->file->n_lines)
		return false;
	out->line = line_at(p, out->file, span->position - out->file->start);
	out->context = span->context;
	return true;
}

bool sources__find(struct sources *p, const struct wire_layout_places *layout, uint32_t index,
		   struct place *out)
{
	struct place_interned span;
	uint64_t packed;

	return layout->known && find_span(p, layout, index, &packed) && unpack(p, packed, &span) &&
	       find_place(p, &span, out);
}

/* Element `i`, or NULL. The plan's check has proven that all fields are within one. */
static const uint8_t *element(const struct byte_buffer *b, uint32_t i, uint32_t size)
{
	return i < b->size / size ? b->data + (size_t)i * size : NULL;
}

/* Replace a span in a macro's output by that of the macro's call. */
static bool leave_macro(const struct sources *p, const struct wire_layout_calls *l,
			struct place_interned *span, bool *is_macro)
{
	const uint8_t *context = element(&p->contexts, span->context, l->context_size);
	const uint8_t *expansion;

	/* Another crate's expansions are not at hand. */
	if (!context || bytes_load_u32(context + l->crate))
		return false;
	expansion = element(&p->expansions, bytes_load_u32(context + l->number), l->expansion_size);
	if (!expansion || !unpack(p, bytes_load_u64(expansion + l->call), span))
		return false;
	*is_macro = *is_macro || expansion[l->kind] == l->tag;
	return true;
}

bool sources__call(struct sources *p, const struct wire_layout_calls *layout,
		   const struct place *of, struct place *out)
{
	struct place_interned span = {.context = of->context};
	bool is_macro = false;

	for (int i = 0; span.context; i++)
		if (i == NESTED_MAX || !layout->context_size ||
		    !leave_macro(p, layout, &span, &is_macro))
			return false;
	return is_macro && find_place(p, &span, out);
}

/* The column of `at`, which lies in the line. */
static uint32_t column_at(const struct sources *p, const struct place_file *file, uint32_t line,
			  uint32_t at)
{
	const struct place_lines *table = &p->tables[u64_map__get(&p->lines_of, file->number)];

	return at - bytes_load_u32(p->lines.data + 4ull * (table->at + line - 1)) + 1;
}

bool sources__range(struct sources *p, const struct wire_layout_places *layout, uint64_t span,
		    struct place_range *out)
{
	uint32_t position = (uint32_t)span, length = span >> 32 & 0xffff, at;

	if (!layout->known || !span || length == LENGTH_INTERNED)
		return false;
	sort(p);
	out->file = file_at(p, position);
	length &= ~LENGTH_PARENT;
	if (!out->file || !out->file->n_lines)
		return false;
	at = position - out->file->start;
	if (length > out->file->length - at)
		return false;
	out->line = line_at(p, out->file, at);
	out->column = column_at(p, out->file, out->line, at);
	out->end_line = line_at(p, out->file, at + length);
	out->end_column = column_at(p, out->file, out->end_line, at + length);
	return true;
}

void sources__clear(struct sources *p)
{
	for (int i = 0; i < SOURCES_BUCKETS; i++)
		byte_buffer__destroy(&p->spans[i]);
	u64_map__destroy(&p->interned_of);
	free(p->interned);
	free(p->files);
	byte_buffer__destroy(&p->names);
	u64_map__destroy(&p->lines_of);
	free(p->tables);
	byte_buffer__destroy(&p->lines);
	byte_buffer__destroy(&p->contexts);
	byte_buffer__destroy(&p->expansions);
	*p = (struct sources){0};
}
