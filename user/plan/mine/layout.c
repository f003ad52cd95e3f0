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
 * Without the second one, Definitions::def_path shows the table, too (layout_table.h).
 */
#include "plan/mine/layout.h"

#include <errno.h>

#include "base/array.h"
#include "plan/check.h"
#include "plan/code/eval.h"
#include "plan/mine/body.h"
#include "plan/mine/layout_table.h"
#include "plan/mine/layout_tags.h"

/* Functions of a kind that are looked at. Names are untrusted, and looking takes time. */
#define COPIES_MAX 4

struct layout_miner {
	const struct elf_image *img;
	struct code_decoder *decoder;
	const struct layout_function *functions;
	size_t n;
	struct plan_layout l;
	uint32_t definitions; /* within the GlobalCtxt: the table */
};

/* An offset that a plan can hold: *to is it, unless it was another one before. */
static bool agree(uint32_t *to, bool *known, uint64_t value)
{
	if (value > UINT32_MAX || (*known && *to != value))
		return false;
	*to = (uint32_t)value;
	*known = true;
	return true;
}

static const char *read_def_path_table(struct layout_miner *m, const struct eval *e)
{
	bool known = false;
	uint64_t at;

	for (uint32_t i = 0; i < e->returns.n; i++)
		if (sum_is_argument(&e->nodes, &e->returns.items[i].a, WIRE_REG_DI, &at) &&
		    !agree(&m->definitions, &known, at))
			return "TyCtxt::def_path_table returns several tables";
	return known ? NULL : "TyCtxt::def_path_table returns no part of its context";
}

/* A store of: first entry + count * size. */
static bool read_end(struct layout_miner *m, const struct eval *e, const struct sum *end)
{
	struct wire_layout *w = &m->l.wire;

	for (uint32_t i = 0; end->n == 2 && !end->constant && i < 2; i++) {
		struct sum first = sum_term(end, i), count = sum_term(end, 1 - i);
		uint64_t first_at, count_at, size = end->terms[1 - i].factor;

		if (end->terms[i].factor != 1 || size < 8 || size > 64 ||
		    !sum_is_field(&e->nodes, &first, WIRE_REG_SI, 8, &first_at) ||
		    !sum_is_field(&e->nodes, &count, WIRE_REG_SI, 8, &count_at) ||
		    first_at > 4096 || count_at > 4096)
			continue;
		w->table = m->definitions + (uint32_t)first_at;
		w->count = m->definitions + (uint32_t)count_at;
		w->size = (uint32_t)size;
		return true;
	}
	return false;
}

static const char *read_enumerated_keys(struct layout_miner *m, const struct eval *e)
{
	uint64_t at;
	bool found = false;

	for (uint32_t i = 0; i < e->stores.n && !found; i++)
		found = sum_is_argument(&e->nodes, &e->stores.items[i].a, WIRE_REG_DI, &at) &&
			read_end(m, e, &e->stores.items[i].b);
	return found ? NULL
		     : "DefPathTable::enumerated_keys_and_path_hashes makes no pair of a first "
		       "entry and an end";
}

/*
 * True if the address is that of the entry with the number `index`, and *at bytes. `self` is in
 * rsi, where the table begins with the address of its first entry.
 */
static bool is_in_entry(const struct layout_miner *m, const struct eval *e, const struct sum *a,
			const struct sum *index, uint64_t *at)
{
	for (uint32_t i = 0; a->n == 2 && i < 2; i++) {
		struct sum table = sum_term(a, i);
		uint64_t self;

		if (a->terms[i].factor == 1 && a->terms[1 - i].node == index->terms[0].node &&
		    a->terms[1 - i].factor == m->l.wire.size &&
		    sum_is_field(&e->nodes, &table, WIRE_REG_SI, 8, &self) &&
		    a->constant < m->l.wire.size) {
			*at = a->constant;
			return true;
		}
	}
	return false;
}

/* Something is read from the entry whose number was read from `at` in the one before. */
static bool is_followed(const struct layout_miner *m, const struct eval *e, uint32_t node)
{
	struct sum parent = {.known = true, .n = 1, .terms = {{node, 1}}};
	uint64_t at;

	for (uint32_t i = 0; i < e->nodes.n; i++)
		if (e->nodes.items[i].kind == SUM_LOAD &&
		    is_in_entry(m, e, &e->nodes.items[i].of, &parent, &at))
			return true;
	return false;
}

