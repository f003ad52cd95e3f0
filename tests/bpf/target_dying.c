// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Fake query contexts that a thread has when its process dies. Only their tables of results are
 * there, in pages that are shared, so that another process can change it while this one dies.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

#include "../../bpf/names_limits.h"
#include "names_of_target.h"
#include "shapes.h"

#define PAGE	  4096ul
#define NOWHERE	  0x10000000000ul
#define IN_KERNEL 0xffffffff81000000ul
#define CONTEXT	  (2 * PAGE)
#define BEGUN	  (CONTEXT - 8)

/* The memory of a compiler's thread: target_jobs.c, target_names.c. */
extern __thread char *jobs_current;
extern __thread char *names_globals;

static char *page; /* the context: two pages */
static int page_fd;

/* Pages that are there without memory, until somebody writes to them. */
static char *map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

static void map_page(void)
{
	page = mmap(NULL, CONTEXT, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	if (page == MAP_FAILED)
		abort();
}

static void put(char *to, size_t at, uint64_t value)
{
	*(volatile uint64_t *)(to + at) = value;
}

static size_t table_of(uint32_t query)
{
	return NAMES_CONTEXT + names_results(query);
}

static void put_name(uint32_t query, const void *name)
{
	put(page, table_of(query) + NAMES_QUERY_NAME, (uint64_t)name);
	put(page, table_of(query) + NAMES_QUERY_NAME + 8, NAMES_QUERY_LENGTH);
}

static bool has_buckets(uint32_t query)
{
	return query == RESULTS_VEC || query == RESULTS_MANY ||
	       (query >= RESULTS_OTHER_NAME && query < RESULTS_HASH);
}

static bool is_once(uint32_t query)
{
	return query == RESULTS_ONCE || query == RESULTS_NONE;
}

static void put_count(uint32_t query, uint64_t n)
{
	size_t cache = table_of(query) + NAMES_CACHE;

	if (!is_once(query))
		put(page,
		    cache + (has_buckets(query) || query == RESULTS_DEF ? NAMES_VEC_COUNT
									: NAMES_ITEMS),
		    n);
}

/* Where a table of other crates may follow, there is one bucket. */
static void put_buckets(uint32_t query, const char *keys)
{
	size_t first = NAMES_CACHE + NAMES_VEC_KEYS;
	size_t end = has_buckets(query) ? NAMES_QUERY_NAME : first + 8;

	for (size_t at = first; at < end && !is_once(query); at += 8)
		put(page, table_of(query) + at, (uint64_t)keys);
}

static void put_shards(uint32_t query, size_t table, const char *shards)
{
	put(page, table_of(query) + table, (uint64_t)shards);
	page[table_of(query) + table + NAMES_MODE] = NAMES_SHARDED;
}

/* Returns the control bytes of a table whose first `n` buckets are full. */
static const char *make_hash(uint32_t n)
{
	size_t entries = (size_t)NAMES_HASH_SHARD_BUCKETS * NAMES_HASH_ENTRY;
	char *ctrl = map(entries + NAMES_HASH_SHARD_BUCKETS) + entries;

	for (uint32_t i = 0; i < NAMES_HASH_SHARD_BUCKETS; i++) {
		uint32_t key[] = {names_key(i), names_key(i), 0};

		ctrl[i] = i < n ? (char)i : -1;
		memcpy(ctrl - (i + 1ul) * NAMES_HASH_ENTRY + NAMES_HASH_KEY, key, sizeof(key));
	}
	return ctrl;
}

static void put_hash(uint32_t query, const char *ctrl, uint64_t buckets)
{
	size_t cache = table_of(query) + NAMES_CACHE;

	put(page, cache + NAMES_HASH_CTRL, (uint64_t)ctrl);
	put(page, cache + NAMES_HASH_MASK, buckets - 1);
}

static void tell_the_truth(void)
{
	for (uint32_t i = 0; i < NAMES_RESULTS; i++) {
		put_name(i, names_drop);
		put_count(i, i);
		if (i >= RESULTS_HASH)
			put_hash(i, make_hash(i), NAMES_HASH_SHARD_BUCKETS);
	}
	put(page, table_of(RESULTS_NONE) + NAMES_CACHE, 3);
}

/* Ends with the process whose context it is: its death has been read by then. */
static void change_for_ever(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint32_t n = 0;; n++) {
		for (uint32_t i = 0; i < NAMES_RESULTS; i++) {
			put_count(i, n % 3 ? i + (n % 2) * NAMES_MOVED : 1ull << 60);
			put_name(i, n % 5 ? (char *)names_drop : (char *)names_drop + 1);
			if (has_buckets(i))
				put_buckets(i, n % 7 ? page : (char *)NOWHERE);
		}
		put(page, BEGUN, 1);
	}
}

static void move(void)
{
	if (!fork())
		change_for_ever();
	while (!*(volatile uint64_t *)(page + BEGUN))
		usleep(100);
}

/* Each query with a hash table has another lie. `large` is a table of NAMES_DYING_MAX full buckets.
 */
