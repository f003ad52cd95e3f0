// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/stack_writer.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 1024u

/*
 * The slot of an entry, or the empty one where it would go. A map of 64-bit keys would take four
 * times the memory, and a long recording has millions of entries.
 */
static uint32_t find_slot(const struct stack_writer *w, const uint32_t *slots, uint32_t n_slots,
			  const struct trace_stack *s)
{
	uint64_t hash = map_fold(((uint64_t)s->parent << 32 | s->place) ^ (uint64_t)s->kind << 56);
	uint32_t at;

	hash = (hash ^ hash >> 32) * 0xff51afd7ed558ccd;
	for (at = hash >> 32; slots[at & (n_slots - 1)]; at++) {
		const struct trace_stack *e = &w->table.entries[slots[at & (n_slots - 1)] - 1];

		if (e->parent == s->parent && e->place == s->place && e->kind == s->kind)
			break;
	}
	return at & (n_slots - 1);
}

/* At most two thirds of the slots are used. */
static int grow(struct stack_writer *w)
{
	uint32_t n = w->n_slots ? 2 * w->n_slots : FIRST_SLOTS;
	uint32_t *slots;

	if (w->table.n < w->n_slots / 3 * 2)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t id = 1; id <= w->table.n; id++)
		slots[find_slot(w, slots, n, &w->table.entries[id - 1])] = id;
	free(w->slots);
	w->slots = slots;
	w->n_slots = n;
	return 0;
}

/* Set *number to that of a place; *is_new: it does not occur before. */
static int number_place(struct stack_writer *w, const struct trace_stack *s, uint32_t *number,
			bool *is_new)
{
	uint64_t key = (uint64_t)s->kind << 32 | s->place;
	int err;

	*number = u64_map__get(&w->place_of, key);
	*is_new = *number == U64_MAP_NONE;
	if (!*is_new)
		return 0;
	*number = w->table.n_places;
	err = stack_table__add_place(&w->table, s->kind, s->place);
	return err ?: u64_map__put(&w->place_of, key, *number);
}

static void store_new_place(struct stack_writer *w, const struct trace_stack *s,
			    const uint32_t *recent)
{
	uint64_t v = (uint64_t)s->place << QPT_STACK_KIND_BITS | s->kind;
	uint32_t code = QPT_STACK_NEW_OTHER;

	if (s->kind == TRACE_STACK_LOCATION) {
		v = bytes_zigzag((uint64_t)s->place - stack_table__expected(&w->table, recent));
		code = QPT_STACK_NEW_LOCATION;
		w->table.last_new = s->place;
	}
	byte_buffer__varint(&w->places, code);
	byte_buffer__varint(&w->new_places, v);
}

/* Store the place of an entry whose list is `recent`. */
static void store_place(struct stack_writer *w, const struct trace_stack *s, uint32_t *recent,
			uint32_t number, bool is_new)
{
	uint32_t at = 0;

	while (at < QPT_STACK_RECENT && recent[at] != number + 1)
		at++;
	if (is_new)
		store_new_place(w, s, recent);
	else if (at < QPT_STACK_RECENT)
		byte_buffer__varint(&w->places, at + QPT_STACK_LISTED);
	else
		byte_buffer__varint(&w->places, (uint64_t)number + QPT_STACK_PLACE);
	stack_recent__put(recent, at < QPT_STACK_RECENT ? at : QPT_STACK_RECENT - 1, number);
}

static void end_chain(struct stack_writer *w)
{
	if (w->chain)
		byte_buffer__varint(&w->lengths, w->chain);
	w->chain = 0;
}

/* Entry `id` goes on a chain if it is below the one before it. */
static void store_parent(struct stack_writer *w, uint32_t id, uint32_t parent)
{
	if (!w->chain || parent != id - 1) {
		end_chain(w);
		w->n_chains++;
		byte_buffer__varint(&w->distances, id - parent);
	}
	w->chain++;
	w->n_new++;
}

/* An entry that finds no room must leave no place behind: all that is new is in the payload. */
static bool has_room(const struct stack_writer *w, uint32_t parent)
{
	const struct trace_stack *p = stack_table__get(&w->table, parent);

	return w->table.n < QPT_STACKS_MAX && w->table.n_places < QPT_STACK_PLACES_MAX &&
	       (!p || p->depth < QPT_STACK_DEPTH_MAX);
}

static int add(struct stack_writer *w, const struct trace_stack *s, uint32_t slot)
{
	uint32_t *recent = stack_table__recent(&w->table, s->parent);
	uint32_t number;
	bool is_new;
	int err;

	if (!recent)
		return -ENOMEM;
	if (!has_room(w, s->parent))
		return -E2BIG;
	err = number_place(w, s, &number, &is_new);
	err = err ?: stack_table__add(&w->table, s->parent, number);
	if (err)
		return err;
	store_place(w, s, recent, number, is_new);
	store_parent(w, w->table.n, s->parent);
	w->slots[slot] = w->table.n;
	return 0;
}

int stack_writer__add(struct stack_writer *w, const struct trace_stack *s,
		      const struct stack_limits *limits, uint32_t *id)
{
	uint32_t slot;
	int err;

	if (s->parent > w->table.n || !stack_limits__allow(limits, s->kind, s->place))
		return -EINVAL;
	err = grow(w);
	if (err)
		return err;
	slot = find_slot(w, w->slots, w->n_slots, s);
	if (!w->slots[slot]) {
		err = add(w, s, slot);
		if (err)
			return err;
	}
	*id = w->slots[slot];
	return 0;
}

int stack_writer__payload(struct stack_writer *w, struct byte_buffer *out)
{
	struct byte_buffer *columns[] = {&w->lengths, &w->distances, &w->places, &w->new_places};

	end_chain(w);
	byte_buffer__varint(out, w->table.n - w->n_new + 1);
	byte_buffer__varint(out, w->n_new);
	byte_buffer__varint(out, w->n_chains);
	for (int i = 0; i < 4; i++) {
		byte_buffer__bytes(out, columns[i]->data, columns[i]->size);
		out->failed |= columns[i]->failed;
		byte_buffer__clear(columns[i]);
	}
	w->n_new = w->n_chains = 0;
	return out->failed ? -ENOMEM : 0;
}

void stack_writer__destroy(struct stack_writer *w)
{
	stack_table__destroy(&w->table);
	free(w->slots);
	u64_map__destroy(&w->place_of);
	byte_buffer__destroy(&w->lengths);
	byte_buffer__destroy(&w->distances);
	byte_buffer__destroy(&w->places);
	byte_buffer__destroy(&w->new_places);
	*w = (struct stack_writer){0};
}
