// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/cold_sides.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/code/sum.h"
#include "plan/mine/expansions.h"
#include "plan/mine/owners.h"
#include "plan/symbols/relocated.h"

/* Cold sides that are looked at: 1.95 has 7. Names are untrusted, and looking takes time. */
#define SIDES_MAX 256
/* Bytes of an expansion, and of what has the number of one. */
#define EXPANSION_MAX 4096

struct sides_miner {
	struct elf_image *img;
	struct callees callees;
	struct cold_sides *out;
	struct hygiene hygiene;
	bool has_use;
	struct expansion_use use;
};

static int run(const struct sides_miner *m, const struct owner *f, struct eval **out)
{
	const struct eval_function ef = {
		.img = m->img,
		EVAL_OF(f),
		.fills = true,
	};

	return eval__run(&ef, out);
}

/* A value that cold_call was given, or reads through it. */
static bool is_captured(const struct eval *e, const struct sum *a, struct wire_place *place)
{
	return place_of(&e->nodes, a, place) && place->n &&
	       (place->reg == WIRE_REG_DX || place->reg == WIRE_REG_CX);
}

/* The value at an address that was captured. */
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

/* ---- Expansions ------------------------------------------------------------------------------ */

/* Calls that describe an expansion: what LocalExpnId::expn_data has filled in a slot with, or a
 * part of that. */
struct description {
	struct sum number;
	struct expansion_use use;
};

/* The address of the word that `a` is; 0: it is none, or elsewhere than at a constant. */
static uint64_t word_at(const struct eval *e, const struct sum *a)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, a, &more);

	return node && !more && node->kind == SUM_LOAD && node->size == 8 &&
			       sum_is_constant(&node->of)
		       ? node->of.constant
		       : 0;
}

static bool find_description(const struct sides_miner *m, const struct eval *e,
			     struct description *out)
{
	const struct sum *slot = NULL;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];
		enum callee kind = callees__at(&m->callees, call->target);
		struct sum distance;

		if (kind == CALLEE_EXPANSION) {
			uint64_t at = word_at(e, &call->second);

			slot = &call->first;
			/* A pointer that the dynamic linker writes. */
			out->use.key = at ? relocated__value(m->img, at) : 0;
			out->number = out->use.key ? call->half : call->second;
		}
		if (kind != CALLEE_EXPANSION_KIND || !slot)
			continue;
		distance = sum_add(call->second, sum_scale(*slot, -1ull));
		if (!sum_is_constant(&distance) || distance.constant > EXPANSION_MAX)
			continue;
		out->use.kind = (uint32_t)distance.constant;
		return true;
	}
	return false;
}

/* All must use expansions alike. */
static bool agrees(struct sides_miner *m, const struct expansion_use *use)
{
	if (m->has_use)
		return m->use.kind == use->kind && m->use.key == use->key;
	m->has_use = true;
	m->use = *use;
	return true;
}

static void read_expansion(struct sides_miner *m, const struct eval *e, struct wire_source *s)
{
	struct description d;
	struct wire_place place;

	if (s->text || !find_description(m, e, &d) || !is_captured(e, &d.number, &place) ||
	    place.size != 4 || !agrees(m, &d.use))
		return;
	s->text = WIRE_ARGUMENT_EXPANSION;
	s->string = place;
}

/* ExtCtxt::expansion_descr has the number as argument, or what that is in. */
static bool is_number_of(const struct eval *e, const struct sum *number, struct wire_place *place)
{
	uint64_t at;

	if (sum_is_argument(&e->nodes, number, WIRE_REG_SI, &at) && !at)
		return place->size == 4;
	if (!sum_is_field(&e->nodes, number, WIRE_REG_SI, 4, &at) || at > EXPANSION_MAX ||
	    place->size != 8 || place->n == WIRE_PLACE_LOADS)
		return false;
	place->at[place->n++] = (int32_t)at;
	place->size = 4;
	return true;
}

static int read_described(struct sides_miner *m, const struct eval *e, const struct eval_call *call,
			  struct wire_source *s)
{
	_owners_ struct owners owners = {0};
	_free_ struct eval *inner = NULL;
	struct wire_place place;
	struct description d;
	int err;

	if (s->text || !is_captured(e, &call->second, &place))
		return 0;
	err = owners__find(m->img, &call->target, 1, &owners);
	if (err || !owners.n)
		return err;
	err = run(m, &owners.items[0], &inner);
	if (err || !find_description(m, inner, &d) || !is_number_of(inner, &d.number, &place) ||
	    !agrees(m, &d.use))
		return err;
	s->text = WIRE_ARGUMENT_EXPANSION;
	s->string = place;
	return 0;
}

/* Find the place of the call of the expansion that was looked up. */
static void read_call_site(struct sides_miner *m, const struct eval *e, const struct sum *span,
			   struct wire_source *s)
{
	uint64_t more, at;
	const struct sum_node *node = sum_node_of(&e->nodes, span, &more);

