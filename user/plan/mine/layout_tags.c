// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * DefPathData::name returns a variant and a symbol: run for each tag, it shows both. Where it was
 * inlined, the functions are run that use its result:
 *
 *	<DefPathData as Display>::fmt		passes a name to Symbol::as_str, on the stack,
 *						and what is in braces to fmt::write
 *	DisambiguatedDefPathData::as_sym	returns a name, if its second argument is false,
 *						and passes what is in braces to fmt::format
 *	<DisambiguatedDefPathData as Display>	the same as the first, where there is no as_sym
 */
#include "plan/mine/layout_tags.h"

#include <errno.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/code/eval.h"

/* Functions of a kind that are looked at. Names are untrusted, and looking takes time. */
#define COPIES_MAX 4
/* Calls of such a function that are looked at, for each tag: 1.95 has 10. */
#define CALLS_MAX 64
/* In a DefPathData, the symbol follows the tag. */
#define SYMBOL_AT 4

enum { IN_BRACES, OWN };

struct tags_miner {
	const struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	bool excess; /* a function has more calls than are looked at */
};

/* A definition that a function is given. */
struct given {
	uint32_t tag;
	bool empty; /* its symbol is 0, the empty one; else it is unknown */
};

/* One function that shows tags. */
struct shower {
	enum name_kind kind;
	/* Sets *known, and *out: what the function shows of this definition. */
	int (*read)(struct tags_miner *m, const struct layout_function *f, struct given given,
		    struct layout_tag *out, bool *known);
};

static struct eval_function function_of(const struct tags_miner *m, const struct layout_function *f)
{
	return (struct eval_function){
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
	};
}

/* ---- DefPathData::name ----------------------------------------------------------------------- */

static bool read_returned(const struct eval *e, struct layout_tag *out)
{
	const struct eval_pair *r = &e->returns.items[0];
	uint64_t more;

	if (e->partial || e->returns.n != 1 || !sum_is_constant(&r->a))
		return false;
	out->variant = r->a.constant;
	if (sum_is_argument(&e->nodes, &r->b, WIRE_REG_SI, &more) && !more)
		out->symbol = WIRE_TAG_NAMED;
	else if (sum_is_constant(&r->b) && r->b.constant < PLAN_LAYOUT_MAX)
		out->symbol = (uint32_t)r->b.constant;
	else
		return false;
	return true;
}

static int read_name(struct tags_miner *m, const struct layout_function *f, struct given given,
		     struct layout_tag *out, bool *known)
{
	struct eval_function with_tag = function_of(m, f);
	_free_ struct eval *e = NULL;
	int err;

	with_tag.has_first = true;
	with_tag.first = given.tag;
	with_tag.has_second = given.empty;
	err = eval__run(&with_tag, &e);
	*known = !err && read_returned(e, out);
	return err;
}

/* ---- Functions that it was inlined in -------------------------------------------------------- */

/* The symbol that follows the tag, or that the function has itself. */
static bool is_own_name(const struct eval *e, const struct sum *a, struct layout_tag *out)
{
	uint64_t at;

	if (sum_is_field(&e->nodes, a, WIRE_REG_DI, 4, &at) && at == SYMBOL_AT)
		*out = (struct layout_tag){.variant = OWN, .symbol = WIRE_TAG_NAMED};
	else if (sum_is_constant(a) && a->constant && a->constant < PLAN_LAYOUT_MAX)
		*out = (struct layout_tag){.variant = OWN, .symbol = (uint32_t)a->constant};
	else
		return false;
	return true;
}

/* A call is passed the address of a name that is on the stack. */
static bool passes_name(const struct eval *e, struct layout_tag *out)
{
	for (uint32_t i = 0; i < e->n_calls; i++)
		if (is_own_name(e, &e->calls[i].halves[0], out))
			return true;
	return false;
}

