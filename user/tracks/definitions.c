// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/definitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Bytes of a segment: a symbol's text and a disambiguator. */
#define SEGMENT_MAX (WIRE_SYMBOL_MAX + 32)

/* A definition as it is in the table. */
struct row {
	uint32_t tag;
	uint32_t symbol;
	uint32_t disambiguator;
	uint32_t parent; /* its index, or that of no definition */
};

/* Append `n` bytes of 0xff. */
static int skip(struct byte_buffer *b, size_t n)
{
	uint8_t unknown[WIRE_PIECE_MAX];

	memset(unknown, 0xff, sizeof(unknown));
	for (size_t now; n && !b->failed; n -= now) {
		now = n < sizeof(unknown) ? n : sizeof(unknown);
		byte_buffer__bytes(b, unknown, now);
	}
	return b->failed ? -ENOMEM : 0;
}

int definitions__add(struct definitions *d, const struct wire_piece *r)
{
	int err;

	/* A second copy of the same process adds nothing. */
	if (r->offset < d->table.size)
		return 0;
	if (r->offset - d->table.size > DEFINITIONS_GAP_MAX)
		return -EBADMSG;
	err = skip(&d->table, r->offset - d->table.size);
	if (err)
		return err;
	byte_buffer__bytes(&d->table, r->bytes, r->size);
	return d->table.failed ? -ENOMEM : 0;
}

static int add_symbol(struct definitions *d, uint32_t symbol, const uint8_t *text, uint32_t n)
{
	size_t at = d->texts.size;

	if (u64_map__get(&d->text_of, symbol) != U64_MAP_NONE || at + n + 1 > DEFINITIONS_TEXTS_MAX)
		return 0;
	byte_buffer__bytes(&d->texts, text, n);
	byte_buffer__bytes(&d->texts, "", 1);
	return d->texts.failed || u64_map__put(&d->text_of, symbol, (uint32_t)at) ? -ENOMEM : 0;
}

struct symbol {
	uint32_t number;
	uint32_t n; /* bytes of `text` */
	const uint8_t *text;
};

static bool read_symbol(struct byte_reader *in, struct symbol *s)
{
	const uint8_t *head = byte_reader__bytes(in, 8);

	if (!head)
		return false;
	s->number = bytes_load_u32(head);
	s->n = bytes_load_u32(head + 4);
	if (s->n > WIRE_SYMBOL_MAX)
		return false;
	s->text = byte_reader__bytes(in, (s->n + 3) & ~3u);
	return s->text;
}

int definitions__add_symbols(struct definitions *d, const struct wire_symbols *r)
{
	const struct byte_reader all = {.at = r->bytes, .end = r->bytes + r->size};
	struct byte_reader in = all;
	struct symbol s;

	while (in.at < in.end)
		if (!read_symbol(&in, &s))
			return -EBADMSG;
	for (in = all; in.at < in.end;) {
		read_symbol(&in, &s);
		/* No name of a definition. The compiler's memory may hold anything. */
		if (memchr(s.text, '\0', s.n))
			continue;
		if (add_symbol(d, s.number, s.text, s.n))
			return -ENOMEM;
	}
	return 0;
}

static bool read_row(const struct definitions *d, const struct plan_layout *l, uint32_t index,
		     struct row *row)
{
	const struct wire_layout *w = &l->wire;
	const uint8_t *at = d->table.data + (size_t)index * w->size;

	if (!w->size || index >= d->table.size / w->size)
		return false;
	*row = (struct row){
		.tag = bytes_load_u32(at + w->tag),
		.symbol = bytes_load_u32(at + w->symbol),
		.disambiguator = bytes_load_u32(at + l->disambiguator),
		.parent = bytes_load_u32(at + l->parent),
	};
	return true;
}

/* The text of the symbol of a definition; NULL: unknown. */
static const char *text_of(const struct definitions *d, const struct plan_layout *l,
			   const struct row *row)
{
	uint32_t symbol = row->tag < WIRE_TAGS ? l->wire.tags[row->tag] : WIRE_TAG_UNKNOWN, at;

	if (symbol == WIRE_TAG_UNKNOWN)
		return NULL;
	at = u64_map__get(&d->text_of, symbol == WIRE_TAG_NAMED ? row->symbol : symbol);
	if (at == U64_MAP_NONE || !d->texts.data[at])
		return NULL;
	return (const char *)d->texts.data + at;
}

/* Set *id to the string of a definition, as rustc prints it behind the path of its parent. */
static int compose(const struct tracks_sink *sink, const struct plan_layout *l,
		   const struct row *row, const char *text, uint32_t parent, uint32_t *id)
{
	bool named = l->wire.tags[row->tag] == WIRE_TAG_NAMED || l->plain >> row->tag & 1;
	struct trace_piece pieces[3] = {{.id = parent}, {.text = "::"}, {0}};
	char segment[SEGMENT_MAX];
	int n = snprintf(segment, sizeof(segment), named ? "%s" : "{{%s}}", text), err;

	if (row->disambiguator)
		snprintf(segment + n, sizeof(segment) - n, "[%u]", row->disambiguator);
	err = sink->text(sink->ctx, segment, &pieces[2].id);
	return err ?: sink->compose(sink->ctx, pieces, 3, id);
}

/*
 * Collect the definitions from `index` up to one whose string is known, or to the root: their
 * number, or 0 if one of them has no name, or the root is too far. A parent is always older than
 * its child.
 */
static uint32_t ancestors(const struct definitions *d, const struct plan_layout *l, uint32_t index,
			  uint32_t path[DEFINITIONS_DEPTH_MAX])
{
	bool known = false;
	uint32_t n = 0;
	struct row row;

	/* To the root in any case: a string must not be nested deeper than a trace can hold. */
	for (uint32_t i = 0; i < DEFINITIONS_DEPTH_MAX && read_row(d, l, index, &row); i++) {
		if (!known)
			path[n++] = index;
		known = known || d->strings[index];
		if (row.tag == l->root && row.parent == l->no_parent)
			return n;
		if (row.tag == l->root || row.parent >= index)
			return 0;
		index = row.parent;
	}
	return 0;
}

static int root_string(const char *crate, const struct tracks_sink *sink, uint32_t *id)
{
	return sink->text(sink->ctx, crate ? crate : "crate", id);
}

int definitions__string(struct definitions *d, const struct plan_layout *layout, const char *crate,
			uint32_t index, const struct tracks_sink *sink, uint32_t *id)
{
	uint32_t path[DEFINITIONS_DEPTH_MAX], n, string;
	int err = 0;

	*id = TRACE_NO_STRING;
	if (!layout->wire.size || index >= d->table.size / layout->wire.size)
		return 0;
	if (array__reserve_at(&d->strings, index, &d->n_strings, sizeof(*d->strings)))
		return -ENOMEM;
	n = ancestors(d, layout, index, path);
	if (!n)
		return 0;
	string = d->strings[path[n - 1]];
	if (!string--)
		err = root_string(crate, sink, &string);
	while (!err) {
		struct row row;
		const char *text;

		d->strings[path[--n]] = string + 1;
		if (!n)
			break;
		read_row(d, layout, path[n - 1], &row);
		text = text_of(d, layout, &row);
		if (!text)
			return 0;
		err = compose(sink, layout, &row, text, string, &string);
	}
	if (!err)
		*id = string;
	return err;
}

void definitions__clear(struct definitions *d)
{
	byte_buffer__destroy(&d->table);
	byte_buffer__destroy(&d->texts);
	u64_map__destroy(&d->text_of);
	free(d->strings);
	*d = (struct definitions){0};
}
