/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which query a sampled thread executes, and about what: rustc's own ImplicitCtxt has the number of
 * the thread's job, and the tables of active jobs have the key of each, and the job around.
 *
 * The jobs that are active are sent when a sample finds one that was not sent before, all at once:
 * those around the sampled one are among them. Everything here is the compiler's memory, and may
 * hold anything: so many tables, buckets and entries are looked at, and what does not fit is left
 * out. A table may change while it is read, if the compiler has several threads: then a job may be
 * missing, and its samples are counted.
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

/* Jobs have new numbers in each query context, and in each process that has a pid. */
struct jobs_sent_key {
	__u64 job;
	__u32 pid;
	__u32 epoch; /* contexts_epoch() */
};

enum {
	JOBS_SENT = 1,
	JOBS_UNKNOWN, /* it was in no table, or could not be sent */
};

/* Jobs that were sent; one that is forgotten is sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct jobs_sent_key);
	__type(value, __u32);
} jobs_sent SEC(".maps");

/* Limits of one look: buckets of a table, groups of them in all tables, jobs that are sent. */
#define JOBS_BUCKETS_MAX 4096
#define JOBS_GROUP	 16
#define JOBS_GROUPS_MAX	 (JOBS_BUCKETS_MAX / JOBS_GROUP)
#define JOBS_GROUPS_ALL	 1024
#define JOBS_SENDS_MAX	 512
/* All shards of a table are read at once. */
#define JOBS_SHARDS_BYTES 2048

/* The working memory of a look, by CPU. Only the program at a tick of the clock looks. */
struct jobs_scan {
	__u64 context;
	__u64 ctrl; /* of the table that is looked at */
	__u32 lib;
	__u32 query;
	__u32 left;	/* entries of the table that were not found yet */
	__u32 buckets;	/* of the table */
	__u32 groups;	/* that may still be read */
	__u32 sends;	/* jobs that may still be sent */
	__u64 words[8]; /* of a table's struct */
	__u8 shards[JOBS_SHARDS_BYTES];
	__u8 group[JOBS_GROUP];
	struct jobs_sent_key sent;
	struct wire_job record;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct jobs_scan);
} jobs_scans SEC(".maps");

/* The verifier knows a pointer only on the stack. */
struct jobs_ctx {
	struct jobs_scan *s;
	const struct wire_job_tables *all;
};

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

/*
 * The entry at `at` of a query's table. A thread may be filling it in: its job is younger than that
 * around.
 */
STACK_APART int jobs_see(struct jobs_scan *s, const struct wire_job_table *t, __u64 at)
{
	__u32 sent = JOBS_SENT, *known;

	if (!s || !t || !s->sends)
		return 0;
	s->record.job = contexts_word(at + t->job);
	s->record.parent = contexts_word(at + t->parent);
	if (!s->record.job || s->record.job >> 48 || s->record.parent >= s->record.job)
		return 0;
	s->sent.job = s->record.job;
	known = bpf_map_lookup_elem(&jobs_sent, &s->sent);
	if (known && *known == JOBS_SENT)
		return 0;
	s->sends--;
	s->record.query = s->query;
	s->record.key = jobs_key(s, t, at);
	if (!bpf_ringbuf_output(&ring, &s->record, sizeof(s->record), maps_wakeup_flags()))
		bpf_map_update_elem(&jobs_sent, &s->sent, &sent, BPF_ANY);
	return 0;
}