static bool returns_name(const struct eval *e, struct layout_tag *out)
{
	for (uint32_t i = 0; i < e->returns.n && !e->n_calls; i++)
		if (is_own_name(e, &e->returns.items[i].a, out))
			return true;
	return false;
}

/* The one constant that the call at `at` is to print, in one of two places. */
static int read_printed(const struct eval_function *f, uint64_t at,
			const struct wire_place places[2], uint32_t *symbol, bool *known)
{
	struct eval_function until = *f;
	_free_ struct eval *e = NULL;
	int err;

	until.until = at;
	until.asked = places;
	until.n_asked = 2;
	err = eval__run(&until, &e);
	for (int i = 0; !err && i < 2; i++) {
		const struct sum *a = &e->answers[i];

		if (!sum_is_constant(a) || !a->constant || a->constant >= PLAN_LAYOUT_MAX)
			continue;
		if (*known && *symbol != a->constant)
			*symbol = WIRE_TAG_UNKNOWN;
		else if (!*known)
			*symbol = (uint32_t)a->constant;
		*known = true;
	}
	return err;
}

/* Any call may be the one that prints. */
static int read_braces(struct tags_miner *m, const struct eval_function *f,
		       const struct wire_place places[2], struct layout_tag *out, bool *known)
{
	int err = code_decoder__decode(m->decoder, f->regions, f->n_regions, &m->code);
	uint32_t calls = 0;

	*out = (struct layout_tag){.variant = IN_BRACES};
	if (err == -EFAULT)
		return 0;
	for (size_t i = 0; i < m->code.n && !err && !m->excess; i++) {
		enum code_flow flow = m->code.insns[i].flow;

		if (flow != CODE_CALL && flow != CODE_CALL_INDIRECT)
			continue;
		m->excess = calls++ == CALLS_MAX;
		if (!m->excess)
			err = read_printed(f, m->code.insns[i].addr, places, &out->symbol, known);
	}
	*known = *known && out->symbol != WIRE_TAG_UNKNOWN && !m->excess;
	return err;
}

static int read_user(struct tags_miner *m, struct eval_function *f, struct given definition,
		     bool (*has_name)(const struct eval *e, struct layout_tag *out),
		     const struct wire_place places[2], struct layout_tag *out, bool *known)
{
	const struct eval_given given[] = {{WIRE_REG_DI, 4, 0, definition.tag},
					   {WIRE_REG_DI, 4, SYMBOL_AT, 0}};
	_free_ struct eval *e = NULL;
	int err;

	f->given = given;
	f->n_given = definition.empty ? 2 : 1;
	err = eval__run(f, &e);
	*known = !err && has_name(e, out);
	return err || *known ? err : read_braces(m, f, places, out, known);
}

static int read_display(struct tags_miner *m, const struct layout_function *f, struct given given,
			struct layout_tag *out, bool *known)
{
	/* fmt::write(.., .., template, arguments), and before, (.., .., Arguments). */
	static const struct wire_place places[2] = {
		{.reg = WIRE_REG_CX, .n = 2, .size = 4},
		{.reg = WIRE_REG_DX, .n = 3, .size = 4, .at = {16}},
	};
	struct eval_function ef = function_of(m, f);

	return read_user(m, &ef, given, passes_name, places, out, known);
}

static int read_as_sym(struct tags_miner *m, const struct layout_function *f, struct given given,
		       struct layout_tag *out, bool *known)
{
	/* fmt::format(template, arguments). One tag prints a name in front of the braces. */
	static const struct wire_place places[2] = {
		{.reg = WIRE_REG_DX, .n = 2, .size = 4},
		{.reg = WIRE_REG_DX, .n = 2, .size = 4, .at = {16}},
	};
	struct eval_function ef = function_of(m, f);

	ef.has_second = true;
	return read_user(m, &ef, given, returns_name, places, out, known);
}

/* ---------------------------------------------------------------------------------------------- */

