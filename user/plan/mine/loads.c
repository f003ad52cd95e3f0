// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/loads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/opcode.h"

/* Instructions from the call of KEPT to the guard, at most, on one way. */
#define NEAR 12
/* Words of a vtable. */
#define WORDS 128
/* Bodies that show which word they ask. */
#define BODIES_LEAST 2

struct finder {
	const struct elf_image *img;
	struct code_decoder *decoder;
	const struct bounds *bounds;
	const struct layout_function *functions;
	size_t n_functions;
	const struct vtables *t;
	struct plan *plan;
	struct code code;
	uint64_t *holders; /* functions that have a guard of a load, but no bodies */
	uint32_t n_holders, holders_capacity;
};

static bool is_load(const struct finder *f, const struct plan_site *site)
{
	return (site->role == WIRE_ROLE_GUARD || site->role == WIRE_ROLE_GUARD_QUERY ||
		site->role == WIRE_ROLE_GUARD_CALLED) &&
	       f->plan->guards[site->guard].kind == WIRE_KIND_LOAD;
}

/* ---- By functions that load ------------------------------------------------------------------ */

static int find_holders(struct finder *f)
{
	for (uint32_t i = 0; i < f->plan->n_sites; i++) {
		const struct plan_site *site = &f->plan->sites[i];
		const struct bound *b = site->body == PLAN_NONE && is_load(f, site)
						? bounds__at(f->bounds, site->addr)
						: NULL;

		/* The guard may be in a part that lies elsewhere. */
		if (b && b->of < f->bounds->n)
			b = &f->bounds->items[b->of];
		if (b && !array__has_u64(f->holders, f->n_holders, b->addr) &&
		    array__add(&f->holders, &f->n_holders, &f->holders_capacity, &b->addr))
			return -ENOMEM;
	}
	return 0;
}

/* The function at `addr` has the guard of a load, or goes to a function that does. */
static int loads(struct finder *f, uint64_t addr, bool *out)
{
	const struct bound *b = bounds__at(f->bounds, addr);
	int err;

	*out = array__has_u64(f->holders, f->n_holders, addr);
	if (*out || !b || b->addr != addr)
		return 0;
	err = code_decoder__decode(f->decoder, &(struct code_region){b->addr, b->size}, 1,
				   &f->code);
	for (size_t i = 0; i < f->code.n && !err && !*out; i++)
		*out = (f->code.insns[i].flow == CODE_CALL || f->code.insns[i].flow == CODE_JMP) &&
		       array__has_u64(f->holders, f->n_holders, f->code.insns[i].target);
	return err == -ENOMEM ? err : 0;
}

/* Vtables with caches of the same kind and size have the same words behind their names. */
static bool are_alike(const struct vtable *a, const struct vtable *b)
{
	return !a->problem && !b->problem && a->kind == b->kind &&
	       a->at - a->begin == b->at - b->begin && a->end - a->begin == b->end - b->begin &&
	       (a->kind != WIRE_CACHE_ONCE || a->once - a->at == b->once - b->at);
}

/*
 * A word is the loader's if each vtable that is like `first` has either 0 there or a function that
 * loads. Those with 0 are never loaded, if that is so in one place only.
 */
static int settle_alike(struct finder *f, const struct vtable *first)
{
	const struct vtable *end = f->t->items + f->t->n;
	uint32_t loader = VTABLE_NONE, places = 0;

	for (uint32_t at = 16; first->at + at + 8 <= first->end && at < WORDS * 8; at += 8) {
		uint32_t zeroes = 0, loaders = 0, others = 0;

		for (const struct vtable *v = first; v < end; v++) {
			uint64_t word;
			bool is = false;
			int err;

			if (!are_alike(first, v) || !straight__word(f->t->run, v->at + at, &word))
				continue;
			zeroes += !word;
			err = word ? loads(f, word, &is) : 0;
			if (err)
				return err;
			loaders += is;
			others += word && !is;
		}
		if (!loaders)
			continue;
		if (others || places++)
			return 0;
		loader = zeroes ? at : VTABLE_NONE;
	}
	for (const struct vtable *v = first; v < end && loader != VTABLE_NONE; v++) {
		uint64_t word;

		if (are_alike(first, v) && straight__word(f->t->run, v->at + loader, &word))
			f->plan->queries[v->query].never_loaded = !word;
	}
	return 0;
}

