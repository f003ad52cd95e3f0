// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/code/sum.h"

#include <stddef.h>
#include <string.h>

#include "plan/code/insn.h"

const struct sum sum_unknown;

struct sum sum_constant(uint64_t value)
{
	return (struct sum){.known = true, .constant = value};
}

/* False if there is no room for the term. */
static bool add_term(struct sum *s, struct sum_term t)
{
	uint32_t i = 0;

	while (i < s->n && s->terms[i].node < t.node)
		i++;
	if (i < s->n && s->terms[i].node == t.node) {
		s->terms[i].factor += t.factor;
		if (!s->terms[i].factor) {
			s->terms[i] = s->terms[1];
			s->terms[1] = (struct sum_term){0};
			s->n--;
			if (!s->n)
				s->terms[0] = (struct sum_term){0};
		}
		return true;
	}
	if (s->n == 2)
		return false;
	if (!i)
		s->terms[1] = s->terms[0];
	s->terms[i] = t;
	s->n++;
	return true;
}

struct sum sum_add(struct sum a, struct sum b)
{
	if (!a.known || !b.known)
		return sum_unknown;
	for (uint32_t i = 0; i < b.n; i++)
		if (!add_term(&a, b.terms[i]))
			return sum_unknown;
	a.constant += b.constant;
	return a;
}

struct sum sum_scale(struct sum a, uint64_t factor)
{
	struct sum out = {.known = a.known, .constant = a.constant * factor};

	for (uint32_t i = 0; a.known && i < a.n; i++) {
		struct sum_term t = {a.terms[i].node, a.terms[i].factor * factor};

		if (t.factor)
			add_term(&out, t);
	}
	return out;
}

bool sum_equal(const struct sum *a, const struct sum *b)
{
	if (!a->known || !b->known || a->n != b->n || a->constant != b->constant)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->terms[i].node != b->terms[i].node ||
		    a->terms[i].factor != b->terms[i].factor)
			return false;
	return true;
}

bool sum_same(const struct sum *a, const struct sum *b)
{
	return sum_equal(a, b) || (!a->known && !b->known);
}

bool sum_is_constant(const struct sum *a)
{
	return a->known && !a->n;
}

static bool same_node(const struct sum_node *a, const struct sum_node *b)
{
	return a->kind == b->kind && a->reg == b->reg && a->size == b->size &&
	       a->thread == b->thread && (a->kind == SUM_ENTRY || sum_equal(&a->of, &b->of));
}

struct sum sum_of_node(struct sum_nodes *nodes, struct sum_node node)
{
	struct sum s = {.known = true, .n = 1, .terms = {{0, 1}}};
	uint32_t i = 0;

	if (node.kind != SUM_ENTRY && !node.of.known)
		return sum_unknown;
	while (i < nodes->n && !same_node(&nodes->items[i], &node))
		i++;
	if (i == SUM_NODES) {
		nodes->full = true;
		return sum_unknown;
	}
	if (i == nodes->n)
		nodes->items[nodes->n++] = node;
	s.terms[0].node = i;
	return s;
}

const struct sum_node *sum_node_of(const struct sum_nodes *nodes, const struct sum *a,
				   uint64_t *constant)
{
	if (!a->known || a->n != 1 || a->terms[0].factor != 1)
		return NULL;
	*constant = a->constant;
	return &nodes->items[a->terms[0].node];
}

struct sum sum_low(struct sum_nodes *nodes, struct sum a)
{
	uint64_t more;
	const struct sum_node *node;

	if (!a.known)
		return a;
	if (!a.n)
		return sum_constant((uint32_t)a.constant);
	node = sum_node_of(nodes, &a, &more);
	if (node && !more && (node->kind == SUM_LOW || (node->kind == SUM_LOAD && node->size <= 4)))
		return a;
	return sum_of_node(nodes, (struct sum_node){.kind = SUM_LOW, .of = a});
}

struct sum sum_term(const struct sum *a, uint32_t i)
{
	return (struct sum){.known = true, .n = 1, .terms = {{a->terms[i].node, 1}}};
}

bool sum_is_argument(const struct sum_nodes *nodes, const struct sum *a, uint8_t reg,
		     uint64_t *more)
{
	const struct sum_node *node = sum_node_of(nodes, a, more);

	if (node && node->kind == SUM_LOW)
		node = *more ? NULL : sum_node_of(nodes, &node->of, more);
	return node && node->kind == SUM_ENTRY && node->reg == reg;
}

bool sum_is_field(const struct sum_nodes *nodes, const struct sum *a, uint8_t reg, uint8_t size,
		  uint64_t *at)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(nodes, a, &more);

	return node && !more && node->kind == SUM_LOAD && !node->thread && node->size == size &&
	       sum_is_argument(nodes, &node->of, reg, at);
}

/* ---- Places in memory ------------------------------------------------------------------------ */

_Static_assert(CODE_REG_SP == WIRE_PLACE_SP, "a place may begin at sp");

/* Offsets are those of fields and of frames. */
#define AT_MAX (1 << 20)

static bool is_offset(int64_t at)
{
	return at < AT_MAX && at > -AT_MAX;
}

/* The outermost load is the last one of the place. */
bool place_of(const struct sum_nodes *nodes, const struct sum *value, struct wire_place *out)
{
	struct wire_place place = {.size = 8};
	uint64_t more;
	const struct sum_node *node = sum_node_of(nodes, value, &more);

	if (!node || more)
		return false;
	while (node && node->kind == SUM_LOAD && !node->thread) {
		bool last = !place.n;

		if (place.n == WIRE_PLACE_LOADS || (node->size != 8 && !(last && node->size == 4)))
			return false;
		if (last)
			place.size = node->size;
		node = sum_node_of(nodes, &node->of, &more);
		if (!node || !is_offset((int64_t)more))
			return false;
		memmove(place.at + 1, place.at, sizeof(place.at) - sizeof(*place.at));
		place.at[0] = (int)more;
		place.n++;
		more = 0;
	}
	if (!node || node->kind != SUM_ENTRY)
		return false;
	place.reg = node->reg;
	*out = place;
	return true;
}

bool place_is_sound(const struct wire_place *place)
{
	for (uint8_t i = 0; i < WIRE_PLACE_LOADS; i++)
		if (!is_offset(place->at[i]))
			return false;
	return place->reg <= WIRE_PLACE_SP && place->n <= WIRE_PLACE_LOADS &&
	       (place->size == 4 || place->size == 8);
}

/* ---- Visits ---------------------------------------------------------------------------------- */

bool visits__add(struct visits *v, uint64_t from, uint64_t to)
{
	uint32_t i = 0;

	while (i < v->n && (v->items[i].from != from || v->items[i].to != to))
		i++;
	if (i == VISITS_WAYS || (i < v->n && v->items[i].n == VISITS_MAX))
		return false;
	if (i == v->n) {
		v->items[i].from = from;
		v->items[i].to = to;
		v->items[i].n = 0;
		v->n++;
	}
	v->items[i].n++;
	return true;
}
