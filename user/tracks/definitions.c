// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/definitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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

const char *definitions__text(const struct definitions *d, uint32_t symbol)
{
	uint32_t at = u64_map__get(&d->text_of, symbol);

	return at != U64_MAP_NONE && d->texts.data[at] ? (const char *)d->texts.data + at : NULL;
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
		     struct definition *out)
{
	if (!l->wire.size || index >= d->table.size / l->wire.size)
		return false;
	*out = definition__read(l, d->table.data + (size_t)index * l->wire.size);
	return true;
}

const char *definitions__segment(const struct definitions *d, const struct plan_layout *l,
				 const struct definition *of, char buf[PATHS_SEGMENT_MAX])
{
	uint32_t symbol = definition__symbol(l, of);
	const char *text = symbol == WIRE_TAG_UNKNOWN ? NULL : definitions__text(d, symbol);

	if (!text)
		return NULL;
	definition__segment(l, of, text, buf);
	return buf;
}

struct own {
	struct definitions *d;
	const struct plan_layout *l;
};

static bool own_step(void *ctx, uint32_t index, struct path_step *out)
{
	const struct own *own = ctx;
	struct definition row;

	if (!read_row(own->d, own->l, index, &row))
		return false;
	out->parent = definition_parent(own->l, &row);
	out->string = &own->d->strings[index];
	return true;
}

static const char *own_segment(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX])
{
	const struct own *own = ctx;
	struct definition row;

	return read_row(own->d, own->l, index, &row)
		       ? definitions__segment(own->d, own->l, &row, buf)
		       : NULL;
}

int definitions__string(struct definitions *d, const struct plan_layout *layout, const char *crate,
			uint32_t index, const struct tracks_sink *sink, uint32_t *id)
{
	struct own own = {d, layout};
	const struct path_source from = {&own, own_step, own_segment};
	uint32_t root;
	int err;

	*id = TRACE_NO_STRING;
	if (!layout->wire.size || index >= d->table.size / layout->wire.size)
		return 0;
	/* Parents come before their children. */
	if (array__reserve_at(&d->strings, index, &d->n_strings, sizeof(*d->strings)))
		return -ENOMEM;
	err = sink->text(sink->ctx, crate ? crate : "crate", &root);
	return err ?: paths__string(&from, root, index, sink, id);
}

void definitions__clear(struct definitions *d)
{
	byte_buffer__destroy(&d->table);
	byte_buffer__destroy(&d->texts);
	u64_map__destroy(&d->text_of);
	free(d->strings);
	*d = (struct definitions){0};
}
