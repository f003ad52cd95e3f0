// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/mine/owners.h"
#include "plan/mine/templates.h"

/* Functions of a kind that are looked at. */
#define COPIES_MAX 4
/* Kinds of expansions and of macros that are tried. */
#define TAGS_MAX 8
/* Fields that expn_data copies one by one. */
#define FIELDS_MIN 3

struct expansions_miner {
	struct elf_image *img;
	const struct callees *callees;
	const struct hygiene *h;
	uint64_t key; /* with which LocalExpnId::expn_data is called; 0: without */
	struct wire_expansions x;
};

static bool is_register(const struct eval *e, const struct sum *a, uint8_t reg, uint64_t *more)
{
	const struct sum_node *node = sum_node_of(&e->nodes, a, more);

	return node && node->kind == SUM_ENTRY && node->reg == reg;
}

/* ---- LocalExpnId::expn_data ------------------------------------------------------------------ */

/* The second argument; or where the third leads to, if the second is the globals' key. */
static bool is_number(const struct expansions_miner *m, const struct eval *e, const struct sum *a)
{
	uint64_t at;
	bool is = m->key ? sum_is_field(&e->nodes, a, WIRE_REG_DX, 4, &at)
			 : sum_is_argument(&e->nodes, a, WIRE_REG_SI, &at);

	return is && !at;
}

/* A field of the entry with that number: *at bytes within it. */
static bool is_field(const struct expansions_miner *m, const struct eval *e, const struct sum *a,
		     uint64_t *at)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, a, &more), *table;
	const struct sum *of = node ? &node->of : NULL;

	if (!node || more || node->kind != SUM_LOAD || of->n != 2)
		return false;
	*at = of->constant;
	for (uint32_t i = 0; i < 2; i++) {
		struct sum base = sum_term(of, i), number = sum_term(of, 1 - i);

		table = sum_node_of(&e->nodes, &base, &more);
		if (of->terms[i].factor == 1 && of->terms[1 - i].factor == m->h->expansion_size &&
		    is_number(m, e, &number) && table->kind == SUM_LOAD && table->size == 8 &&
		    hygiene__is_globals(e, &table->of, m->h->globals, &more) &&
		    more == m->h->expansions)
			return true;
	}
	return false;
}

static bool copies(const struct expansions_miner *m, const struct eval *e)
{
	uint64_t at, from;
	uint32_t fields = 0;

	for (uint32_t i = 0; i < e->stores.n; i++)
		fields += is_register(e, &e->stores.items[i].a, WIRE_REG_DI, &at) &&
			  is_field(m, e, &e->stores.items[i].b, &from) && from == at;
	return fields >= FIELDS_MIN;
}

static bool looks_up(const struct expansions_miner *m, const struct eval *e)
{
	uint64_t more;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];

		if (callees__at(m->callees, call->target) == CALLEE_LOCAL_EXPANSION &&
		    hygiene__is_globals(e, &call->first, m->h->globals, &more) &&
		    more == m->h->self && is_number(m, e, &call->second))
			return true;
	}
	return false;
}

/* ---- ExpnKind::descr ------------------------------------------------------------------------- */

/* The place of a load of `size` bytes in the kind that is read. -1: none, or several. */
static int64_t field_read(const struct eval *e, uint8_t size, int64_t except)
{
	int64_t found = -1;

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		const struct sum_node *node = &e->nodes.items[i];
		uint64_t at;

		if (node->kind != SUM_LOAD || node->size != size || node->thread ||
		    !is_register(e, &node->of, WIRE_REG_SI, &at) || (int64_t)at == except ||
		    at > 64)
			continue;
		if (found >= 0 && found != (int64_t)at)
			return -1;
		found = (int64_t)at;
	}
	return found;
}

/* The kind of macro that is printed so. */
static enum wire_macro macro_of(const struct expansions_miner *m, const struct eval *e)
{
	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];
		struct template t;

		if (callees__at(m->callees, call->target) != CALLEE_FORMAT ||
		    !template__of(m->img, call, &t))
			continue;
		if (template__holds(&t, "#[derive("))
			return WIRE_MACRO_DERIVE;
		if (template__holds(&t, "#["))
			return WIRE_MACRO_ATTRIBUTE;
		return template__holds(&t, "!") ? WIRE_MACRO_BANG : WIRE_MACRO_UNKNOWN;
	}
	return WIRE_MACRO_UNKNOWN;
}

static int run(const struct expansions_miner *m, const struct owner *f,
	       const struct eval_given *given, size_t n, struct eval **out)
{
	struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.given = given,
		.n_given = n,
	};

	return eval__run(&ef, out);
}

