/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the keys of the results that a hash table has: control bytes go up from an address, entries
 * down. Of each full one a number is sent: the definition that its key is about, or that this is
 * none of the crate's own. Some may be about one definition. Where keys are instances, the
 * definition is sent of any crate, and a hash of the instance's symbol.
 *
 * A table may be anything: it is read in pieces, forwards, and of all no more buckets than there
 * may be keys, and no more bytes than NAMES_HASH_MAX. It may have more full buckets than entries,
 * or fewer: what is sent are then too many keys, or too few, and so none.
 */
#ifndef QPROF_HASH_KEYS_H
#define QPROF_HASH_KEYS_H

#include "names.h"
#include "operands.h"

/* Control bytes in a piece, whose entries have at least 4 bytes. */
#define HASH_CONTROL_MAX  448
#define HASH_CONTROL_FREE 0x80
#define HASH_ENTRIES_MAX  (WIRE_PIECE_MAX - HASH_CONTROL_MAX - 4 * WIRE_MEMORY_WORDS)

/* The key that is at `at` in the piece, as wire_key(); 0: it is about no definition. */
static __always_inline __u64 hash_key(struct names_slot *s, __u64 at)
{
	const struct wire_memory_key *m = NULL;
	const __u32 *words;
	__u32 id;

	id = wire_lib_key(s->counts.lib, s->gathered.number);
	if (s->query.key == WIRE_KEY_MEMORY) {
		m = bpf_map_lookup_elem(&memory_keys, &id);
		if (!m)
			return 0;
		at += m->offset;
	}
	NAMES_KEEP(at);
	if (at > WIRE_PIECE_MAX - WIRE_MEMORY_WORDS * sizeof(*words))
		return 0;
	words = (const __u32 *)(s->piece.bytes + at);
	return m ? operand_key_of_words(m, words)
		 : operand_make_key(s->query.key, words[0], words[1]);
}

struct hash_symbol {
	struct names_slot *slot;
	__u64 hash;
};

static long hash_add_block(__u32 i, void *p)
{
	struct hash_symbol *h = p;
	__u64 at = i;

	NAMES_KEEP(at);
	at = at % (WIRE_SYMBOL_HASHED / WIRE_SYMBOL_BLOCK) * WIRE_SYMBOL_BLOCK;
	h->hash = wire_symbol_add_block(h->hash, (const __u64 *)(h->slot->texts.bytes + at));
	return 0;
}

/*
 * The hash of the symbol whose address and length are at `at` in the piece; 0: not known. The room
 * of texts is free: none is waiting while keys are read. A page that is not there is not waited
 * for: the compiler has just written it.
 */
STACK_APART __u64 hash_symbol(struct names_slot *s, __u64 at)
{
	struct hash_symbol h = {.slot = s};
	__u64 address, length, n, *behind;
	__u8 first;

	if (!s)
		return 0;
	NAMES_KEEP(at);
	if (at > WIRE_PIECE_MAX - 16)
		return 0;
	address = *(__u64 *)(s->piece.bytes + at);
	length = *(__u64 *)(s->piece.bytes + at + 8);
	if (!length || length > WIRE_SYMBOL_LENGTH_MAX)
		return 0;
	n = length < WIRE_SYMBOL_HASHED ? length : WIRE_SYMBOL_HASHED;
	NAMES_KEEP(n);
	if (!n || n > WIRE_SYMBOL_HASHED || s->symbol_bytes > NAMES_SYMBOLS_MAX)
		return 0;
	s->symbol_bytes += n;
	/* Fill the last block up. Bytes have no alignment, and would be written one by one. */
	behind = (__u64 *)(s->texts.bytes + n);
	behind[0] = 0;
	behind[1] = 0;
	NAMES_KEEP(n);
	if (bpf_probe_read_user(s->texts.bytes, n, (void *)address))
		return 0;
	first = s->texts.bytes[0];
	if (first <= ' ' || first > '~')
		return 0;
	h.hash = length;
	bpf_loop((n + WIRE_SYMBOL_BLOCK - 1) / WIRE_SYMBOL_BLOCK, hash_add_block, &h, 0);
	return h.hash;
}

