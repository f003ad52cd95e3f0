// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/compiler_results.h"

#include <string.h>

#include "base/array.h"

/* Of a query's name, and of a table without its shards. */
#define NAME_SIZE 16
#define TABLE_MAX 64
/* A query has a name, one or two caches, and a table of active jobs. */
#define RANGES	4
#define QUERIES 16

_Static_assert(QUERIES *RANGES <= BROKER_RANGES_MAX, "one look at a batch");
_Static_assert(WIRE_SHARDS_MAX *WIRE_SHARD_SIZE_MAX <= BROKER_MEMORY_MAX, "one look at all shards");
_Static_assert(WIRE_COUNTS_MAX % QUERIES == 0, "a record has whole batches");

struct reader {
	const struct compiler_memory *memory;
	const struct wire_tables *tables;
	const struct wire_query_table *queries;
	const struct wire_context *context;
	bool ended;	     /* active jobs are counted, too */
	uint32_t table_size; /* what is read of one */
	uint8_t shards[BROKER_MEMORY_MAX];
};

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Bytes of a query's cache, but not of its other one. */
static uint32_t cache_size(const struct reader *r, const struct wire_query_table *q)
{
	return q->kind == WIRE_CACHE_HASH ? r->table_size : q->kind == WIRE_CACHE_ONCE ? 4 : 8;
}

/* The ranges of a query, in the order in which count() takes them; their number is returned. */
static uint32_t ranges_of(const struct reader *r, const struct wire_query_table *q,
			  struct broker_memory ranges[RANGES])
{
	uint64_t at = r->context->context;
	bool vec = q->kind == WIRE_CACHE_VEC || q->kind == WIRE_CACHE_DEF;
	uint32_t n = 0;

	if (!q->kind)
		return 0;
	ranges[n++] = (struct broker_memory){at + q->name, NAME_SIZE};
	ranges[n++] = (struct broker_memory){at + q->active, r->table_size};
	ranges[n++] = (struct broker_memory){at + q->cache + (vec ? r->tables->vec_count : 0),
					     cache_size(r, q)};
	if (q->kind == WIRE_CACHE_DEF)
		ranges[n++] = (struct broker_memory){at + q->others, r->table_size};
	return n;
}

/* Tables that are several others, and where the sum of each one's entries goes. */
struct sharded {
	struct broker_memory ranges[3 * QUERIES];
	uint64_t *to[3 * QUERIES];
	uint32_t n;
};

static void read_entries(const struct reader *r, const uint8_t *table, uint64_t *n,
			 struct sharded *later)
{
	const struct wire_tables *t = r->tables;
	struct broker_memory range = {.size = t->n_shards * t->shard_size};

	memcpy(n, table + t->items, sizeof(*n));
	if (table[t->mode] != t->sharded)
		return;
	memcpy(&range.addr, table + t->shards, sizeof(range.addr));
	later->to[later->n] = n;
	later->ranges[later->n++] = range;
}

static uint64_t sum_of(const struct reader *r, const uint8_t *shards)
{
	const struct wire_tables *t = r->tables;
	uint64_t n = 0, more;

	for (uint32_t i = 0; i < t->n_shards && n <= WIRE_RESULTS_MAX; i++) {
		memcpy(&more, shards + i * t->shard_size + t->items, sizeof(more));
		n = more > WIRE_RESULTS_MAX ? WIRE_NO_COUNT : n + more;
	}
	return n;
}

/* As many tables at a time as one look may read. */
static int read_sharded(struct reader *r, const struct sharded *all)
{
	uint32_t size = r->tables->n_shards * r->tables->shard_size;
	uint32_t most = size ? BROKER_MEMORY_MAX / size : N_OF(all->to);
	int err = 0;

	for (uint32_t i = 0, n; i < all->n && err != -ETIME; i += n) {
		n = all->n - i < most ? all->n - i : most;
		err = r->memory->read(r->memory->ctx, all->ranges + i, n, r->shards);
		for (uint32_t k = 0; k < n; k++)
			*all->to[i + k] = err ? WIRE_NO_COUNT : sum_of(r, r->shards + k * size);
	}
	return err == -ETIME ? err : 0;
}

enum { RESULTS, OTHERS, ACTIVE, NUMBERS };

