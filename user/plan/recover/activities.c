// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/activities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/eval.h"
#include "plan/code/sum.h"
#include "plan/mine/owners.h"
#include "plan/recover/recovered.h"
#include "plan/symbols/names.h"
#include "plan/code/scan.h"
#include "plan/code/flow.h"
#include "plan/code/walk.h"
#include "plan/symbols/function_name.h"

/* Cold sides that are looked at: looking takes time, and code is untrusted. */
#define SIDES_MAX 256
/* A part of the name of the function that gives a text a number. */
#define INTERN "26get_or_alloc_cached_string"

/* Through the third argument: what the closure has captured, or the label itself. */
static bool is_captured(const struct eval *e, const struct sum *a, struct wire_place *place)
{
	return place_of(&e->nodes, a, place) && place->n && place->reg == WIRE_REG_DX;
}

/* The address and the length of one text. */
static bool is_text(const struct eval *e, const struct eval_call *call)
{
	struct wire_place at, length;

	if (!is_captured(e, &call->second, &at) || !is_captured(e, &call->third, &length) ||
	    at.n != length.n || at.at[at.n - 1] + 8 != length.at[at.n - 1])
		return false;
	return at.n == 1 || !memcmp(at.at, length.at, (at.n - 1UL) * sizeof(at.at[0]));
}

/* Functions of which no name is known: those that are known make other events, too. */
static bool is_unnamed(const struct owner *o)
{
	return !strncmp(o->name, "fn_", 3);
}

/*
 * Name a cold side that gives a text a number, and the function by which it does that: it is given
 * the first text. Several cold sides call one function: one name is enough.
 */
static int look_at(struct elf_image *img, const struct owner *o, size_t number,
		   struct recovered *out)
{
	const struct eval_function f = {
		.img = img,
		EVAL_OF(o),
		.fills = true,
	};
	_free_ struct eval *e = NULL;
	uint64_t intern = 0;
	int err = eval__run(&f, &e);

	for (uint32_t i = 0; !err && i < e->n_calls && !intern; i++)
		if (e->calls[i].target && is_text(e, &e->calls[i]))
			intern = e->calls[i].target;
	if (err || !intern)
		return err;
	if (is_unnamed(o))
		err = recovered__addf(
			out, o->entry,
			"_RINvNvMNtC21rustc_data_structures9profilingNtB2_15SelfProfilerRef4exec"
			"9cold_callNCINvB2_34generic_activity_with_arg_recorder0E0EB2_.llvm.%zu",
			number);
	for (uint32_t i = 0; i < out->n && !err; i++)
		if (out->items[i].addr == intern && strstr(out->text + out->items[i].at, INTERN))
			return 0;
	return err
		       ?: recovered__addf(out, intern,
					  "_RINvMs0_NtC21rustc_data_structures9profilingNtB2_"
					  "12SelfProfiler" INTERN "ReEB2_.llvm.%zu",
					  number);
}

/* Those of the function with this part of a name; none without such a function. */
static int callers_of(struct elf_image *img, const char *part, struct owners *out)
{
	uint64_t function = dynsym__function(img, part);

	return function ? callers__find(img, &function, 1, out) : 0;
}

