// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/chunk_index.h"

#include <errno.h>

#include "base/array.h"

struct offsets {
	uint64_t *at;
	uint32_t n;
	uint32_t capacity;
};

struct chunk_index {
	struct chunk_stream *stream;
	struct offsets indexes;	   /* INDEX chunks, ascending */
	struct offsets index_ends; /* where each of them ends */
	struct offsets names;
	bool has_late_names;
	bool is_wrong;
	uint64_t expanded; /* bytes of the payloads that are compressed */
	size_t next;	   /* in indexes: the next one to load */
	uint64_t end;	   /* where the entries of `cursor` end: its own INDEX chunk */
	bool is_begun;	   /* `cursor` is in an INDEX chunk, before its end */
	struct index_cursor cursor;
	struct index_entry entry;
	bool has_entry; /* `entry` is of a chunk that was not passed yet */
};

/* A file that is nothing but headers must not fill the memory; the rest is found on reading. */
#define FOUND_MAX (1u << 22)

static int add(struct offsets *o, uint64_t offset)
{
	return array__add(&o->at, &o->n, &o->capacity, &offset);
}

static int add_chunk(struct chunk_index *ix, uint8_t type, uint64_t offset, uint64_t end)
{
	switch (type) {
	case QPT_MAPPINGS:
	case QPT_LINES:
	case QPT_PLACES:
		ix->has_late_names = true;
		return add(&ix->names, offset);
	case QPT_STRINGS:
	case QPT_FOREIGN:
	case QPT_FUNCTIONS:
		return add(&ix->names, offset);
	case QPT_INDEX:
		return add(&ix->indexes, offset) ?: add(&ix->index_ends, end);
	default:
		return 0;
	}
}

/* Space that was reserved and never written reads as zeroes, which are no chunks. */
static bool is_worth_a_look(const struct chunk_index *ix, const struct chunk_header *h)
{
	return h->type && ix->names.n + ix->indexes.n < FOUND_MAX;
}

/*
 * By the headers of all chunks, which the reader will go by as well: what an index says of chunks
 * is believed of those that are passed over, but not of where names are, which must not be missed.
 */
static int find_all(struct chunk_index *ix)
{
	struct chunk_stream *s = ix->stream;
	uint64_t at = s->first_chunk;

	while (!chunk_stream__seek(s, at) && chunk_stream__next_header(s) &&
	       is_worth_a_look(ix, &s->header)) {
		at = s->chunk_at + QPT_CHUNK_HEADER_SIZE + s->header.stored;
		if (s->header.flags & QPT_CHUNK_ZSTD && s->header.raw <= QPT_PAYLOAD_MAX)
			ix->expanded += s->header.raw;
		if (add_chunk(ix, s->header.type, s->chunk_at, at))
			return -ENOMEM;
	}
	return 0;
}

int chunk_index__find(struct chunk_stream *stream, struct chunk_index **out)
{
	_chunk_index_ struct chunk_index *ix = calloc(1, sizeof(*ix));

	if (!ix)
		return -ENOMEM;
	ix->stream = stream;
	if (find_all(ix))
		return -ENOMEM;
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

uint64_t chunk_index__expanded(const struct chunk_index *ix)
{
	return ix->expanded;
}

bool chunk_index__is_wrong(const struct chunk_index *ix)
{
	return ix->is_wrong;
}

uint64_t chunk_index__last(const struct chunk_index *ix)
{
	return ix->indexes.n ? ix->indexes.at[ix->indexes.n - 1] : 0;
}

void chunk_index__disbelieve(struct chunk_index *ix)
{
	ix->is_wrong = true;
	ix->is_begun = ix->has_entry = false;
}

/* Read INDEX chunk `i`; disbelieve it if it does not begin where it must. 0 or -ENOMEM. */
static int load(struct chunk_index *ix, size_t i)
{
	struct chunk_stream *s = ix->stream;
	int err = chunk_stream__seek(s, ix->indexes.at[i]) ?: chunk_stream__next(s);

	if (err == -ENOMEM)
		return err;
	ix->end = ix->indexes.at[i];
	ix->is_begun = !err && !s->stopped;
	if (ix->is_begun)
		ix->cursor = index_cursor__begin(s->payload);
	if (!ix->is_begun || ix->cursor.previous != (i ? ix->indexes.at[i - 1] : 0) ||
	    ix->cursor.offset != (i ? ix->index_ends.at[i - 1] : s->first_chunk))
		chunk_index__disbelieve(ix);
	return 0;
}

/* Load the next INDEX chunk with entries at `offset` or later. False without one. */
static bool next_index(struct chunk_index *ix, uint64_t offset, int *err)
{
	/* An INDEX chunk has entries of earlier chunks only. */
	while (ix->next < ix->indexes.n && ix->indexes.at[ix->next] <= offset)
		ix->next++;
	if (ix->next == ix->indexes.n)
		return false;
	*err = load(ix, ix->next++);
	return !*err;
}

/* The next entry of the INDEX chunk at hand. Entries lead from its first chunk to itself. */
static void next_entry(struct chunk_index *ix)
{
	ix->has_entry = index_cursor__next(&ix->cursor, &ix->entry);
	if (ix->has_entry ? ix->entry.offset >= ix->end
			  : ix->cursor.in.bad || ix->cursor.offset != ix->end)
		chunk_index__disbelieve(ix);
	else
		ix->is_begun = ix->has_entry;
}

const struct index_entry *chunk_index__at(struct chunk_index *ix, uint64_t offset, int *err)
{
	*err = 0;
	do {
		while (ix->is_begun && (!ix->has_entry || ix->entry.offset < offset))
			next_entry(ix);
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
	free(ix->index_ends.at);
	free(ix->names.at);
	free(ix);
}
