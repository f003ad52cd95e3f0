// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The functions and what each of them shows, as 1.95 and 1.97 have them:
 *
 *	TyCtxt::def_path_table		add  $DEFINITIONS, %rax		tcx in, the table out
 *	DefPathTable::enumerated_..	mov  0x10(%rsi), %rcx		its count
 *					mov  0x8(%rsi), %rdx		its first entry
 *					shl  $4, %rcx			the size of one
 *	Definitions::def_path		mov  (%r15,%rdi,1), %ebx	tag
 *					mov  0xc(%r15,%rdi,1), %ebp	parent
 *					test %ebx, %ebx			the root's tag
 *					mov  0x4(%r15,%rdi,1), %r14	symbol and disambiguator
 *					cmp  $NO_PARENT, %ebp
 *	DefPathData::name		a switch by tag: a symbol, or the one that it is given
 *	Symbol::as_str			mov  OFFSET(%rip), %rax		in the GOT
 *					mov  %fs:(%rax), %r14
 *					cmp  %r15, 0x48(%r14)
 *					mov  0x40(%r14), %rcx
 *					lea  (%r15,%r15,2), %rdx
 *					mov  (%rcx,%rdx,8), %rax
 *					mov  0x8(%rcx,%rdx,8), %rdx
 *	drop of OnceLock<GlobalCtxt>	mov  STATE(%rdi), %eax
 *					test %eax, %eax
 *
 * Without the second one, the table is shown by
 *
 *	TyCtxt::def_path		lea  DEFINITIONS(%r14), %rsi
 *					call Definitions::def_path
 *	Definitions::def_path		mov  0x10(%rsi), %rax		the count, which the number
 *					mov  0x8(%rsi), %r15		of a definition is compared
 *					shl  $4, %rdi			with; the first entry
 *					mov  (%r15,%rdi,1), %r12d
 *
 * DefPathData::name returns a variant and a symbol: run for each tag, it shows both. Where it was
 * inlined, the functions are run that use its result:
 *
 *	<DefPathData as Display>::fmt		passes a name to Symbol::as_str, on the stack,
 *						and what is in braces to fmt::write
 *	DisambiguatedDefPathData::as_sym	returns a name, if its second argument is false,
 *						and passes what is in braces to fmt::format
 *	<DisambiguatedDefPathData as Display>	the same as the first, where there is no as_sym
 */
#include "plan/mine/layout.h"

#include <errno.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/mine/body.h"

/* Calls of a function that shows tags that are looked at, for each tag: 1.95 has 10. */
#define CALLS_MAX 64

/* ---- The table of definitions ---------------------------------------------------------------- */

static const char *place_table(struct layout_miner *m, const struct eval *e,
			       const struct letters *l)
{
	(void)e;
	m->l.wire.table = m->definitions + (uint32_t)letters__of(l, 'T');
	m->l.wire.count = m->definitions + (uint32_t)letters__of(l, 'C');
	m->l.wire.size = (uint32_t)letters__of(l, 'S');
	return NULL;
}

/* Definitions::def_path reads an entry, whose number is compared with the count. */
static const char *read_entries(struct layout_miner *m, const struct eval *e,
				const struct letters *count)
{
	struct letters l = *count;

	if (shape__agreed(e, "node [[si+T]8+S*dx+?]", &l) <= 0 ||
	    letters__of(&l, 'T') == letters__of(&l, 'C'))
		return "Definitions::def_path shows no table";
	m->path = m->f->entry;
	return place_table(m, e, &l);
}

/* The part of the context that the context's own function passes to that one. */
static const char *read_definitions(struct layout_miner *m, const struct eval *e,
				    const struct letters *none)
{
	struct letters l = *none;

	letters__set(&l, 'U', m->path);
	if (shape__agreed(e, "call U: _, si+D", &l) <= 0)
		return "TyCtxt::def_path passes no part of its context on";
	return letters__of(&l, 'D') == m->definitions
		       ? NULL
		       : "TyCtxt::def_path_table returns another table than TyCtxt::def_path uses";
}

/* Where no function is known that returns the ends of the table. */
static int mine_table(struct layout_miner *m, const char **problem)
{
	static const struct layout_fact facts[] = {
		{.kind = NAME_DEF_PATH,
		 .missing = "there is no Definitions::def_path",
		 .shape = "compare [si+C]8 = dx",
		 .unlike = "Definitions::def_path shows no table",
		 .several = "Definitions::def_path shows no table",
		 .read = read_entries},
		{.kind = NAME_CONTEXT_DEF_PATH,
		 .missing = "there is neither DefPathTable::enumerated_keys_and_path_hashes nor "
			    "TyCtxt::def_path",
		 .read = read_definitions},
	};

	return layout__mine_facts(m, facts, N_OF(facts), problem);
}

