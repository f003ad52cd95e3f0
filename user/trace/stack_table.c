// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/stack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

_Static_assert(TRACE_STACK_DEPTH_MAX == QPT_STACK_DEPTH_MAX, "the same limit");
_Static_assert(TRACE_STACK_KINDS <= QPT_STACK_KIND_MASK + 1, "room for the kinds");

/* Cursors in the columns of a payload. */
struct columns {
	struct byte_reader lengths, distances, places, new_places;
	uint32_t n, n_chains;
};

bool stack_limits__allow(const struct stack_limits *limits, uint8_t kind, uint32_t place)
{
	switch (kind) {
	case TRACE_STACK_LOCATION:
		return place < limits->locations;
	case TRACE_STACK_UNKNOWN:
		return !place;
	default:
		return kind < TRACE_STACK_KINDS && place < limits->strings;
	}
}

static int stack_table__add_place(struct stack_table *t, uint8_t kind, uint32_t place)
{
	const struct stack_place p = {.place = place, .kind = kind};

	if (t->n_places == QPT_STACK_PLACES_MAX)
		return -E2BIG;
	return array__add(&t->places, &t->n_places, &t->places_capacity, &p);
}

/*
 * For writers: add an entry below `parent`, which there is or which is TRACE_NO_STACK, at the place
 * with a number that there is, or at a new one. 0; -E2BIG beyond what a trace may hold, or -ENOMEM.
 */
static int stack_table__add(struct stack_table *t, uint32_t parent, uint32_t place)
{
	const struct stack_place *at = &t->places[place];
	const struct trace_stack entry = {
		.parent = parent,
		.place = at->place,
		.depth = (parent ? t->entries[parent - 1].depth : 0) + 1,
		.kind = at->kind,
	};

	if (entry.depth > QPT_STACK_DEPTH_MAX || t->n == QPT_STACKS_MAX)
		return -E2BIG;
	return array__add(&t->entries, &t->n, &t->capacity, &entry);
}

/*
 * The list of recent places below `parent`, or below nothing with TRACE_NO_STACK; NULL without
 * memory.
 */
static uint32_t *stack_table__recent(struct stack_table *t, uint32_t parent)
{
	const struct trace_stack *p = stack_table__get(t, parent);
	uint32_t list = p ? (p->place + 512u * p->kind) % QPT_STACK_LISTS : 0;

	if (!t->recent)
		t->recent = calloc(QPT_STACK_LISTS, sizeof(*t->recent));
	return t->recent ? t->recent[list] : NULL;
}

/* The location that a new one in this list is probably near to: mostly in the same function. */
static uint32_t stack_table__expected(const struct stack_table *t, const uint32_t *recent)
{
	for (uint32_t i = 0; i < QPT_STACK_RECENT && recent[i]; i++)
		if (t->places[recent[i] - 1].kind == TRACE_STACK_LOCATION)
			return t->places[recent[i] - 1].place;
	return t->last_new;
}

/* Put a place, by its number, in front of a list: it was at `at`, or the one that is there drops
 * out. */
static void stack_recent__put(uint32_t recent[QPT_STACK_RECENT], uint32_t at, uint32_t place)
{
	memmove(recent + 1, recent, at * sizeof(*recent));
	recent[0] = place + 1;
}

static void skip(struct byte_reader *in, uint32_t n)
{
	while (n-- && !in->bad)
		byte_reader__varint(in);
}

/* Find the columns. Without an error the first three are well-formed. */
static const char *begin(const struct stack_table *t, struct byte_reader *in, struct columns *c)
{
	uint64_t first = byte_reader__varint(in);

	c->n = byte_reader__varint_max(in, QPT_STACK_CHUNK_MAX);
	c->n_chains = byte_reader__varint_max(in, c->n);
	if (in->bad || !c->n)
		return "a list of stacks has a bad size";
	if (first != t->n + 1ull)
		return "stacks are missing";
	if (c->n > QPT_STACKS_MAX - t->n)
		return "its stacks are too many";
	c->lengths = *in;
	skip(in, c->n_chains);
	c->distances = *in;
	skip(in, c->n_chains);
	c->places = *in;
	skip(in, c->n);
	c->new_places = *in;
	return in->bad ? "a list of stacks is too short" : NULL;
}

/* Read a place that does not occur before. 0, -ENOMEM or -EBADMSG. */
static int take_new_place(struct stack_table *t, struct columns *c,
			  const struct stack_limits *limits, const uint32_t *recent, bool located)
{
	uint64_t v = byte_reader__varint(&c->new_places);
	uint8_t kind = located ? TRACE_STACK_LOCATION : v & QPT_STACK_KIND_MASK;
	uint64_t place = v >> QPT_STACK_KIND_BITS;
	int err;

	if (located)
		place = stack_table__expected(t, recent) + bytes_unzigzag(v);
	if (c->new_places.bad || (!located && kind == TRACE_STACK_LOCATION) || place > UINT32_MAX ||
	    !stack_limits__allow(limits, kind, (uint32_t)place))
		return -EBADMSG;
	if (located)
		t->last_new = (uint32_t)place;
	err = stack_table__add_place(t, kind, (uint32_t)place);
	return err == -E2BIG ? -EBADMSG : err;
}