int activities__recover(struct elf_image *img, struct recovered *out, const char **problem)
{
	_owners_ struct owners owners = {0};
	int err = callers_of(img, DYNSYM_THREAD_NUMBER, &owners);
	size_t looked = 0;

	for (size_t i = 0; i < owners.n && !err && !*problem; i++) {
		struct name_info info;

		name_classify(owners.items[i].name, &info);
		if (!is_unnamed(&owners.items[i]) && info.kind != NAME_COLD_ACTIVITY)
			continue;
		if (looked++ == SIDES_MAX)
			*problem = "more functions ask for the number of their thread than can be "
				   "looked at";
		else
			err = look_at(img, &owners.items[i], i, out);
	}
	return err;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Some compilers export bodies: that name shows more. */
static bool has_name(const struct known_symbols *known, uint64_t entry)
{
	for (uint32_t i = 0; i < known->n; i++)
		if (known->items[i].sym->addr == entry &&
		    (known->items[i].info.kind == NAME_BODY_NON_INCR ||
		     known->items[i].info.kind == NAME_BODY_INCR))
			return true;
	return false;
}

int bodies__recover(struct elf_image *img, const struct known_symbols *known, struct recovered *out)
{
	_owners_ struct owners owners = {0};
	int err = callers__of_cold(img, known, NAME_COLD_PROVIDER, NAME_COLD_PROVIDER, &owners);

	/* The number tells them apart, as the types do in the names that the compiler gives. */
	for (size_t i = 0; i < owners.n && !err; i++)
		if (!has_name(known, owners.items[i].entry))
			err = recovered__addf(
				out, owners.items[i].entry,
				"_RNvNtC16rustc_query_impl9execution17try_execute_query.%zu", i);
	return err == -ENODATA ? 0 : err;
}

/* ---- Timers ---------------------------------------------------------------------------------- */

/* Functions that print times and are looked at: looking takes time, and code is untrusted. */
#define PRINT_MAX 256
/* A part of the name of the function that prints a time. */
#define PRINTER "9profiling23print_time_passes_entry"

struct droppers {
	uint64_t addrs[PRINT_MAX];
	bool called[PRINT_MAX];
	uint32_t n;
};

/* 1, 0, or -ENOMEM. */
static int drops(struct elf_image *img, const struct owner *o, uint64_t printer)
{
	const struct eval_function f = {
		.img = img,
		EVAL_OF(o),
	};
	_free_ struct eval *e = NULL;
	int err = eval__run(&f, &e);

	for (uint32_t i = 0; !err && i < e->n_calls; i++) {
		struct wire_place place;

		/* It prints a part of what its first argument leads to. */
		if (e->calls[i].target == printer &&
		    place_of(&e->nodes, &e->calls[i].first, &place) && place.n == 1 &&
		    place.reg == WIRE_REG_DI)
			return 1;
	}
	return err;
}

static int note_call(void *arg, uint64_t addr, uint64_t to)
{
	struct droppers *d = arg;

	(void)addr;
	for (uint32_t i = 0; i < d->n; i++)
		d->called[i] = d->called[i] || d->addrs[i] == to;
	return 0;
}

static int find_droppers(struct elf_image *img, struct droppers *d, const char **problem)
{
	_owners_ struct owners owners = {0};
	uint64_t printer = dynsym__function(img, PRINTER);
	int err = callers_of(img, PRINTER, &owners);

	if (owners.n > PRINT_MAX) {
		*problem = "more functions print the time of a pass than can be looked at";
		return err;
	}
	for (size_t i = 0; i < owners.n && err >= 0; i++) {
		err = drops(img, &owners.items[i], printer);
		if (err > 0)
			d->addrs[d->n++] = owners.items[i].entry;
	}
	return err < 0 ? err : 0;
}

int timers__recover(struct elf_image *img, struct recovered *out, const char **problem)
{
	struct droppers d = {.n = 0};
	struct code_range range = {UINT64_MAX, 0};
	int err = find_droppers(img, &d, problem);

	for (uint32_t i = 0; i < d.n; i++) {
		range.first = d.addrs[i] < range.first ? d.addrs[i] : range.first;
		range.last = d.addrs[i] > range.last ? d.addrs[i] : range.last;
	}
	if (!err && d.n)
		err = code_scan__calls(img, range, note_call, &d);
	for (uint32_t i = 0; i < d.n && !err; i++)
		if (d.called[i])
			err = recovered__addf(
				out, d.addrs[i],
				"_RINvNtC4core3ptr13drop_in_placeNtNtC21rustc_data_structures"
				"9profiling18VerboseTimingGuardEB0_.%u",
				i);
	return err;
}

/* ---- Guards ---------------------------------------------------------------------------------- */

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

static int add_address(struct addresses *a, uint64_t addr)
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
static bool passes_slot(const struct fixpoint *flow, size_t i, uint64_t *at)
{
	struct flow_state s;

	flow__at(flow, i, &s);
	*at = (uint64_t)s.regs[WIRE_REG_DI].value;
	return s.reached && s.regs[WIRE_REG_DI].kind == FLOW_STACK;
}

/* Find where the function has its guards, and which functions it passes their addresses to. */
static int look_at_maker(struct search *s, const struct owner *f)
{
	_fixpoint_ struct fixpoint *flow = NULL;
	const struct code *code = &s->code;
	uint64_t slots[SLOTS_MAX], at; /* bytes above sp at the entry */
	size_t n = 0;
	struct walk w;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&w, s->img, code, f->entry)
		      ?: flow__new(&w, f->entry, is_direct_call, s, &flow);
	for (size_t i = 0; i < code->n && n < SLOTS_MAX && !err; i++)
		n += makes(s, &code->insns[i]) && passes_slot(flow, i, &slots[n]);
	for (size_t i = 0; i < code->n && n && !err; i++)
		if (code->insns[i].flow == CODE_CALL && !makes(s, &code->insns[i]) &&
		    passes_slot(flow, i, &at) && array__has_u64(slots, n, at))
			err = add_address(&s->passed, code->insns[i].target);
	walk__fini(&w);
	return err;
}

/* ---- Those that drop it ---------------------------------------------------------------------- */

static int find_clocks(struct search *s)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__symbols(s->img, &syms, &n);

	for (size_t i = 0; i < n && !err; i++) {
		const char *name = syms[i].name;

		if (!strstr(name, ".cold") && (strstr(name, "3std4timeNtB2_7Instant7elapsed") ||
					       strstr(name, "_ZN3std4time7Instant7elapsed")))
			err = add_address(&s->clocks, syms[i].addr);
	}
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