/* ---- A definition ---------------------------------------------------------------------------- */

/* An offset that a plan can hold: *to is it, unless it was another one before. */
static bool agree(uint32_t *to, bool *known, uint64_t value)
{
	if (*known && *to != value)
		return false;
	*to = (uint32_t)value;
	*known = true;
	return true;
}

/* The symbol follows the tag, as DefPathData::name gets both; the fourth word is the disambiguator.
 */
static const char *place_words(struct layout_miner *m, const bool copied[64])
{
	struct wire_layout *w = &m->l.wire;
	uint32_t at = 0;

	w->symbol = w->tag + 4;
	if (w->size != 16 || w->symbol + 4 > w->size || w->symbol == m->l.parent)
		return "Definitions::def_path reads entries of another size";
	while (at == w->tag || at == w->symbol || at == m->l.parent)
		at += 4;
	if (!copied[w->symbol] || !copied[at])
		return "Definitions::def_path copies no symbol, or no disambiguator";
	m->l.disambiguator = at;
	return NULL;
}

static const char *read_def_path(struct layout_miner *m, const struct eval *e,
				 const struct letters *none)
{
	bool has_tag = false, has_parent = false, copied[64] = {0};

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		const struct sum_node *node = &e->nodes.items[i];
		struct letters l = *none;
		uint64_t at;

		/* The loads from the entry whose number is the third argument. */
		letters__set(&l, 'S', m->l.wire.size);
		if (node->kind != SUM_LOAD ||
		    !shape__is(&e->nodes, &node->of, "[si+?]8+S*dx+A", &l))
			continue;
		at = letters__of(&l, 'A');
		if (at + node->size > m->l.wire.size)
			continue;
		for (uint64_t k = at; k < at + node->size; k++)
			copied[k] = true;
		letters__set(&l, 'X', i);
		if (node->size != 4 || at % 4 || shape__agreed(e, "compare #X, U", &l) <= 0)
			continue;
		/* A parent is followed: it is the number of an entry that is read next. */
		if (shape__shown(e, "node [[si+?]8+S*#X+?]", &l)) {
			m->l.no_parent = (uint32_t)letters__of(&l, 'U');
			if (!agree(&m->l.parent, &has_parent, at))
				return "Definitions::def_path follows several parents";
		} else {
			m->l.root = (uint32_t)letters__of(&l, 'U');
			if (!agree(&m->l.wire.tag, &has_tag, at))
				return "Definitions::def_path compares several words of an entry";
		}
	}
	if (!has_tag || !has_parent)
		return "Definitions::def_path does not look for a root by way of parents";
	return place_words(m, copied);
}

/* ---- What the kinds of definitions are called ------------------------------------------------ */

/* The name of a definition with one tag. */
struct layout_tag {
	uint64_t variant; /* of DefPathDataName: the same for all that have a name of their own */
	uint32_t symbol;  /* or WIRE_TAG_NAMED: the definition's own */
	uint32_t unnamed; /* what is in braces if its own is the empty one; 0: that one */
};

/* By tag, from 0 on. */
struct layout_tags {
	struct layout_tag items[WIRE_TAGS];
	uint32_t n;
};

enum { IN_BRACES, OWN };

struct tags_miner {
	const struct layout_miner *of;
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
		.img = m->of->img,
		EVAL_OF(f),
	};
}

static int read_name(struct tags_miner *m, const struct layout_function *f, struct given given,
		     struct layout_tag *out, bool *known)
{
	struct eval_function with_tag = function_of(m, f);
	_free_ struct eval *e = NULL;
	struct letters l = {.known = 0};
	const struct eval_pair *r;
	int err;

	with_tag.has_first = true;
	with_tag.first = given.tag;
	with_tag.has_second = given.empty;
	err = eval__run(&with_tag, &e);
	*known = false;
	if (err || e->partial || e->returns.n != 1)
		return err;
	r = &e->returns.items[0];
	if (!sum_is_constant(&r->a))
		return 0;
	out->variant = r->a.constant;
	*known = true;
	if (shape__is(&e->nodes, &r->b, "si", &l))
		out->symbol = WIRE_TAG_NAMED;
	else if (shape__is(&e->nodes, &r->b, "A", &l))
		out->symbol = (uint32_t)letters__of(&l, 'A');
	else
		*known = false;
	return 0;
}

/* The symbol that follows the tag, or that the function has itself. */
static bool is_own_name(const struct eval *e, const struct sum *a, struct layout_tag *out)
{
	struct letters l = {.known = 0};

	if (shape__is(&e->nodes, a, "[di+4]4", &l))
		*out = (struct layout_tag){.variant = OWN, .symbol = WIRE_TAG_NAMED};
	else if (shape__is(&e->nodes, a, "N", &l))
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
	int err = code_decoder__decode(m->of->decoder, f->regions, f->n_regions, &m->code);
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
					   {WIRE_REG_DI, 4, 4, 0}};
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