/* The constant that a node is compared with: the same everywhere. */
static bool is_compared(const struct eval *e, uint32_t node, uint32_t *with)
{
	bool known = false;

	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		uint64_t more;

		if (sum_node_of(&e->nodes, &c->a, &more) != &e->nodes.items[node] || more ||
		    !sum_is_constant(&c->b))
			continue;
		if (!agree(with, &known, c->b.constant))
			return false;
	}
	return known;
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

static const char *read_def_path(struct layout_miner *m, const struct eval *e)
{
	bool has_tag = false, has_parent = false, copied[64] = {0};

	for (uint32_t i = 0; i < e->nodes.n; i++) {
		const struct sum_node *node = &e->nodes.items[i];
		uint64_t at, more;
		uint32_t constant;
		bool ours = false;

		/* The loads from the entry whose number is the third argument. */
		for (uint32_t k = 0; node->kind == SUM_LOAD && k < node->of.n; k++) {
			struct sum index = sum_term(&node->of, k);

			ours = ours || (sum_is_argument(&e->nodes, &index, WIRE_REG_DX, &more) &&
					!more && is_in_entry(m, e, &node->of, &index, &at));
		}
		if (!ours || at + node->size > m->l.wire.size)
			continue;
		for (uint64_t k = at; k < at + node->size; k++)
			copied[k] = true;
		if (node->size != 4 || at % 4 || !is_compared(e, i, &constant))
			continue;
		if (is_followed(m, e, i)) {
			m->l.no_parent = constant;
			if (!agree(&m->l.parent, &has_parent, at))
				return "Definitions::def_path follows several parents";
		} else {
			m->l.root = constant;
			if (!agree(&m->l.wire.tag, &has_tag, at))
				return "Definitions::def_path compares several words of an entry";
		}
	}
	if (!has_tag || !has_parent)
		return "Definitions::def_path does not look for a root by way of parents";
	return place_words(m, copied);
}

static const char *place_unnamed(struct plan_layout *l, const struct layout_tags *tags)
{
	for (uint32_t i = 0; i < tags->n; i++) {
		uint32_t symbol = tags->items[i].unnamed;

		if (!symbol)
			continue;
		if (l->wire.unnamed && l->wire.unnamed != symbol)
			return "definitions without a name are called differently";
		l->wire.unnamed = symbol;
		l->wire.unnamed_tags |= 1u << i;
	}
	return NULL;
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
	return place_unnamed(l, tags);
}

/* Where no function is known that returns the ends of the table. */
static int mine_table(struct layout_miner *m, const char **problem)
{
	struct layout_table t;
	int err = layout_table_find(m->img, m->functions, m->n, &t, problem);

	if (err || *problem)
		return err;
	if (t.definitions != m->definitions)
		*problem = "TyCtxt::def_path_table returns another table than TyCtxt::def_path "
			   "uses";
	m->l.wire.table = t.definitions + t.first;
	m->l.wire.count = t.definitions + t.count;
	m->l.wire.size = t.size;
	return 0;
}

static int mine_tags(struct layout_miner *m, const char **problem)
{
	struct layout_tags tags;
	int err = layout_tags_find(m->img, m->decoder, m->functions, m->n, &tags, problem);

	if (!err && !*problem)
		*problem = place_tags(m, &tags);
	return err;
}

/* entries + symbol * size, and *at bytes. */
static bool is_in_symbols(const struct eval *e, const struct sum *a, struct sum *globals,
			  struct wire_layout *w, uint64_t *at)
{
	for (uint32_t i = 0; a->n == 2 && i < 2; i++) {
		struct sum symbol = sum_term(a, 1 - i), entries = sum_term(a, i);
		uint64_t more, size = a->terms[1 - i].factor;
		const struct sum_node *node = sum_node_of(&e->nodes, &entries, &more), *base;

		if (a->terms[i].factor != 1 || size < 16 || size > 64 || node->kind != SUM_LOAD ||
		    node->size != 8 || !sum_is_field(&e->nodes, &symbol, WIRE_REG_DI, 4, &more) ||
		    more)
			continue;
		base = sum_node_of(&e->nodes, &node->of, &more);
		if (!base || base->kind != SUM_LOAD || !base->thread || more > 4096)
			continue;
		*globals = sum_term(&node->of, 0);
		w->symbols = (uint32_t)more;
		w->symbol_size = (uint32_t)size;
		*at = a->constant;
		return *at + 8 <= size;
	}
	return false;
}

