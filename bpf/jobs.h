/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which query a sampled thread executes, and about what: rustc's own ImplicitCtxt has the number of
 * the thread's job, and the tables of active jobs have the key of each, and the job around.
 *
 * The jobs that are active are sent when a sample finds one that was not sent before, all at once:
 * those around the sampled one are among them. Everything here is the compiler's memory, and may
 * hold anything: so many tables, buckets and entries are looked at, a table whose query has not the
 * name that the plan says is another one's, and what does not fit is left out. A table may change
 * while it is read, if the compiler has several threads, and the thread may have been interrupted
 * in a change: then a job may be missing, and its samples are counted.
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
#define JOBS_GROUPS_ALL	 1024
#define JOBS_SENDS_MAX	 512

/*
 * A switch has the run queue locked, and no rate: after a look there the CPU rests for so many
 * times what the look took.
 */
#define JOBS_REST 8

/* The working memory of a look, by CPU and cause of the sample: sampling.h. */
struct jobs_scan {
	__u64 current; /* address of the thread's ImplicitCtxt */
	__u64 context;
	__u64 bias;	/* from ELF addresses of the library to those of the process */
	__u64 youngest; /* the sample's job: no other around it has a greater number */
	__u64 ctrl;	/* of the table that is looked at */
	__u32 lib;
	__u32 query;
	__u32 left;    /* entries of the table that were not found yet */
	__u32 buckets; /* of the table */
	__u32 groups;  /* that may still be read */
	__u32 sends;   /* jobs that may still be sent */
	__u32 lost;    /* the sample's job is not known; to be counted with the sample */
	__u32 pad;
	struct wire_context found;
	__u64 words[8]; /* of a table's struct */
	__u8 shards[WIRE_JOB_SHARDS_BYTES];
	__u8 group[JOBS_GROUP];
	struct jobs_sent_key sent;
	struct wire_job record;
	__u64 since_ns; /* of the look */
	__u64 rest_ns;	/* at a switch no table is looked at until then */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_SAMPLE_CAUSES);
	__type(key, __u32);
	__type(value, struct jobs_scan);
} jobs_scans SEC(".maps");

/* The verifier knows a pointer only on the stack. */
struct jobs_ctx {
	struct jobs_scan *s;
	const struct wire_job_tables *all;
};

/*
 * What was done about the job that s->sent names; 0: nothing. Linux 6.1 takes keys and values from
 * the stack or from a map, not from the memory that a function is given.
 */
STACK_APART __u32 jobs_done(const struct jobs_scan *s)
{
	struct jobs_sent_key key;
	__u32 *done;

	if (!s)
		return 0;
	key = s->sent;
	done = bpf_map_lookup_elem(&jobs_sent, &key);
	return done ? *done : 0;
}

static __always_inline long jobs_remember(const struct jobs_scan *s, __u32 done, __u64 flags)
{
	struct jobs_sent_key key = s->sent;

	return bpf_map_update_elem(&jobs_sent, &key, &done, flags);
}

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
		return operand_key_in_memory(at, wire_lib_key(s->lib, s->query));
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
 * The entry at `at` of a query's table. One that this thread is filling in is younger than the job
 * that it executes. Another thread may put another job there meanwhile, whose number differs.
 */
STACK_APART int jobs_see(struct jobs_scan *s, const struct wire_job_table *t, __u64 at)
{
	if (!s || !t || !s->sends)
		return 0;
	s->record.job = contexts_word(at + t->job);
	s->record.parent = contexts_word(at + t->parent);
	if (!s->record.job || s->record.job > s->youngest || s->record.parent >= s->record.job)
		return 0;
	s->sent.job = s->record.job;
	if (jobs_done(s) == JOBS_SENT)
		return 0;
	s->record.query = s->query;
	s->record.key = jobs_key(s, t, at);
	if (contexts_word(at + t->job) != s->record.job)
		return 0;
	s->sends--;
	if (!bpf_ringbuf_output(&ring, &s->record, sizeof(s->record), maps_wakeup_flags()))
		jobs_remember(s, JOBS_SENT, BPF_ANY);
	return 0;
}