/* Tags count from 0. A tag that there is not leads out of the function, or to no name. */
static int read_tags(struct tags_miner *m, const struct shower *by, const struct layout_function *f,
		     struct layout_tags *out)
{
	bool more = true;
	int err = 0;

	*out = (struct layout_tags){.n = 0};
	while (more && out->n < WIRE_TAGS && !err) {
		struct layout_tag *own = &out->items[out->n], empty = {0};
		bool known = false;

		err = by->read(m, f, (struct given){out->n, false}, own, &more);
		own->unnamed = 0;
		/* 1.85 has definitions without a name: their symbol is the empty one, and it prints
		 * another. */
		if (!err && more && own->symbol == WIRE_TAG_NAMED)
			err = by->read(m, f, (struct given){out->n, true}, &empty, &known);
		if (!err && known && empty.variant != own->variant &&
		    empty.symbol < PLAN_LAYOUT_MAX)
			own->unnamed = empty.symbol;
		out->n += more;
	}
	return err;
}

/* Any of several functions of a kind will do: some are laid out apart. */
static int read_kind(struct tags_miner *m, const struct shower *by, struct layout_tags *out,
		     bool *found)
{
	int err = 0, tried = 0;

	out->n = 0;
	for (size_t i = 0; i < m->of->n && tried < LAYOUT_COPIES_MAX && !err && !out->n; i++) {
		if (m->of->functions[i].kind != by->kind)
			continue;
		tried++;
		err = read_tags(m, by, &m->of->functions[i], out);
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

/*
 * By DefPathData::name, or if there is no such function, by the two that print or intern what it
 * returns, which must show the same.
 */
static int find_tags(struct tags_miner *m, struct layout_tags *out, const char **problem)
{
	static const struct shower name = {NAME_DEF_PATH_DATA, read_name};
	static const struct shower users[] = {{NAME_DEF_PATH_SYMBOL, read_as_sym},
					      {NAME_NUMBERED_DISPLAY, read_display},
					      {NAME_DEF_PATH_DISPLAY, read_display}};
	struct layout_tags shown;
	bool found, both;
	int err = read_kind(m, &name, out, &found);

	*problem = NULL;
	if (err || found)
		return err;
	err = read_kind(m, &users[0], out, &found);
	if (!err && !found)
		err = read_kind(m, &users[1], out, &found);
	err = err ?: read_kind(m, &users[2], &shown, &both);
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

/* Braces are printed around the symbols of the variant that is not the one with a definition's own.
 */
static const char *place_tags(struct layout_miner *m, const struct layout_tags *tags)
{
	const struct layout_tag *names = tags->items, *own = NULL;
	struct plan_layout *l = &m->l;
	uint32_t n = tags->n;

	for (uint32_t i = 0; i < n; i++) {
		if (names[i].symbol != WIRE_TAG_NAMED)
			continue;
		if (own && own->variant != names[i].variant)
			return "names of definitions are of several kinds";
		own = &names[i];
	}
	if (!own || l->root >= n || names[l->root].symbol == WIRE_TAG_NAMED)
		return "no kind of definition has a name of its own";
	for (uint32_t i = 0; i < WIRE_TAGS; i++) {
		l->wire.tags[i] = i < n ? names[i].symbol : WIRE_TAG_UNKNOWN;
		if (i < n && names[i].symbol != WIRE_TAG_NAMED && names[i].variant == own->variant)
			l->plain |= 1u << i;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!names[i].unnamed)
			continue;
		if (l->wire.unnamed && l->wire.unnamed != names[i].unnamed)
			return "definitions without a name are called differently";
		l->wire.unnamed = names[i].unnamed;
		l->wire.unnamed_tags |= 1u << i;
	}
	return NULL;
}

static int mine_tags(struct layout_miner *m, const char **problem)
{
	struct tags_miner of_tags = {.of = m};
	struct layout_tags tags;
	int err = find_tags(&of_tags, &tags, problem);

	code__free(&of_tags.code);
	if (!err && !*problem)
		*problem = place_tags(m, &tags);
	return err;
}

/* ---- Texts and the context ------------------------------------------------------------------- */

/* X is what the thread's storage holds the globals at. */
static const char *read_symbol_text(struct layout_miner *m, const struct eval *e,
				    const struct letters *text)
{
	struct letters l = *text;
	uint64_t size = letters__of(&l, 'S');
	const struct sum_node *slot = &e->nodes.items[letters__of(&l, 'X')];

	if (size < 16 || letters__of(&l, 'T') + 8 > size || letters__of(&l, 'L') + 8 > size)
		return "Symbol::as_str returns no entry of a table of texts";
	/* The offset within the storage is in the library's GOT. */
	if (slot->kind != SUM_LOAD || slot->thread || slot->size != 8 ||
	    !sum_is_constant(&slot->of))
		return "Symbol::as_str finds its globals in another way";
	m->l.wire.globals = slot->of.constant;
	if (shape__agreed(e, "compare [fs[#X]8+C]8 = [di]4", &l) <= 0)
		return "Symbol::as_str compares no symbol with how many there are";
	m->l.wire.n_symbols = (uint32_t)letters__of(&l, 'C');
	return NULL;
}

/*
 * The site at which the context is dropped, with its address still in rdi. A OnceLock is its state
 * and its value. The state is tested first; if it is behind the value, then the value is at the
 * start.
 */
static const char *read_drop(struct layout_miner *m, const struct eval *e, const struct letters *l)
{
	uint64_t state = letters__of(l, 'A'), entry = m->f->entry;
	struct mined_entry at;
	struct code_insn insn;

	(void)e;
	if (state < m->l.wire.table + 8 || state < m->l.wire.count + 8)
		return "the drop of OnceLock<GlobalCtxt> has the state before the value";
	m->err = mine_entry(m->decoder, entry, &at);
	if (m->err)
		return NULL;
	for (uint64_t addr = entry; addr < at.addr && at.emulated; addr += insn.size)
		if (!code_decoder__at(m->decoder, addr, &insn) || (insn.writes & 1u << WIRE_REG_DI))
			return "the drop of OnceLock<GlobalCtxt> moves its argument before it can "
			       "be probed";
	m->l.wire.drop = at.addr;
	m->l.wire.context = 0;
	return at.emulated ? NULL
			   : "the kernel emulates no instruction at the start of the drop of "
			     "OnceLock<GlobalCtxt>";
}

int layout_mine(const struct elf_image *img, struct code_decoder *decoder,
		const struct layout_function *functions, size_t n, struct plan_layout *out,
		const char **problem)
{
	static const struct layout_fact facts[] = {
		{.kind = NAME_DEF_PATH_TABLE,
		 .missing = "there is no TyCtxt::def_path_table",
		 .follows = true,
		 .lost = "TyCtxt::def_path_table is too complex",
		 .shape = "return di+D, _",
		 .unlike = "TyCtxt::def_path_table returns no part of its context",
		 .several = "TyCtxt::def_path_table returns several tables",
		 .fields = {{'D', offsetof(struct layout_miner, definitions)}}},
		/* A pair of the first entry and: first entry + count * size. */
		{.kind = NAME_ENUMERATED_KEYS,
		 .follows = true,
		 .lost = "DefPathTable::enumerated_keys_and_path_hashes is too complex",
		 .shape = "store di+?, [si+T]8+S*[si+C]8",
		 .unlike = "DefPathTable::enumerated_keys_and_path_hashes makes no pair of a first "
			   "entry and an end",
		 .read = place_table,
		 .without = mine_table},
		{.kind = NAME_DEF_PATH,
		 .missing = "there is no Definitions::def_path",
		 .follows = true,
		 .read = read_def_path},
		{.without = mine_tags},
		{.kind = NAME_SYMBOL_TEXT,
		 .missing = "there is no Symbol::as_str",
		 .follows = true,
		 .lost = "Symbol::as_str is too complex",
		 .shape = "return [[fs[#X]8+E]8+S*[di]4+T]8, [[fs[#X]8+E]8+S*[di]4+L]8",
		 .unlike = "Symbol::as_str returns no entry of a table of texts",
		 .fields = {LAYOUT_FIELD('E', wire.symbols), LAYOUT_FIELD('S', wire.symbol_size),
			    LAYOUT_FIELD('T', wire.text), LAYOUT_FIELD('L', wire.length)},
		 .read = read_symbol_text},
		/* Only its beginning is of use. */
		{.kind = NAME_DROP_CONTEXT,
		 .missing = "there is no drop of OnceLock<GlobalCtxt>",
		 .steps = 32,
		 .follows = true,
		 .shape = "compare [di+A]4, ?",
		 .unlike = "the drop of OnceLock<GlobalCtxt> tests no state",
		 .read = read_drop},
	};
	struct layout_miner m = {.img = img, .decoder = decoder, .functions = functions, .n = n};
	int err = layout__mine_facts(&m, facts, N_OF(facts), problem);

	if (!err && !*problem)
		*problem = plan_layout_excess(&m.l);
	if (!err && !*problem)
		*out = m.l;
	return err;
}
