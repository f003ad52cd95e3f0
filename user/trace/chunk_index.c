// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk_index.h"

#include <errno.h>
#include <string.h>

struct offsets {
	uint64_t *at;
	size_t n;
	size_t capacity;
};

struct chunk_index {
	struct chunk_stream *stream;
	struct offsets indexes; /* INDEX chunks, ascending */
	struct offsets names;
	bool has_late_names;
	size_t next; /* in indexes: the next one to load */
	struct index_cursor cursor;
	struct index_entry entry;
	bool has_entry; /* `entry` tells of a chunk that has not been passed */
};

static int add(struct offsets *o, uint64_t offset)
{
	if (o->n == o->capacity) {
		size_t capacity = o->capacity ? o->capacity * 2 : 64;
		uint64_t *p = reallocarray(o->at, capacity, sizeof(*p));

		if (!p)
			return -ENOMEM;
		o->at = p;
		o->capacity = capacity;
	}
	o->at[o->n++] = offset;
	return 0;
}

static void reverse(struct offsets *o)
{
	for (size_t i = 0; i < o->n / 2; i++) {
		uint64_t other = o->at[o->n - 1 - i];

		o->at[o->n - 1 - i] = o->at[i];
		o->at[i] = other;
	}
}

static int add_chunk(struct chunk_index *ix, uint8_t type, uint64_t offset)
{
	switch (type) {
	case QPT_MAPPINGS:
	case QPT_LINES:
		ix->has_late_names = true;
		return add(&ix->names, offset);
	case QPT_STRINGS:
	case QPT_FUNCTIONS:
		return add(&ix->names, offset);
	case QPT_INDEX:
		return add(&ix->indexes, offset);
	default:
		return 0;
	}
}

/* Read the chunk at `offset` if it is of this type and sound. 0 if so, -ENOENT if not, -ENOMEM. */
static int load(struct chunk_index *ix, uint64_t offset, uint8_t type)
{
	int err = chunk_stream__seek(ix->stream, offset);

	if (!err)
		err = chunk_stream__next(ix->stream);
	if (err)
		return err;
	return ix->stream->stopped || ix->stream->header.type != type ? -ENOENT : 0;
}

/* The offset of the last INDEX chunk, by the END chunk; 0 if there is none. */
static int find_last(struct chunk_index *ix, uint64_t *last, bool *found)
{
	const uint64_t size = QPT_CHUNK_HEADER_SIZE + QPT_END_SIZE;
	uint64_t file_size = chunk_stream__file_size(ix->stream);
	const struct byte_reader *in = &ix->stream->payload;
	int err;

	*found = false;
	if (!ix->stream->finished || file_size < size)
		return 0;
	err = load(ix, file_size - size, QPT_END);
	if (err == -ENOENT || (!err && in->end - in->at != QPT_END_SIZE))
		return 0;
	if (err)
		return err;
	*found = true;
	*last = bytes_load_u64(in->at + QPT_END_INDEX);
	return 0;
}

/* From the last INDEX chunk to the first. 0; -ENOENT if one of them is damaged; -ENOMEM. */
static int follow(struct chunk_index *ix, uint64_t last)
{
	uint64_t at = last;
	int err = 0;

	while (at && !err) {
		err = load(ix, at, QPT_INDEX);
		if (err)
			break;
		err = add(&ix->indexes, at);
		last = index_cursor__begin(ix->stream->payload).previous;
		if (last >= at)
			return -ENOENT;
		at = last;
	}
	reverse(&ix->indexes);
	return err;
}

/* The names that the INDEX chunks tell of. The same errors. */
static int find_names(struct chunk_index *ix)
{
	for (size_t i = 0; i < ix->indexes.n; i++) {
		struct index_cursor c;
		int err = load(ix, ix->indexes.at[i], QPT_INDEX);

		if (err)
			return err;
		c = index_cursor__begin(ix->stream->payload);
		while (index_cursor__next(&c, &ix->entry)) {
			err = add_chunk(ix, ix->entry.type, ix->entry.offset);
			if (err)
				return err;
		}
		/* It must tell of all chunks, or names would be missed. */
		if (c.in.bad || c.offset != ix->indexes.at[i])
			return -ENOENT;
	}
	return 0;
}

static int by_index(struct chunk_index *ix)
{
	uint64_t last = 0;
	bool found;
	int err = find_last(ix, &last, &found);

	if (err)
		return err;
	if (!found || !last)
		return -ENOENT;
	err = follow(ix, last);
	return err ? err : find_names(ix);
}

/* By the headers of all chunks; stops where they make no sense. */
static int by_headers(struct chunk_index *ix)
{
	struct chunk_stream *s = ix->stream;
	int err = chunk_stream__seek(s, s->first_chunk);

	while (!err && chunk_stream__next_header(s)) {
		err = add_chunk(ix, s->header.type, s->chunk_at);
		if (!err)
			err = chunk_stream__seek(s, s->chunk_at + QPT_CHUNK_HEADER_SIZE +
							    (uint64_t)s->header.stored);
	}
	return err == -ENOMEM ? err : 0;
}

int chunk_index__find(struct chunk_stream *stream, struct chunk_index **out)
{
	_chunk_index_ struct chunk_index *ix = calloc(1, sizeof(*ix));
	int err;

	if (!ix)
		return -ENOMEM;
	ix->stream = stream;
	err = by_index(ix);
	if (err && err != -ENOMEM) {
		ix->indexes.n = ix->names.n = 0;
		ix->has_late_names = false;
		err = by_headers(ix);
	}
	if (err)
		return err;
	*out = take_ptr(ix);
	return 0;
}

const uint64_t *chunk_index__names(const struct chunk_index *ix, size_t *n)
{
	*n = ix->names.n;
	return ix->names.at;
}

bool chunk_index__has_late_names(const struct chunk_index *ix)
{
	return ix->has_late_names;
}

/* Move on to the INDEX chunk that tells of `offset`. False if there is none. */
static bool next_index(struct chunk_index *ix, uint64_t offset, int *err)
{
	/* It tells of chunks before it only. */
	while (ix->next < ix->indexes.n && ix->indexes.at[ix->next] <= offset)
		ix->next++;
	if (ix->next == ix->indexes.n)
		return false;
	*err = load(ix, ix->indexes.at[ix->next++], QPT_INDEX);
	if (*err == -ENOMEM)
		return false;
	if (!*err)
		ix->cursor = index_cursor__begin(ix->stream->payload);
	*err = 0;
	return true;
}

const struct index_entry *chunk_index__at(struct chunk_index *ix, uint64_t offset, int *err)
{
	*err = 0;
	do {
		while (!ix->has_entry || ix->entry.offset < offset) {
			ix->has_entry = index_cursor__next(&ix->cursor, &ix->entry);
			if (!ix->has_entry)
				break;
		}
		if (ix->has_entry)
			return ix->entry.offset == offset ? &ix->entry : NULL;
	} while (next_index(ix, offset, err));
	return NULL;
}

void chunk_index__free(struct chunk_index *ix)
{
	if (!ix)
		return;
	free(ix->indexes.at);
	free(ix->names.at);
	free(ix);
}