/* 16 control bytes: the highest bit of that of a full bucket is not set. */
static long jobs_see_group(__u32 i, struct jobs_ctx *c)
{
	struct jobs_scan *s = c->s;
	const struct wire_job_table *t;
	__u32 bucket = i * JOBS_GROUP;

	if (!s || !c->all || !s->left || !s->groups || bucket >= s->buckets)
		return 1;
	t = jobs_table(c->all, s->query);
	s->groups--;
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

static long jobs_see_shard(__u32 i, struct jobs_ctx *c)
{
	struct jobs_scan *s = c->s;
	__u32 at;

	if (!s || !c->all || i >= c->all->n_shards)
		return 1;
	at = i * c->all->shard;
	for (__u32 k = 0; k < WIRE_TABLE_WORDS; k++) {
		__u32 word = (at + 8 * k) & (JOBS_SHARDS_BYTES - 8);

		s->words[k] = *(const __u64 *)(s->shards + word);
	}
	jobs_see_table(s, c->all);
	return 0;
}

static long jobs_see_query(__u32 i, struct jobs_ctx *c)
{
	struct jobs_scan *s = c->s;
	const struct wire_job_tables *all = c->all;
	__u32 at;

	if (!s || !all || !s->groups || i >= all->n)
		return 1;
	at = jobs_table(all, i)->at;
	s->query = i;
	if (!at || bpf_probe_read_user(s->words, 8 * WIRE_TABLE_WORDS, (void *)(s->context + at)))
		return 0;
	if (((const __u8 *)s->words)[all->mode_at & 63] != all->sharded)
		return jobs_see_table(s, all);
	if (!bpf_probe_read_user(s->shards, sizeof(s->shards), (void *)s->words[0]))
		bpf_loop(WIRE_JOB_SHARDS, jobs_see_shard, c, 0);
	return 0;
}

/* Send all jobs of the process that are active and were not sent, among them that of the sample. */
STACK_APART int jobs_look(struct jobs_scan *s, const struct wire_job_tables *all,
			  const struct wire_sample *sample)
{
	__u32 unknown = JOBS_UNKNOWN;
	struct jobs_ctx c = {s, all};

	if (!s || !all || !sample)
		return 0;
	s->groups = JOBS_GROUPS_ALL;
	s->sends = JOBS_SENDS_MAX;
	s->record.type = WIRE_JOB;
	s->record.pid = sample->pid;
	s->record.lib = s->lib;
	bpf_loop(WIRE_JOB_TABLES, jobs_see_query, &c, 0);
	s->sent.job = sample->job;
	/* It is not looked for at each sample. */
	if (!bpf_map_update_elem(&jobs_sent, &s->sent, &unknown, BPF_NOEXIST))
		maps_count(WIRE_LOST_JOBS);
	return 0;
}

/* Note the number of the current thread's job in its sample. The address of its ImplicitCtxt, or 0.
 */
STACK_APART __u64 jobs_note(struct unwind *u)
{
	__u32 lib = u ? u->lib : 0;
	const struct wire_job_tables *tables = bpf_map_lookup_elem(&job_tables, &lib);
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	__u64 current;

	if (!u || !lib || !tables || !l || !l->current.known)
		return 0;
	current = contexts_of_thread(u->lib_bias + l->current.offset);
	if (current)
		u->sample.job = contexts_word(current + tables->current);
	return current;
}

/* The same, and send the job if it is new. */
STACK_APART int jobs_find(struct unwind *u)
{
	__u64 current = jobs_note(u);
	__u32 zero = 0, lib = u ? u->lib : 0, *known;
	const struct wire_job_tables *tables = bpf_map_lookup_elem(&job_tables, &lib);
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	struct jobs_scan *s = bpf_map_lookup_elem(&jobs_scans, &zero);

	if (!u || !current || !u->sample.job || !tables || !l || !s)
		return 0;
	s->sent.job = u->sample.job;
	s->sent.pid = u->sample.pid;
	s->sent.epoch = contexts_epoch(u->sample.pid);
	known = bpf_map_lookup_elem(&jobs_sent, &s->sent);
	if (known && *known == JOBS_UNKNOWN)
		maps_count(WIRE_LOST_JOBS);
	if (known)
		return 0;
	s->lib = lib;
	s->context = contexts_word(current + l->current.context);
	if (s->context)
		jobs_look(s, tables, &u->sample);
	return 0;
}

#endif /* QPROF_JOBS_H */
