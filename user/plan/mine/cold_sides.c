// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/cold_sides.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/code/place.h"
#include "plan/mine/callees.h"
#include "plan/mine/expansions.h"
#include "plan/mine/owners.h"

/* Cold sides that are looked at: 1.95 has 7. Names are untrusted, and looking takes time. */
#define SIDES_MAX 256

struct sides_miner {
	struct elf_image *img;
	struct callees callees;
	struct cold_sides *out;
	bool has_kind;
	uint32_t kind; /* offset of an expansion's kind */
	uint32_t call; /* of the place of its call; 0: not known */
};

/* What cold_call was given, or reads through it. */
static bool is_captured(const struct eval *e, const struct sum *a, struct wire_place *place)
{
	return place_of(&e->nodes, a, place) && place->n &&
	       (place->reg == WIRE_REG_DX || place->reg == WIRE_REG_CX);
}

/* What lies at the address that was captured. */
static bool is_captured_at(const struct eval *e, const struct sum *a, uint8_t size,
			   struct wire_place *place)
{
	if (!is_captured(e, a, place) || place->size != 8 || place->n == WIRE_PLACE_LOADS)
		return false;
	place->at[place->n++] = 0;
	place->size = size;
	return true;
}

/* The label is interned first. */
static bool read_string(const struct eval *e, const struct eval_call *call, bool is_label,
			struct wire_source *s)
{
	struct wire_place string, length;

	if (!is_captured(e, &call->second, &string) || !is_captured(e, &call->third, &length))
		return false;
	if (!is_label && !s->text) {
		s->text = WIRE_ARGUMENT_STRING;
		s->string = string;
		s->length = length;
	}
	return true;
}

static void read_number(const struct eval *e, const struct sum *a, enum wire_argument_value value,
			struct wire_source *s)
{
	struct wire_place place;

	if (s->value || !is_captured(e, a, &place))
		return;
	s->value = value;
	s->number = place;
}

static void read_expansion(const struct eval *e, const struct sum *number, struct wire_source *s)
{
	struct wire_place place;

	if (s->text || !is_captured(e, number, &place) || place.size != 4)
		return;
	s->text = WIRE_ARGUMENT_EXPANSION;
	s->string = place;
}

/* Two places on the stack: what expn_data has filled in, and the kind within that. */
static void note_kind(struct sides_miner *m, const struct eval *e, const struct sum *expansion,
		      const struct sum *kind)
{
	struct sum distance = sum_add(*kind, sum_scale(*expansion, -1ull));

	(void)e;
	if (m->has_kind || !sum_is_constant(&distance) || distance.constant > 4096)
		return;
	m->has_kind = true;
	m->kind = (uint32_t)distance.constant;
}

/* "{:?}" and nothing else, as format_args! encodes it. */
static bool is_bare(const struct sides_miner *m, const struct sum *template)
{
	size_t len;
	const uint8_t *text = sum_is_constant(template)
				      ? elf_image__bytes(m->img, template->constant, &len)
				      : NULL;

	return text && len >= 2 && text[0] == 0xc0 && !text[1];
}

/* The function that a value is printed with, by the pointer to it. */
static enum callee printer_of(const struct sides_miner *m, const struct eval *e,
			      const struct sum *function)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, function, &more);

	if (!node || more || node->kind != SUM_LOAD || !sum_is_constant(&node->of))
		return CALLEE_NONE;
	return callees__at(&m->callees, elf_image__through(m->img, node->of.constant));
}

/* format!("{:?}", ..) of a CString: an address and a length. */
static void read_format(struct sides_miner *m, const struct eval *e, const struct eval_call *call,
			struct wire_source *s)
{
	struct wire_place place;

	if (s->text || printer_of(m, e, &call->words[1]) != CALLEE_DEBUG_C_STRING ||
	    !is_bare(m, &call->second) || !is_captured_at(e, &call->words[0], 8, &place))
		return;
	s->text = WIRE_ARGUMENT_C_STRING;
	s->string = s->length = place;
	s->length.at[place.n - 1] = 8;
}

