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

/* By wire_wrapper_key(). */
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
	__u64 n = 0;

	if (names_read(c->how, &n, 8, s->shard) || n > WIRE_RESULTS_MAX) {
		s->entries = WIRE_NO_COUNT;
		return 1;
	}
	s->entries += n;
	s->shard += s->tables.shard_size;
	return 0;
}

/* Set s->entries to those of the hash table at `at`; beyond WIRE_RESULTS_MAX: not known. */
static __noinline int tables_entries(struct names_slot *s, __u64 how, __u64 at)
{
	struct names_loop c = {s, how};
	__u8 mode = 0;

	if (!s)
		return 0;
	s->entries = WIRE_NO_COUNT;
	if (names_read(how, &mode, 1, at + s->tables.mode))
		return 0;
	if (mode != s->tables.sharded) {
		if (names_read(how, &s->entries, 8, at + s->tables.items))
			s->entries = WIRE_NO_COUNT;
		return 0;
	}
	if (names_read(how, &s->shard, 8, at + s->tables.shards))
		return 0;
	s->shard += s->tables.items;
	s->entries = 0;
	bpf_loop(s->tables.n_shards & (2 * WIRE_SHARDS_MAX - 1), tables_add_shard, &c, 0);
	return 0;
}

/* True if the vtable of a query is where it is said to be: its name's address and length are. */
static __always_inline int tables_has_name(struct names_slot *s, __u64 how,
					   const struct wire_query_table *q)
{
	__u64 name[2] = {};

	return !names_read(how, name, 16, s->gcx + q->name) && name[0] == s->bias + q->text &&
	       name[1] == q->length;
}

/* The results of a query: of local definitions or all, and of other crates' definitions. */
static __noinline int tables_count(struct names_slot *s, __u64 how,
				   const struct wire_query_table *q, __u32 at)
{
	__u64 n = WIRE_NO_COUNT, place = at;
	__u32 state = 0;

	if (!s || !q || !tables_has_name(s, how, q))
		return 0;
	s->entries = 0;
	switch (q->kind) {
	case WIRE_CACHE_DEF:
		tables_entries(s, how, s->gcx + q->others);
		/* fall through */
	case WIRE_CACHE_VEC:
		if (names_read(how, &n, 8, s->gcx + q->cache + s->tables.vec_count))
			n = WIRE_NO_COUNT;
		break;
	case WIRE_CACHE_HASH:
		tables_entries(s, how, s->gcx + q->cache);
		n = s->entries;
		s->entries = 0;
		break;
	case WIRE_CACHE_ONCE:
		if (!names_read(how, &state, 4, s->gcx + q->cache))
			n = state == s->tables.once;
		break;
	}
	if (n > WIRE_RESULTS_MAX || s->entries > WIRE_RESULTS_MAX)
		return 0;
	NAMES_KEEP(place);
	place &= WIRE_COUNTS_MAX - 1;
	s->counts.items[place].results = n;
	s->counts.items[place].others = s->entries;
	tables_entries(s, how, s->gcx + q->active);
	place = at;
	NAMES_KEEP(place);
	place &= WIRE_COUNTS_MAX - 1;
	if (s->entries > WIRE_RESULTS_MAX)
		s->counts.items[place].results = WIRE_NO_COUNT;
	else
		s->counts.items[place].active = s->entries;
	return 0;
}

STACK_APART int tables_send(struct names_slot *s, __u64 how, __u32 n)
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
	if (names_are_valid(how, s) && !names_is_late(how, s))
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
	__u32 key = wire_wrapper_key(s->counts.lib, i);
	const struct wire_query_table *q = bpf_map_lookup_elem(&query_tables, &key);

	if (names_is_late(c->how, s))
		return 1;
	NAMES_KEEP(at);
	at &= WIRE_COUNTS_MAX - 1;
	if (!at)
		s->counts.first = i;
	s->counts.items[at].results = WIRE_NO_COUNT;
	s->counts.items[at].others = 0;
	s->counts.items[at].active = 0;
	if (q)
		tables_count(s, c->how, q, at);
	if (at == WIRE_COUNTS_MAX - 1 || i + 1 >= s->tables.n)
		tables_send(s, c->how, at + 1);
	return 0;
}

static long tables_send_piece(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 at = (__u64)i * WIRE_KEYS_MAX, in_bucket = at, bucket = 0, n, address = 0;

	if (at >= s->n_keys || names_is_late(c->how, s))
		return 1;
	for (__u32 k = 0; k < WIRE_VEC_BUCKETS; k++) {
		if (at < (__u64)s->tables.first << k)
			break;
		in_bucket = at - ((__u64)s->tables.first << k);
		bucket = k + 1;
	}
	n = s->n_keys - at;
	n = (n < WIRE_KEYS_MAX ? n : WIRE_KEYS_MAX) * sizeof(__u32);
	NAMES_KEEP(n);
	if (!n || n > WIRE_PIECE_MAX)
		return 1;
	/* What is behind it would be taken for the rest. */
	if (names_read(c->how, &address, 8, s->address + 8 * bucket) ||
	    names_read(c->how, s->piece.bytes, n, address + in_bucket * sizeof(__u32)))
		return 1;
	s->piece.offset = at * sizeof(__u32);
	s->piece.size = n;
	names_send(s, c->how, &s->piece, sizeof(s->piece) - WIRE_PIECE_MAX + n);
	return s->missing != 0;
}

static long tables_send_keys(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u32 key = wire_wrapper_key(s->counts.lib, i);
	const struct wire_query_table *q = bpf_map_lookup_elem(&query_tables, &key);
	__u64 n = 0;

	if (names_is_late(c->how, s))
		return 1;
	if (!q || !q->keys || !tables_has_name(s, c->how, q))
		return 0;
	if (q->kind == WIRE_CACHE_HASH) {
		s->query = *q;
		hash_send_keys(c, i);
		/* The user half counts what is lost. */
		s->missing = 0;
		return 0;
	}
	if (!s->tables.first ||
	    names_read(c->how, &n, 8, s->gcx + q->cache + s->tables.vec_count) ||
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
static __noinline int tables_copy_keys(struct names_slot *s, __u64 how)
{
	struct names_loop c = {s, how};

	if (!s || !knobs.keys || !s->tables.n)
		return 0;
	s->entries_size = how == NAMES_DYING ? NAMES_DYING_HASH_MAX : NAMES_HASH_MAX;
	s->entries_left = how == NAMES_DYING ? NAMES_DYING_MAX : NAMES_KEYS_MAX;
	s->piece.table = WIRE_TABLE_RESULTS;
	bpf_loop(s->tables.n & (2 * WIRE_TABLES_MAX - 1), tables_send_keys, &c, 0);
	s->piece.number = 0;
	return 0;
}

/* Send the counts of all queries, of the context and the library at these addresses. */
static __noinline int tables_copy(struct names_slot *s, __u64 how, __u64 context, __u64 bias,
				  __u32 moment)
{
	struct names_loop c = {s, how};
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