/* The numbers of a query, of which `bytes` were read. Returns how many bytes. */
static uint32_t count(const struct reader *r, const struct wire_query_table *q,
		      const uint8_t *bytes, uint64_t n[NUMBERS], struct sharded *later)
{
	const uint8_t *active = bytes + NAME_SIZE, *cache = active + r->table_size;
	const uint8_t *others = cache + cache_size(r, q);
	uint64_t name[2];
	uint32_t state;

	memcpy(name, bytes, sizeof(name));
	if (name[0] != r->context->bias + q->text || name[1] != q->length) {
		n[RESULTS] = WIRE_NO_COUNT;
	} else if (q->kind == WIRE_CACHE_ONCE) {
		memcpy(&state, cache, sizeof(state));
		n[RESULTS] = state == r->tables->once;
	} else if (q->kind == WIRE_CACHE_HASH) {
		read_entries(r, cache, &n[RESULTS], later);
	} else {
		memcpy(&n[RESULTS], cache, sizeof(n[RESULTS]));
	}
	if (n[RESULTS] != WIRE_NO_COUNT && r->ended)
		read_entries(r, active, &n[ACTIVE], later);
	if (q->kind != WIRE_CACHE_DEF)
		return others - bytes;
	if (n[RESULTS] != WIRE_NO_COUNT)
		read_entries(r, others, &n[OTHERS], later);
	return others + r->table_size - bytes;
}

/* Queries from `first` on: QUERIES, or those that are left. */
static int read_batch(struct reader *r, uint32_t first, struct wire_count out[QUERIES])
{
	uint8_t bytes[QUERIES * (NAME_SIZE + 3 * TABLE_MAX)], *at = bytes;
	struct broker_memory ranges[BROKER_RANGES_MAX];
	uint64_t counts[QUERIES][NUMBERS] = {};
	struct sharded later = {.n = 0};
	uint32_t left = r->tables->n - first, n = 0;
	int err;

	left = left < QUERIES ? left : QUERIES;
	for (uint32_t i = 0; i < left; i++) {
		out[i] = (struct wire_count){.results = WIRE_NO_COUNT};
		n += ranges_of(r, &r->queries[first + i], ranges + n);
	}
	if (!n)
		return 0;
	err = r->memory->read(r->memory->ctx, ranges, n, bytes);
	/* Else it is not known. */
	if (err)
		return err == -ETIME ? err : 0;
	for (uint32_t i = 0; i < left; i++)
		if (r->queries[first + i].kind)
			at += count(r, &r->queries[first + i], at, counts[i], &later);
	err = read_sharded(r, &later);
	for (uint32_t i = 0; i < left && !err; i++) {
		const uint64_t *c = counts[i];

		if (r->queries[first + i].kind && c[RESULTS] <= WIRE_RESULTS_MAX &&
		    c[OTHERS] <= WIRE_RESULTS_MAX && c[ACTIVE] <= WIRE_RESULTS_MAX)
			out[i] = (struct wire_count){(uint32_t)c[RESULTS], (uint32_t)c[OTHERS],
						     (uint32_t)c[ACTIVE]};
	}
	return err;
}

int compiler_results__copy(const struct compiler_memory *m, const struct compiler_tables *t,
			   const struct wire_context *c, pid_t pid, uint64_t time_ns,
			   enum wire_counts_moment moment, compiler_names_fn record, void *ctx)
{
	const struct wire_tables *w = &t->tables;
	struct reader r = {m,
			   w,
			   t->queries,
			   c,
			   .ended = moment != WIRE_COUNTS_RUNNING,
			   .table_size = most(w->mode + 1, w->items + 8)};
	struct wire_counts counts = {
		.type = WIRE_COUNTS,
		.lib = (uint8_t)c->lib,
		.moment = (wire_u8)moment,
		.pid = (uint32_t)pid,
		.of = w->n,
		.time_ns = time_ns,
		.context = c->context,
	};
	int err = 0;

	r.table_size = most(r.table_size, w->shards + 8);
	if (!w->n || w->n > WIRE_TABLES_MAX || r.table_size > TABLE_MAX ||
	    w->n_shards > WIRE_SHARDS_MAX || w->shard_size > WIRE_SHARD_SIZE_MAX ||
	    (w->n_shards && w->items + 8 > w->shard_size))
		return -ENODATA;
	for (uint32_t i = 0; i < w->n && !err; i += QUERIES) {
		uint32_t end = i + QUERIES < w->n ? i + QUERIES : w->n;

		err = read_batch(&r, i, &counts.items[i - counts.first]);
		counts.n = end - counts.first;
		if (err || (end < w->n && counts.n < WIRE_COUNTS_MAX))
			continue;
		err = record(ctx, &counts,
			     offsetof(struct wire_counts, items) +
				     counts.n * sizeof(*counts.items));
		counts.first = end;
	}
	return err;
}
