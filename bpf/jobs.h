/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which query a sampled thread executes, and about what: rustc's own ImplicitCtxt has the number of
 * the thread's job, and the tables of active jobs have the key of each, and the job around.
 *
 * The jobs that are active are sent when a sample finds one that was not sent before, all at once:
 * those around the sampled one are among them. Everything here is the compiler's memory, and may
 * hold anything: so many tables, buckets and entries are looked at, and what does not fit is left
 * out. A table may change while it is read, if the compiler has several threads: then a job may be
 * missing, and its samples have none.
 */
#ifndef QPROF_JOBS_H
#define QPROF_JOBS_H

#include "contexts.h"
#include "maps.h"
#include "operands.h"
#include "unwind.h"

/* By file of a sample: the library of a compiler, or 0. The user half sets it. */
#define JOBS_FILES 2048
volatile __u8 jobs_libs[JOBS_FILES];

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_LIBS + 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct wire_job_tables);
} job_tables SEC(".maps");

struct jobs_sent_key {
	__u64 job;
	__u64 pid;
};

/* Jobs that were sent; one that is forgotten is sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct jobs_sent_key);
	__type(value, __u32);
} jobs_sent SEC(".maps");

/* Buckets of one table, and of all tables at one sample, that are looked at. */
#define JOBS_BUCKETS_MAX 4096
#define JOBS_GROUP	 16
#define JOBS_GROUPS_MAX	 (JOBS_BUCKETS_MAX / JOBS_GROUP)
#define JOBS_SHARDS_MAX	 32

/* The working memory of one look, by CPU and program, as that of a sample (sampling.h). */
struct jobs_scan {
	__u64 context;
	__u64 ctrl; /* of the table that is looked at */
	__u64 shards;
	__u32 lib;
	__u32 query;
	__u32 left;    /* entries of the table that were not found yet */
	__u32 buckets; /* of the table */
	__u32 budget;  /* groups that may still be read */
	__u32 pad;
	__u64 words[8]; /* of a table's struct */
	__u8 group[JOBS_GROUP];
	struct jobs_sent_key sent;
	struct wire_job record;
};

#define JOBS_SCANS 3

/* The verifier knows a pointer only on the stack. */
struct jobs_ctx {
	struct jobs_scan *s;
	const struct wire_job_tables *all;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JOBS_SCANS);
	__type(key, __u32);
	__type(value, struct jobs_scan);
} jobs_scans SEC(".maps");

static wire_u32 unwind_lib(wire_u32 file)
{
	return jobs_libs[file & (JOBS_FILES - 1)];
}

static __always_inline __u64 jobs_key(struct jobs_scan *s, const struct wire_job_table *t, __u64 at)
{
	__u32 words[2] = {};

	if (!t->key)
		return 0;
	at += t->key_at;
	if (t->key == WIRE_KEY_MEMORY)
		return operand_key_in_memory(at, wire_wrapper_key(s->lib, s->query));
	if (bpf_probe_read_user(words, sizeof(words), (void *)at))
		return 0;
	return operand_make_key(t->key, words[0], words[1]);
}

static __always_inline const struct wire_job_table *jobs_table(const struct wire_job_tables *all,
							       __u32 query)
{
	return &all->items[query & (WIRE_JOB_TABLES - 1)];
}

/* The entry at `at` of a query's table. */
STACK_APART int jobs_see(struct jobs_scan *s, const struct wire_job_table *t, __u64 at)
{
	__u32 yes = 1;

	if (!s || !t)
		return 0;
	s->record.job = contexts_word(at + t->job);
	s->sent.job = s->record.job;
	if (!s->record.job || bpf_map_lookup_elem(&jobs_sent, &s->sent))
		return 0;
	s->record.parent = contexts_word(at + t->parent);
	s->record.query = s->query;
	s->record.key = jobs_key(s, t, at);
	if (bpf_ringbuf_output(&ring, &s->record, sizeof(s->record), maps_wakeup_flags()))
		maps_count(WIRE_LOST_JOBS);
	else
		bpf_map_update_elem(&jobs_sent, &s->sent, &yes, BPF_ANY);
	return 0;
}

