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
#include "plan/recover/dynsym.h"
#include "plan/symbols/known_symbols.h"

/* Functions that are looked at: looking takes time, and code is untrusted. */
#define SIDES_MAX 256

/* Branches that lead to one call. */
#define WAYS_MAX 8
/* rustc's EventFilter::GENERIC_ACTIVITIES. */
#define ACTIVITY 0x001

/* rustc's EventFilter, and the methods of its SelfProfilerRef. */
static const struct {
	uint32_t filter;
	const char *method;
} kinds[] = {
	{ACTIVITY, "16generic_activity"}, {0x002, "14query_provider"},
	{0x008, "13query_blocked"},	  {0x010, "18incr_cache_loading"},
	{0x100, "19incr_result_hashing"}, {0x200, "13artifact_size"},
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

int cold_kinds__are_unnamed(struct elf_image *img)
{
	_known_symbols_ struct known_symbols known;
	int err = known_symbols__find(img, &known);

	for (uint32_t i = 0; !err && i < known.n; i++)
		if (known.items[i].info.kind == NAME_COLD_PROVIDER)
			return 0;
	return err && err != -ENODATA ? err : 1;
}

static int find_sides(struct search *s)
{
	_owners_ struct owners owners = {0};
	uint64_t thread_number = dynsym__function(s->img, DYNSYM_THREAD_NUMBER);
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

/* The filter is 16 bits wide and aligned. */
static uint32_t bits_of(const struct code_insn *test)
{
	return test->imm << (test->shape == CODE_TEST_MASK && test->disp & 1 ? 8 : 0);
}

static void vote(struct side *side, uint32_t filter)
{
	side->several = side->several || (side->filter && side->filter != filter);
	side->filter = filter;
}

/* The tests of the filter that lead to call `i`. */
static void look_at_call(const struct walk *w, size_t i, struct side *side)
{
	struct walk_guard guards[WAYS_MAX];
	size_t n = walk__guards(w, i, guards, WAYS_MAX);

	for (size_t k = 0; k < n; k++) {
		const struct code_insn *test = walk__mask_test(w->code, guards[k].mask);

		if (test)
			vote(side, bits_of(test));
	}
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
			look_at_call(&w, i, side);
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
		if (kinds[i].filter != side->filter)
			continue;
		snprintf(name, sizeof(name),
			 "_RINvNvMNtC21rustc_data_structures9profilingNtB2_15SelfProfilerRef"
			 "4exec9cold_callNCNvB2_%s0EB2_.llvm.%u",
			 kinds[i].method, number);
		return recovered__add(out, side->entry, name);
	}
	return 0;
}

int cold_kinds__recover(struct elf_image *img, bool activities, struct recovered *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	_free_ struct search *s = calloc(1, sizeof(*s));
	int err = s ? code_decoder__new(img, &decoder) : -ENOMEM;

	if (err)
		return err;
	s->img = img;
	s->decoder = decoder;
	err = find_sides(s) ?: find_kinds(s);
	for (uint32_t i = 0; i < s->n && !err; i++)
		if (!s->sides[i].several && activities == (s->sides[i].filter == ACTIVITY))
			err = name_side(&s->sides[i], i, out);
	code__free(&s->code);
	return err;
}
