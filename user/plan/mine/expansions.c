// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/code/shape.h"
#include "plan/mine/owners.h"
#include "plan/symbols/relocated.h"

/* ---- Tables of expansions and contexts ------------------------------------------------------- */

/* Functions of a kind, and of the callees of one, that are looked at. */
#define COPIES_MAX  4
#define CALLEES_MAX 16
#define OFFSET_MAX  4096
/* From walk_chain to the function that looks up an expansion. */
#define DEPTH_MAX 2
/* Spans whose context is in their upper 16 bits, and that are 0x123 bytes long at 0x1020304. */
#define SPAN	0x012301020304ull
#define IN_SPAN 48
#define N_SPANS 2
#define ONE	0x45ull
#define ANOTHER 0x151ull

static const uint64_t contexts[N_SPANS] = {ONE, ANOTHER};

struct hygiene_miner {
	struct elf_image *img;
	const struct callees *callees;
	struct hygiene h;
	uint8_t number; /* the register that HygieneData::expn_data has the number in */
};

/* A function, and what is known of its arguments. */
struct visit {
	uint64_t entry;
	bool has_key; /* the first is `key`, where the globals are found */
	uint64_t key;
	bool has_self; /* the first is the HygieneData; the second is a span */
	uint64_t self; /* within the globals */
};

/* Places that a function shows for a span. */
struct shown {
	uint64_t self;
	uint64_t contexts, n_contexts; /* within the globals */
	uint64_t crate, number;	       /* within the table of contexts */
};

static const struct sum_node *plain_load(const struct eval *e, const struct sum *a, uint8_t size)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, a, &more);

	return node && !more && node->kind == SUM_LOAD && node->size == size ? node : NULL;
}

/* `a` is *more plus the globals. */
static bool hygiene__is_globals(const struct eval *e, const struct sum *a, uint64_t globals,
				uint64_t *more)
{
	struct letters l = {.known = 0};

	letters__set(&l, 'Z', globals);
	if (!globals || !shape__is(&e->nodes, a, "fs[[Z]8]8+A", &l))
		return false;
	*more = letters__of(&l, 'A');
	return true;
}

/* ---- HygieneData::expn_data ------------------------------------------------------------------ */

/*
 * It returns the address of an entry in the table of the compiled crate. An expansion is a crate
 * and a number, in rsi and rdx: that of the compiled one is compared with 0.
 */
static const char *read_expansions(struct hygiene_miner *m, const struct eval *e)
{
	static const struct {
		const char *crate, *count, *entry;
		uint8_t number;
	} orders[] = {
		{"compare si, 0", "compare [di+B]8 = dx", "return [di+A]8+C*dx, _", WIRE_REG_DX},
		{"compare dx, 0", "compare [di+B]8 = si", "return [di+A]8+C*si, _", WIRE_REG_SI},
	};
	struct letters l = {.known = 0};
	size_t i = shape__shown(e, orders[0].crate, &l) ? 0 : 1;

	if (i && !shape__shown(e, orders[1].crate, &l))
		return "HygieneData::expn_data compares no crate with the one that is compiled";
	if (!shape__shown(e, orders[i].count, &l) || !shape__shown(e, orders[i].entry, &l) ||
	    letters__of(&l, 'A') > OFFSET_MAX || letters__of(&l, 'B') > OFFSET_MAX ||
	    letters__of(&l, 'C') > OFFSET_MAX)
		return "HygieneData::expn_data returns no entry of a table";
	m->h.expansions = (uint32_t)letters__of(&l, 'A');
	m->h.n_expansions = (uint32_t)letters__of(&l, 'B');
	m->h.expansion_size = (uint32_t)letters__of(&l, 'C');
	m->number = orders[i].number;
	return NULL;
}

/* ---- walk_chain ------------------------------------------------------------------------------ */

/* The HygieneData, or a field of it: *at bytes within the globals. */
static bool is_within(const struct hygiene_miner *m, const struct eval *e, const struct visit *v,
		      const struct sum *a, uint64_t *at)
{
	uint64_t more;

	if (v->has_self && sum_is_argument(&e->nodes, a, WIRE_REG_DI, &more))
		*at = v->self + more;
	else if (!hygiene__is_globals(e, a, m->h.globals, at))
		return false;
	return *at <= OFFSET_MAX;
}