/* Set *place to the number of the next entry's place, below `parent`. */
static int take_place(struct stack_table *t, struct columns *c, const struct stack_limits *limits,
		      uint32_t parent, uint32_t *place)
{
	uint32_t *recent = stack_table__recent(t, parent);
	uint64_t code = byte_reader__varint(&c->places);
	uint32_t at = QPT_STACK_RECENT - 1;
	int err = 0;

	if (!recent)
		return -ENOMEM;
	if (code >= QPT_STACK_PLACE) {
		if (code - QPT_STACK_PLACE >= t->n_places)
			return -EBADMSG;
		*place = (uint32_t)(code - QPT_STACK_PLACE);
	} else if (code < QPT_STACK_LISTED) {
		*place = t->n_places;
		err = take_new_place(t, c, limits, recent, code == QPT_STACK_NEW_LOCATION);
	} else {
		at = (uint32_t)code - QPT_STACK_LISTED;
		if (!recent[at])
			return -EBADMSG;
		*place = recent[at] - 1;
	}
	if (!err)
		stack_recent__put(recent, at, *place);
	return err;
}

/* Take a chain of entries, each the parent of the next; `left` entries are left in the chunk. */
static int take_chain(struct stack_table *t, struct columns *c, const struct stack_limits *limits,
		      uint32_t *left)
{
	uint64_t length = byte_reader__varint(&c->lengths);
	uint64_t distance = byte_reader__varint(&c->distances);
	uint32_t parent = t->n + 1 - (uint32_t)distance;

	if (!length || length > *left || !distance || distance > t->n + 1ull)
		return -EBADMSG;
	*left -= (uint32_t)length;
	for (; length; length--) {
		uint32_t place;
		int err = take_place(t, c, limits, parent, &place)
				  ?: stack_table__add(t, parent, place);

		if (err)
			return err == -E2BIG ? -EBADMSG : err;
		parent = t->n;
	}
	return 0;
}

int stack_table__take(struct stack_table *t, struct byte_reader *in,
		      const struct stack_limits *limits, const char **why)
{
	uint32_t n = t->n, n_places = t->n_places, left;
	struct columns c;
	int err = 0;

	*why = begin(t, in, &c);
	if (*why)
		return -EBADMSG;
	if (!expansion__make(t->expansion, (uint64_t)c.n * QPT_EXPANSION_STACK))
		return -E2BIG;
	*why = "a list of stacks is malformed";
	left = c.n;
	for (uint32_t i = 0; i < c.n_chains && !err; i++)
		err = take_chain(t, &c, limits, &left);
	if (!err && (left || c.new_places.at != c.new_places.end))
		err = -EBADMSG;
	in->at = in->end;
	if (err) {
		t->n = n;
		t->n_places = n_places;
	}
	return err;
}

void stack_table__destroy(struct stack_table *t)
{
	free(t->entries);
	free(t->places);
	free(t->recent);
	*t = (struct stack_table){0};
}

/* ---- Writing --------------------------------------------------------------------------------- */

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

/* Store the place of an entry whose list is `recent`; is_new: it does not occur before. */
static void store_place(struct stack_writer *w, const struct trace_stack *s, uint32_t *recent,
			uint32_t number, bool is_new)
{
	uint32_t at = 0;

	while (at < QPT_STACK_RECENT && recent[at] != number + 1)
		at++;
	if (is_new && s->kind == TRACE_STACK_LOCATION) {
		uint64_t expected = stack_table__expected(&w->table, recent);

		byte_buffer__varint(&w->places, QPT_STACK_NEW_LOCATION);
		byte_buffer__varint(&w->new_places, bytes_zigzag(s->place - expected));
		w->table.last_new = s->place;
	} else if (is_new) {
		byte_buffer__varint(&w->places, QPT_STACK_NEW_OTHER);
		byte_buffer__varint(&w->new_places,
				    (uint64_t)s->place << QPT_STACK_KIND_BITS | s->kind);
	} else if (at < QPT_STACK_RECENT) {
		byte_buffer__varint(&w->places, at + QPT_STACK_LISTED);
	} else {
		byte_buffer__varint(&w->places, (uint64_t)number + QPT_STACK_PLACE);
	}
	stack_recent__put(recent, at < QPT_STACK_RECENT ? at : QPT_STACK_RECENT - 1, number);
}

static void end_chain(struct stack_writer *w)
{
	if (w->chain)
		byte_buffer__varint(&w->lengths, w->chain);
	w->chain = 0;
}

static int add_stack(struct stack_writer *w, const struct trace_stack *s, uint32_t slot)
{
	uint32_t *recent = stack_table__recent(&w->table, s->parent);
	const struct trace_stack *parent = stack_table__get(&w->table, s->parent);
	uint64_t place_key = (uint64_t)s->kind << 32 | s->place;
	uint32_t id = w->table.n + 1, number;
	bool is_new;
	int err = 0;

	if (!recent)
		return -ENOMEM;
	/* An entry that finds no room must leave no place behind: all that is new is in the
	 * payload.
	 */
	if (w->table.n >= QPT_STACKS_MAX || w->table.n_places >= QPT_STACK_PLACES_MAX ||
	    (parent && parent->depth >= QPT_STACK_DEPTH_MAX))
		return -E2BIG;
	number = u64_map__get(&w->place_of, place_key);
	is_new = number == U64_MAP_NONE;
	if (is_new) {
		number = w->table.n_places;
		err = stack_table__add_place(&w->table, s->kind, s->place)
			      ?: u64_map__put(&w->place_of, place_key, number);
	}
	err = err ?: stack_table__add(&w->table, s->parent, number);
	if (err)
		return err;
	store_place(w, s, recent, number, is_new);
	/* The entry goes on a chain if it is below the one before it. */
	if (!w->chain || s->parent != id - 1) {
		end_chain(w);
		w->n_chains++;
		byte_buffer__varint(&w->distances, id - s->parent);
	}
	w->chain++;
	w->n_new++;
	w->slots[slot] = id;
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
		err = add_stack(w, s, slot);
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