/* 1.85 has definitions without a name: their symbol is the empty one, and it prints another. */
static int read_unnamed(struct tags_miner *m, const struct shower *by,
			const struct layout_function *f, uint32_t tag, struct layout_tag *own)
{
	struct layout_tag empty = {0};
	bool known;
	int err = by->read(m, f, (struct given){tag, true}, &empty, &known);

	own->unnamed =
		!err && known && empty.variant != own->variant && empty.symbol < PLAN_LAYOUT_MAX
			? empty.symbol
			: 0;
	return err;
}

static int read_tag(struct tags_miner *m, const struct shower *by, const struct layout_function *f,
		    uint32_t tag, struct layout_tag *out, bool *known)
{
	int err = by->read(m, f, (struct given){tag, false}, out, known);

	out->unnamed = 0;
	if (!err && *known && out->symbol == WIRE_TAG_NAMED)
		err = read_unnamed(m, by, f, tag, out);
	return err;
}

/* Tags count from 0. A tag that there is not leads out of the function, or to no name. */
static int read_tags(struct tags_miner *m, const struct shower *by, const struct layout_function *f,
		     struct layout_tags *out)
{
	bool more = true;
	int err = 0;

	*out = (struct layout_tags){.n = 0};
	while (more && out->n < WIRE_TAGS && !err) {
		err = read_tag(m, by, f, out->n, &out->items[out->n], &more);
		out->n += more;
	}
	return err;
}

/* Any of several functions of a kind will do: some are laid out apart. */
static int read_kind(struct tags_miner *m, const struct shower *by,
		     const struct layout_function *functions, size_t n, struct layout_tags *out,
		     bool *found)
{
	int err = 0, tried = 0;

	out->n = 0;
	for (size_t i = 0; i < n && tried < COPIES_MAX && !err && !out->n; i++) {
		if (functions[i].kind != by->kind)
			continue;
		tried++;
		err = read_tags(m, by, &functions[i], out);
	}
	*found = tried;
	return err;
}

static bool same_tags(const struct layout_tags *a, const struct layout_tags *b)
{
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (a->items[i].variant != b->items[i].variant ||
		    a->items[i].symbol != b->items[i].symbol ||
		    a->items[i].unnamed != b->items[i].unnamed)
			return false;
	return a->n == b->n;
}

static int find(struct tags_miner *m, const struct layout_function *functions, size_t n,
		struct layout_tags *out, const char **problem)
{
	static const struct shower name = {NAME_DEF_PATH_DATA, read_name};
	static const struct shower users[] = {{NAME_DEF_PATH_SYMBOL, read_as_sym},
					      {NAME_NUMBERED_DISPLAY, read_display},
					      {NAME_DEF_PATH_DISPLAY, read_display}};
	struct layout_tags shown;
	bool found, both;
	int err = read_kind(m, &name, functions, n, out, &found);

	*problem = NULL;
	if (err || found)
		return err;
	err = read_kind(m, &users[0], functions, n, out, &found);
	if (!err && !found)
		err = read_kind(m, &users[1], functions, n, out, &found);
	err = err ?: read_kind(m, &users[2], functions, n, &shown, &both);
	if (err)
		return err;
	if (!found || !both)
		*problem = "there is no DefPathData::name, nor both functions that it was inlined "
			   "in";
	else if (m->excess)
		*problem = "a function that shows names of definitions has more calls than can be "
			   "looked at";
	else if (!same_tags(out, &shown))
		*problem = "DisambiguatedDefPathData and the Display of DefPathData show different "
			   "names";
	return 0;
}

int layout_tags_find(const struct elf_image *img, struct code_decoder *decoder,
		     const struct layout_function *functions, size_t n, struct layout_tags *out,
		     const char **problem)
{
	struct tags_miner m = {.img = img, .decoder = decoder};
	int err = find(&m, functions, n, out, problem);

	code__free(&m.code);
	return err;
}
