// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/guards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/flow.h"
#include "plan/mine/callers.h"
#include "plan/mine/profiler.h"

/* Guards of one function: 60 are the most seen. */
#define SLOTS_MAX 256
/* Instructions of a function that drops: its prologue, and the test for anything to drop. */
#define TEST_REACH 16

struct addresses {
	uint64_t *items;
	uint32_t n, capacity;
};

struct search {
	struct elf_image *img;
	struct addresses makers; /* functions that make a guard where their first argument says */
	struct addresses passed; /* functions that are given the address of one */
	struct addresses clocks; /* functions that tell the time that has passed */
	struct code_decoder *decoder;
	struct code code;
};

/* Where the function that is looked at has its guards, by bytes above sp at its entry. */
struct slots {
	int64_t at[SLOTS_MAX];
	size_t n;
};

static int add(struct addresses *a, uint64_t addr)
{
	return array__has_u64(a->items, a->n, addr)
		       ? 0
		       : array__add(&a->items, &a->n, &a->capacity, &addr);
}

/* ---- Functions that get the address of a guard ----------------------------------------------- */

static bool makes(const struct search *s, const struct code_insn *insn)
{
	return insn->flow == CODE_CALL &&
	       array__has_u64(s->makers.items, s->makers.n, insn->target);
}

static bool is_direct_call(const void *arg, size_t i)
{
	const struct search *s = arg;

	return s->code.insns[i].flow == CODE_CALL;
}

/* The stack slot whose address call `i` passes first. */
static bool passes_slot(const struct flow *flow, size_t i, int64_t *at)
{
	struct flow_state s;

	flow__at(flow, i, &s);
	*at = s.regs[WIRE_REG_DI].value;
	return s.reached && s.regs[WIRE_REG_DI].kind == FLOW_STACK;
}

static void find_slots(const struct search *s, const struct flow *flow, struct slots *slots)
{
	for (size_t i = 0; i < s->code.n && slots->n < SLOTS_MAX; i++)
		if (makes(s, &s->code.insns[i]) && passes_slot(flow, i, &slots->at[slots->n]))
			slots->n++;
}

static bool has_slot(const struct slots *slots, int64_t at)
{
	for (size_t i = 0; i < slots->n; i++)
		if (slots->at[i] == at)
			return true;
	return false;
}

static int note_passed(struct search *s, const struct flow *flow)
{
	struct slots slots = {.n = 0};
	int64_t at;
	int err = 0;

	find_slots(s, flow, &slots);
	for (size_t i = 0; i < s->code.n && slots.n && !err; i++)
		if (s->code.insns[i].flow == CODE_CALL && !makes(s, &s->code.insns[i]) &&
		    passes_slot(flow, i, &at) && has_slot(&slots, at))
			err = add(&s->passed, s->code.insns[i].target);
	return err;
}

static int look_at_maker(struct search *s, const struct owner *f)
{
	_flow_ struct flow *flow = NULL;
	struct walk w;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&w, s->img, &s->code, f->entry);
	err = err ?: flow__new(&w, f->entry, is_direct_call, s, &flow) ?: note_passed(s, flow);
	walk__fini(&w);
	return err;
}

static int find_passed(struct search *s)
{
	_owners_ struct owners owners = {0};
	int err = callers__find(s->img, s->makers.items, s->makers.n, &owners);

	for (size_t i = 0; i < owners.n && !err; i++)
		err = look_at_maker(s, &owners.items[i]);
	return err;
}

/* ---- Those that drop it ---------------------------------------------------------------------- */

static bool is_clock(const char *name)
{
	return !strstr(name, ".cold") && (strstr(name, "3std4timeNtB2_7Instant7elapsed") ||
					  strstr(name, "_ZN3std4time7Instant7elapsed"));
}

static int find_clocks(struct search *s)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__symbols(s->img, &syms, &n);

	for (size_t i = 0; i < n && !err; i++)
		if (is_clock(syms[i].name))
			err = add(&s->clocks, syms[i].addr);
	return err;
}

/* mov (%rdi), %reg; test %reg, %reg: also if %rdi was moved before. */
static bool tests_first(const struct code *code, size_t entry)
{
	uint32_t selves = 1u << WIRE_REG_DI;
	uint8_t word = CODE_REG_OTHER;

	for (size_t i = entry; i < code->n && i < entry + TEST_REACH; i++) {
		const struct code_insn *insn = &code->insns[i];
		bool of_self = insn->base < CODE_REG_SP && selves & 1u << insn->base;

		if (insn->flow != CODE_FALLS)
			return false;
		if (insn->shape == CODE_TEST_SELF && word < CODE_REG_SP && insn->reg == word)
			return true;
		if (insn->shape == CODE_CMP64_ZERO && of_self && !insn->disp)
			return true;
		selves &= ~(uint32_t)insn->writes;
		if (word < CODE_REG_SP && insn->writes & 1u << word)
			word = CODE_REG_OTHER;
		if (insn->shape == CODE_LOAD64 && of_self && !insn->disp)
			word = insn->reg;
		else if (insn->shape == CODE_MOVE64 && of_self)
			selves |= 1u << insn->reg;
	}
	return false;
}

static bool drops(const struct search *s, const struct owner *f)
{
	size_t entry = code__index(&s->code, f->entry);

	if (entry == SIZE_MAX || !tests_first(&s->code, entry))
		return false;
	for (size_t i = 0; i < s->code.n; i++)
		if (array__has_u64(s->clocks.items, s->clocks.n,
				   profiler__callee(&s->code.insns[i])))
			return true;
	return false;
}

static int name_drops(struct search *s, struct recovered *out)
{
	_owners_ struct owners owners = {0};
	char name[160];
	int err = owners__find(s->img, s->passed.items, s->passed.n, &owners);

	for (size_t i = 0; i < owners.n && !err; i++) {
		const struct owner *f = &owners.items[i];

		if (!array__has_u64(s->passed.items, s->passed.n, f->entry))
			continue;
		err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);
		if (err == -EFAULT)
			err = 0;
		else if (!err && drops(s, f)) {
			snprintf(name, sizeof(name),
				 "_RINvNtC4core3ptr13drop_in_placeNtNtC21rustc_data_structures"
				 "9profiling11TimingGuardEB0_.%zu",
				 i);
			err = recovered__add(out, f->entry, name);
		}
	}
	return err;
}

/* ---------------------------------------------------------------------------------------------- */

static int find_makers(const struct known_symbols *known, struct addresses *makers)
{
	int err = 0;

	for (uint32_t i = 0; i < known->n && !err; i++) {
		const struct known_symbol *k = &known->items[i];

		if (k->info.part == NAME_PART_ENTRY && k->info.kind >= NAME_COLD_PROVIDER &&
		    k->info.kind <= NAME_COLD_HASHING)
			err = add(makers, k->sym->addr);
	}
	return err;
}

int recovered_guards__find(struct elf_image *img, const struct known_symbols *known,
			   struct recovered *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	struct search s = {.img = img};
	int err = find_makers(known, &s.makers) ?: code_decoder__new(img, &decoder);

	s.decoder = decoder;
	err = err ?: find_passed(&s) ?: find_clocks(&s) ?: name_drops(&s, out);
	code__free(&s.code);
	free(s.makers.items);
	free(s.passed.items);
	free(s.clocks.items);
	return err == -ENODATA ? 0 : err;
}
