// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Fake tables of active jobs, which lie where the plan of test_bpf_jobs.c says. */
#include <emmintrin.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "jobs_of_target.h"
#include "shapes.h"
#include "target_chains.h"

#define NOWHERE	   0x10000000000ul
#define IN_KERNEL  0xffffffff81000000ul
#define FEW	   16u
#define MANY	   4096u /* what the kernel half looks at, of one table */
#define TABLE_SIZE (MANY * (JOBS_ENTRY + 1ul))

/* shapes.S has its offset in the thread-local memory. */
__thread char *jobs_current;

static struct {
	char *current, *context, *outer, *inner, *shards;
} at;

static char *map(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void put(char *to, size_t offset, uint64_t value)
{
	*(volatile uint64_t *)(to + offset) = value;
}

/* The control bytes of a table of `size` bytes are its end. */
static char *ctrl_of(char *entries)
{
	return entries + MANY * (size_t)JOBS_ENTRY;
}

/* At once, as another thread sees it. */
static void put_job(char *entry, uint64_t job, uint64_t parent)
{
	*(volatile __m128i *)(entry + JOBS_JOB) = _mm_set_epi64x(jobs_key_of(job), (int64_t)job);
	put(entry, JOBS_PARENT, parent);
}

static void put_table(char *table, const char *ctrl, uint64_t buckets, uint64_t items)
{
	put(table, JOBS_CTRL, (uint64_t)ctrl);
	put(table, JOBS_MASK, buckets - 1);
	put(table, JOBS_ITEMS, items);
}

/* A table of 16 buckets, of which one is in use. */
static void put_one(char *table, char *entries, uint32_t bucket, uint64_t job, uint64_t parent)
{
	char *ctrl = ctrl_of(entries);

	memset(ctrl, 0xff, MANY);
	put_job(ctrl - (bucket + 1ul) * JOBS_ENTRY, job, parent);
	ctrl[bucket] = 0x11;
	put_table(table, ctrl, FEW, 1);
}

static void put_shards(char *table, const char *shards)
{
	put(table, 0, (uint64_t)shards);
	table[JOBS_MODE] = JOBS_SHARDED;
}

static char *table_of(uint32_t query)
{
	return at.context + jobs_table(query);
}

static void tell_the_truth(enum jobs_lie lie)
{
	memset(at.context, 0, 4096);
	memset(at.shards, 0, 4096);
	for (uint32_t i = 0; i < N_QUERIES; i++) {
		put(table_of(i), JOBS_NAME, (uint64_t)body_alpha + i);
		put(table_of(i), JOBS_NAME + 8, JOBS_NAME_LENGTH);
	}
	put_one(at.shards + 7 * JOBS_SHARD, at.outer, 3, jobs_outer(lie), 0);
	put_shards(table_of(JOBS_OUTER_QUERY), at.shards);
	put_one(table_of(JOBS_INNER_QUERY), at.inner, 15, jobs_inner(lie), jobs_outer(lie));
	put(at.current, JOBS_CONTEXT, (uint64_t)at.context);
	put(at.current, JOBS_CURRENT, jobs_inner(lie));
}

/* All entries of all tables, as shards or not, are other jobs. */
static void fill(enum jobs_lie lie, bool sharded)
{
	char *ctrl = ctrl_of(at.inner);

	memset(ctrl, 0x11, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		put_job(ctrl - (i + 1ul) * JOBS_ENTRY, jobs_outer(lie) + 1 + i, jobs_outer(lie));
	for (uint32_t i = 0; i < JOBS_SHARDS; i++)
		put_table(at.shards + (size_t)i * JOBS_SHARD, ctrl, MANY, MANY - 1);
	for (uint32_t i = 0; i < N_QUERIES; i++) {
		if (sharded)
			put_shards(table_of(i), at.shards);
		else
			put_table(table_of(i), ctrl, MANY, MANY - 1);
		table_of(i)[JOBS_MODE] = sharded ? JOBS_SHARDED : 0;
	}
}

static volatile bool moving;

/* The tables are right now and then. A bucket has one job after the other, a table is elsewhere. */
static void *move(void *arg)
{
	char *entry = ctrl_of(at.inner) - 16ul * JOBS_ENTRY, *table = table_of(JOBS_INNER_QUERY);

	(void)arg;
	for (uint64_t i = 0; moving; i++) {
		put_job(entry, jobs_outer(JOBS_MOVING) + 1 + i % 4000, jobs_outer(JOBS_MOVING));
		put_table(table, i % 3 ? ctrl_of(at.inner) : (char *)NOWHERE, i % 5 ? FEW : MANY,
			  i % 7 ? 1 : 1ul << 60);
		table[JOBS_MODE] = i % 11 ? 0 : JOBS_SHARDED;
		put(at.current, JOBS_CONTEXT, i % 13 ? (uint64_t)at.context : NOWHERE);
		put(table, JOBS_NAME, (uint64_t)body_alpha + (i % 17 ? JOBS_INNER_QUERY : 99));
		put_job(entry, jobs_inner(JOBS_MOVING), jobs_outer(JOBS_MOVING));
	}
	return NULL;
}

static void lie_of_tables(enum jobs_lie lie)
{
	char *inner = table_of(JOBS_INNER_QUERY), *entry = ctrl_of(at.inner) - 16ul * JOBS_ENTRY;

	switch (lie) {
	case JOBS_CTRL_NOWHERE:
		return put(inner, JOBS_CTRL, NOWHERE);
	case JOBS_CTRL_KERNEL:
		return put(inner, JOBS_CTRL, IN_KERNEL);
	case JOBS_MASK_2_60:
		return put_table(inner, ctrl_of(at.inner), 1ul << 60, (1ul << 60) - 1);
	case JOBS_ITEMS_2_60:
		return put(inner, JOBS_ITEMS, 1ul << 60);
	case JOBS_SHARDS_NOWHERE:
		return put_shards(inner, (char *)NOWHERE);
	case JOBS_SHARDS_SELF:
		return put_shards(inner, inner);
	case JOBS_PARENT_SELF:
		return put_job(entry, jobs_inner(lie), jobs_inner(lie));
	case JOBS_CIRCLE:
		put_job(ctrl_of(at.outer) - 4ul * JOBS_ENTRY, jobs_outer(lie), jobs_inner(lie));
		return put_job(entry, jobs_inner(lie), jobs_outer(lie));
	case JOBS_YOUNGER:
		return put_job(entry, jobs_inner(lie) + 1, jobs_outer(lie));
	case JOBS_FULL:
	case JOBS_FULL_SHARDS:
		return fill(lie, lie == JOBS_FULL_SHARDS);
	default:
		return;
	}
}

static pthread_t mover;

void jobs_lie(enum jobs_lie lie)
{
	if (!at.context) {
		at.current = map(4096);
		at.context = map(4096);
		at.shards = map(4096);
		at.outer = map(TABLE_SIZE + 4096);
		at.inner = map(TABLE_SIZE + 4096);
	}
	tell_the_truth(lie);
	lie_of_tables(lie);
	if (lie == JOBS_NAMES_ELSEWHERE)
		for (uint32_t i = 0; i < N_QUERIES; i++)
			put(table_of(i), JOBS_NAME, (uint64_t)body_alpha + N_QUERIES);
	if (lie == JOBS_CONTEXT_NOWHERE || lie == JOBS_CONTEXT_NULL)
		put(at.current, JOBS_CONTEXT, lie == JOBS_CONTEXT_NULL ? 0 : NOWHERE);
	moving = lie == JOBS_MOVING;
	if (moving && pthread_create(&mover, NULL, move, NULL))
		abort();
	jobs_current = lie == JOBS_CURRENT_NOWHERE ? (char *)NOWHERE : at.current;
}

void jobs_over(void)
{
	jobs_current = NULL;
	if (moving) {
		moving = false;
		pthread_join(mover, NULL);
	}
}