static int read_macros(struct expansions_miner *m, const struct owner *f, uint32_t *n)
{
	struct eval_given given[] = {{WIRE_REG_SI, 1, 0, m->x.tag},
				     {WIRE_REG_SI, 1, m->x.macro, 0}};

	for (uint32_t k = 0; k < N_OF(m->x.macros); k++) {
		_free_ struct eval *e = NULL;
		int err;

		given[1].value = k;
		err = run(m, f, given, N_OF(given), &e);
		if (err)
			return err;
		m->x.macros[k] = (uint8_t)macro_of(m, e);
		*n += m->x.macros[k] != WIRE_MACRO_UNKNOWN;
	}
	return 0;
}

/* Only macros have a symbol. The tag is the first byte. */
static int read_kind(struct expansions_miner *m, const struct owner *f, const char **problem)
{
	uint32_t macros = 0, tags = 0;

	for (uint32_t tag = 0; tag < TAGS_MAX; tag++) {
		struct eval_given given = {WIRE_REG_SI, 1, 0, tag};
		_free_ struct eval *e = NULL;
		int err = run(m, f, &given, 1, &e);
		int64_t symbol, macro;

		if (err)
			return err;
		symbol = field_read(e, 4, -1);
		macro = field_read(e, 1, 0);
		if (symbol < 0 || macro < 0)
			continue;
		tags++;
		m->x.tag = tag;
		m->x.symbol = (uint32_t)symbol;
		m->x.macro = (uint32_t)macro;
	}
	if (tags != 1) {
		*problem = "ExpnKind::descr reads a symbol of no kind, or of several";
		return 0;
	}
	*problem = NULL;
	if (read_macros(m, f, &macros))
		return -ENOMEM;
	if (!macros)
		*problem = "ExpnKind::descr prints no macro in a known way";
	return 0;
}

static int read_expansion(struct expansions_miner *m, const struct owner *f, const char **problem)
{
	struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.follows = true,
		.has_second = m->key,
		.second = m->key,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&ef, &e);

	if (!err)
		*problem = copies(m, e) || looks_up(m, e)
				   ? NULL
				   : "LocalExpnId::expn_data copies no entry of the table";
	return err;
}

static int mine_kind(struct expansions_miner *m, enum callee kind,
		     int (*read)(struct expansions_miner *m, const struct owner *f,
				 const char **problem),
		     const char **problem)
{
	_owners_ struct owners owners = {0};
	uint64_t addrs[COPIES_MAX];
	size_t n = 0;
	int err;

	for (uint32_t i = 0; i < m->callees->n && n < COPIES_MAX; i++)
		if (m->callees->functions[i].kind == kind)
			addrs[n++] = m->callees->functions[i].addr;
	err = owners__find(m->img, addrs, n, &owners);
	for (size_t i = 0; i < owners.n && !err && *problem; i++)
		err = read(m, &owners.items[i], problem);
	return err;
}

int expansions_mine(struct elf_image *img, const struct callees *callees, const struct hygiene *h,
		    const struct expansion_use *use, struct wire_expansions *out,
		    const char **problem)
{
	struct expansions_miner m = {
		.img = img,
		.callees = callees,
		.h = h,
		.key = use->key,
		.x = {.table = h->expansions,
		      .count = h->n_expansions,
		      .size = h->expansion_size,
		      .kind = use->kind,
		      .call = h->call},
	};
	int err;

	*problem = "there is no LocalExpnId::expn_data";
	err = mine_kind(&m, CALLEE_EXPANSION, read_expansion, problem);
	if (err || *problem)
		return err;
	*problem = "there is no ExpnKind::descr";
	err = mine_kind(&m, CALLEE_EXPANSION_KIND, read_kind, problem);
	if (!err && !*problem)
		*problem = plan_expansions_excess(&m.x);
	if (!err && !*problem)
		*out = m.x;
	return err;
}

const char *expansions_calls(const struct wire_expansions *x, const struct hygiene *h,
			     struct wire_layout_calls *out)
{
	const struct wire_layout_calls calls = {
		.contexts = h->contexts,
		.n_contexts = h->n_contexts,
		.context_size = h->context_size,
		.crate = h->crate,
		.number = h->number,
		.expansions = h->expansions,
		.n_expansions = h->n_expansions,
		.expansion_size = h->expansion_size,
		.call = h->call,
		.kind = x->kind,
		.tag = x->tag,
	};
	const char *problem = plan_calls_excess(&calls);

	if (!problem)
		*out = calls;
	return problem;
}
