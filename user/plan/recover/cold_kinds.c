// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/cold_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/walk.h"
#include "plan/mine/callers.h"
#include "plan/mine/profiler.h"
#include "plan/symbols/known_symbols.h"

/* Functions that are looked at: looking takes time, and code is untrusted. */
#define SIDES_MAX 256

/* rustc's EventFilter, and the methods of its SelfProfilerRef. */
static const struct {
	uint32_t filter;
	const char *method;
} kinds[] = {
	{0x001, "16generic_activity"},	  {0x002, "14query_provider"},
	{0x008, "13query_blocked"},	  {0x010, "18incr_cache_loading"},
	{0x100, "19incr_result_hashing"},
};

/* A function that may be a cold side, and the bits that its callers test. */
struct side {
	uint64_t entry;
	uint32_t filter;
	bool several;
};

struct search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	struct side sides[SIDES_MAX];
	uint64_t entries[SIDES_MAX];
	uint32_t n;
};

static uint64_t find_thread_number(struct elf_image *img)
{
	const struct elf_symbol *syms;
	size_t n;

	if (elf_image__symbols(img, &syms, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (strstr(syms[i].name, "9profiling13get_thread_id") &&
		    !syms[i].name[syms[i].base_len])
			return syms[i].addr;
	return 0;
}

static int has_named(struct elf_image *img, bool *named)
{
	_known_symbols_ struct known_symbols known;
	int err = known_symbols__find(img, &known);

	*named = false;
	for (uint32_t i = 0; !err && i < known.n; i++)
		*named = *named || known.items[i].info.kind == NAME_COLD_PROVIDER;
	return err == -ENODATA ? 0 : err;
}

static int find_sides(struct search *s)
{
	_owners_ struct owners owners = {0};
	uint64_t thread_number = find_thread_number(s->img);
	int err = thread_number ? callers__find(s->img, &thread_number, 1, &owners) : 0;

	for (size_t i = 0; i < owners.n && s->n < SIDES_MAX && !err; i++) {
		if (strncmp(owners.items[i].name, "fn_", 3))
			continue;
		s->entries[s->n] = owners.items[i].entry;
		s->sides[s->n++].entry = owners.items[i].entry;
	}
	return err;
}

static struct side *side_at(struct search *s, uint64_t entry)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->sides[i].entry == entry)
			return &s->sides[i];
	return NULL;
}

/* The bits of the filter that lead to call `i`, or 0. It is 16 bits wide and aligned. */
static uint32_t tested(const struct walk *w, size_t i)
{
	const struct code_insn *test;
	struct walk_guard g;

	if (!walk__guard(w, i, &g))
		return 0;
	test = walk__mask_test(w->code, g.mask);
	if (!test)
		return 0;
	return test->shape == CODE_TEST_MASK ? test->imm << (test->disp & 1 ? 8 : 0) : test->imm;
}

static void vote(struct side *side, uint32_t filter)
{
	if (!filter)
		return;
	side->several = side->several || (side->filter && side->filter != filter);
	side->filter = filter;
}

static int look_into(struct search *s, const struct owner *f)
{
	struct walk w;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&w, s->img, &s->code, f->entry);
	for (size_t i = 0; i < s->code.n && !err; i++) {
		uint64_t callee = w.live[i] ? profiler__callee(&s->code.insns[i]) : 0;
		struct side *side = callee ? side_at(s, callee) : NULL;

		if (side)
			vote(side, tested(&w, i));
	}
	walk__fini(&w);
	return err;
}

static int find_kinds(struct search *s)
{
	_owners_ struct owners owners = {0};
	int err = callers__find(s->img, s->entries, s->n, &owners);

	for (size_t i = 0; i < owners.n && !err; i++)
		err = look_into(s, &owners.items[i]);
	return err;
}

static int name_side(const struct side *side, uint32_t number, struct recovered *out)
{
	char name[192];

	for (size_t i = 0; i < N_OF(kinds); i++) {
		if (side->several || kinds[i].filter != side->filter)
			continue;
		snprintf(name, sizeof(name),
			 "_RINvNvMNtC21rustc_data_structures9profilingNtB2_15SelfProfilerRef"
			 "4exec9cold_callNCNvB2_%s0EB2_.llvm.%u",
			 kinds[i].method, number);
		return recovered__add(out, side->entry, name);
	}
	return 0;
}

int cold_kinds__recover(struct elf_image *img, struct recovered *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	_free_ struct search *s = calloc(1, sizeof(*s));
	bool named = false;
	int err = s ? has_named(img, &named) : -ENOMEM;

	if (err || named)
		return err;
	s->img = img;
	err = code_decoder__new(img, &decoder);
	s->decoder = decoder;
	err = err ?: find_sides(s) ?: find_kinds(s);
	for (uint32_t i = 0; i < s->n && !err; i++)
		err = name_side(&s->sides[i], i, out);
	code__free(&s->code);
	return err;
}