/* 4 bytes, *at bytes within the table whose address is *table within the globals. */
static bool is_in_table(const struct hygiene_miner *m, const struct eval *e, const struct visit *v,
			const struct sum *a, uint64_t *table, uint64_t *at)
{
	const struct sum_node *node = plain_load(e, a, 4);

	node = node ? sum_node_of(&e->nodes, &node->of, at) : NULL;
	return node && node->kind == SUM_LOAD && node->size == 8 &&
	       is_within(m, e, v, &node->of, table);
}

static bool find_count(const struct hygiene_miner *m, const struct eval *e, const struct visit *v,
		       uint64_t context, uint64_t *at)
{
	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		const struct sum *a = sum_is_constant(&c->b) ? &c->a : &c->b;
		const struct sum *b = a == &c->a ? &c->b : &c->a;
		const struct sum_node *node = plain_load(e, a, 8);

		if (node && sum_is_constant(b) && b->constant == context &&
		    is_within(m, e, v, &node->of, at))
			return true;
	}
	return false;
}

/* The call that looks up the expansion of the context. */
static bool read_look_up(const struct hygiene_miner *m, const struct eval *e, const struct visit *v,
			 uint64_t context, struct shown *out)
{
	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];
		bool swapped = m->number == WIRE_REG_SI;
		uint64_t other;

		if (callees__at(m->callees, call->target) == CALLEE_EXPANSION_OF &&
		    is_within(m, e, v, &call->first, &out->self) &&
		    is_in_table(m, e, v, swapped ? &call->third : &call->second, &out->contexts,
				&out->crate) &&
		    is_in_table(m, e, v, swapped ? &call->second : &call->third, &other,
				&out->number) &&
		    other == out->contexts)
			return find_count(m, e, v, context, &out->n_contexts);
	}
	return false;
}

/* The 8 bytes of what was looked up that the function reads, at once or in parts. */
static bool read_call(const struct hygiene_miner *m, const struct eval *e, uint32_t *call)
{
	uint64_t at, first = UINT64_MAX, end = 0, bytes = 0;

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		const struct sum_node *node = &e->nodes.items[i], *of;

		of = node->kind == SUM_LOAD ? sum_node_of(&e->nodes, &node->of, &at) : NULL;
		if (!of || of->kind != SUM_CALL ||
		    callees__at(m->callees, of->of.constant) != CALLEE_EXPANSION_OF)
			continue;
		first = at < first ? at : first;
		end = at + node->size > end ? at + node->size : end;
		bytes += node->size;
	}
	*call = (uint32_t)first;
	return bytes == 8 && end - first == 8 && first && first <= OFFSET_MAX;
}

/* Two contexts show how large one is. */
static const char *read_contexts(struct hygiene_miner *m, const struct shown s[N_SPANS])
{
	uint64_t more = s[1].crate - s[0].crate, size = more / (ANOTHER - ONE);
	struct hygiene *h = &m->h;

	if (s[0].self != s[1].self || s[0].contexts != s[1].contexts ||
	    s[0].n_contexts != s[1].n_contexts || s[1].number - s[0].number != more ||
	    more % (ANOTHER - ONE) || !size || size > OFFSET_MAX ||
	    s[0].crate - size * ONE >= size || s[0].number - size * ONE >= size)
		return "hygiene::walk_chain reads no entry of a table of contexts";
	h->self = (uint32_t)s[0].self;
	h->expansions += h->self;
	h->n_expansions += h->self;
	h->contexts = (uint32_t)s[0].contexts;
	h->n_contexts = (uint32_t)s[0].n_contexts;
	h->context_size = (uint32_t)size;
	h->crate = (uint32_t)(s[0].crate - size * ONE);
	h->number = (uint32_t)(s[0].number - size * ONE);
	return NULL;
}