/* A part of the expansion that was looked up. */
static void read_call_site(struct sides_miner *m, const struct eval *e, const struct sum *span,
			   struct wire_source *s)
{
	uint64_t more, at;
	const struct sum_node *node = sum_node_of(&e->nodes, span, &more);

	if (s->value || s->text != WIRE_ARGUMENT_EXPANSION || !node || more ||
	    node->kind != SUM_LOAD || node->size != 8)
		return;
	node = sum_node_of(&e->nodes, &node->of, &at);
	if (!node || node->kind != SUM_CALL || !at || at > 4096 ||
	    callees__at(&m->callees, node->of.constant) != CALLEE_EXPANSION ||
	    (m->call && m->call != at))
		return;
	m->call = (uint32_t)at;
	s->value = WIRE_VALUE_CALL;
}

static void read_calls(struct sides_miner *m, const struct eval *e, struct wire_source *s)
{
	struct sum expansion = sum_unknown;
	bool has_label = false;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];

		switch (callees__at(&m->callees, call->target)) {
		case CALLEE_INTERN:
			has_label = read_string(e, call, !has_label, s) || has_label;
			break;
		case CALLEE_PRINT_SYMBOL:
			if (!s->text && is_captured_at(e, &call->first, 4, &s->string))
				s->text = WIRE_ARGUMENT_SYMBOL;
			break;
		case CALLEE_PRINT_NUMBER:
			read_number(e, &call->first, WIRE_VALUE_NUMBER, s);
			break;
		case CALLEE_RECORD_SPAN:
			read_number(e, &call->fourth, WIRE_VALUE_SPAN, s);
			read_call_site(m, e, &call->fourth, s);
			break;
		case CALLEE_EXPANSION:
			expansion = call->first;
			/* fall through */
		case CALLEE_EXPANSION_TEXT:
			read_expansion(e, &call->second, s);
			break;
		case CALLEE_EXPANSION_KIND:
			note_kind(m, e, &expansion, &call->second);
			break;
		case CALLEE_FORMAT:
			read_format(m, e, call, s);
			break;
		default:
			break;
		}
	}
}

static int mine_side(struct sides_miner *m, const struct owner *f)
{
	struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.fills = true,
	};
	struct cold_side side = {.addr = f->entry};
	_free_ struct eval *e = NULL;
	int err = eval__run(&ef, &e);

	if (err)
		return err;
	read_calls(m, e, &side.source);
	return array__add(&m->out->items, &m->out->n, &m->out->capacity, &side);
}

static int mine_sides(struct sides_miner *m)
{
	const struct callees *c = &m->callees;
	_owners_ struct owners owners = {0};
	_free_ uint64_t *addrs = calloc(c->n + 1UL, sizeof(*addrs));
	size_t n = 0;
	int err;

	if (!addrs)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n && n < SIDES_MAX; i++)
		if (c->functions[i].kind == CALLEE_COLD_WITH_ARGUMENT)
			addrs[n++] = c->functions[i].addr;
	err = owners__find(m->img, addrs, n, &owners);
	for (size_t i = 0; i < owners.n && !err; i++)
		err = mine_side(m, &owners.items[i]);
	return err;
}

int cold_sides__find(struct elf_image *img, struct cold_sides *out)
{
	struct sides_miner m = {.img = img, .out = out};
	int err;

	*out = (struct cold_sides){.problem = "no cold side describes an expansion"};
	err = callees__find(img, &m.callees) ?: mine_sides(&m);
	if (!err && m.has_kind)
		err = expansions_mine(img, &m.callees, m.kind, &out->expansions, &out->problem);
	out->expansions.call = out->expansions.size ? m.call : 0;
	if (!err)
		err = expansions_mine_calls(img, &m.callees, &out->expansions, &out->calls,
					    &out->calls_problem);
	callees__destroy(&m.callees);
	return err;
}

void cold_sides__destroy(struct cold_sides *c)
{
	free(c->items);
	*c = (struct cold_sides){0};
}

const struct cold_side *cold_sides__at(const struct cold_sides *c, uint64_t addr)
{
	return c->n ? bsearch(&addr, c->items, c->n, sizeof(*c->items), array__by_u64) : NULL;
}