static int settle_by_functions(struct finder *f)
{
	int err = find_holders(f);

	for (uint32_t i = 0; i < f->t->n && f->n_holders && !err; i++) {
		bool is_first = true;

		for (uint32_t k = 0; k < i && is_first; k++)
			is_first = !are_alike(&f->t->items[k], &f->t->items[i]);
		if (is_first)
			err = settle_alike(f, &f->t->items[i]);
	}
	return err;
}

/* ---- By bodies ------------------------------------------------------------------------------- */

/* The way from instruction `i`, on which there are no other branches and no calls, meets `to`. */
static bool leads_to(const struct finder *f, size_t i, uint64_t to)
{
	for (uint32_t left = NEAR; left && i < f->code.n; left--) {
		const struct code_insn *insn = &f->code.insns[i];

		if (insn->addr == to)
			return true;
		if (insn->flow == CODE_JMP)
			i = code__index(&f->code, insn->target);
		else if (insn->flow == CODE_FALLS)
			i++;
		else
			return false;
	}
	return false;
}

/*
 * Instruction `i` calls a word of the vtable, and only if that returns something else than false
 * the guard at `to` is met.
 */
static bool asks_before(const struct finder *f, size_t i, uint64_t to)
{
	const struct code_insn *test = &f->code.insns[i + 1], *jump = test + 1;
	size_t target, next = i + 3, room;
	const uint8_t *bytes;

	if (f->code.insns[i].shape != CODE_CALL_MEM || f->code.insns[i].base >= CODE_REG_SP ||
	    i + 3 >= f->code.n || jump->flow != CODE_JCC)
		return false;
	bytes = elf_image__bytes(f->img, test->addr, &room);
	/* test %al, %al */
	if (!bytes || room < 2 || bytes[0] != 0x84 || bytes[1] != 0xc0)
		return false;
	bytes = elf_image__bytes(f->img, jump->addr, &room);
	target = code__index(&f->code, jump->target);
	switch (bytes && room >= 2 ? opcode_taken_if_equal(bytes) : -1) {
	case 1:
		return leads_to(f, next, to) && !leads_to(f, target, to);
	case 0:
		return leads_to(f, target, to) && !leads_to(f, next, to);
	default:
		return false;
	}
}

/* It returns false, whatever it is asked. */
static bool is_false(struct finder *f, uint64_t addr)
{
	struct code_insn zero, ret;

	return code_decoder__at(f->decoder, addr, &zero) && zero.shape == CODE_SET &&
	       zero.reg == WIRE_REG_AX && !zero.imm &&
	       code_decoder__at(f->decoder, addr + zero.size, &ret) && ret.flow == CODE_RET;
}

static int decode_body(struct finder *f, uint32_t body)
{
	for (size_t i = 0; i < f->n_functions; i++) {
		const struct layout_function *of = &f->functions[i];
		int err;

		if (of->entry != f->plan->bodies[body].addr ||
		    (of->kind != NAME_BODY_INCR && of->kind != NAME_BODY_UNKNOWN))
			continue;
		err = code_decoder__decode(f->decoder, of->regions, of->n_regions, &f->code);
		if (err != -EFAULT)
			return err;
	}
	return -ENODATA;
}