/* The word that symbol numbers are compared with: from the globals. */
static bool read_n_symbols(const struct eval *e, const struct sum *globals, uint32_t *out)
{
	bool known = false;

	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];
		uint64_t more, at;

		for (int side = 0; side < 2; side++) {
			const struct sum *count = side ? &c->a : &c->b;
			const struct sum *symbol = side ? &c->b : &c->a;
			const struct sum_node *node = sum_node_of(&e->nodes, count, &more), *base;

			if (!node || more || node->kind != SUM_LOAD || node->size != 8 ||
			    !sum_is_field(&e->nodes, symbol, WIRE_REG_DI, 4, &at) || at)
				continue;
			base = sum_node_of(&e->nodes, &node->of, &more);
			if (base && base == &e->nodes.items[globals->terms[0].node] &&
			    !agree(out, &known, more))
				return false;
		}
	}
	return known;
}

/* The globals are at what the thread's storage has at an offset, which is in the library's GOT. */
static bool read_globals(const struct eval *e, const struct sum *globals, uint64_t *out)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, globals, &more);

	node = node->size == 8 ? sum_node_of(&e->nodes, &node->of, &more) : NULL;
	if (!node || more || node->kind != SUM_LOAD || node->thread || node->size != 8 ||
	    !sum_is_constant(&node->of))
		return false;
	*out = node->of.constant;
	return true;
}

static const char *read_symbol_text(struct layout_miner *m, const struct eval *e)
{
	struct wire_layout *w = &m->l.wire;
	struct sum globals[2];

	for (uint32_t i = 0; i < e->returns.n; i++) {
		const struct sum_node *text, *length;
		uint64_t more[2], at[2];

		text = sum_node_of(&e->nodes, &e->returns.items[i].a, &more[0]);
		length = sum_node_of(&e->nodes, &e->returns.items[i].b, &more[1]);
		if (!text || !length || more[0] || more[1] || text->kind != SUM_LOAD ||
		    length->kind != SUM_LOAD || text->size != 8 || length->size != 8 ||
		    !is_in_symbols(e, &text->of, &globals[0], w, &at[0]) ||
		    !is_in_symbols(e, &length->of, &globals[1], w, &at[1]) ||
		    !sum_equal(&globals[0], &globals[1]))
			continue;
		w->text = (uint32_t)at[0];
		w->length = (uint32_t)at[1];
		if (!read_globals(e, &globals[0], &w->globals))
			return "Symbol::as_str finds its globals in another way";
		if (!read_n_symbols(e, &globals[0], &w->n_symbols))
			return "Symbol::as_str compares no symbol with how many there are";
		return NULL;
	}
	return "Symbol::as_str returns no entry of a table of texts";
}

/*
 * A OnceLock is its state and its value. The state is tested first; if it is behind the value, then
 * the value is at the start.
 */
static const char *read_drop(struct layout_miner *m, const struct eval *e)
{
	uint64_t state;
	bool known = false;

	for (uint32_t i = 0; i < e->compares.n && !known; i++)
		known = sum_is_constant(&e->compares.items[i].b) &&
			sum_is_field(&e->nodes, &e->compares.items[i].a, WIRE_REG_DI, 4, &state);
	if (!known)
		return "the drop of OnceLock<GlobalCtxt> tests no state";
	if (state < m->l.wire.table + 8 || state < m->l.wire.count + 8)
		return "the drop of OnceLock<GlobalCtxt> has the state before the value";
	m->l.wire.context = 0;
	return NULL;
}

