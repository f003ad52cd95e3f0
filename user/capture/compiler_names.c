// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/compiler_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/plan.h"

/* Segments of a path; as DEFINITIONS_DEPTH_MAX. */
#define DEPTH_MAX 200
/* Definitions of a compiler. */
#define TABLE_MAX (1u << 20)
/* Symbols that are read at a time. */
#define BATCH	  (BROKER_RANGES_MAX < 32 ? BROKER_RANGES_MAX : 32)
#define ENTRY_MAX 64

int compiler_memory__read(const struct compiler_memory *m, uint64_t addr, void *to, uint32_t size)
{
	const struct broker_memory range = {addr, size};

	return m->read(m->ctx, &range, 1, to);
}

static int read_two(const struct compiler_memory *m, uint64_t a, uint64_t b, uint64_t to[2])
{
	const struct broker_memory ranges[2] = {{a, 8}, {b, 8}};

	return m->read(m->ctx, ranges, 2, (uint8_t *)to);
}

int compiler_context__of_thread(const struct compiler_memory *m, const struct plan_layout *l,
				uint64_t bias, uint64_t fs, struct compiler_context *out)
{
	const struct wire_layout_current *current = &l->wire.current;
	uint64_t offsets[2], at[2];
	int err;

	if (!l->wire.size || !current->known)
		return -ENODATA;
	err = read_two(m, bias + current->offset, bias + l->wire.globals, offsets)
		      ?: read_two(m, fs + offsets[0], fs + offsets[1], at);
	if (err)
		return err;
	if (!at[0] || !at[1])
		return -ENOENT;
	out->globals = at[1];
	out->current = at[0];
	return compiler_memory__read(m, at[0] + current->context, &out->context, 8);
}

struct tables {
	uint64_t definitions, n_definitions;
	uint64_t symbols, n_symbols;
};

static int find_tables(const struct compiler_memory *m, const struct plan_layout *l,
		       const struct compiler_context *c, struct tables *t)
{
	const struct wire_layout *w = &l->wire;
	uint64_t definitions[2], symbols[2];
	int err = w->size && w->size <= ENTRY_MAX && w->symbol_size <= ENTRY_MAX ? 0 : -ENODATA;

	err = err ?: read_two(m, c->context + w->table, c->context + w->count, definitions)
			      ?: read_two(m, c->globals + w->symbols, c->globals + w->n_symbols,
					  symbols);
	if (err)
		return err;
	*t = (struct tables){definitions[0], definitions[1], symbols[0], symbols[1]};
	if (t->n_definitions > TABLE_MAX)
		t->n_definitions = TABLE_MAX;
	return 0;
}

/* ---- One path -------------------------------------------------------------------------------- */

/* From a definition to the root, which is the last. *n: how many. -ENOENT: they lead elsewhere. */
static int read_ancestors(const struct compiler_memory *m, const struct plan_layout *l,
			  const struct tables *t, uint32_t index, struct definition path[DEPTH_MAX],
			  uint32_t *n)
{
	uint8_t bytes[ENTRY_MAX];

	for (*n = 0; *n < DEPTH_MAX && index < t->n_definitions;) {
		struct definition *d = &path[(*n)++];
		int err = compiler_memory__read(m, t->definitions + (uint64_t)index * l->wire.size,
						bytes, l->wire.size);

		if (err)
			return err;
		*d = definition__read(l, bytes);
		if (d->tag == l->root && d->parent == l->no_parent)
			return index ? -ENOENT : 0;
		if (d->tag == l->root || d->parent >= index)
			return -ENOENT;
		index = d->parent;
	}
	return -ENOENT;
}

/* The text of a symbol, cut to WIRE_SYMBOL_MAX. */
static int read_text(const struct compiler_memory *m, const struct plan_layout *l,
		     const struct tables *t, uint32_t symbol, char text[WIRE_SYMBOL_MAX + 1])
{
	uint8_t entry[ENTRY_MAX];
	uint64_t at, len;
	int err;

	if (symbol >= t->n_symbols)
		return -ENOENT;
	err = compiler_memory__read(m, t->symbols + (uint64_t)symbol * l->wire.symbol_size, entry,
				    l->wire.symbol_size);
	if (err)
		return err;
	memcpy(&at, entry + l->wire.text, 8);
	memcpy(&len, entry + l->wire.length, 8);
	if (!len)
		return -ENOENT;
	if (len > WIRE_SYMBOL_MAX)
		len = WIRE_SYMBOL_MAX;
	err = compiler_memory__read(m, at, text, (uint32_t)len);
	text[len] = '\0';
	return err ?: strlen(text) == len ? 0 : -ENOENT;
}

int compiler_names__path(const struct compiler_memory *m, const struct plan_layout *l,
			 const struct compiler_context *c, const char *crate, uint32_t index,
			 char **out)
{
	char name[WIRE_SYMBOL_MAX + 1], segment[DEFINITION_SEGMENT_MAX];
	struct definition path[DEPTH_MAX];
	_free_ char *text = NULL;
	struct tables t;
	size_t len;
	uint32_t n;
	FILE *to;
	int err = find_tables(m, l, c, &t) ?: read_ancestors(m, l, &t, index, path, &n);

	if (err)
		return err;
	to = open_memstream(&text, &len);
	if (!to)
		return -ENOMEM;
	fputs(crate ?: "crate", to);
	for (uint32_t i = n - 1; i-- && !err;) {
		err = read_text(m, l, &t, definition__symbol(l, &path[i]), name);
		if (err)
			break;
		definition__segment(l, &path[i], name, segment);
		fprintf(to, "::%s", segment);
	}
	if (fclose(to) && !err)
		err = -ENOMEM;
	if (!err)
		*out = take_ptr(text);
	return err;
}

