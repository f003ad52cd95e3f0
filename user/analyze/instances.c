// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/instances.h"

#include <errno.h>
#include <string.h>

/* NULL without memory. */
static struct instance_query *query(struct instances *i, uint32_t label)
{
	struct instance_query *q = table__find(&i->queries, label);

	return q ?: table__get(&i->queries, label, .is_one = i->keyed && i->keyed(i->ctx, label));
}

bool instances__counts(struct instances *i, uint32_t label)
{
	const struct instance_query *q = query(i, label);

	return q && q->is_one;
}

int instances__own(struct instances *i, uint32_t label)
{
	struct instance_query *q = query(i, label);

	if (q)
		q->is_named = true;
	return q ? 0 : -ENOMEM;
}

int instances__foreign(struct instances *i, uint32_t label, uint32_t path)
{
	struct foreign_instances *f =
		table__get(&i->foreign, (uint64_t)path << 32 | label, .path = path);

	if (!f)
		return -ENOMEM;
	f->executions++;
	return instances__own(i, label);
}

int instances__list(struct instances *i, uint32_t path)
{
	struct foreign_instances *f = table__get(&i->listed, path, .path = path);

	if (!f)
		return -ENOMEM;
	f->executions++;
	return 0;
}

/* Items by their texts. */
struct text_index {
	const struct trace_texts *texts;
	struct instances_made *items;
	struct u64_map at; /* hash -> item */
};

static void text_index__destroy(struct text_index *x)
{
	u64_map__destroy(&x->at);
}

static const char *text_of(const struct text_index *x, uint32_t string)
{
	return x->texts->text(x->texts->ctx, string);
}

/* The item with a text, or NULL and the hash at which it would be. */
static struct instances_made *find_item(const struct text_index *x, const char *text,
					uint64_t *hash)
{
	for (*hash = map_hash(text, strlen(text));; ++*hash) {
		uint32_t at = u64_map__get(&x->at, *hash);

		if (at == U64_MAP_NONE)
			return NULL;
		if (!strcmp(text_of(x, x->items[at].item), text))
			return &x->items[at];
	}
}

static int index_items(struct text_index *x, size_t n)
{
	uint64_t hash;

	for (uint32_t i = 0; i < n; i++) {
		x->items[i].made = 0;
		if (x->items[i].item == TRACE_NO_STRING ||
		    find_item(x, text_of(x, x->items[i].item), &hash))
			continue;
		if (u64_map__put(&x->at, hash, i))
			return -ENOMEM;
	}
	return 0;
}

static int add_made(void *ctx, uint32_t path, uint64_t made)
{
	const struct text_index *x = ctx;
	uint64_t hash;
	struct instances_made *item = made ? find_item(x, text_of(x, path), &hash) : NULL;

	if (item)
		item->made += made;
	return 0;
}

static uint32_t n_queries(const struct instances *i)
{
	uint32_t n = 0;

	for (uint32_t q = 0; q < i->queries.n; q++)
		n += i->queries.at[q].is_one && i->queries.at[q].is_named;
	return n;
}

static int by_path(const void *a, const void *b)
{
	const struct foreign_instances *x = a, *y = b;

	return (x->path > y->path) - (x->path < y->path);
}

/* The next path's executions, from *at on, which becomes their end: the least of `n` queries'. */
static uint64_t least_of(const struct instances *i, uint32_t *at, uint32_t n)
{
	uint32_t path = i->foreign.at[*at].path, seen = 0;
	uint64_t least = UINT64_MAX;

	for (; *at < i->foreign.n && i->foreign.at[*at].path == path; ++*at, seen++)
		if (i->foreign.at[*at].executions < least)
			least = i->foreign.at[*at].executions;
	return seen < n ? 0 : least;
}

int instances__each_made(struct instances *i, int (*take)(void *ctx, uint32_t path, uint64_t made),
			 void *ctx)
{
	uint32_t queries = n_queries(i);
	int err = 0;

	if (!i->foreign.n || queries < 2) {
		for (uint32_t at = 0; at < i->listed.n && !err; at++)
			err = take(ctx, i->listed.at[at].path, i->listed.at[at].executions);
		return err;
	}
	/* Nothing is looked up by its place any more. */
	qsort(i->foreign.at, i->foreign.n, sizeof(*i->foreign.at), by_path);
	for (uint32_t at = 0; at < i->foreign.n && !err;) {
		uint32_t path = i->foreign.at[at].path;

		err = take(ctx, path, least_of(i, &at, queries));
	}
	return err;
}

int instances__made(struct instances *i, const struct trace_texts *texts,
		    struct instances_made *items, size_t n)
{
	__cleanup(text_index__destroy) struct text_index x = {.texts = texts, .items = items};

	return index_items(&x, n) ?: instances__each_made(i, add_made, &x);
}

void instances__destroy(struct instances *i)
{
	table__destroy(&i->queries);
	table__destroy(&i->foreign);
	table__destroy(&i->listed);
}
