// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Span::data_untracked hands the index of an interned span to a function. In 1.95 and 1.97 that is
 *
 *	IndexSet<SpanData>::index	cmp  0x10(%rdi), %rsi		how many spans are interned
 *					lea  (%rsi,%rsi,2), %rax	the size of one
 *					add  0x8(%rdi), %rax
 *
 * With less inlining (Debian's 1.96) it is ScopedKey<SessionGlobals>::with, which is given the key
 * and the address of the index:
 *
 *					mov  (%rsi), %rax
 *					call *(%rax)			finds the thread's globals
 *					mov  (%rax), %r15
 *					mov  (%rdx), %r12d
 *					cmp  %r12, SPANS+8(%r15)
 *					mov  SPANS(%r15), %rax
 *					lea  (%r12,%r12,2), %rcx
 *					movups (%rax,%rcx,8), %xmm0
 *					movups %xmm0, (%rdi)
 */
#include "plan/mine/layout_interner.h"

#include "base/array.h"
#include "plan/symbols/relocated.h"

/* Bytes that are read of the function that finds an interned span. */
#define INDEX_CODE 64

/* ---- A function that is given the table and the index ---------------------------------------- */

/* The function that is handed the index, with an object that is a part of the globals. */
static bool read_index_call(const struct eval *e, uint64_t index, uint64_t *target, uint32_t *at)
{
	uint64_t more;

	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];

		if (c->target && sum_is_constant(&c->second) && c->second.constant == index &&
		    places_loaded(e, &c->first, 8, &more) && layout_offset(at, more)) {
			*target = c->target;
			return true;
		}
	}
	return false;
}

/* first entry + number * size, and the number is compared with how many there are. */
static bool read_interner(struct places_miner *m, const struct eval *e, uint32_t interner)
{
	bool has_count = false;
	uint64_t at, more;

	for (uint32_t i = 0; i < e->compares.n && !has_count; i++)
		has_count =
			sum_is_argument(&e->nodes, &e->compares.items[i].a, WIRE_REG_SI, &more) &&
			!more &&
			sum_is_field(&e->nodes, &e->compares.items[i].b, WIRE_REG_DI, 8, &at) &&
			layout_offset(&m->l.n_interned, interner + at);
	for (uint32_t i = 0; i < e->returns.n && has_count; i++) {
		const struct sum *a = &e->returns.items[i].a;

		for (uint32_t k = 0; a->n == 2 && k < 2; k++) {
			struct sum number = sum_term(a, 1 - k), first = sum_term(a, k);

			if (a->terms[k].factor != 1 || a->constant > 64 ||
			    !sum_is_argument(&e->nodes, &number, WIRE_REG_SI, &more) ||
			    !sum_is_field(&e->nodes, &first, WIRE_REG_DI, 8, &at) ||
			    !layout_offset(&m->l.interned, interner + at) ||
			    !layout_offset(&m->l.interned_size, a->terms[1 - k].factor))
				continue;
			m->l.position += (uint32_t)a->constant;
			m->l.context += (uint32_t)a->constant;
			return true;
		}
	}
	return false;
}

static int mine_index(struct places_miner *m, uint64_t entry, uint32_t interner,
		      const char **problem)
{
	const struct code_region region = {entry, INDEX_CODE};
	const struct layout_function f = {.entry = entry, .regions = &region, .n_regions = 1};
	_free_ struct eval *e = NULL;
	int err = places_run(m, &f, false, 0, &e);

	if (!err && !read_interner(m, e, interner))
		*problem = "what finds an interned span returns no entry of a table";
	return err;
}

/* ---- A function that is given the key of the globals and the address of the index -------------
 */

/* The function that is handed the index's address; *key: where the address of the key is. */
static uint64_t with_call(const struct eval *e, uint64_t index, uint64_t *key)
{
	for (uint32_t i = 0; i < e->n_calls; i++) {
		const struct eval_call *c = &e->calls[i];
		uint64_t more;
		const struct sum_node *from = places_loaded(e, &c->second, 8, &more);

		if (!c->target || !from || more || from->thread || !sum_is_constant(&from->of) ||
		    !sum_is_constant(&c->half) || c->half.constant != index)
			continue;
		*key = from->of.constant;
		return c->target;
	}
	return 0;
}

/* The key leads to a function that returns where the thread has the globals that have the symbols.
 */
static int is_of_globals(const struct places_miner *m, uint64_t key, bool *is)
{
	uint64_t local = relocated__value(m->img, relocated__value(m->img, key)), more;
	uint64_t getter = relocated__value(m->img, local);
	const struct code_region region = {getter, elf_image__size_of(m->img, getter)};
	const struct layout_function f = {.entry = getter, .regions = &region, .n_regions = 1};
	_free_ struct eval *e = NULL;
	int err = places_run(m, &f, false, 0, &e);

	for (uint32_t i = 0; !err && i < e->returns.n && !*is; i++) {
		const struct sum *a = &e->returns.items[i].a;

		for (uint32_t k = 0; a->n == 2 && !a->constant && k < 2; k++) {
			struct sum thread = sum_term(a, k), offset = sum_term(a, 1 - k);
			const struct sum_node *base = places_loaded(e, &thread, 8, &more);
			const struct sum_node *slot = places_loaded(e, &offset, 8, &more);

			*is = *is || (base && base->thread && sum_is_constant(&base->of) &&
				      !base->of.constant && slot && !slot->thread &&
				      sum_is_constant(&slot->of) &&
				      slot->of.constant == m->names->globals);
		}
	}
	return err;
}

