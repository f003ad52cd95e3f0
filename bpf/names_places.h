/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the spans of definitions, and of the source files that were read: their names, and where
 * their lines start (struct wire_layout_places). As in names.h, all of it may hold anything.
 */
#ifndef QPROF_NAMES_PLACES_H
#define QPROF_NAMES_PLACES_H

#include "names.h"

/* With no more than this waiting, any entry has room. */
#define PLACES_FILE_HEAD 20
#define PLACES_ROOM	 (WIRE_PIECE_MAX - WIRE_FILE_NAME_MAX - PLACES_FILE_HEAD - 4)
#define PLACES_BUCKETS	 32

_Static_assert(NAMES_DEFINITIONS_MAX <= WIRE_SPANS_IN_ONE, "one bucket has all spans");

/* The number of a field of a file, or 0. */
static __always_inline __u64 places_word(struct names_slot *s, __u64 at)
{
	NAMES_KEEP(at);
	return at > WIRE_FILE_SIZE_MAX - 8 ? 0 : *(__u64 *)(s->file + at);
}

/* Append an interned span. */
STACK_APART int places_add_interned(struct names_slot *s, __u32 index)
{
	const struct wire_layout_places *l;
	__u64 size, position, context, used;

	if (!s || index >= s->n_interned)
		return 0;
	l = &s->layout.places;
	size = l->interned_size;
	position = l->position;
	context = l->context;
	asm volatile("" : "+r"(size), "+r"(position), "+r"(context));
	if (size > NAMES_ENTRY_MAX || position > NAMES_ENTRY_MAX - 4 ||
	    context > NAMES_ENTRY_MAX - 4)
		return 0;
	if (names_fetch(s, NAMES_AT(entry), size, s->interned + index * size)) {
		s->missing++;
		return 0;
	}
	if (s->gathered.size > PLACES_ROOM)
		names_flush_gathered(s);
	used = s->gathered.size;
	NAMES_KEEP(used);
	if (used > PLACES_ROOM)
		return 0;
	*(__u32 *)(s->gathered.bytes + used) = index;
	*(__u32 *)(s->gathered.bytes + used + 4) = *(__u32 *)(s->entry + position);
	*(__u32 *)(s->gathered.bytes + used + 8) = *(__u32 *)(s->entry + context);
	s->gathered.size = used + 12;
	return 0;
}

/* A span with this length has an index in place of a position. */
static long places_add_span(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 at = (__u64)i * s->span_step + s->span_at, span;

	NAMES_KEEP(at);
	if (s->missing > NAMES_MISSING_MAX || at > WIRE_PIECE_MAX - 8)
		return 1;
	span = *(__u64 *)(s->piece.bytes + at);
	if ((span >> 32 & 0xffff) == 0xffff)
		places_add_interned(s, span);
	return 0;
}

static long places_copy_piece(__u32 i, void *p)
{
	struct names_loop *c = p;
	int sent = names_send_piece(c->slot, i);

	if (sent > 0 && c->slot->span_step)
		bpf_loop(c->slot->piece.size / c->slot->span_step, places_add_span, c, 0);
	return sent < 0;
}

/* Not names_copy_table(): one call less, as the verifier allows few. */
static __always_inline void places_copy_table(struct names_loop *c, __u64 address, __u32 bytes)
{
	c->slot->address = address;
	c->slot->bytes = bytes;
	bpf_loop(NAMES_PIECES_MAX, places_copy_piece, c, 0);
}

struct places_ctx {
	struct names_loop loop;
	__u64 at;   /* of the buckets */
	__u32 left; /* spans */
	__u32 n;    /* spans in the next bucket */
};

static long places_copy_bucket(__u32 i, void *p)
{
	struct places_ctx *c = p;
	struct names_slot *s = c->loop.slot;
	__u32 n = c->n < c->left ? c->n : c->left;
	__u64 bucket;

	if (!n || names_word(s, &bucket, c->at + 8 * i)) {
		s->missing += n != 0;
		return 1;
	}
	s->piece.number = i;
	places_copy_table(&c->loop, bucket, n * 8);
	c->left -= n;
	c->n <<= s->layout.places.step & 3;
	return 0;
}

STACK_APART int places_copy_spans(struct names_slot *s, __u64 context)
{
	struct places_ctx c = {.loop = {s}};
	__u64 n;

	if (!s)
		return 0;
	c.at = context + s->layout.places.spans;
	if (names_word(s, &n, context + s->layout.places.n_spans) ||
	    names_word(s, &s->interned, s->globals + s->layout.places.interned) ||
	    names_word(s, &s->n_interned, s->globals + s->layout.places.n_interned)) {
		s->missing++;
		return 0;
	}
	if (n > s->definitions)
		n = s->definitions;
	c.left = n;
	c.n = s->layout.places.first * ((1u << (s->layout.places.step & 3)) - 1);
	s->piece.table = WIRE_TABLE_SPANS;
	s->piece_bytes = WIRE_PIECE_MAX;
	s->span_step = 8;
	s->span_at = 0;
	names_gather(s, WIRE_TABLE_INTERNED);
	bpf_loop(PLACES_BUCKETS, places_copy_bucket, &c, 0);
	return names_flush_gathered(s);
}

