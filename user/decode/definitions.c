// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/definitions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int definitions__add(struct definitions *d, const struct wire_piece *r)
{
	size_t gap;

	/* A second copy of the same process adds nothing. */
	if (r->offset < d->table.size)
		return 0;
	gap = r->offset - d->table.size;
	if (gap > DEFINITIONS_GAP_MAX)
		return -EBADMSG;
	if (gap && !byte_buffer__reserve(&d->table, gap))
		return -ENOMEM;
	if (gap)
		memset(d->table.data + d->table.size, 0xff, gap);
	d->table.size += gap;
	byte_buffer__bytes(&d->table, r->bytes, r->size);
	return d->table.failed ? -ENOMEM : 0;
}

/* The text of a symbol, or NULL. */
static const char *definitions__text(const struct definitions *d, uint32_t symbol)
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
		size_t at = d->texts.size;

		read_symbol(&in, &s);
		/* No name of a definition. The compiler's memory may hold anything. */
		if (memchr(s.text, '\0', s.n))
			continue;
		if (u64_map__get(&d->text_of, s.number) != U64_MAP_NONE ||
		    at + s.n + 1 > DEFINITIONS_TEXTS_MAX)
			continue;
		byte_buffer__bytes(&d->texts, s.text, s.n);
		byte_buffer__bytes(&d->texts, "", 1);
		if (d->texts.failed || u64_map__put(&d->text_of, s.number, (uint32_t)at))
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

/* The text that rustc prints behind the path of a definition's parent, in `buf`; NULL: unknown. */
static const char *definitions__segment(const struct definitions *d, const struct plan_layout *l,
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
			uint32_t index, const struct decoder_sink *sink, uint32_t *id)
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
	err = sink->text(sink->items, crate ? crate : "crate", &root);
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

/* ---- Paths ----------------------------------------------------------------------------------- */

/* A way up from a definition. */
struct way {
	uint32_t index[PATHS_DEPTH_MAX];
	uint32_t *strings[PATHS_DEPTH_MAX];
	uint32_t n;
};

/*
 * Collect the definitions from `index` up to one whose string is known, or to the root. False if
 * one of them is unknown, or the root is too far. A parent is always older than its child.
 */
static bool find_way(const struct path_source *from, uint32_t index, struct way *way)
{
	struct path_step step;
	bool known = false;

	way->n = 0;
	/* To the root in any case: a string must not be nested deeper than a trace can hold. */
	for (uint32_t i = 0; i < PATHS_DEPTH_MAX && from->step(from->ctx, index, &step); i++) {
		if (!known) {
			way->index[way->n] = index;
			way->strings[way->n++] = step.string;
		}
		known = known || (step.string && *step.string);
		if (step.parent == PATHS_ROOT)
			return true;
		if (step.parent >= index)
			return false;
		index = step.parent;
	}
	return false;
}

/* Set *id to the string of a definition behind that of its parent. False: it has no name. */
static int compose(const struct path_source *from, const struct decoder_sink *sink, uint32_t index,
		   bool *known, uint32_t *id)
{
	struct trace_piece pieces[3] = {{.id = *id}, {.text = "::"}, {0}};
	char buf[PATHS_SEGMENT_MAX];
	const char *segment = from->segment(from->ctx, index, buf);

	*known = segment;
	if (!segment)
		return 0;
	return sink->text(sink->items, segment, &pieces[2].id)
		       ?: sink->compose(sink->items, pieces, 3, id);
}

int paths__string(const struct path_source *from, uint32_t root, uint32_t index,
		  const struct decoder_sink *sink, uint32_t *id)
{
	uint32_t string = root, *last;
	bool known = true;
	struct way way;
	int err = 0;

	*id = TRACE_NO_STRING;
	if (!find_way(from, index, &way))
		return 0;
	last = way.strings[way.n - 1];
	if (last && *last)
		string = *last - 1;
	for (; known && !err; way.n--) {
		uint32_t *keep = way.strings[way.n - 1];

		if (keep)
			*keep = string + 1;
		if (way.n == 1) {
			*id = string;
			break;
		}
		err = compose(from, sink, way.index[way.n - 2], &known, &string);
	}
	return err;
}