/* `a` is the `size` bytes at *at of the globals, which the function of the key in rsi returned. */
static bool is_of_found(const struct eval *e, const struct sum *a, uint8_t size, uint64_t *at)
{
	uint64_t more;
	const struct sum_node *node = places_loaded(e, a, size, &more), *found;

	if (!node || more)
		return false;
	node = places_loaded(e, &node->of, 8, at);
	found = node ? sum_node_of(&e->nodes, &node->of, &more) : NULL;
	return found && !more && found->kind == SUM_CALL_BY &&
	       sum_is_field(&e->nodes, &found->of, WIRE_REG_SI, 8, &more) && !more;
}

static bool is_index(const struct eval *e, const struct sum *a)
{
	uint64_t at;

	return sum_is_field(&e->nodes, a, WIRE_REG_DX, 4, &at) && !at;
}

static bool read_with_count(struct places_miner *m, const struct eval *e)
{
	bool known = false;
	uint64_t at;

	for (uint32_t i = 0; i < e->compares.n; i++)
		for (int side = 0; side < 2; side++) {
			const struct eval_pair *c = &e->compares.items[i];

			if (is_of_found(e, side ? &c->a : &c->b, 8, &at) &&
			    is_index(e, side ? &c->b : &c->a) &&
			    !places_agree(&m->l.n_interned, &known, at))
				return false;
		}
	return known;
}

/* The first 16 bytes of what it fills in are those of an entry, *more bytes behind its start. */
static bool read_with_entry(struct places_miner *m, const struct eval *e, uint64_t *more)
{
	for (uint32_t i = 0; i < e->stores.n; i++) {
		uint64_t none, at;
		const struct sum_node *node = places_loaded(e, &e->stores.items[i].b, 16, &none);

		if (!node || none || node->of.n != 2 || node->of.constant > 64 ||
		    !sum_is_argument(&e->nodes, &e->stores.items[i].a, WIRE_REG_DI, &none) || none)
			continue;
		*more = node->of.constant;
		for (uint32_t k = 0; k < 2; k++) {
			struct sum first = sum_term(&node->of, k),
				   number = sum_term(&node->of, 1 - k);

			if (node->of.terms[k].factor == 1 && is_index(e, &number) &&
			    is_of_found(e, &first, 8, &at) && layout_offset(&m->l.interned, at) &&
			    layout_offset(&m->l.interned_size, node->of.terms[1 - k].factor))
				return true;
		}
	}
	return false;
}

static int mine_with(struct places_miner *m, uint64_t entry, uint64_t key, bool *found)
{
	const struct code_region region = {entry, elf_image__size_of(m->img, entry)};
	const struct layout_function f = {.entry = entry, .regions = &region, .n_regions = 1};
	_free_ struct eval *e = NULL;
	bool is = false;
	uint64_t more;
	int err = is_of_globals(m, key, &is) ?: places_run(m, &f, false, 0, &e);

	*found = !err && is && read_with_count(m, e) && read_with_entry(m, e, &more);
	if (!*found)
		return err;
	m->l.position += (uint32_t)more;
	m->l.context += (uint32_t)more;
	return 0;
}

/* Both kinds of spans are found by a function of their own, but in the same table. */
static int mine_both(struct places_miner *m, const uint64_t targets[2], uint64_t key,
		     const char **problem)
{
	struct places_miner other = *m;
	bool found[2] = {false};
	int err = mine_with(m, targets[0], key, &found[0])
			  ?: mine_with(&other, targets[1], key, &found[1]);
	const struct wire_layout_places *a = &m->l, *b = &other.l;

	if (!err && (!found[0] || !found[1] || a->interned != b->interned ||
		     a->n_interned != b->n_interned || a->interned_size != b->interned_size ||
		     a->position != b->position))
		*problem = "what finds an interned span fills in no entry of the globals' table";
	return err;
}

int places_mine_interner(struct places_miner *m, const struct eval *partly,
			 const struct eval *interned, uint64_t index, const char **problem)
{
	uint64_t target[2], key[2];
	uint32_t at[2];

	*problem = NULL;
	if (read_index_call(partly, index, &target[0], &at[0]) &&
	    read_index_call(interned, index, &target[1], &at[1]) && target[0] == target[1] &&
	    at[0] == at[1])
		return mine_index(m, target[0], at[0], problem);
	target[0] = with_call(partly, index, &key[0]);
	target[1] = with_call(interned, index, &key[1]);
	if (target[0] && target[1] && key[0] == key[1])
		return mine_both(m, target, key[0], problem);
	*problem = "Span::data_untracked finds interned spans in another way";
	return 0;
}