/* ---- All of them ----------------------------------------------------------------------------- */

struct copier {
	const struct compiler_memory *m;
	const struct plan_layout *l;
	struct tables t;
	struct wire_piece piece;
	struct wire_symbols texts;
	uint8_t *seen; /* a bit for each symbol */
	uint32_t waiting[BATCH];
	uint32_t n_waiting;
	compiler_names_fn record;
	void *ctx;
};

static int send_texts(struct copier *c)
{
	int err = c->texts.size ? c->record(c->ctx, &c->texts,
					    offsetof(struct wire_symbols, bytes) + c->texts.size)
				: 0;

	c->texts.size = 0;
	return err;
}

/* The texts of the symbols that are waiting: first where they are, then they. */
static int read_waiting(struct copier *c)
{
	struct broker_memory at[BATCH];
	uint8_t bytes[BATCH * (WIRE_SYMBOL_MAX > ENTRY_MAX ? WIRE_SYMBOL_MAX : ENTRY_MAX)];
	const uint8_t *text = bytes;
	uint32_t n = c->n_waiting, size = c->l->wire.symbol_size;
	uint8_t *to;
	int err;

	c->n_waiting = 0;
	for (uint32_t i = 0; i < n; i++)
		at[i] = (struct broker_memory){c->t.symbols + (uint64_t)c->waiting[i] * size, size};
	err = n ? c->m->read(c->m->ctx, at, n, bytes) : 0;
	for (uint32_t i = 0; i < n && !err; i++) {
		uint64_t len;

		memcpy(&at[i].addr, bytes + i * size + c->l->wire.text, 8);
		memcpy(&len, bytes + i * size + c->l->wire.length, 8);
		at[i].size = len < WIRE_SYMBOL_MAX ? (uint32_t)len : WIRE_SYMBOL_MAX;
	}
	err = err || !n ? err : c->m->read(c->m->ctx, at, n, bytes);
	for (uint32_t i = 0; i < n && !err; text += at[i++].size) {
		if (c->texts.size + 8 + at[i].size + 3 > WIRE_SYMBOLS_MAX)
			err = send_texts(c);
		to = c->texts.bytes + c->texts.size;
		memcpy(to, &c->waiting[i], 4);
		memcpy(to + 4, &at[i].size, 4);
		memcpy(to + 8, text, at[i].size);
		c->texts.size += 8 + ((at[i].size + 3) & ~3u);
	}
	return err;
}

static int copy_piece(struct copier *c, uint64_t at, uint32_t size)
{
	struct wire_piece *p = &c->piece;
	int err = compiler_memory__read(c->m, c->t.definitions + at, p->bytes, size);

	p->offset = (uint32_t)at;
	p->size = size;
	err = err ?: c->record(c->ctx, p, offsetof(struct wire_piece, bytes) + size);
	for (uint32_t i = 0; i < size && !err; i += c->l->wire.size) {
		struct definition d = definition__read(c->l, p->bytes + i);
		uint32_t symbol = definition__symbol(c->l, &d);

		if (symbol >= c->t.n_symbols || c->seen[symbol / 8] >> symbol % 8 & 1)
			continue;
		c->seen[symbol / 8] |= (uint8_t)(1 << symbol % 8);
		c->waiting[c->n_waiting++] = symbol;
		if (c->n_waiting == BATCH)
			err = read_waiting(c);
	}
	return err;
}

int compiler_names__copy(const struct compiler_memory *m, const struct plan_layout *l,
			 const struct compiler_context *context, pid_t pid, uint8_t lib,
			 compiler_names_fn record, void *ctx)
{
	_free_ struct copier *c = calloc(1, sizeof(*c));
	_free_ uint8_t *seen = calloc(1, PLAN_LAYOUT_MAX);
	uint64_t size = l->wire.size, all, piece;
	int err;

	if (!c || !seen)
		return -ENOMEM;
	c->m = m;
	c->l = l;
	c->seen = seen;
	c->record = record;
	c->ctx = ctx;
	c->piece = (struct wire_piece){
		.type = WIRE_PIECE,
		.lib = lib,
		.table = WIRE_TABLE_DEFINITIONS,
		.pid = (uint32_t)pid,
	};
	c->texts = (struct wire_symbols){.type = WIRE_SYMBOLS, .lib = lib, .pid = (uint32_t)pid};
	err = find_tables(m, l, context, &c->t);
	if (err)
		return err;
	if (c->t.n_symbols > 8ull * PLAN_LAYOUT_MAX)
		c->t.n_symbols = 8ull * PLAN_LAYOUT_MAX;
	all = c->t.n_definitions * size;
	piece = WIRE_PIECE_MAX / size * size;
	for (uint64_t at = 0; at < all && !err; at += piece)
		err = copy_piece(c, at, (uint32_t)(all - at < piece ? all - at : piece));
	return err ?: read_waiting(c) ?: send_texts(c);
}