/* The word that a body asks before each of its guards of loads; VTABLE_NONE: not found. */
static int find_asked(struct finder *f, uint32_t body, uint32_t *out)
{
	uint32_t asked = VTABLE_NONE;
	int err = decode_body(f, body);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (uint32_t i = 0; i < f->plan->n_sites; i++) {
		const struct plan_site *site = &f->plan->sites[i];
		bool found = false;

		if (site->body != body || !is_load(f, site))
			continue;
		for (size_t k = 0; k < f->code.n; k++) {
			uint32_t at = (uint32_t)f->code.insns[k].disp;

			if (!asks_before(f, k, site->addr))
				continue;
			if (asked != VTABLE_NONE && asked != at)
				return 0;
			asked = at;
			found = true;
		}
		if (!found)
			return 0;
	}
	*out = asked;
	return 0;
}

/* The body of the query asks the word that is `by` bytes behind the name. */
static bool asks(const struct finder *f, const uint32_t *asked, const struct vtable *v, uint64_t by)
{
	uint32_t body = f->plan->queries[v->query].body_incr;

	return !v->problem && body != PLAN_NONE && asked[body] != VTABLE_NONE &&
	       v->begin + asked[body] == v->at + by;
}

/*
 * All bodies ask a word that is as far behind the name, as far as they show it. They are instances
 * of one function, so the vtables that are like those of these have it in the same place.
 */
static int settle_by_bodies(struct finder *f)
{
	_free_ uint32_t *asked = calloc(f->plan->n_bodies + 1UL, sizeof(*asked));
	const struct vtable *items = f->t->items;
	struct votes distances = {0};
	uint64_t by, word;
	int err = asked ? 0 : -ENOMEM;

	for (uint32_t b = 0; b < f->plan->n_bodies && !err; b++) {
		asked[b] = VTABLE_NONE;
		err = f->plan->bodies[b].incremental ? find_asked(f, b, &asked[b]) : 0;
	}
	for (uint32_t i = 0; i < f->t->n && !err; i++) {
		const struct vtable *v = &items[i];
		uint32_t body = f->plan->queries[v->query].body_incr;

		if (!v->problem && body != PLAN_NONE && asked[body] != VTABLE_NONE &&
		    v->begin + asked[body] >= v->at + 16)
			votes__add(&distances, body, v->begin + asked[body] - v->at);
	}
	if (err || distances.n != 1 || !votes__decide(&distances, BODIES_LEAST, &by))
		return err;
	for (uint32_t i = 0; i < f->t->n; i++) {
		const struct vtable *v = &items[i];
		uint32_t like = 0;

		while (like < f->t->n &&
		       !(asks(f, asked, &items[like], by) && are_alike(&items[like], v)))
			like++;
		f->plan->queries[v->query].never_loaded =
			like < f->t->n && v->at + by + 8 <= v->end &&
			straight__word(f->t->run, v->at + (uint32_t)by, &word) && is_false(f, word);
	}
	return 0;
}

/* The name may be a part of another text. */
static bool names_old_results(const struct elf_image *img)
{
	static const char *const sections[] = {".rodata", ".bolt.org.rodata", ".rodata.cold"};

	for (size_t i = 0; i < N_OF(sections); i++) {
		uint64_t addr;
		size_t len;
		const uint8_t *bytes = elf_image__section_bytes(img, sections[i], &addr, &len);

		if (bytes && memmem(bytes, len, PLAN_OLD_RESULTS, strlen(PLAN_OLD_RESULTS)))
			return true;
	}
	return false;
}

int loads__find(const struct elf_image *img, struct code_decoder *decoder,
		const struct bounds *bounds, const struct layout_function *functions, size_t n,
		const struct vtables *t, struct plan *plan)
{
	struct finder f = {
		.img = img,
		.decoder = decoder,
		.bounds = bounds,
		.functions = functions,
		.n_functions = n,
		.t = t,
		.plan = plan,
	};
	int err = settle_by_functions(&f);

	plan->names_old_results = names_old_results(img);
	/* Else guards of loads are in functions. */
	if (!err && !f.n_holders)
		err = settle_by_bodies(&f);
	code__free(&f.code);
	free(f.holders);
	return err;
}
