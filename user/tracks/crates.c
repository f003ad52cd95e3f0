// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/crates.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

static bool step(void *ctx, uint32_t index, struct path_step *out)
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

static const char *segment(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX])
{
	const struct cache_of *cache = ctx;
	const struct cached_definition *found =
		table__find(&cache->c->cached, key_of(cache->crate, index));

	return found ? definitions__segment(cache->how->definitions, cache->how->layout, &found->of,
					    buf)
		     : NULL;
}

/*
 * Another crate may have the name of the one that is compiled, as the library of a program often
 * has. So that their paths are different strings, the name is cut in two.
 */
static int make_root(const struct tracks_sink *sink, const char *name, uint32_t *id)
{
	struct trace_piece pieces[2] = {{.text = name}, {0}};
	char *first;
	size_t n = 1;
	int err;

	while ((name[n] & 0xc0) == 0x80)
		n++;
	first = strndup(name, n);
	if (!first)
		return -ENOMEM;
	pieces[0].text = first;
	pieces[1].text = name + n;
	err = sink->compose(sink->ctx, pieces, 2, id);
	free(first);
	/* A name of one letter cannot be cut. */
	if (err || !name[n] || !sink->foreign)
		return err;
	return sink->foreign(sink->ctx, *id);
}

/* The string id + 1 of a crate's name is in *root, or 0. */
static int find_root(struct crate *crate, const struct crates_naming *how)
{
	const char *name = crate ? definitions__text(how->definitions, crate->name) : NULL;
	uint32_t id;
	int err;

	if (!name || crate->root)
		return 0;
	err = make_root(how->sink, name, &id);
	if (!err)
		crate->root = id + 1;
	return err;
}

/* "core[12345]": most are one of many, so all but two digits are a string that others share. */
static int numbered_string(const struct tracks_sink *sink, uint32_t root, uint32_t index,
			   uint32_t *id)
{
	char text[16], rest[16];
	struct trace_piece pieces[2] = {{.id = root}, {.text = text}};
	uint32_t shared;
	int err;

	if (index < 100) {
		snprintf(text, sizeof(text), "[%" PRIu32 "]", index);
		return sink->compose(sink->ctx, pieces, 2, id);
	}
	snprintf(text, sizeof(text), "[%" PRIu32, index / 100);
	snprintf(rest, sizeof(rest), "%02" PRIu32 "]", index % 100);
	err = sink->compose(sink->ctx, pieces, 2, &shared);
	return err
		       ?: sink->compose(
				  sink->ctx,
				  (const struct trace_piece[]){{.id = shared}, {.text = rest}}, 2,
				  id);
}

int crates__string(struct crates *c, const struct crates_naming *how, uint32_t crate,
		   uint32_t index, uint32_t *id, bool *numbered)
{
	struct crate *of = table__find(&c->all, crate);
	struct cache_of cache = {c, how, crate};
	const struct path_source from = {&cache, step, segment};
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