/* `span`: 0 if none is given. */
static int hygiene_run(const struct hygiene_miner *m, const struct visit *v, uint64_t span,
		       struct eval **out)
{
	_owners_ struct owners owners = {0};
	struct eval_function f = {
		.img = m->img,
		.entry = v->entry,
		.follows = true,
		.has_first = v->has_key || (span && !v->has_self),
		.first = v->has_key ? v->key : span,
		.has_second = span && v->has_self,
		.second = span,
	};
	int err = owners__find(m->img, &v->entry, 1, &owners);

	if (err || !owners.n)
		return err ?: -ENOENT;
	f.regions = owners.items[0].regions;
	f.n_regions = owners.items[0].n_regions;
	return eval__run(&f, out);
}

/* 1: this function looks up the expansion; 0: another one may. */
static int read_walk(struct hygiene_miner *m, const struct visit *v, const char **problem)
{
	struct shown shown[N_SPANS] = {0};

	for (size_t i = 0; i < N_SPANS; i++) {
		_free_ struct eval *e = NULL;
		int err = hygiene_run(m, v, contexts[i] << IN_SPAN | SPAN, &e);

		if (err)
			return err == -ENOENT ? 0 : err;
		if (!read_look_up(m, e, v, contexts[i], &shown[i]))
			return 0;
		if (!read_call(m, e, &m->h.call)) {
			*problem = "hygiene::walk_chain reads no call of an expansion";
			return 1;
		}
	}
	*problem = read_contexts(m, shown);
	return 1;
}

/* Callees are looked at if they are given the globals' key, or the HygieneData. */
static int walk(struct hygiene_miner *m, const struct visit *v, uint32_t depth,
		const char **problem)
{
	_free_ struct eval *e = NULL;
	int err = v->has_key ? 0 : read_walk(m, v, problem);

	if (err || depth == DEPTH_MAX)
		return err;
	err = hygiene_run(m, v, 0, &e);
	for (uint32_t i = 0; !err && i < e->n_calls && i < CALLEES_MAX; i++) {
		const struct eval_call *call = &e->calls[i];
		struct visit next = {.entry = call->target, .key = call->first.constant};

		next.has_key = sum_is_constant(&call->first) && next.key;
		next.has_self = !next.has_key && is_within(m, e, v, &call->first, &next.self);
		if (next.entry && (next.has_key || next.has_self))
			err = walk(m, &next, depth + 1, problem);
	}
	return err == -ENOENT ? 0 : err;
}

/* ---------------------------------------------------------------------------------------------- */

static size_t find_functions(const struct callees *c, enum callee kind, uint64_t out[COPIES_MAX])
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->n && n < COPIES_MAX; i++)
		if (c->functions[i].kind == kind)
			out[n++] = c->functions[i].addr;
	return n;
}

int hygiene__find(struct elf_image *img, const struct callees *callees, uint64_t globals,
		  struct hygiene *out, const char **problem)
{
	struct hygiene_miner m = {.img = img, .callees = callees, .h = {.globals = globals}};
	uint64_t addrs[COPIES_MAX];
	size_t n = find_functions(callees, CALLEE_EXPANSION_OF, addrs);
	int err = 0;

	*problem = "where the session's globals are is unknown";
	if (!globals)
		return 0;
	*problem = "there is no HygieneData::expn_data";
	for (size_t i = 0; i < n && !err && *problem; i++) {
		_free_ struct eval *e = NULL;
		struct visit v = {.entry = addrs[i]};

		err = hygiene_run(&m, &v, 0, &e);
		if (!err)
			*problem = read_expansions(&m, e);
	}
	if (err || *problem)
		return err == -ENOENT ? 0 : err;

	n = find_functions(callees, CALLEE_WALK_CHAIN, addrs);
	*problem = n ? "hygiene::walk_chain looks up no expansion of a context"
		     : "there is no hygiene::walk_chain";
	for (size_t i = 0; i < n && !err; i++) {
		struct visit v = {.entry = addrs[i]};

		err = walk(&m, &v, 0, problem);
	}
	if (err >= 0 && !*problem)
		*out = m.h;
	return err > 0 ? 0 : err;
}

/* ---- Templates of texts ---------------------------------------------------------------------- */

/* The address and the length of a piece. */
#define PIECE	   16
#define PIECES_MAX 8

