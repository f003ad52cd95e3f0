// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/compiler_results.h"

#include <errno.h>

#include "test.h"
#include "base/array.h"

/*
 * A compiler's memory: a context of N queries, each with its name at the begin of SIZE bytes, and
 * behind the context a table's shards.
 */
#define N	200
#define SIZE	192
#define CONTEXT 0x7000
#define BIAS	0x100000
#define SHARDS	(CONTEXT + N * SIZE)
#define SHARD	64
#define N_SHARD 4

static uint8_t memory[N * SIZE + N_SHARD * SHARD];
static int reads, fails_at, error;
static enum wire_counts_moment moment;
static struct wire_query_table queries[N];
static struct compiler_tables tables = {
	.tables = {.n = N,
		   .vec_count = 16,
		   .items = 24,
		   .mode = 33,
		   .sharded = 2,
		   .shards = 0,
		   .n_shards = N_SHARD,
		   .shard_size = SHARD,
		   .once = 7},
	.queries = queries,
};
static const struct wire_context context = {.context = CONTEXT, .bias = BIAS, .lib = 3};

static void put(uint64_t at, uint64_t value, size_t size)
{
	memcpy(memory + (at - CONTEXT), &value, size);
}

/*
 * Query i has i results, of each kind of cache in turn, but a SingleCache has one or none; and i %
 * 3 active jobs.
 */
static int setup(void **state)
{
	static const uint8_t kinds[] = {WIRE_CACHE_UNKNOWN, WIRE_CACHE_VEC, WIRE_CACHE_DEF,
					WIRE_CACHE_HASH, WIRE_CACHE_ONCE};

	(void)state;
	memset(memory, 0, sizeof(memory));
	reads = error = 0;
	moment = WIRE_COUNTS_FINISHED;
	fails_at = -1;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t at = i * SIZE;

		queries[i] = (struct wire_query_table){
			.text = 1000 + i,
			.length = 5,
			.name = at,
			.cache = at + 16,
			.others = at + 64,
			.active = at + 128,
			.kind = kinds[i % N_OF(kinds)],
		};
		put(CONTEXT + at, BIAS + 1000 + i, 8);
		put(CONTEXT + at + 8, 5, 8);
		put(CONTEXT + at + 128 + 24, i % 3, 8);
		switch (queries[i].kind) {
		case WIRE_CACHE_VEC:
			put(CONTEXT + at + 16 + 16, i, 8);
			break;
		case WIRE_CACHE_DEF:
			put(CONTEXT + at + 16 + 16, i, 8);
			put(CONTEXT + at + 64 + 24, i + 1, 8);
			break;
		case WIRE_CACHE_HASH:
			put(CONTEXT + at + 16 + 24, i, 8);
			break;
		default:
			put(CONTEXT + at + 16, i % 2 ? 7 : 3, 4);
		}
	}
	/* Shards with 0 to N_SHARD - 1 entries. */
	for (uint32_t i = 3; i <= 8; i += 5) {
		put(CONTEXT + i * SIZE + 16, SHARDS, 8);
		put(CONTEXT + i * SIZE + 16 + 33, 2, 1);
	}
	for (uint32_t i = 0; i < N_SHARD; i++)
		put(SHARDS + i * SHARD + 24, i, 8);
	return 0;
}

static int read_memory(void *ctx, const struct broker_memory *ranges, uint32_t n, uint8_t *bytes)
{
	(void)ctx;
	assert_in_range(n, 1, BROKER_RANGES_MAX);
	if (reads++ == fails_at)
		return error;
	for (uint32_t i = 0; i < n; bytes += ranges[i++].size) {
		if (ranges[i].addr - CONTEXT > sizeof(memory) - ranges[i].size)
			return -EFAULT;
		memcpy(bytes, memory + (ranges[i].addr - CONTEXT), ranges[i].size);
	}
	return 0;
}

struct got {
	struct wire_count items[N];
	uint32_t n;
};

static int on_record(void *ctx, const void *record, size_t size)
{
	const struct wire_counts *c = record;
	struct got *got = ctx;

	assert_int_equal(c->type, WIRE_COUNTS);
	assert_int_equal(c->moment, moment);
	assert_int_equal(c->lib, 3);
	assert_int_equal(c->pid, 11);
	assert_int_equal(c->of, N);
	assert_int_equal(c->first, got->n);
	assert_in_range(c->n, 1, WIRE_COUNTS_MAX);
	assert_int_equal(size, offsetof(struct wire_counts, items) + c->n * sizeof(*c->items));
	assert_in_range(got->n + c->n, 1, N);
	memcpy(got->items + got->n, c->items, c->n * sizeof(*c->items));
	got->n += c->n;
	return 0;
}

