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

int stack_table__add_place(struct stack_table *t, uint8_t kind, uint32_t place)
{
	const struct stack_place p = {.place = place, .kind = kind};

	if (t->n_places == QPT_STACK_PLACES_MAX)
		return -E2BIG;
	return array__add(&t->places, &t->n_places, &t->places_capacity, &p);
}

int stack_table__add(struct stack_table *t, uint32_t parent, uint32_t place)
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

uint32_t *stack_table__recent(struct stack_table *t, uint32_t parent)
{
	const struct trace_stack *p = stack_table__get(t, parent);
	uint32_t list = p ? (p->place + 512u * p->kind) % QPT_STACK_LISTS : 0;

	if (!t->recent)
		t->recent = calloc(QPT_STACK_LISTS, sizeof(*t->recent));
	return t->recent ? t->recent[list] : NULL;
}

uint32_t stack_table__expected(const struct stack_table *t, const uint32_t *recent)
{
	for (uint32_t i = 0; i < QPT_STACK_RECENT && recent[i]; i++)
		if (t->places[recent[i] - 1].kind == TRACE_STACK_LOCATION)
			return t->places[recent[i] - 1].place;
	return t->last_new;
}

void stack_recent__put(uint32_t recent[QPT_STACK_RECENT], uint32_t at, uint32_t place)
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

static int take_chains(struct stack_table *t, struct columns *c, const struct stack_limits *limits)
{
	uint32_t left = c->n;

	for (uint32_t i = 0; i < c->n_chains; i++) {
		int err = take_chain(t, c, limits, &left);

		if (err)
			return err;
	}
	return left ? -EBADMSG : 0;
}

int stack_table__take(struct stack_table *t, struct byte_reader *in,
		      const struct stack_limits *limits, const char **why)
{
	uint32_t n = t->n, n_places = t->n_places;
	struct columns c;
	int err;

	*why = begin(t, in, &c);
	if (*why)
		return -EBADMSG;
	if (!expansion__make(t->expansion, (uint64_t)c.n * QPT_EXPANSION_STACK))
		return -E2BIG;
	*why = "a list of stacks is malformed";
	err = take_chains(t, &c, limits);
	if (!err && c.new_places.at != c.new_places.end)
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