/* ---- Crates that it depends on --------------------------------------------------------------- */

size_t dependencies__bytes(const struct dependencies *d)
{
	return d->row_bytes + d->texts.size +
	       (d->text_of.capacity + d->crates.index.index_of.capacity) *
		       sizeof(struct u64_map_slot);
}

static bool has_room(const struct dependencies *d, size_t more)
{
	return dependencies__bytes(d) + more <= DEPENDENCIES_BYTES_MAX;
}

/* A text is kept once, unless another one has its hash. Without room, the segment is not known. */
static int make_row(struct dependencies *d, uint32_t parent, const char *segment,
		    struct dependency_row *out)
{
	uint64_t hash = segment ? map_hash(segment, strlen(segment)) : 0;
	uint32_t known = segment ? u64_map__get(&d->text_of, hash) : U64_MAP_NONE;

	*out = (struct dependency_row){.parent = parent};
	if (!segment)
		return 0;
	if (known != U64_MAP_NONE && !strcmp((const char *)d->texts.data + known, segment)) {
		out->segment = known;
		return 0;
	}
	if (!has_room(d, strlen(segment) + 1))
		return 0;
	/* No text begins at 0. */
	if (!d->texts.size)
		byte_buffer__bytes(&d->texts, "", 1);
	known = (uint32_t)d->texts.size;
	byte_buffer__bytes(&d->texts, segment, strlen(segment) + 1);
	if (d->texts.failed || u64_map__put(&d->text_of, hash, known))
		return -ENOMEM;
	out->segment = known;
	return 0;
}

/* *crate is NULL if there is no room for one more. */
static int find_or_add(struct dependencies *d, uint64_t stable_id, struct dependency **crate)
{
	*crate = table__find(&d->crates, stable_id);
	if (*crate || !has_room(d, sizeof(**crate)))
		return 0;
	*crate = table__get(&d->crates, stable_id, .n_all = 0);
	d->row_bytes += sizeof(**crate);
	return *crate ? 0 : -ENOMEM;
}

int dependencies__add_all(struct dependencies *d, uint64_t stable_id,
			  const struct definitions *definitions, const struct plan_layout *l)
{
	uint32_t n = l->wire.size ? (uint32_t)(definitions->table.size / l->wire.size) : 0;
	size_t bytes = n * sizeof(struct dependency_row);
	_free_ struct dependency_row *rows = NULL;
	struct dependency *crate;
	int err;

	if (!n || !has_room(d, bytes))
		return 0;
	err = find_or_add(d, stable_id, &crate);
	if (err || !crate)
		return err;
	rows = calloc(n, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !err; i++) {
		struct definition of =
			definition__read(l, definitions->table.data + (size_t)i * l->wire.size);
		char buf[PATHS_SEGMENT_MAX];

		err = make_row(d, definition_parent(l, &of),
			       definitions__segment(definitions, l, &of, buf), &rows[i]);
	}
	if (err)
		return err;
	/* If it was compiled before, its source may be another one now: the new numbers count. */
	d->row_bytes += bytes - crate->n_all * sizeof(*rows);
	free(crate->all);
	crate->all = take_ptr(rows);
	crate->n_all = n;
	return 0;
}

int dependencies__add(struct dependencies *d, uint64_t stable_id, uint32_t index, uint32_t parent,
		      const char *segment)
{
	struct dependency *crate;
	struct dependency_row row;
	size_t bytes = sizeof(row) + 2 * sizeof(struct u64_map_slot);
	int err = find_or_add(d, stable_id, &crate);

	if (err || !crate)
		return err;
	if (index < crate->n_all || table__find(&crate->some, index) || !has_room(d, bytes))
		return 0;
	if (make_row(d, parent, segment, &row))
		return -ENOMEM;
	d->row_bytes += bytes;
	return table__get(&crate->some, index, .parent = row.parent, .segment = row.segment)
		       ? 0
		       : -ENOMEM;
}