static void lie_of_hash(uint32_t query, const char *large, const char *shards)
{
	switch (query) {
	case RESULTS_HASH:
		return put_hash(query, make_hash(query), 1ull << 60);
	case RESULTS_HASH_SHARDS:
	case RESULTS_HASH_ENDLESS:
		return put_shards(query, NAMES_CACHE, shards);
	case RESULTS_HASH_NOWHERE:
		return put_hash(query, (char *)NOWHERE, NAMES_HASH_BUCKETS);
	case RESULTS_HASH_MANY:
		return put_hash(query, large, NAMES_DYING_MAX);
	case RESULTS_HASH_SPARSE:
		return put_hash(query, (char *)IN_KERNEL, NAMES_HASH_BUCKETS);
	default:
		return;
	}
}

static void have_hashes(char *shards)
{
	size_t entries = (size_t)NAMES_DYING_MAX * NAMES_HASH_ENTRY;
	char *large = map(entries + NAMES_DYING_MAX) + entries;

	/* What may not sleep reads only what is there. */
	memset(large - entries, 0, entries + NAMES_DYING_MAX);
	for (uint32_t i = 0; i < WIRE_SHARDS_MAX; i++) {
		put(shards, i * (size_t)NAMES_SHARD_SIZE + NAMES_HASH_CTRL, (uint64_t)large);
		put(shards, i * (size_t)NAMES_SHARD_SIZE + NAMES_HASH_MASK, NAMES_DYING_MAX - 1);
	}
	for (uint32_t i = RESULTS_HASH; i < NAMES_RESULTS; i++)
		lie_of_hash(i, large, shards);
}

static void lie_of_query(enum names_death how, uint32_t query, const char *keys, const char *shards)
{
	switch (how) {
	case DEATH_NAMES:
		return put_name(query, (char *)names_drop + 1);
	case DEATH_COUNTS:
		return put_count(query, 1ull << 60);
	case DEATH_CIRCLES:
		put_shards(query, NAMES_ACTIVE, page + table_of(query));
		put_count(query, NAMES_CIRCLE);
		if (has_buckets(query))
			return put_buckets(query,
					   page + table_of(query) + NAMES_CACHE + NAMES_VEC_KEYS);
		return put_shards(query, NAMES_CACHE, page + table_of(query) + NAMES_CACHE);
	case DEATH_KEYS_MANY:
	case DEATH_KEYS_ABSENT:
		if (has_buckets(query))
			put_buckets(query, keys);
		return put_count(query, NAMES_DYING_MAX);
	case DEATH_SHARDS:
		put_shards(query, NAMES_ACTIVE, shards);
		put_shards(query, NAMES_OTHERS, shards);
		return;
	default:
		return;
	}
}

/* Their pages cost no memory: all that is read of them is the same page of zeroes, or absent. */
static void have_many_definitions(void)
{
	const char *keys = map(NAMES_10_MILLION * sizeof(uint32_t));

	put(page, NAMES_CONTEXT + NAMES_TABLE, (uint64_t)map(NAMES_10_MILLION * 16ul));
	put(page, NAMES_CONTEXT + NAMES_COUNT, NAMES_10_MILLION);
	for (uint32_t i = 0; i < NAMES_RESULTS; i++) {
		if (has_buckets(i))
			put_buckets(i, keys);
		put_count(i, NAMES_10_MILLION);
	}
}

void names_have(enum names_death how)
{
	char *current = map(PAGE), *keys = map(4ul * NAMES_DYING_MAX);
	char *shards = map(WIRE_SHARDS_MAX * NAMES_SHARD_SIZE);

	memset(shards, 0, WIRE_SHARDS_MAX * NAMES_SHARD_SIZE);
	if (how == DEATH_KEYS_MANY)
		memset(keys, NAMES_VEC_MARK, 4ul * NAMES_DYING_MAX);
	page_fd = memfd_create("context", MFD_CLOEXEC);
	if (page_fd < 0 || ftruncate(page_fd, CONTEXT))
		abort();
	map_page();
	tell_the_truth();
	for (uint32_t i = 0; i < NAMES_RESULTS; i++)
		lie_of_query(how, i, keys, shards);
	put(current, NAMES_THREAD_CONTEXT,
	    (how == DEATH_KERNEL ? IN_KERNEL : (uint64_t)page) + NAMES_CONTEXT);
	jobs_current = current;
	names_globals = map(PAGE);
	memset(names_globals, 0, PAGE);
	if (how == DEATH_NOWHERE)
		munmap(page, CONTEXT);
	else if (how == DEATH_NOT_RESIDENT)
		madvise(page, CONTEXT, MADV_DONTNEED);
	else if (how == DEATH_PROTECTED)
		mprotect(page, CONTEXT, PROT_NONE);
	else if (how == DEATH_MOVING)
		move();
	else if (how == DEATH_DEFINITIONS)
		have_many_definitions();
	else if (how == DEATH_HASHES)
		have_hashes(shards);
}

void names_finish_had(void)
{
	names_finish(page + NAMES_CONTEXT);
}

void names_drop_had(void)
{
	names_drop(page);
}