/* The site at which the context is dropped, with its address still in rdi. */
static int place_drop(struct layout_miner *m, uint64_t entry, const char **problem)
{
	struct mined_entry at;
	struct code_insn insn;
	int err = mine_entry(m->decoder, entry, &at);

	if (err)
		return err;
	if (!at.emulated)
		*problem = "the kernel emulates no instruction at the start of the drop of "
			   "OnceLock<GlobalCtxt>";
	for (uint64_t addr = entry; addr < at.addr && !*problem; addr += insn.size)
		if (!code_decoder__at(m->decoder, addr, &insn) || (insn.writes & 1u << WIRE_REG_DI))
			*problem = "the drop of OnceLock<GlobalCtxt> moves its argument before "
				   "it can be probed";
	m->l.wire.drop = at.addr;
	return 0;
}

/* In this order: each reads what those before it have found. */
static const struct {
	enum name_kind kind;
	uint32_t steps;
	bool may_be_partial; /* it loops */
	const char *(*read)(struct layout_miner *m, const struct eval *e);
	const char *missing, *lost;
} readers[] = {
	{NAME_DEF_PATH_TABLE, 0, false, read_def_path_table, "there is no TyCtxt::def_path_table",
	 "TyCtxt::def_path_table is too complex"},
	{NAME_ENUMERATED_KEYS, 0, false, read_enumerated_keys,
	 "there is no DefPathTable::enumerated_keys_and_path_hashes",
	 "DefPathTable::enumerated_keys_and_path_hashes is too complex"},
	{NAME_DEF_PATH, 0, true, read_def_path, "there is no Definitions::def_path", NULL},
	{NAME_DEF_PATH_DATA, 0, false, NULL, NULL, NULL},
	{NAME_SYMBOL_TEXT, 0, false, read_symbol_text, "there is no Symbol::as_str",
	 "Symbol::as_str is too complex"},
	/* Only its beginning is of use. */
	{NAME_DROP_CONTEXT, 32, true, read_drop, "there is no drop of OnceLock<GlobalCtxt>", NULL},
};

static int read_function(struct layout_miner *m, size_t reader, const struct layout_function *f,
			 bool follows, const char **problem)
{
	struct eval_function ef = {
		.img = m->img,
		.entry = f->entry,
		.regions = f->regions,
		.n_regions = f->n_regions,
		.steps = readers[reader].steps,
		.follows = follows,
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&ef, &e);

	if (err)
		return err;
	if (e->partial && !readers[reader].may_be_partial)
		*problem = readers[reader].lost;
	else
		*problem = readers[reader].read(m, e);
	return 0;
}

/* Distributions build with less inlining, so what there is to see may be in a callee. */
static int mine_function(struct layout_miner *m, size_t reader, const struct layout_function *f,
			 const char **problem)
{
	int err = read_function(m, reader, f, false, problem);

	if (!err && *problem)
		err = read_function(m, reader, f, true, problem);
	if (f->kind == NAME_DROP_CONTEXT && !err && !*problem)
		err = place_drop(m, f->entry, problem);
	return err;
}

/* Any of several functions of a kind will do: they are copies, and some are laid out apart. */
static int mine_kind(struct layout_miner *m, size_t reader, const char **problem)
{
	int err = 0, tried = 0;

	if (!readers[reader].read)
		return mine_tags(m, problem);
	*problem = readers[reader].missing;
	for (size_t i = 0; i < m->n && tried < COPIES_MAX && !err; i++) {
		if (m->functions[i].kind != readers[reader].kind)
			continue;
		tried++;
		err = mine_function(m, reader, &m->functions[i], problem);
		if (!*problem)
			break;
	}
	if (!tried && !err && readers[reader].kind == NAME_ENUMERATED_KEYS)
		err = mine_table(m, problem);
	return err;
}

int layout_mine(const struct elf_image *img, struct code_decoder *decoder,
		const struct layout_function *functions, size_t n, struct plan_layout *out,
		const char **problem)
{
	struct layout_miner m = {.img = img, .decoder = decoder, .functions = functions, .n = n};
	int err = 0;

	*problem = NULL;
	for (size_t i = 0; i < N_OF(readers) && !err && !*problem; i++)
		err = mine_kind(&m, i, problem);
	if (!err && !*problem)
		*problem = plan_layout_excess(&m.l);
	if (!err && !*problem)
		*out = m.l;
	return err;
}