struct crate_of {
	const struct dependencies *d;
	struct dependency *crate;
};

static const struct dependency_row *row_of(struct dependency *crate, uint32_t index)
{
	return index < crate->n_all ? &crate->all[index] : table__find(&crate->some, index);
}

static bool step(void *ctx, uint32_t index, struct path_step *out)
{
	const struct crate_of *of = ctx;
	const struct dependency_row *row = row_of(of->crate, index);

	if (row)
		*out = (struct path_step){.parent = row->parent};
	return row;
}

static const char *segment(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX])
{
	const struct crate_of *of = ctx;
	const struct dependency_row *row = row_of(of->crate, index);

	(void)buf;
	return row && row->segment ? (const char *)of->d->texts.data + row->segment : NULL;
}

int dependencies__string(struct dependencies *d, uint64_t stable_id, uint32_t root, uint32_t index,
			 const struct decoder_sink *sink, uint32_t *id)
{
	struct crate_of of = {d, table__find(&d->crates, stable_id)};
	const struct path_source from = {&of, step, segment};

	*id = TRACE_NO_STRING;
	return of.crate ? paths__string(&from, root, index, sink, id) : 0;
}

void dependencies__destroy(struct dependencies *d)
{
	for (uint32_t i = 0; i < d->crates.n; i++) {
		free(d->crates.at[i].all);
		table__destroy(&d->crates.at[i].some);
	}
	table__destroy(&d->crates);
	byte_buffer__destroy(&d->texts);
	u64_map__destroy(&d->text_of);
	*d = (struct dependencies){0};
}

/* ---- Names of crates ------------------------------------------------------------------------- */

#define CONTROL_FREE 0x80

static uint64_t key_of(uint32_t crate, uint32_t index)
{
	return (uint64_t)crate << 32 | index;
}

int crates__add(struct crates *c, const struct wire_piece *r)
{
	if (r->size % sizeof(struct wire_crate))
		return -EBADMSG;
	for (uint32_t at = 0; at < r->size; at += sizeof(struct wire_crate)) {
		uint32_t number = bytes_load_u32(r->bytes + at);
		uint32_t name = bytes_load_u32(r->bytes + at + 4);
		uint64_t id = bytes_load_u64(r->bytes + at + 8);

		if (number == WIRE_KEY_LOCAL_CRATE) {
			c->has_own_id = true;
			c->own_id = id;
		} else if (c->all.n < CRATES_MAX &&
			   !table__get(&c->all, number, .stable_id = id, .name = name)) {
			return -ENOMEM;
		}
	}
	return 0;
}

int crates__add_keys(struct crates *c, const struct plan_layout *l, const struct wire_piece *r)
{
	const struct wire_layout_crates *w = &l->wire.crates;
	uint32_t n = w->size ? r->size / (1 + w->size) : 0;

	if (!n || n * (1 + w->size) != r->size)
		return -EBADMSG;
	for (uint32_t i = 0; i < n && c->cached.n < CRATES_CACHED_MAX; i++) {
		const uint8_t *entry = r->bytes + n + (size_t)(n - 1 - i) * w->size;
		uint32_t index = bytes_load_u32(entry + w->index);

		if (r->bytes[i] & CONTROL_FREE)
			continue;
		if (!table__get(&c->cached, key_of(r->number, index),
				.of = definition__read(l, entry + w->key), .crate = r->number,
				.index = index))
			return -ENOMEM;
	}
	return 0;
}

struct cache_of {
	struct crates *c;
	const struct crates_naming *how;
	uint32_t crate;
};

static bool crates_step(void *ctx, uint32_t index, struct path_step *out)
{
	const struct cache_of *cache = ctx;
	struct cached_definition *found =
		table__find(&cache->c->cached, key_of(cache->crate, index));

	if (!found)
		return false;
	out->parent = definition_parent(cache->how->layout, &found->of);
	out->string = &found->string;
	return true;
}

