// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Takes any bytes as what the kernel half copied of a compiler's names, and as the layout of it,
 * and names every definition. The layout is one that a plan accepts. Strings have a bounded length,
 * and a definition has the same string when it is asked for again.
 *
 * An input is a layout (struct head), and records: type, size, offset of a piece, bytes.
 */
#include "definitions.h"

#define ASKED 512

struct head {
	uint8_t size, tag, symbol, disambiguator, parent;
	uint8_t root, root_parent, plain;
	uint8_t tags[8]; /* 254: named, 255: unknown */
};

struct record_head {
	uint8_t symbols; /* even: a piece of the table */
	uint8_t pad;
	uint16_t size;
	uint32_t offset;
};

static struct plan_layout layout_of(const struct head *h)
{
	struct plan_layout l = {
		.disambiguator = h->disambiguator,
		.parent = h->parent,
		.no_parent = h->root_parent == 255 ? 0xffffffff : 0xffffff00u + h->root_parent,
		.root = h->root,
		.plain = h->plain,
	};

	l.wire.size = 8 + h->size % 57;
	l.wire.tag = h->tag % (l.wire.size - 3);
	l.wire.symbol = h->symbol % (l.wire.size - 3);
	l.disambiguator %= l.wire.size - 3;
	l.parent %= l.wire.size - 3;
	set_tags(&l.wire, h->tags, sizeof(h->tags));
	return l;
}

static void add_piece(struct definitions *d, const struct record_head *h, const uint8_t *bytes,
		      uint32_t n)
{
	struct wire_piece *r = calloc(1, sizeof(*r));
	size_t before = d->table.size;
	int err;

	expect(r);
	/* Filling a large gap takes long, so few are tried. */
	r->offset = h->pad == 0xff ? h->offset : h->offset & 0xffff;
	r->size = n < WIRE_PIECE_MAX ? n : WIRE_PIECE_MAX;
	memcpy(r->bytes, bytes, r->size);
	err = definitions__add(d, r);
	expect(!err || (err == -EBADMSG && d->table.size == before));
	free(r);
}

static void add_records(struct definitions *d, const uint8_t *data, size_t size)
{
	struct record_head h;
	const uint8_t *bytes;
	uint32_t n;

	while ((bytes = fuzz_headed_record(&data, &size, &h, &n))) {
		if (h.symbols & 1)
			add_symbols(d, bytes, n);
		else
			add_piece(d, &h, bytes, n);
	}
}

static void name_all(struct definitions *d, const struct plan_layout *l)
{
	const struct decoder_sink sink = {.text = on_text, .compose = on_compose};
	const char *crate = l->wire.size & 1 ? "crate" : NULL;
	uint32_t id, again;

	/* Some have their parents' strings already, others make them. */
	for (uint32_t i = 0; i < ASKED; i++) {
		uint32_t index = i * 7 % ASKED;

		expect(!definitions__string(d, l, crate, index, &sink, &id));
		expect(!definitions__string(d, l, crate, index, &sink, &again));
		expect(id == again && (id == TRACE_NO_STRING || id < n_strings));
	}
	expect(!definitions__string(d, l, crate, 0xffffffff, &sink, &id));
	expect(id == TRACE_NO_STRING);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct definitions d = {0};
	struct plan_layout l;
	struct head h;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	l = layout_of(&h);
	n_strings = 0;
	add_records(&d, data + sizeof(h), size - sizeof(h));
	name_all(&d, &l);
	definitions__clear(&d);
	return 0;
}
