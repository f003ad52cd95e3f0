/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads how many results a compiler has of each query (wire_tables.h): when it has executed all its
 * queries, when its query context is dropped, or when it dies. Each query's name must be where its
 * vtable is said to be; else its count is unknown. The user half counts what is lost, as it knows
 * whether another reading of the context has it. At most WIRE_TABLES_MAX queries are read, and of
 * each two words, a name's place and two hash tables of WIRE_SHARDS_MAX parts.
 *
 * Then the keys of the results that a VecCache or a hash table has (hash_keys.h), which are what
 * the executions were about: those of a query are sent whole, or what is missing shows that they
 * are not.
 */
#ifndef QPROF_TABLES_H
#define QPROF_TABLES_H

#include "hash_keys.h"
#include "names.h"

/* By library. All zeroes: not known. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_LIBS + 1);
	__type(key, __u32);
	__type(value, struct wire_tables);
} tables SEC(".maps");

/* By wire_lib_key(). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct wire_query_table);
} query_tables SEC(".maps");

static long tables_add_shard(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 n;

	if (names_word(s, &n, s->shard) || n > WIRE_RESULTS_MAX) {
		s->entries = WIRE_NO_COUNT;
		return 1;
	}
	s->entries += n;
	s->shard += s->tables.shard_size;
	return 0;
}

/* Set s->entries to those of the hash table at `at`; beyond WIRE_RESULTS_MAX: not known. */
STACK_APART int tables_entries(struct names_slot *s, __u64 at)
{
	struct names_loop c = {s};

	if (!s)
		return 0;
	s->entries = WIRE_NO_COUNT;
	if (names_fetch(s, NAMES_AT(word), 1, at + s->tables.mode))
		return 0;
	if ((__u8)s->word != s->tables.sharded) {
		if (names_word(s, &s->entries, at + s->tables.items))
			s->entries = WIRE_NO_COUNT;
		return 0;
	}
	if (names_word(s, &s->shard, at + s->tables.shards))
		return 0;
	s->shard += s->tables.items;
	s->entries = 0;
	bpf_loop(s->tables.n_shards & (2 * WIRE_SHARDS_MAX - 1), tables_add_shard, &c, 0);
	return 0;
}

/* True if the vtable of a query is where it is said to be: its name's address and length are. */
STACK_APART int tables_has_name(struct names_slot *s, const struct wire_query_table *q)
{
	const __u64 *name;

	if (!s || !q || names_fetch(s, NAMES_AT(entry), 16, s->gcx + q->name))
		return 0;
	name = (const __u64 *)s->entry;
	return name[0] == s->bias + q->text && name[1] == q->length;
}

/* The results of a query: of local definitions or all, and of other crates' definitions. */
STACK_APART int tables_count(struct names_slot *s, const struct wire_query_table *q, __u32 at)
{
	__u64 n = WIRE_NO_COUNT, place = at;

	if (!s || !q || !tables_has_name(s, q))
		return 0;
	s->entries = 0;
	switch (q->kind) {
	case WIRE_CACHE_DEF:
		tables_entries(s, s->gcx + q->others);
		/* fall through */
	case WIRE_CACHE_VEC:
		if (names_word(s, &n, s->gcx + q->cache + s->tables.vec_count))
			n = WIRE_NO_COUNT;
		break;
	case WIRE_CACHE_HASH:
		tables_entries(s, s->gcx + q->cache);
		n = s->entries;
		s->entries = 0;
		break;
	case WIRE_CACHE_ONCE:
		if (!names_fetch(s, NAMES_AT(word), 4, s->gcx + q->cache))
			n = (__u32)s->word == s->tables.once;
		break;
	}
	if (n > WIRE_RESULTS_MAX || s->entries > WIRE_RESULTS_MAX)
		return 0;
	NAMES_KEEP(place);
	place &= WIRE_COUNTS_MAX - 1;
	s->counts.items[place].results = n;
	s->counts.items[place].others = s->entries;
	tables_entries(s, s->gcx + q->active);
	place = at;
	NAMES_KEEP(place);
	place &= WIRE_COUNTS_MAX - 1;
	if (s->entries > WIRE_RESULTS_MAX)
		s->counts.items[place].results = WIRE_NO_COUNT;
	else
		s->counts.items[place].active = s->entries;
	return 0;
}

STACK_APART int tables_send(struct names_slot *s, __u32 n)
{
	__u64 size = n;

	if (!s)
		return 0;
	NAMES_KEEP(size);
	if (!size || size > WIRE_COUNTS_MAX)
		return 0;
	size *= sizeof(struct wire_count);
	NAMES_KEEP(size);
	if (size > sizeof(s->counts.items))
		return 0;
	s->counts.n = n;
	if (!names_are_void(s))
		bpf_ringbuf_output(&ring, &s->counts,
				   sizeof(s->counts) - sizeof(s->counts.items) + size,
				   s->counts.moment == WIRE_COUNTS_RUNNING ? maps_wakeup_flags()
									   : BPF_RB_FORCE_WAKEUP);
	return 0;
}