static const char *crates_segment(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX])
{
	const struct cache_of *cache = ctx;
	const struct cached_definition *found =
		table__find(&cache->c->cached, key_of(cache->crate, index));

	return found ? definitions__segment(cache->how->definitions, cache->how->layout, &found->of,
					    buf)
		     : NULL;
}

/*
 * Set crate->root to the string id + 1 of the crate's name, if it is known. Another crate may have
 * the name of the one that is compiled, as the library of a program often has. So that their paths
 * are different strings, the name is cut in two.
 */
static int find_root(struct crate *crate, const struct crates_naming *how)
{
	const char *name = crate ? definitions__text(how->definitions, crate->name) : NULL;
	const struct decoder_sink *sink = how->sink;
	_free_ char *first = NULL;
	size_t n = 1;
	uint32_t id;
	int err;

	if (!name || crate->root)
		return 0;
	while ((name[n] & 0xc0) == 0x80)
		n++;
	first = strndup(name, n);
	if (!first)
		return -ENOMEM;
	err = sink->compose(sink->items,
			    (const struct trace_piece[]){{.text = first}, {.text = name + n}}, 2,
			    &id);
	/* A name of one letter cannot be cut. */
	if (!err && name[n] && sink->foreign)
		err = sink->foreign(sink->items, id);
	if (!err)
		crate->root = id + 1;
	return err;
}

/* "core[12345]": most are one of many, so all but two digits are a string that others share. */
static int numbered_string(const struct decoder_sink *sink, uint32_t root, uint32_t index,
			   uint32_t *id)
{
	char text[16], rest[16];
	struct trace_piece pieces[2] = {{.id = root}, {.text = text}};
	uint32_t shared;
	int err;

	if (index < 100) {
		snprintf(text, sizeof(text), "[%" PRIu32 "]", index);
		return sink->compose(sink->items, pieces, 2, id);
	}
	snprintf(text, sizeof(text), "[%" PRIu32, index / 100);
	snprintf(rest, sizeof(rest), "%02" PRIu32 "]", index % 100);
	err = sink->compose(sink->items, pieces, 2, &shared);
	if (err)
		return err;
	pieces[0] = (struct trace_piece){.id = shared};
	pieces[1] = (struct trace_piece){.text = rest};
	return sink->compose(sink->items, pieces, 2, id);
}

int crates__string(struct crates *c, const struct crates_naming *how, uint32_t crate,
		   uint32_t index, uint32_t *id, bool *numbered)
{
	struct crate *of = table__find(&c->all, crate);
	struct cache_of cache = {c, how, crate};
	const struct path_source from = {&cache, crates_step, crates_segment};
	int err = find_root(of, how);
	uint32_t root;

	*id = TRACE_NO_STRING;
	if (numbered)
		*numbered = false;
	if (err || !of || !of->root)
		return err;
	root = of->root - 1;
	/* A crate's root is its first definition, which need not be in the cache. */
	if (!index) {
		*id = root;
		return 0;
	}
	err = paths__string(&from, root, index, how->sink, id);
	if (!err && *id == TRACE_NO_STRING)
		err = dependencies__string(how->dependencies, of->stable_id, root, index, how->sink,
					   id);
	if (err || *id != TRACE_NO_STRING || !numbered)
		return err;
	*numbered = true;
	return numbered_string(how->sink, root, index, id);
}

int crates__share(struct crates *c, const struct crates_naming *how)
{
	int err = 0;

	if (c->has_own_id)
		err = dependencies__add_all(how->dependencies, c->own_id, how->definitions,
					    how->layout);
	for (uint32_t i = 0; i < c->cached.n && !err; i++) {
		const struct cached_definition *d = &c->cached.at[i];
		const struct crate *crate = table__find(&c->all, d->crate);
		char buf[PATHS_SEGMENT_MAX];

		if (crate)
			err = dependencies__add(
				how->dependencies, crate->stable_id, d->index,
				definition_parent(how->layout, &d->of),
				definitions__segment(how->definitions, how->layout, &d->of, buf));
	}
	return err;
}

void crates__clear(struct crates *c)
{
	table__destroy(&c->all);
	table__destroy(&c->cached);
	*c = (struct crates){0};
}
