// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/mine/owners.h"

/* Functions of a kind that are looked at. */
#define COPIES_MAX 4
/* Kinds of expansions and of macros that are tried. */
#define TAGS_MAX 8
/* Fields that expn_data copies one by one. */
#define FIELDS_MIN 3
/* The first bytes of what format_args! made of a literal. */
#define TEMPLATE_MAX 24
#define OFFSET_MAX   4096

struct expansions_miner {
	struct elf_image *img;
	const struct callees *callees;
	struct wire_expansions x;
	struct wire_layout_calls calls;
	uint8_t crate; /* the register that has an expansion's crate */
};

struct entry_field {
	uint64_t table; /* within the globals: its address */
	uint64_t size;	/* of an entry */
	uint64_t at;	/* within an entry */
	uint8_t bytes;
};

static const struct sum_node *plain_node(const struct eval *e, const struct sum *a)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, a, &more);

	return node && !more ? node : NULL;
}

static bool is_register(const struct eval *e, const struct sum *a, uint8_t reg, uint64_t *more)
{
	const struct sum_node *node = sum_node_of(&e->nodes, a, more);

	return node && node->kind == SUM_ENTRY && node->reg == reg;
}

/* An argument of 32 bits. */
static bool is_number(const struct eval *e, const struct sum *a, uint8_t reg)
{
	const struct sum_node *node = plain_node(e, a);
	uint64_t more;

	return node && node->kind == SUM_LOW && is_register(e, &node->of, reg, &more) && !more;
}

/* A field of the session's globals, 8 bytes. */
static bool is_global(const struct expansions_miner *m, const struct eval *e, const struct sum *a,
		      uint64_t *at)
{
	const struct sum_node *node = plain_node(e, a);

	if (!node || node->kind != SUM_LOAD || node->size != 8)
		return false;
	node = sum_node_of(&e->nodes, &node->of, at);
	if (!node || node->kind != SUM_LOAD || node->size != 8)
		return false;
	node = plain_node(e, &node->of);
	return node && node->kind == SUM_CALL &&
	       callees__at(m->callees, node->of.constant) == CALLEE_GLOBALS;
}

/* A field of the entry whose number is in `reg`. */
static bool is_field(const struct expansions_miner *m, const struct eval *e, const struct sum *a,
		     uint8_t reg, struct entry_field *out)
{
	const struct sum_node *node = plain_node(e, a);
	const struct sum *of = node ? &node->of : NULL;

	if (!node || node->kind != SUM_LOAD || of->n != 2)
		return false;
	out->at = of->constant;
	out->bytes = node->size;
	for (uint32_t i = 0; i < 2; i++) {
		struct sum base = sum_term(of, i), number = sum_term(of, 1 - i);

		out->size = of->terms[1 - i].factor;
		if (of->terms[i].factor == 1 && is_number(e, &number, reg) &&
		    is_global(m, e, &base, &out->table))
			return true;
	}
	return false;
}

/* What the number in `reg` is compared with: a field of the globals. 0: nothing. */
static uint64_t find_count(const struct expansions_miner *m, const struct eval *e, uint8_t reg)
{
	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		uint64_t count;

		if ((is_number(e, &c->b, reg) && is_global(m, e, &c->a, &count)) ||
		    (is_number(e, &c->a, reg) && is_global(m, e, &c->b, &count)))
			return count;
	}
	return 0;
}

static const char *read_table(struct expansions_miner *m, const struct eval *e)
{
	uint64_t table = 0, size = 0, count = find_count(m, e, WIRE_REG_SI);
	uint32_t fields = 0;

	for (uint32_t i = 0; i < e->stores.n; i++) {
		struct entry_field f;
		uint64_t field;

		if (!is_register(e, &e->stores.items[i].a, WIRE_REG_DI, &field) ||
		    !is_field(m, e, &e->stores.items[i].b, WIRE_REG_SI, &f) || f.at != field)
			continue;
		if (fields && (f.table != table || f.size != size))
			return "LocalExpnId::expn_data copies from several tables";
		fields++;
		table = f.table;
		size = f.size;
	}
	if (fields < FIELDS_MIN || !count || size > OFFSET_MAX || table > OFFSET_MAX ||
	    count > OFFSET_MAX)
		return "LocalExpnId::expn_data copies no entry of a table";
	m->x.table = (uint32_t)table;
	m->x.count = (uint32_t)count;
	m->x.size = (uint32_t)size;
	return NULL;
}

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

static bool holds(const uint8_t *text, size_t len, const char *what)
{
	return memmem(text, len, what, strlen(what)) != NULL;
}