static void append(struct template *t, const uint8_t *text, size_t len)
{
	size_t room = TEMPLATE_MAX - t->len;

	memcpy(t->text + t->len, text, len < room ? len : room);
	t->len += len < room ? len : room;
}

static bool read_piece(const struct elf_image *img, uint64_t at, struct template *t)
{
	uint64_t text = relocated__value(img, at), size;
	size_t len;
	const uint8_t *bytes = elf_image__bytes(img, at + 8, &len);

	if (!bytes || len < sizeof(size))
		return false;
	memcpy(&size, bytes, sizeof(size));
	/* The address of an empty one is none. */
	bytes = size ? elf_image__bytes(img, text, &len) : NULL;
	if (size && (!bytes || size > len))
		return false;
	if (size)
		append(t, bytes, size);
	return true;
}

bool template__of(const struct elf_image *img, const struct eval_call *call, struct template *out)
{
	uint64_t n = call->pieces[1].constant;
	const uint8_t *text;
	size_t len;

	*out = (struct template){.len = 0};
	if (sum_is_constant(&call->second)) {
		text = elf_image__bytes(img, call->second.constant, &len);
		if (!text)
			return false;
		/* It ends with a byte of zero. */
		append(out, text,
		       strnlen((const char *)text, len < TEMPLATE_MAX ? len : TEMPLATE_MAX));
		out->is_bare = len >= 2 && text[0] == 0xc0 && !text[1];
		return true;
	}
	if (!sum_is_constant(&call->pieces[0]) || !sum_is_constant(&call->pieces[1]))
		return false;
	for (uint64_t i = 0; i < n && i < PIECES_MAX; i++)
		if (!read_piece(img, call->pieces[0].constant + i * PIECE, out))
			return false;
	out->is_bare = n == 1 && !out->len;
	return n && n <= PIECES_MAX;
}

bool template__holds(const struct template *t, const char *text)
{
	return memmem(t->text, t->len, text, strlen(text)) != NULL;
}

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

/* ---- LocalExpnId::expn_data ------------------------------------------------------------------ */

/* The number of an expansion: the second argument; or where the third leads to, if the second is
 * the globals' key. */
#define NUMBER(key) ((key) ? "[dx]4" : "si")

/* Fields of the entry with that number are stored where they are in an entry. */
static bool copies(const struct expansions_miner *m, const struct eval *e)
{
	const char *field = m->key ? "[[fs[[Z]8]8+T]8+U*[dx]4+A]" : "[[fs[[Z]8]8+T]8+U*si+A]";
	uint32_t fields = 0;

	for (uint32_t i = 0; i < e->stores.n; i++) {
		struct letters l = {.known = 0};

		letters__set(&l, 'Z', m->h->globals);
		letters__set(&l, 'T', m->h->expansions);
		letters__set(&l, 'U', m->h->expansion_size);
		fields += shape__is(&e->nodes, &e->stores.items[i].a, "di+A", &l) &&
			  shape__is(&e->nodes, &e->stores.items[i].b, field, &l);
	}
	return fields >= FIELDS_MIN;
}

static bool looks_up(const struct expansions_miner *m, const struct eval *e)
{
	struct letters none = {.known = 0};
	uint64_t more;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];

		if (callees__at(m->callees, call->target) == CALLEE_LOCAL_EXPANSION &&
		    hygiene__is_globals(e, &call->first, m->h->globals, &more) &&
		    more == m->h->self &&
		    shape__is(&e->nodes, &call->second, NUMBER(m->key), &none))
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
		struct letters l = {.known = 0};
		int64_t at;

		if (node->kind != SUM_LOAD || node->size != size || node->thread ||
		    !shape__is(&e->nodes, &node->of, "si+A", &l))
			continue;
		at = (int64_t)letters__of(&l, 'A');
		if (at == except || at > 64)
			continue;
		if (found >= 0 && found != at)
			return -1;
		found = at;
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
		EVAL_OF(f),
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
		EVAL_OF(f),
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
	size_t n = find_functions(m->callees, kind, addrs);
	int err = owners__find(m->img, addrs, n, &owners);

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