static long tables_read_query(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 at = i;
	__u32 key = wire_lib_key(s->counts.lib, i);
	const struct wire_query_table *q = bpf_map_lookup_elem(&query_tables, &key);

	if (names_is_late(s))
		return 1;
	NAMES_KEEP(at);
	at &= WIRE_COUNTS_MAX - 1;
	if (!at)
		s->counts.first = i;
	s->counts.items[at].results = WIRE_NO_COUNT;
	s->counts.items[at].others = 0;
	s->counts.items[at].active = 0;
	if (q)
		tables_count(s, q, at);
	if (at == WIRE_COUNTS_MAX - 1 || i + 1 >= s->tables.n)
		tables_send(s, at + 1);
	return 0;
}

/* The bucket that has key `at`: the first one has `first`, each other one as many as all before. */
STACK_APART int tables_bucket(__u32 first, __u32 at)
{
	int bucket = 0;

	for (; bucket < WIRE_VEC_BUCKETS; bucket++)
		if (at < (__u64)first << bucket)
			break;
	return bucket;
}

static long tables_send_piece(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 at = (__u64)i * WIRE_KEYS_MAX, in_bucket = at, n, address;
	__u32 bucket;

	if (at >= s->n_keys || names_is_late(s))
		return 1;
	bucket = tables_bucket(s->tables.first, at);
	if (bucket)
		in_bucket -= (__u64)s->tables.first << ((bucket - 1) & 31);
	n = s->n_keys - at;
	n = (n < WIRE_KEYS_MAX ? n : WIRE_KEYS_MAX) * sizeof(__u32);
	/* What is behind it would be taken for the rest. */
	if (names_word(s, &address, s->address + 8ull * bucket) ||
	    names_fetch(s, NAMES_AT(piece.bytes), n, address + in_bucket * sizeof(__u32)))
		return 1;
	s->piece.offset = at * sizeof(__u32);
	s->piece.size = n;
	names_send_bytes(s, n);
	return s->missing != 0;
}

static long tables_send_keys(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u32 key = wire_lib_key(s->counts.lib, i);
	const struct wire_query_table *q = bpf_map_lookup_elem(&query_tables, &key);
	__u64 n;

	if (names_is_late(s))
		return 1;
	if (!q || !q->keys || !tables_has_name(s, q))
		return 0;
	if (q->kind == WIRE_CACHE_HASH) {
		s->query = *q;
		hash_send_keys(c, i);
		/* The user half counts what is lost. */
		s->missing = 0;
		return 0;
	}
	if (!s->tables.first || names_word(s, &n, s->gcx + q->cache + s->tables.vec_count) ||
	    n > s->entries_left)
		return 0;
	s->entries_left -= n;
	s->n_keys = n;
	s->address = s->gcx + q->cache + s->tables.buckets;
	s->piece.number = i;
	bpf_loop(NAMES_KEYS_MAX / WIRE_KEYS_MAX, tables_send_piece, c, 0);
	s->missing = 0;
	return 0;
}

/* The keys, after tables_copy(). */
STACK_APART int tables_copy_keys(struct names_slot *s)
{
	struct names_loop c = {s};

	if (!s || !knobs.keys || !s->tables.n)
		return 0;
	s->entries_size = s->dying ? NAMES_DYING_HASH_MAX : NAMES_HASH_MAX;
	s->entries_left = s->dying ? NAMES_DYING_MAX : NAMES_KEYS_MAX;
	s->symbol_bytes = 0;
	s->piece.table = WIRE_TABLE_RESULTS;
	bpf_loop(s->tables.n & (2 * WIRE_TABLES_MAX - 1), tables_send_keys, &c, 0);
	s->piece.number = 0;
	return 0;
}

/* Send the counts of all queries, of the context and the library at these addresses. */
STACK_APART int tables_copy(struct names_slot *s, __u64 context, __u64 bias, __u32 moment)
{
	struct names_loop c = {s};
	const struct wire_tables *w;
	__u32 lib;

	if (!s)
		return 0;
	s->tables.n = 0;
	lib = s->piece.lib;
	w = bpf_map_lookup_elem(&tables, &lib);
	if (!w || !w->n || w->n > WIRE_TABLES_MAX)
		return 0;
	s->tables = *w;
	s->gcx = context;
	s->bias = bias;
	s->counts.type = WIRE_COUNTS;
	s->counts.lib = lib;
	s->counts.moment = moment;
	s->counts.pid = s->piece.pid;
	s->counts.of = w->n;
	s->counts.context = context;
	s->counts.lost_ns = last_loss_ns;
	s->counts.time_ns = bpf_ktime_get_ns();
	bpf_loop(w->n & (2 * WIRE_TABLES_MAX - 1), tables_read_query, &c, 0);
	return 0;
}

#endif /* QPROF_TABLES_H */