/* Append what is in `file`, and the name of it. */
STACK_APART int places_add_file(struct names_slot *s, __u32 number)
{
	const struct wire_layout_places *l;
	__u64 used, n;

	if (!s)
		return 0;
	if (s->gathered.size > PLACES_ROOM)
		names_flush_gathered(s);
	l = &s->layout.places;
	n = places_word(s, l->name_length);
	if (n > places_word(s, l->name_capacity))
		n = 0;
	used = s->gathered.size;
	asm volatile("" : "+r"(n), "+r"(used));
	if (n > WIRE_FILE_NAME_MAX)
		n = 0;
	if (used > PLACES_ROOM)
		return 0;
	if (n && names_fetch(s, NAMES_AT(gathered.bytes) + used + PLACES_FILE_HEAD, n,
			     places_word(s, l->name))) {
		s->missing++;
		return 0;
	}
	*(__u32 *)(s->gathered.bytes + used) = number;
	*(__u32 *)(s->gathered.bytes + used + 4) = places_word(s, l->file_start);
	*(__u32 *)(s->gathered.bytes + used + 8) = places_word(s, l->file_length);
	*(__u32 *)(s->gathered.bytes + used + 12) = places_word(s, l->n_lines);
	*(__u32 *)(s->gathered.bytes + used + 16) = n;
	s->gathered.size = used + PLACES_FILE_HEAD + ((n + 3) & ~3ull);
	return 0;
}

/* Other crates' files have lines that were not unpacked: no state says that they are at hand. */
static long places_copy_file(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	const struct wire_layout_places *l = &s->layout.places;
	__u64 size = l->file_size, at = 0, n;

	NAMES_KEEP(size);
	if (size > WIRE_FILE_SIZE_MAX || names_is_over(s))
		return 1;
	if (names_word(s, &at, s->files + 8 * (__u64)i) ||
	    names_fetch(s, NAMES_AT(file), size, at)) {
		s->missing++;
		return 0;
	}
	n = places_word(s, l->n_lines);
	if (places_word(s, l->state) != l->ready)
		return 0;
	if (n > (NAMES_LINES_MAX - s->line_bytes) / 4) {
		s->missing++;
		return 0;
	}
	places_add_file(s, i);
	s->line_bytes += n * 4;
	s->piece.number = i;
	places_copy_table(c, places_word(s, l->lines), n * 4);
	return 0;
}

STACK_APART int places_copy_files(struct names_slot *s)
{
	struct names_loop c = {s};
	__u64 map, n;

	if (!s)
		return 0;
	if (names_word(s, &map, s->globals + s->layout.places.source_map) ||
	    names_word(s, &s->files, map + s->layout.places.files) ||
	    names_word(s, &n, map + s->layout.places.n_files)) {
		s->missing++;
		return 0;
	}
	if (n > NAMES_FILES_MAX) {
		s->missing++;
		n = NAMES_FILES_MAX;
	}
	s->piece.table = WIRE_TABLE_LINES;
	s->piece_bytes = WIRE_PIECE_MAX;
	s->span_step = 0;
	names_gather(s, WIRE_TABLE_FILES);
	bpf_loop(n, places_copy_file, &c, 0);
	return names_flush_gathered(s);
}

/* A table of which the globals have the address and the number of elements. */
STACK_APART int places_copy_elements(struct names_slot *s, __u32 at, __u32 n_at, __u32 size)
{
	struct names_loop c = {s};
	__u64 table, n;

	if (!s || !size || size > WIRE_EXPANSION_MAX)
		return 0;
	if (names_word(s, &table, s->globals + at) || names_word(s, &n, s->globals + n_at)) {
		s->missing++;
		return 0;
	}
	if (n > NAMES_EXPANSIONS_MAX) {
		s->missing++;
		n = NAMES_EXPANSIONS_MAX;
	}
	s->piece.number = 0;
	s->piece_bytes = WIRE_PIECE_MAX / size * size;
	places_copy_table(&c, table, n * size);
	return 0;
}

/* Where macros were called: the expansions that spans come from. */
STACK_APART int places_copy_calls(struct names_slot *s)
{
	const struct wire_layout_calls *l;

	if (!s || !s->layout.calls.context_size)
		return 0;
	l = &s->layout.calls;
	names_gather(s, WIRE_TABLE_INTERNED);
	s->span_step = 0;
	s->piece.table = WIRE_TABLE_CONTEXTS;
	places_copy_elements(s, l->contexts, l->n_contexts, l->context_size);
	s->span_step = l->expansion_size;
	s->span_at = l->call;
	s->piece.table = WIRE_TABLE_EXPANSIONS;
	places_copy_elements(s, l->expansions, l->n_expansions, l->expansion_size);
	return names_flush_gathered(s);
}

#endif /* QPROF_NAMES_PLACES_H */