static int copy(struct got *got)
{
	const struct compiler_memory m = {NULL, read_memory};

	*got = (struct got){0};
	return compiler_results__copy(&m, &tables, &context, 11, 5, moment, on_record, got);
}

static uint32_t unknown(const struct got *got)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < got->n; i++)
		n += got->items[i].results == WIRE_NO_COUNT;
	return n;
}

TEST_CASE_WITH(each_kind_is_counted, setup, NULL)
{
	struct got got;

	(void)state;
	assert_int_equal(copy(&got), 0);
	assert_int_equal(got.n, N);
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t shards = i == 3 || i == 8 ? 0 + 1 + 2 + 3 : i;
		const uint32_t want[] = {WIRE_NO_COUNT, i, i, shards, i % 2};

		assert_int_equal(got.items[i].results, want[i % 5]);
		assert_int_equal(got.items[i].others, i % 5 == 2 ? i + 1 : 0);
		assert_int_equal(got.items[i].active, i % 5 ? i % 3 : 0);
	}
	/* The shards of several tables are read at once. */
	assert_int_equal(reads, (N + 15) / 16 + 1);
	moment = WIRE_COUNTS_RUNNING;
	assert_int_equal(copy(&got), 0);
	assert_int_equal(got.items[4].results, 0);
	assert_int_equal(got.items[4].active, 0);
}

/* A query of another name, a number that is none, and shards that are nowhere. */
TEST_CASE_WITH(a_lie_makes_its_query_unknown, setup, NULL)
{
	struct got got;

	(void)state;
	put(CONTEXT + 1 * SIZE + 8, 6, 8);
	put(CONTEXT + 2 * SIZE + 64 + 24, UINT64_MAX, 8);
	put(CONTEXT + 3 * SIZE + 16, UINT64_MAX - 7, 8);
	put(CONTEXT + 6 * SIZE + 16 + 16, WIRE_RESULTS_MAX + 1ul, 8);
	put(CONTEXT + 9 * SIZE, BIAS, 8);
	put(CONTEXT + 12 * SIZE + 128 + 24, WIRE_RESULTS_MAX + 1ul, 8);
	assert_int_equal(copy(&got), 0);
	/* With these shards, those that were to be read with them. */
	assert_int_equal(unknown(&got), N / 5 + 7);
	assert_int_equal(got.items[11].results, 11);
	put(CONTEXT + 3 * SIZE + 16, SHARDS, 8);
	put(SHARDS + 24, WIRE_RESULTS_MAX, 8);
	assert_int_equal(copy(&got), 0);
	assert_int_equal(got.items[3].results, WIRE_NO_COUNT);
}

TEST_CASE_WITH(garbage_is_unknown, setup, NULL)
{
	struct got got;

	(void)state;
	for (unsigned int seed = 0; seed < 50; seed++) {
		srand(seed);
		for (size_t i = 0; i < sizeof(memory); i++)
			memory[i] = (uint8_t)rand();
		assert_int_equal(copy(&got), 0);
		assert_int_equal(unknown(&got), N);
	}
}

TEST_CASE_WITH(what_cannot_be_read_is_unknown, setup, NULL)
{
	struct got got;

	(void)state;
	fails_at = 1;
	error = -EFAULT;
	assert_int_equal(copy(&got), 0);
	assert_int_equal(got.n, N);
	assert_in_range(unknown(&got), N / 5 + 1, N / 2);
	/* It makes us wait. */
	reads = 0;
	error = -ETIME;
	assert_int_equal(copy(&got), -ETIME);
	assert_int_equal(reads, 2);
}

TEST_CASE_WITH(a_plan_without_tables, setup, NULL)
{
	struct got got;

	(void)state;
	tables.tables.n = 0;
	assert_int_equal(copy(&got), -ENODATA);
	tables.tables.n = N;
	tables.tables.items = 60;
	assert_int_equal(copy(&got), -ENODATA);
	tables.tables.items = 24;
	assert_int_equal(reads, 0);
}

TEST_MAIN(NULL, NULL)