/* Read the control bytes of a group of buckets, 16 bytes. Nonzero if that fails. */
static __always_inline int jobs_read_group(struct jobs_scan *s, __u32 bucket)
{
	if (!s->groups)
		return 1;
	s->groups--;
	return bpf_probe_read_user(s->group, sizeof(s->group), (void *)(s->ctrl + bucket)) != 0;
}

/* The highest bit of a full bucket's control byte is not set. */
static long jobs_see_bucket(__u32 i, struct jobs_ctx *c)
{
	struct jobs_scan *s = c->s;
	const struct wire_job_table *t;
	__u32 k = i & (JOBS_GROUP - 1);

	if (!s || !c->all || !s->left || i >= s->buckets || (!k && jobs_read_group(s, i)))
		return 1;
	if (s->group[k] & 0x80)
		return 0;
	t = jobs_table(c->all, s->query);
	s->left--;
	jobs_see(s, t, s->ctrl - (__u64)(i + 1) * t->size);
	return 0;
}

static __always_inline int jobs_has_name(const struct jobs_scan *s, const struct wire_job_table *t)
{
	__u64 name[2] = {};

	return !bpf_probe_read_user(name, sizeof(name), (void *)(s->context + t->name)) &&
	       name[0] == s->bias + t->text && name[1] == t->length;
}

/* The table whose struct is in s->words. Most have no entry. */
static __always_inline int jobs_see_table(struct jobs_scan *s, const struct wire_job_tables *all)
{
	struct jobs_ctx c = {s, all};
	__u64 n, mask;

	n = s->words[all->n_entries & 7];
	mask = s->words[all->mask & 7];
	if (!n || n > mask || mask >= JOBS_BUCKETS_MAX ||
	    !jobs_has_name(s, jobs_table(all, s->query)))
		return 0;
	s->ctrl = s->words[all->ctrl & 7];
	s->left = n;
	s->buckets = mask + 1;
	bpf_loop(JOBS_BUCKETS_MAX, jobs_see_bucket, &c, 0);
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
		__u32 word = (at + 8 * k) & (WIRE_JOB_SHARDS_BYTES - 8);

		s->words[k] = *(const __u64 *)(s->shards + word);
	}
	jobs_see_table(s, c->all);
	return 0;
}

/* Most tables have no entry in any shard. Beyond the last shard there may be anything. */
static __always_inline int jobs_in_shards(const struct jobs_scan *s,
					  const struct wire_job_tables *all)
{
	__u32 at = 8 * (all->n_entries & 7);
	__u64 any = 0;

	for (int i = 0; i < WIRE_JOB_SHARDS; i++, at += all->shard)
		any |= *(const __u64 *)(s->shards + (at & (WIRE_JOB_SHARDS_BYTES - 8)));
	return any != 0;
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
	if (!bpf_probe_read_user(s->shards, sizeof(s->shards), (void *)s->words[0]) &&
	    jobs_in_shards(s, all))
		bpf_loop(WIRE_JOB_SHARDS, jobs_see_shard, c, 0);
	return 0;
}

/* Send all jobs of the process that are active and were not sent, among them s->sent. */
STACK_APART int jobs_look(struct jobs_scan *s, const struct wire_job_tables *all)
{
	struct jobs_ctx c = {s, all};

	if (!s || !all)
		return 0;
	s->youngest = s->sent.job;
	s->groups = JOBS_GROUPS_ALL;
	s->sends = JOBS_SENDS_MAX;
	s->record.type = WIRE_JOB;
	s->record.pid = s->sent.pid;
	s->record.lib = s->lib;
	bpf_loop(WIRE_JOB_TABLES, jobs_see_query, &c, 0);
	s->sent.job = s->youngest;
	/* It is not looked for at each sample. */
	s->lost = !jobs_remember(s, JOBS_UNKNOWN, BPF_NOEXIST);
	return 0;
}