/* The kind of macro that is printed so. */
static enum wire_macro macro_of(const struct expansions_miner *m, const struct eval *e)
{
	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];
		const uint8_t *text;
		size_t len;

		if (callees__at(m->callees, call->target) != CALLEE_FORMAT ||
		    !sum_is_constant(&call->second))
			continue;
		text = elf_image__bytes(m->img, call->second.constant, &len);
		len = text && len < TEMPLATE_MAX ? len : text ? TEMPLATE_MAX : 0;
		/* It ends with a byte of zero. */
		len = text ? strnlen((const char *)text, len) : 0;
		if (holds(text, len, "#[derive("))
			return WIRE_MACRO_DERIVE;
		if (holds(text, len, "#["))
			return WIRE_MACRO_ATTRIBUTE;
		return holds(text, len, "!") ? WIRE_MACRO_BANG : WIRE_MACRO_UNKNOWN;
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
	_free_ struct eval *e = NULL;
	int err = run(m, f, NULL, 0, &e);

	if (!err)
		*problem = read_table(m, e);
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

int expansions_mine(struct elf_image *img, const struct callees *callees, uint32_t kind,
		    struct wire_expansions *out, const char **problem)
{
	struct expansions_miner m = {.img = img, .callees = callees, .x = {.kind = kind}};
	int err;

	*problem = "there is no LocalExpnId::expn_data";
	err = mine_kind(&m, CALLEE_EXPANSION, read_expansion, problem);
	if (err || *problem)
		return err;
	*problem = "there is no ExpnKind::descr";
	err = mine_kind(&m, CALLEE_EXPANSION_KIND, read_kind, problem);
	if (!err && !*problem)
		*out = m.x;
	return err;
}

/* An expansion is a crate and a number, in rsi and rdx: that of the compiled one is compared with
 * 0. */
static int read_crate(struct expansions_miner *m, const struct owner *f, const char **problem)
{
	_free_ struct eval *e = NULL;
	int err = run(m, f, NULL, 0, &e);

	*problem = "HygieneData::expn_data compares no crate with the one that is compiled";
	for (uint32_t i = 0; !err && i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];

		if (!sum_is_constant(&c->b) || c->b.constant)
			continue;
		if (is_number(e, &c->a, WIRE_REG_SI))
			m->crate = WIRE_REG_SI;
		else if (is_number(e, &c->a, WIRE_REG_DX))
			m->crate = WIRE_REG_DX;
		else
			continue;
		*problem = NULL;
		break;
	}
	return err;
}

/* Of the entry of the context, both parts of an expansion are returned. */
static const char *read_outer(struct expansions_miner *m, const struct eval *e)
{
	uint64_t count = find_count(m, e, WIRE_REG_DI);
	struct wire_layout_calls *l = &m->calls;

	for (uint32_t i = 0; i < e->returns.n && count; i++) {
		struct entry_field first, second;

		if (!is_field(m, e, &e->returns.items[i].a, WIRE_REG_DI, &first) ||
		    !is_field(m, e, &e->returns.items[i].b, WIRE_REG_DI, &second) ||
		    first.table != second.table || first.size != second.size || first.bytes != 4 ||
		    second.bytes != 4 || first.size > OFFSET_MAX || first.at > OFFSET_MAX ||
		    second.at > OFFSET_MAX || first.table > OFFSET_MAX || count > OFFSET_MAX)
			continue;
		l->contexts = (uint32_t)first.table;
		l->n_contexts = (uint32_t)count;
		l->context_size = (uint32_t)first.size;
		l->crate = (uint32_t)(m->crate == WIRE_REG_SI ? first.at : second.at);
		l->number = (uint32_t)(m->crate == WIRE_REG_SI ? second.at : first.at);
		return NULL;
	}
	return "SyntaxContext::outer_expn returns no part of an entry of a table";
}

static int read_context(struct expansions_miner *m, const struct owner *f, const char **problem)
{
	_free_ struct eval *e = NULL;
	int err = run(m, f, NULL, 0, &e);

	if (!err)
		*problem = read_outer(m, e);
	return err;
}

int expansions_mine_calls(struct elf_image *img, const struct callees *callees,
			  const struct wire_expansions *x, struct wire_layout_calls *out,
			  const char **problem)
{
	struct expansions_miner m = {.img = img, .callees = callees};
	int err;

	*problem = "where expansions have their calls is unknown";
	if (!x->size || !x->call)
		return 0;
	*problem = "there is no HygieneData::expn_data";
	err = mine_kind(&m, CALLEE_EXPANSION_OF, read_crate, problem);
	if (err || *problem)
		return err;
	*problem = "there is no SyntaxContext::outer_expn";
	err = mine_kind(&m, CALLEE_CONTEXT, read_context, problem);
	if (err || *problem)
		return err;
	m.calls.expansions = x->table;
	m.calls.n_expansions = x->count;
	m.calls.expansion_size = x->size;
	m.calls.call = x->call;
	m.calls.kind = x->kind;
	m.calls.tag = x->tag;
	*problem = plan_calls_excess(&m.calls);
	if (!*problem)
		*out = m.calls;
	return 0;
}