static bool guards_drops(const struct search *s, const struct owner *f)
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
	int err = owners__find(s->img, s->passed.items, s->passed.n, &owners);

	for (size_t i = 0; i < owners.n && !err; i++) {
		const struct owner *f = &owners.items[i];

		if (!array__has_u64(s->passed.items, s->passed.n, f->entry))
			continue;
		err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);
		if (err == -EFAULT)
			err = 0;
		else if (!err && guards_drops(s, f))
			err = recovered__addf(
				out, f->entry,
				"_RINvNtC4core3ptr13drop_in_placeNtNtC21rustc_data_structures"
				"9profiling11TimingGuardEB0_.%zu",
				i);
	}
	return err;
}

/* ---------------------------------------------------------------------------------------------- */

int recovered_guards__find(struct elf_image *img, const struct known_symbols *known,
			   struct recovered *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	_owners_ struct owners owners = {0};
	struct search s = {.img = img};
	int err = code_decoder__new(img, &decoder);

	s.decoder = decoder;
	for (uint32_t i = 0; i < known->n && !err; i++) {
		const struct known_symbol *k = &known->items[i];

		if (k->info.part == NAME_PART_ENTRY && k->info.kind >= NAME_COLD_PROVIDER &&
		    k->info.kind <= NAME_COLD_HASHING)
			err = add_address(&s.makers, k->sym->addr);
	}
	err = err ?: callers__find(img, s.makers.items, s.makers.n, &owners);
	for (size_t i = 0; i < owners.n && !err; i++)
		err = look_at_maker(&s, &owners.items[i]);
	err = err ?: find_clocks(&s) ?: name_drops(&s, out);
	code__free(&s.code);
	free(s.makers.items);
	free(s.passed.items);
	free(s.clocks.items);
	return err == -ENODATA ? 0 : err;
}

/* ---- Kinds of cold sides --------------------------------------------------------------------- */

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

/* The bits that the callers of a function test, which may be a cold side. */
struct side {
	uint32_t filter;
	bool several;
};

struct cold_kinds_search {
	struct elf_image *img;
	struct code_decoder *decoder;
	struct code code;
	uint64_t entries[SIDES_MAX];
	struct side sides[SIDES_MAX]; /* of these */
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

static struct side *side_at(struct cold_kinds_search *s, uint64_t entry)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->entries[i] == entry)
			return &s->sides[i];
	return NULL;
}

/* Note the tests of the filter that lead to calls of possible cold sides. */
static int look_into(struct cold_kinds_search *s, const struct owner *f)
{
	struct walk_guard guards[WAYS_MAX];
	struct walk w;
	int err = code_decoder__decode(s->decoder, f->regions, f->n_regions, &s->code);

	if (err)
		return err == -EFAULT ? 0 : err;
	err = walk__init(&w, s->img, &s->code, f->entry);
	for (size_t i = 0; i < s->code.n && !err; i++) {
		uint64_t callee = w.live[i] ? profiler__callee(&s->code.insns[i]) : 0;
		struct side *side = callee ? side_at(s, callee) : NULL;
		size_t n = side ? walk__guards(&w, i, guards, WAYS_MAX) : 0;

		for (size_t k = 0; k < n; k++) {
			const struct code_insn *test = walk__mask_test(&s->code, guards[k].mask);
			uint32_t filter;

			if (!test)
				continue;
			/* The filter is 16 bits wide and aligned. */
			filter = test->imm
				 << (test->shape == CODE_TEST_MASK && test->disp & 1 ? 8 : 0);
			side->several = side->several || (side->filter && side->filter != filter);
			side->filter = filter;
		}
	}
	walk__fini(&w);
	return err;
}

static int name_side(const struct cold_kinds_search *s, uint32_t i, struct recovered *out)
{
	for (size_t k = 0; k < N_OF(kinds); k++)
		if (kinds[k].filter == s->sides[i].filter)
			return recovered__addf(
				out, s->entries[i],
				"_RINvNvMNtC21rustc_data_structures9profilingNtB2_15SelfProfilerRef"
				"4exec9cold_callNCNvB2_%s0EB2_.llvm.%u",
				kinds[k].method, i);
	return 0;
}

int cold_kinds__recover(struct elf_image *img, bool activities, struct recovered *out)
{
	_code_decoder_ struct code_decoder *decoder = NULL;
	_free_ struct cold_kinds_search *s = calloc(1, sizeof(*s));
	_owners_ struct owners sides = {0}, callers = {0};
	int err = s ? code_decoder__new(img, &decoder) : -ENOMEM;

	if (err)
		return err;
	s->img = img;
	s->decoder = decoder;
	err = callers_of(img, DYNSYM_THREAD_NUMBER, &sides);
	for (size_t i = 0; i < sides.n && s->n < SIDES_MAX && !err; i++)
		if (is_unnamed(&sides.items[i]))
			s->entries[s->n++] = sides.items[i].entry;
	err = err ?: callers__find(img, s->entries, s->n, &callers);
	for (size_t i = 0; i < callers.n && !err; i++)
		err = look_into(s, &callers.items[i]);
	for (uint32_t i = 0; i < s->n && !err; i++)
		if (!s->sides[i].several && activities == (s->sides[i].filter == ACTIVITY))
			err = name_side(s, i, out);
	code__free(&s->code);
	return err;
}