	if (s->value || s->text != WIRE_ARGUMENT_EXPANSION || !node || more ||
	    node->kind != SUM_LOAD || node->size != 8)
		return;
	node = sum_node_of(&e->nodes, &node->of, &at);
	if (node && node->kind == SUM_CALL && at && at == m->hygiene.call &&
	    callees__at(&m->callees, node->of.constant) == CALLEE_EXPANSION)
		s->value = WIRE_VALUE_CALL;
}

/* ---- Texts that are formatted ---------------------------------------------------------------- */

/* format!("{:?}", ..) of a CString, by the pointer to what prints it: an address and a length. */
static void read_format(struct sides_miner *m, const struct eval *e, const struct eval_call *call,
			struct wire_source *s)
{
	uint64_t at = word_at(e, &call->words[1]);
	uint64_t printer = at ? elf_image__through(m->img, at) : 0;
	struct wire_place place;
	struct template t;

	if (s->text || callees__at(&m->callees, printer) != CALLEE_DEBUG_C_STRING ||
	    !template__of(m->img, call, &t) || !t.is_bare ||
	    !is_captured_at(e, &call->words[0], 8, &place))
		return;
	s->text = WIRE_ARGUMENT_C_STRING;
	s->string = s->length = place;
	s->length.at[place.n - 1] = 8;
}

/* ---------------------------------------------------------------------------------------------- */

static int mine_side(struct sides_miner *m, const struct owner *f)
{
	struct cold_side side = {.addr = f->entry};
	struct wire_source *s = &side.source;
	_free_ struct eval *e = NULL;
	bool has_label = false;
	int err = run(m, f, &e);

	for (uint32_t i = 0; !err && i < e->n_calls; i++) {
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
		case CALLEE_DISPLAY_NUMBER:
			read_number(e, &call->whole, WIRE_VALUE_NUMBER, s);
			break;
		case CALLEE_RECORD_SPAN:
			read_number(e, &call->fourth, WIRE_VALUE_SPAN, s);
			read_call_site(m, e, &call->fourth, s);
			break;
		case CALLEE_EXPANSION_TEXT:
			err = read_described(m, e, call, s);
			break;
		case CALLEE_EXPANSION_KIND:
			read_expansion(m, e, s);
			break;
		case CALLEE_FORMAT:
			read_format(m, e, call, s);
			break;
		default:
			break;
		}
	}
	return err ?: array__add(&m->out->items, &m->out->n, &m->out->capacity, &side);
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

int cold_sides__find(struct elf_image *img, uint64_t globals, struct cold_sides *out)
{
	struct sides_miner m = {.img = img, .out = out};
	int err;

	*out = (struct cold_sides){0};
	err = callees__find(img, &m.callees)
		      ?: hygiene__find(img, &m.callees, globals, &m.hygiene, &out->problem)
		      ?: mine_sides(&m);

	/* Without any of this, macros are unknown, and so are their calls. */
	if (!out->problem && !m.has_use)
		out->problem = "no cold side describes an expansion";
	if (!err && !out->problem)
		err = expansions_mine(img, &m.callees, &m.hygiene, &m.use, &out->expansions,
				      &out->problem);
	out->calls_problem = out->problem;
	if (!err && !out->problem)
		out->calls_problem = expansions_calls(&out->expansions, &m.hygiene, &out->calls);
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

/* ---- Arguments of guards --------------------------------------------------------------------- */

/* No loads at all: a constant, whose text is in the file. */
static bool place_answer(const struct eval *e, uint32_t i, struct wire_place *out)
{
	return e->arrived && place_of(&e->nodes, &e->answers[i], out);
}

int guard_argument(const struct eval_function *f, const struct cold_side *side, uint64_t site,
		   struct wire_source *out)
{
	const struct wire_source *in = &side->source;
	struct wire_place asked[] = {in->string, in->length, in->number};
	struct wire_source found = {.site = site, .text = in->text, .value = in->value};
	bool has_length = in->text == WIRE_ARGUMENT_STRING || in->text == WIRE_ARGUMENT_C_STRING;
	struct eval_function inside = *f;
	_free_ struct eval *e = NULL;
	int err;

	if (!in->text)
		return 0;
	inside.inside = true;
	inside.asked = asked;
	inside.n_asked = N_OF(asked);
	err = eval__run(&inside, &e);
	if (err)
		return err;
	if (!place_answer(e, 0, &found.string) ||
	    (has_length && !place_answer(e, 1, &found.length)))
		return 0;
	if (in->value && in->value != WIRE_VALUE_CALL && !place_answer(e, 2, &found.number))
		found.value = WIRE_VALUE_NONE;
	*out = found;
	return 0;
}
