/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fake tables of active jobs of the test program: what is in them, and where. target_jobs.c
 * makes them, test_bpf_jobs.c compares what the kernel half sent.
 */
#ifndef QPROF_TESTS_BPF_JOBS_OF_TARGET_H
#define QPROF_TESTS_BPF_JOBS_OF_TARGET_H

#include <stdint.h>

#include "shapes.h"

/* The layout. A table is within the context, its query's name behind it. */
enum {
	JOBS_CONTEXT = 0x10, /* in what the thread has, as the next one */
	JOBS_CURRENT = 0x28,
	JOBS_TABLES = 0x100,
	JOBS_TABLE = 0x40,
	JOBS_CTRL = 0,
	JOBS_MASK = 8,
	JOBS_ITEMS = 24,
	JOBS_MODE = 33,
	JOBS_SHARDED = 2,
	JOBS_SHARDS = 32,
	JOBS_SHARD = 64,
	JOBS_NAME = 0x30,
	JOBS_NAME_LENGTH = 12,
	/* Of an entry. The first two are one store. */
	JOBS_ENTRY = 48,
	JOBS_JOB = 0,
	JOBS_KEY = 8,
	JOBS_PARENT = 16,
};

static inline uint32_t jobs_table(uint32_t query)
{
	return JOBS_TABLES + query * JOBS_TABLE;
}

/* Two jobs, of which the second runs in the first: the first one's table has shards. */
#define JOBS_OUTER_QUERY ALPHA
#define JOBS_INNER_QUERY DELTA

static inline uint64_t jobs_outer(uint32_t lie)
{
	return 10000u * (lie + 1);
}

static inline uint64_t jobs_inner(uint32_t lie)
{
	return jobs_outer(lie) + 5000;
}

static inline uint32_t jobs_key_of(uint64_t job)
{
	return (uint32_t)job * 3 + 1;
}

enum jobs_lie {
	JOBS_TRUTH,
	JOBS_NAMES_ELSEWHERE, /* both queries' names are others */
	JOBS_CURRENT_NOWHERE, /* what the thread has is nowhere */
	JOBS_CONTEXT_NOWHERE,
	JOBS_CONTEXT_NULL,
	JOBS_CTRL_NOWHERE,
	JOBS_CTRL_KERNEL,
	JOBS_MASK_2_60,	 /* 2^60 buckets, as many entries */
	JOBS_ITEMS_2_60, /* 2^60 entries in few buckets */
	JOBS_SHARDS_NOWHERE,
	JOBS_SHARDS_SELF, /* the shards are the table itself, and so on */
	JOBS_PARENT_SELF, /* each job is the one around itself */
	JOBS_CIRCLE,	  /* the two are around each other */
	JOBS_YOUNGER,	  /* the table has a younger job only */
	JOBS_FULL, /* each table has as many entries as are looked at, and none of them is it */
	JOBS_FULL_SHARDS, /* the same, each as 32 shards that are all the same table */
	JOBS_MOVING,	  /* another thread changes everything meanwhile */
	JOBS_LIES,
};

/* Fill the tables in that way; the thread is in a job until jobs_over(). */
void jobs_lie(enum jobs_lie lie);
void jobs_over(void);

#endif /* QPROF_TESTS_BPF_JOBS_OF_TARGET_H */