/* The address of the current thread's ImplicitCtxt, or 0. */
static __always_inline __u64 jobs_current(const struct wire_layout *l, __u64 bias)
{
	return l && l->current.known ? contexts_of_thread(bias + l->current.offset) : 0;
}

/* The number of the job of a thread, by its ImplicitCtxt; 0: it has none, or it is not known. */
static __always_inline __u64 jobs_number(struct jobs_scan *s, const struct wire_job_tables *all)
{
	__u64 job = 0;

	if (!s->current)
		return 0;
	s->lost = bpf_probe_read_user(&job, sizeof(job), (void *)(s->current + all->current)) != 0;
	return s->lost ? 0 : job;
}

/* The context of a thread that is in an execution is not being dropped. */
STACK_APART int jobs_note_context(__u32 cause, const struct wire_layout *l)
{
	struct jobs_scan *s = bpf_map_lookup_elem(&jobs_scans, &cause);

	if (!s || !l || !knobs.keys)
		return 0;
	s->found.context = s->context;
	s->found.bias = s->bias;
	s->found.globals = contexts_of_thread(s->bias + l->globals);
	if (!s->found.globals || bpf_map_lookup_elem(&contexts, &s->sent.pid))
		return 0;
	s->found.serial = __sync_fetch_and_add(&last_context, 1) + 1;
	s->found.lib = s->lib;
	s->found.claimed = 0;
	s->found.counted_ns = 0;
	bpf_map_update_elem(&contexts, &s->sent.pid, &s->found, BPF_NOEXIST);
	return 0;
}

/*
 * The number of the current thread's job, of a compiler that has library `lib` mapped with this
 * bias; 0: it has none, or it is not known. It is sent if it is new. The address of the thread's
 * ImplicitCtxt is in *s afterwards, which is the working memory of `cause`, and whether the job is
 * lost: most switches make no sample.
 */
STACK_APART __u64 jobs_find(struct jobs_scan *s, __u32 lib, __u64 bias, __u32 cause)
{
	const struct wire_job_tables *all = bpf_map_lookup_elem(&job_tables, &lib);
	const struct wire_layout *l = bpf_map_lookup_elem(&layouts, &lib);
	__u32 done;

	if (!s)
		return 0;
	s->lost = 0;
	if (!lib || !all || !l)
		return 0;
	s->lib = lib;
	s->bias = bias;
	s->current = jobs_current(l, bias);
	s->sent.job = jobs_number(s, all);
	if (!s->sent.job)
		return 0;
	s->sent.pid = bpf_get_current_pid_tgid() >> 32;
	s->sent.epoch = contexts_epoch(s->sent.pid);
	done = jobs_done(s);
	s->lost = done == JOBS_UNKNOWN;
	if (done)
		return s->sent.job;
	s->since_ns = bpf_ktime_get_ns();
	if (cause == WIRE_SAMPLE_OFF_CPU && s->since_ns < s->rest_ns) {
		s->lost = 1;
		return s->sent.job;
	}
	s->context = contexts_word(s->current + l->current.context);
	if (s->context)
		jobs_note_context(cause, l);
	jobs_look(s, all);
	s->rest_ns = bpf_ktime_get_ns();
	s->rest_ns += JOBS_REST * (s->rest_ns - s->since_ns);
	return s->sent.job;
}

/* Note the job of a sampled thread. Few frames may be in no library. */
static __always_inline void jobs_sample(struct unwind *u)
{
	__u32 cause = u->sample.cause, pid = u->sample.pid;
	const struct wire_context *c = u->lib ? NULL : bpf_map_lookup_elem(&contexts, &pid);
	struct jobs_scan *s;

	if (c) {
		u->lib = c->lib;
		u->lib_file = 0;
		u->lib_bias = c->bias;
	}
	s = bpf_map_lookup_elem(&jobs_scans, &cause);
	u->sample.job_lib = u->lib;
	u->sample.job = jobs_find(s, u->lib, u->lib_bias, cause);
	u->job_lost = s && s->lost;
}

#endif /* QPROF_JOBS_H */
