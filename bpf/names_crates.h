/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies what a compiler knows of other crates: their names and StableCrateIds, and the definitions
 * whose paths it has asked for, which it caches in a hash table per crate. struct
 * wire_layout_crates says where they are.
 */
#ifndef QPROF_NAMES_CRATES_H
#define QPROF_NAMES_CRATES_H

#include "names.h"

/* Room for the control bytes of a piece; entries have at least 12 bytes. */
#define NAMES_CONTROL_MAX  512
#define NAMES_CONTROL_FREE 0x80

/* Append a crate, of which the name is at `name` and the StableCrateId at `id`. */
STACK_APART int names_add_crate(struct names_slot *s, __u32 number, __u64 name, __u64 id)
{
	struct wire_crate *c;
	__u32 text = WIRE_TAG_UNKNOWN;
	__u64 at, stable_id;

	if (!s)
		return 0;
	if (names_word(s, &stable_id, id) || (name && names_fetch(s, NAMES_AT(word), 4, name))) {
		s->missing++;
		return 0;
	}
	if (name)
		text = s->word;
	if (s->gathered.size > WIRE_PIECE_MAX - sizeof(*c))
		names_flush_gathered(s);
	at = s->gathered.size;
	NAMES_KEEP(at);
	if (at > WIRE_PIECE_MAX - sizeof(*c))
		return 0;
	c = (struct wire_crate *)(s->gathered.bytes + at);
	c->number = number;
	c->name = text;
	c->stable_id = stable_id;
	s->gathered.size = at + sizeof(*c);
	if (name)
		names_add(s, text);
	return 0;
}

/* Read the address of a crate's metadata; nonzero if there is none. */
static __always_inline int names_find_crate(struct names_slot *s, __u32 number)
{
	if (names_word(s, &s->metadata, s->address + 8ull * number)) {
		s->missing++;
		return -1;
	}
	return !s->metadata;
}

static long names_copy_crate(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;

	if (names_is_over(s))
		return 1;
	if (!names_find_crate(s, i))
		names_add_crate(s, i, s->metadata + s->layout.crates.name,
				s->metadata + s->layout.crates.stable_id);
	return 0;
}

static long names_add_key(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 n = s->n_piece, control = i;

	NAMES_KEEP(control);
	if (control >= NAMES_CONTROL_MAX)
		return 1;
	if (s->piece.bytes[control] & NAMES_CONTROL_FREE)
		return 0;
	return names_add_definition(s,
				    n + (n - 1 - i) * s->layout.crates.size + s->layout.crates.key);
}

/* Control bytes go up from `keys`, entries down. */
static long names_copy_keys_piece(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	__u64 size = s->layout.crates.size, n, first, bytes;

	n = size ? (WIRE_PIECE_MAX - NAMES_CONTROL_MAX) / size : 0;
	first = i * n;
	if (first >= s->n_entries || s->missing > NAMES_MISSING_MAX)
		return 1;
	if (n > s->n_entries - first)
		n = s->n_entries - first;
	bytes = n * size;
	if (!n || n > NAMES_CONTROL_MAX || !bytes || bytes > WIRE_PIECE_MAX - NAMES_CONTROL_MAX)
		return 1;
	if (names_fetch(s, NAMES_AT(piece.bytes), n, s->keys + first) ||
	    names_fetch(s, NAMES_AT(piece.bytes) + n, bytes, s->keys - first * size - bytes)) {
		s->missing++;
		return 0;
	}
	s->n_piece = n;
	s->piece.offset = first;
	s->piece.size = n + bytes;
	names_send_bytes(s, n + bytes);
	bpf_loop(n, names_add_key, c, 0);
	return 0;
}

static long names_copy_keys(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	const struct wire_layout_crates *l = &s->layout.crates;

	if (names_is_over(s))
		return 1;
	if (names_find_crate(s, i))
		return 0;
	if (names_word(s, &s->keys, s->metadata + l->keys) ||
	    names_word(s, &s->keys_mask, s->metadata + l->keys_mask)) {
		s->missing++;
		return 0;
	}
	/* An empty table has no entries, and one control byte. */
	if (!s->keys_mask)
		return 0;
	if (s->keys_mask >= s->entries_left) {
		s->missing++;
		return 0;
	}
	s->n_entries = s->keys_mask + 1;
	s->entries_left -= s->n_entries;
	s->piece.number = i;
	bpf_loop(NAMES_PIECES_MAX, names_copy_keys_piece, c, 0);
	return 0;
}

/* Read where the crates are: their number, 0 if that fails. */
STACK_APART int names_find_crates(struct names_slot *s, __u64 context)
{
	__u64 store, n;

	if (!s)
		return 0;
	if (names_word(s, &store, context + s->layout.crates.store) ||
	    names_word(s, &s->address, store + s->layout.crates.crates) ||
	    names_word(s, &n, store + s->layout.crates.n_crates)) {
		s->missing++;
		return 0;
	}
	if (n <= NAMES_CRATES_MAX)
		return n;
	s->missing++;
	return NAMES_CRATES_MAX;
}

STACK_APART int names_copy_crates(struct names_slot *s, __u64 context)
{
	struct names_loop c = {s};
	int n;

	if (!s || !s->layout.crates.size)
		return 0;
	n = names_find_crates(s, context);
	s->entries_left = s->dying ? NAMES_DYING_MAX : NAMES_ENTRIES_MAX;
	names_gather(s, WIRE_TABLE_CRATES);
	names_add_crate(s, WIRE_KEY_LOCAL_CRATE, 0, context + s->layout.crates.own_id);
	bpf_loop(n, names_copy_crate, &c, 0);
	names_flush_gathered(s);
	s->piece.table = WIRE_TABLE_KEYS;
	bpf_loop(n, names_copy_keys, &c, 0);
	return 0;
}

#endif /* QPROF_NAMES_CRATES_H */
