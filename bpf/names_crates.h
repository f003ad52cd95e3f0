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
static __noinline int names_add_crate(struct names_slot *s, __u64 how, __u32 number, __u64 name,
				      __u64 id)
{
	struct wire_crate *c;
	__u64 at;

	if (!s)
		return 0;
	if (s->gathered.size > WIRE_PIECE_MAX - sizeof(*c))
		names_flush_gathered(s, how);
	at = s->gathered.size;
	NAMES_KEEP(at);
	if (at > WIRE_PIECE_MAX - sizeof(*c))
		return 0;
	c = (struct wire_crate *)(s->gathered.bytes + at);
	c->number = number;
	c->name = WIRE_TAG_UNKNOWN;
	if (names_read(how, &c->stable_id, 8, id) || (name && names_read(how, &c->name, 4, name))) {
		s->missing++;
		return 0;
	}
	s->gathered.size = at + sizeof(*c);
	if (name)
		names_add(s, how, c->name);
	return 0;
}

/* Read the address of a crate's metadata; nonzero if there is none. */
static __always_inline int names_find_crate(struct names_slot *s, __u64 how, __u32 number)
{
	if (names_read(how, &s->metadata, 8, s->address + 8ull * number)) {
		s->missing++;
		return -1;
	}
	return !s->metadata;
}

static long names_copy_crate(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;

	if (names_is_over(c->how, s))
		return 1;
	if (!names_find_crate(s, c->how, i))
		names_add_crate(s, c->how, i, s->metadata + s->layout.crates.name,
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
	return names_add_definition(s, c->how,
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
	NAMES_KEEP(n);
	NAMES_KEEP(bytes);
	if (!n || n > NAMES_CONTROL_MAX || !bytes || bytes > WIRE_PIECE_MAX - NAMES_CONTROL_MAX)
		return 1;
	if (names_read(c->how, s->piece.bytes, n, s->keys + first) ||
	    names_read(c->how, s->piece.bytes + n, bytes, s->keys - first * size - bytes)) {
		s->missing++;
		return 0;
	}
	s->n_piece = n;
	s->piece.offset = first;
	s->piece.size = n + bytes;
	names_send(s, c->how, &s->piece, sizeof(s->piece) - WIRE_PIECE_MAX + n + bytes);
	bpf_loop(n, names_add_key, c, 0);
	return 0;
}

static long names_copy_keys(__u32 i, void *p)
{
	struct names_loop *c = p;
	struct names_slot *s = c->slot;
	const struct wire_layout_crates *l = &s->layout.crates;

	if (names_is_over(c->how, s))
		return 1;
	if (names_find_crate(s, c->how, i))
		return 0;
	if (names_read(c->how, &s->keys, 8, s->metadata + l->keys) ||
	    names_read(c->how, &s->keys_mask, 8, s->metadata + l->keys_mask)) {
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
static __noinline int names_find_crates(struct names_slot *s, __u64 how, __u64 context)
{
	__u64 store = 0, n = 0;

	if (!s)
		return 0;
	if (names_read(how, &store, 8, context + s->layout.crates.store) ||
	    names_read(how, &s->address, 8, store + s->layout.crates.crates) ||
	    names_read(how, &n, 8, store + s->layout.crates.n_crates)) {
		s->missing++;
		return 0;
	}
	if (n <= NAMES_CRATES_MAX)
		return n;
	s->missing++;
	return NAMES_CRATES_MAX;
}

static __noinline int names_copy_crates(struct names_slot *s, __u64 how, __u64 context)
{
	struct names_loop c = {s, how};
	int n;

	if (!s || !s->layout.crates.size)
		return 0;
	n = names_find_crates(s, how, context);
	s->entries_left = how == NAMES_DYING ? NAMES_DYING_MAX : NAMES_ENTRIES_MAX;
	names_gather(s, WIRE_TABLE_CRATES);
	names_add_crate(s, how, WIRE_KEY_LOCAL_CRATE, 0, context + s->layout.crates.own_id);
	bpf_loop(n, names_copy_crate, &c, 0);
	names_flush_gathered(s, how);
	s->piece.table = WIRE_TABLE_KEYS;
	bpf_loop(n, names_copy_keys, &c, 0);
	return 0;
}

#endif /* QPROF_NAMES_CRATES_H */