/* 16 control bytes: the highest bit of that of a full bucket is not set. */
static long jobs_see_group(__u32 i, struct jobs_ctx *c)
{
	struct jobs_scan *s = c->s;
	const struct wire_job_table *t;
	__u32 bucket = i * JOBS_GROUP;

	if (!s || !c->all || !s->left || !s->budget || bucket >= s->buckets)
		return 1;
	t = jobs_table(c->all, s->query);
	s->budget--;
	if (bpf_probe_read_user(s->group, sizeof(s->group), (void *)(s->ctrl + bucket)))
		return 1;
	for (__u32 k = 0; k < JOBS_GROUP; k++) {
		if (s->group[k] & 0x80 || bucket + k >= s->buckets || !s->left)
			continue;
		s->left--;
		jobs_see(s, t, s->ctrl - (__u64)(bucket + k + 1) * t->size);
	}
	return 0;
}

/* The table whose struct is in s->words. */
static __always_inline int jobs_see_table(struct jobs_scan *s, const struct wire_job_tables *all)
{
	struct jobs_ctx c = {s, all};
	__u64 n, mask;

	n = s->words[all->n_entries & 7];
	mask = s->words[all->mask & 7];
	if (!n || n > mask || mask >= JOBS_BUCKETS_MAX)
		return 0;
	s->ctrl = s->words[all->ctrl & 7];
	s->left = n;
	s->buckets = mask + 1;
	bpf_loop(JOBS_GROUPS_MAX, jobs_see_group, &c, 0);
	return 0;
}

static __always_inline long jobs_read_words(struct jobs_scan *s, __u64 at)
{
	return bpf_probe_read_user(s->words, 8 * WIRE_TABLE_WORDS, (void *)at);
}

static long jobs_see_shard(__u32 i, struct jobs_ctx *c)
{
	struct jobs_scan *s = c->s;

	if (!s || !c->all || i >= c->all->n_shards)
		return 1;
	if (!jobs_read_words(s, s->shards + (__u64)i * c->all->shard))
		jobs_see_table(s, c->all);
	return 0;
}

static long jobs_see_query(__u32 i, struct jobs_ctx *c)
{
	struct jobs_scan *s = c->s;
	const struct wire_job_tables *all = c->all;
	__u32 at;

	if (!s || !all || !s->budget || i >= all->n)
		return 1;
	at = jobs_table(all, i)->at;
	s->query = i;
	if (!at || jobs_read_words(s, s->context + at))
		return 0;
	if (((const __u8 *)s->words)[all->mode_at & 63] != all->sharded)
		return jobs_see_table(s, all);
	s->shards = s->words[0];
	bpf_loop(JOBS_SHARDS_MAX, jobs_see_shard, c, 0);
	return 0;
}

/* Send all jobs of a process that are active and were not sent. */
static __always_inline int jobs_send(struct jobs_scan *s, const struct wire_job_tables *all)
{
	struct jobs_ctx c = {s, all};

	bpf_loop(WIRE_JOB_TABLES, jobs_see_query, &c, 0);
	return 0;
}

/* Note the job of the current thread in its sample, and send it if it is new. */
STACK_APART int jobs_note(struct unwind *u, __u32 which)
{
	__u32 lib = u ? u->lib : 0;
	const struct wire_job_tables *tables = bpf_map_lookup_elem(&job_tables, &lib);
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	struct jobs_scan *s = bpf_map_lookup_elem(&jobs_scans, &which);
	__u64 current;

	if (!u || !lib || !tables || !l || !s || !l->current.known)
		return 0;
	current = contexts_of_thread(u->lib_bias + l->current.offset);
	if (!current)
		return 0;
	u->sample.job = contexts_word(current + tables->current);
	s->sent.job = u->sample.job;
	s->sent.pid = u->sample.pid;
	if (!s->sent.job || bpf_map_lookup_elem(&jobs_sent, &s->sent))
		return 0;
	s->context = contexts_word(current + l->current.context);
	s->lib = lib;
	s->budget = 4 * JOBS_GROUPS_MAX;
	s->record.type = WIRE_JOB;
	s->record.lib = lib;
	s->record.pid = u->sample.pid;
	return s->context ? jobs_send(s, tables) : 0;
}

#endif /* QPROF_JOBS_H */