static long hash_add_key(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 n = s->n_piece, control = i, at, entry, key;

	NAMES_KEEP(control);
	if (control >= HASH_CONTROL_MAX)
		return 1;
	if (s->piece.bytes[control] & HASH_CONTROL_FREE)
		return 0;
	if (s->gathered.size > WIRE_PIECE_MAX - sizeof(struct wire_instance))
		names_flush_gathered(s);
	entry = n + (n - 1 - i) * s->query.entry_size;
	key = hash_key(s, entry + s->query.key_at);
	at = s->gathered.size;
	NAMES_KEEP(at);
	if (at > WIRE_PIECE_MAX - sizeof(struct wire_instance))
		return 1;
	if (s->query.instances) {
		__u64 *to = (__u64 *)(s->gathered.bytes + at);

		to[0] = key;
		/* One that dies has executed queries until now, and generated no code. */
		to[1] = !s->dying && s->query.has_text ? hash_symbol(s, entry + s->query.text_at)
						       : 0;
		s->gathered.size = at + sizeof(struct wire_instance);
		return 0;
	}
	*(__u32 *)(s->gathered.bytes + at) = key && wire_key_crate(key) == WIRE_KEY_LOCAL_CRATE
						     ? (__u32)key + s->tables.mark
						     : WIRE_KEY_OF_OTHERS;
	s->gathered.size = at + 4;
	return 0;
}

static long hash_read_piece(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 size = s->query.entry_size, n, first, bytes;

	n = size ? HASH_ENTRIES_MAX / size : 0;
	n = n < HASH_CONTROL_MAX ? n : HASH_CONTROL_MAX;
	first = i * n;
	if (first >= s->buckets || s->missing || names_is_late(s))
		return 1;
	if (n > s->buckets - first)
		n = s->buckets - first;
	bytes = n * size;
	if (!n || n > HASH_CONTROL_MAX || !bytes || bytes > HASH_ENTRIES_MAX ||
	    names_fetch(s, NAMES_AT(piece.bytes), n, s->ctrl + first) ||
	    names_fetch(s, NAMES_AT(piece.bytes) + n, bytes, s->ctrl - first * size - bytes)) {
		s->missing++;
		return 1;
	}
	s->n_piece = n;
	bpf_loop(n, hash_add_key, c, 0);
	return 0;
}

/* A table without shards is the only one. */
static long hash_add_shard(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 mask, at = s->shard, size = s->query.entry_size;

	s->shard += s->tables.shard_size;
	if (names_word(s, &s->ctrl, at + s->tables.ctrl) ||
	    names_word(s, &mask, at + s->tables.mask)) {
		s->missing++;
		return 1;
	}
	/* An empty table has no entries, and one control byte. */
	if (!mask)
		return 0;
	if (mask >= s->entries_left || (mask + 1) * size > s->entries_size) {
		s->missing++;
		return 1;
	}
	s->buckets = mask + 1;
	s->entries_left -= s->buckets;
	s->entries_size -= s->buckets * size;
	bpf_loop(NAMES_HASH_MAX / 4 / HASH_CONTROL_MAX, hash_read_piece, c, 0);
	return s->missing != 0;
}

/* Send the keys of query `number`, of the context whose tables are read. */
static __always_inline void hash_send_keys(struct names_loop *c, __u32 number)
{
	struct names_slot *s = c->slot;
	__u32 shards = 1;

	names_gather(s, s->query.instances ? WIRE_TABLE_INSTANCES : WIRE_TABLE_RESULTS);
	s->gathered.number = number;
	s->shard = s->gcx + s->query.cache;
	if (names_fetch(s, NAMES_AT(word), 1, s->shard + s->tables.mode))
		return;
	if ((__u8)s->word == s->tables.sharded) {
		shards = s->tables.n_shards & (2 * WIRE_SHARDS_MAX - 1);
		if (names_word(s, &s->shard, s->shard + s->tables.shards))
			return;
	}
	bpf_loop(shards, hash_add_shard, c, 0);
	if (!s->missing)
		names_flush_gathered(s);
	s->gathered.number = 0;
}

#endif /* QPROF_HASH_KEYS_H */
