// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/code/opcode.h"
#include "plan/code/sum.h"
#include "plan/mine/owners.h"
#include "plan/code/eval.h"

/* Cold sides that are looked at: looking takes time, and names are untrusted. */
#define SIDES_MAX    256
#define PRINTERS_MAX 8
/* Bytes of an expansion. */
#define EXPANSION_MAX 4096

#define LOOK_UP                                                                               \
	"_RINvMs_C10scoped_tlsINtB2_9ScopedKeyNtC10rustc_span14SessionGlobalsE4withNCINvMs8_" \
	"NtC10rustc_span7hygieneNtB3_11HygieneData4withNtB3_8ExpnDataNCNvMs6_B3_NtB3_"        \
	"11LocalExpnId"                                                                       \
	"9expn_data0E0E"
#define DESCRIBE "_RNvMs4_NtC12rustc_expand4baseNtB2_7ExtCtxt15expansion_descr"
#define RECORD_SPAN                                                                               \
	"_RINvXNtC10rustc_span9profilingNtNtC21rustc_data_structures9profiling16EventArgRecorder" \
	"NtB2_23SpannedEventArgRecorder20record_arg_with_spanNtNtC5alloc6string6StringE"

#define PRINT_NUMBER "_RNvMsk_NtNtNtC4core3fmt3num3impj10__fmt_inner"

struct search {
	struct elf_image *img;
	struct callees callees;
	struct recovered *out;
	uint64_t printers[PRINTERS_MAX]; /* functions whose second argument after self is a span */
	uint32_t n_printers;
};

static int run(const struct search *s, uint64_t entry, struct eval **out)
{
	_owners_ struct owners owners = {0};
	struct eval_function f = {.img = s->img, .entry = entry, .fills = true};
	int err = owners__find(s->img, &entry, 1, &owners);

	if (err)
		return err;
	/* A function without a known part is not run. */
	f.regions = owners.n ? owners.items[0].regions : NULL;
	f.n_regions = owners.n ? owners.items[0].n_regions : 0;
	return eval__run(&f, out);
}

/* Give the function this name, once: several cold sides may lead to it. */
static int name(struct search *s, uint64_t function, const char *text)
{
	for (uint32_t i = 0; i < s->out->n; i++)
		if (s->out->items[i].addr == function &&
		    !strcmp(s->out->text + s->out->items[i].at, text))
			return 0;
	return recovered__add(s->out, function, text);
}

static bool is_argument(const struct eval *e, const struct sum *a, uint8_t reg)
{
	uint64_t more;

	return sum_is_argument(&e->nodes, a, reg, &more) && !more;
}

static bool ends_with(const char *name, const char *end)
{
	const char *at = strstr(name, end);

	return at && !at[strlen(end)];
}

/* ---- Functions that print -------------------------------------------------------------------- */

/* A function that this one calls with the same span prints spans, too. */
static int add_printer(struct search *s, uint64_t function)
{
	_free_ struct eval *e = NULL;
	int err = run(s, function, &e);

	if (s->n_printers < PRINTERS_MAX)
		s->printers[s->n_printers++] = function;
	for (uint32_t i = 0; !err && i < e->n_calls && s->n_printers < PRINTERS_MAX; i++)
		if (e->calls[i].target && is_argument(e, &e->calls[i].second, WIRE_REG_SI) &&
		    is_argument(e, &e->calls[i].third, WIRE_REG_DX))
			s->printers[s->n_printers++] = e->calls[i].target;
	return err;
}

/* <usize as Display>::fmt passes on the number that its argument leads to. */
static int name_number(struct search *s, uint64_t function)
{
	_free_ struct eval *e = NULL;
	int err = run(s, function, &e);

	for (uint32_t i = 0; !err && i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];
		uint64_t at;

		if (call->target && sum_is_field(&e->nodes, &call->first, WIRE_REG_DI, 8, &at) &&
		    !at && !callees__at(&s->callees, call->target))
			err = name(s, call->target, PRINT_NUMBER);
	}
	return err;
}

static int find_printers(struct search *s)
{
	const struct elf_symbol *syms;
	size_t n;
	int err = elf_image__symbols(s->img, &syms, &n);

	for (size_t i = 0; i < n && !err; i++) {
		const char *symbol = syms[i].name;

		if (ends_with(symbol, "9SourceMap14span_to_string") ||
		    ends_with(symbol, "9SourceMap25span_to_embeddable_string"))
			err = add_printer(s, syms[i].addr);
		else if (strstr(symbol, "4core3fmt3num3impjNtB") &&
			 ends_with(symbol, "_7Display3fmt"))
			err = name_number(s, syms[i].addr);
	}
	return err;
}

/* This function records a text, and a place, which is its fourth argument. */
static int name_recorder(struct search *s, uint64_t function)
{
	_free_ struct eval *e = NULL;
	int err = run(s, function, &e);

	for (uint32_t i = 0; !err && i < e->n_calls; i++)
		if (is_argument(e, &e->calls[i].second, WIRE_REG_SI) &&
		    is_argument(e, &e->calls[i].third, WIRE_REG_CX) &&
		    array__has_u64(s->printers, s->n_printers, e->calls[i].target))
			return name(s, function, RECORD_SPAN);
	return err;
}

/* ---- Functions that describe an expansion ---------------------------------------------------- */

/* The call that fills in an expansion which a later call, *by, describes; NULL: there is none. */
static const struct eval_call *find_look_up(const struct search *s, const struct eval *e,
					    const struct eval_call **by)
{
	for (uint32_t i = 0; i < e->n_calls; i++) {
		*by = &e->calls[i];
		if (callees__at(&s->callees, (*by)->target) != CALLEE_EXPANSION_KIND)
			continue;
		for (uint32_t k = i; k-- > 0;) {
			struct sum distance =
				sum_add((*by)->second, sum_scale(e->calls[k].first, -1ull));

			if (sum_is_constant(&distance) && distance.constant &&
			    distance.constant < EXPANSION_MAX && e->calls[k].target)
				return &e->calls[k];
		}
	}
	return NULL;
}

/* This function writes a description of its second argument to its first. */
static int name_describer(struct search *s, uint64_t function)
{
	const struct eval_call *look_up, *by;
	_free_ struct eval *e = NULL;
	int err = run(s, function, &e);

	look_up = err ? NULL : find_look_up(s, e, &by);
	if (!look_up || !is_argument(e, &by->first, WIRE_REG_DI))
		return err;
	return name(s, look_up->target, LOOK_UP) ?: name(s, function, DESCRIBE);
}

/* ---------------------------------------------------------------------------------------------- */

/* A value that cold_call was given, or reads through it. */
static bool is_captured(const struct eval *e, const struct sum *a)
{
	struct wire_place place;

	return place_of(&e->nodes, a, &place) && place.n && place.reg == WIRE_REG_CX;
}

static bool is_loaded(const struct eval *e, const struct sum *a)
{
	uint64_t more;
	const struct sum_node *node = sum_node_of(&e->nodes, a, &more);

	return node && !more && node->kind == SUM_LOAD && node->size == 8;
}

static int look_at(struct search *s, uint64_t cold)
{
	const struct eval_call *look_up, *by;
	_free_ struct eval *e = NULL;
	int err = run(s, cold, &e);

	look_up = err ? NULL : find_look_up(s, e, &by);
	if (look_up)
		err = name(s, look_up->target, LOOK_UP);
	for (uint32_t i = 0; !err && i < e->n_calls; i++) {
		const struct eval_call *call = &e->calls[i];

		if (!call->target || callees__at(&s->callees, call->target))
			continue;
		if (is_loaded(e, &call->fourth))
			err = name_recorder(s, call->target);
		if (!err && is_captured(e, &call->second))
			err = name_describer(s, call->target);
	}
	return err;
}

int arguments__recover(struct elf_image *img, struct recovered *out)
{
	struct search s = {.img = img, .out = out};
	int err = callees__find(img, &s.callees) ?: find_printers(&s);
	uint32_t looked = 0;

	for (uint32_t i = 0; i < s.callees.n && looked < SIDES_MAX && !err; i++) {
		if (s.callees.functions[i].kind != CALLEE_COLD_WITH_ARGUMENT)
			continue;
		looked++;
		err = look_at(&s, s.callees.functions[i].addr);
	}
	callees__destroy(&s.callees);
	return err == -ENODATA ? 0 : err;
}

/* ---- Readers --------------------------------------------------------------------------------- */

/*
 * Functions are run whose first bytes look like these:
 *
 *	drop of OnceLock<GlobalCtxt>	mov  STATE(%rdi), %eax		far within the argument,
 *					test %eax, %eax			behind all of its parts
 *					(before 1.86: cmp $3, %eax)
 *	Span::data_untracked		shr  $32, %rax			of a span, the length
 *					shr  $48, %r12			and its context
 */

/* Bytes that are compared at the start of a function. */
#define HEAD 48
/* Functions of a kind that are run, and that get a name. */
#define RUNS_MAX  1024
#define FOUND_MAX 8
/* Smaller things are not the compiler's context. */
#define FAR	   0x10000
#define OFFSET_MAX (1u << 24)
/* States of a OnceLock: one of them is compared with. */
#define STATES 8
/* Parts that the drop of a context reads, or passes to other functions, at least. */
#define PARTS_MIN 8
/* A span whose length and context are as they are in its bits. */
#define POSITION 0x01020304ull
#define LENGTH	 0x0123ull
#define CONTEXT	 0x0045ull

struct reader {
	const char *name;
	uint32_t steps;
	bool single; /* several are none */
	uint64_t second;
	bool (*looks)(const uint8_t *head, size_t len);
	bool (*is)(const struct eval *e);
};

/* ---- The drop of the context ----------------------------------------------------------------- */

/* mov disp32(%rdi), reg */
static bool looks_like_drop(const uint8_t *head, size_t len)
{
	for (size_t i = 0; i + 6 <= len; i++) {
		const uint8_t *p = head + i;
		uint32_t disp;

		if (p[0] != 0x8b || (p[1] & 0xc7) != 0x87)
			continue;
		disp = opcode_u32(p + 2);
		if (disp >= FAR && disp < OFFSET_MAX)
			return true;
	}
	return false;
}

static bool find_state(const struct eval *e, uint64_t *state)
{
	for (uint32_t i = 0; i < e->compares.n; i++) {
		const struct eval_pair *c = &e->compares.items[i];

		if (sum_is_constant(&c->b) && c->b.constant < STATES &&
		    sum_is_field(&e->nodes, &c->a, WIRE_REG_DI, 4, state))
			return *state >= FAR;
	}
	return false;
}

/* True if part `at` is in front of the state; counts it once. */
static bool add_part(uint64_t parts[PARTS_MIN], uint32_t *n, uint64_t at, uint64_t state)
{
	if (*n < PARTS_MIN && at != state && !array__has_u64(parts, *n, at))
		parts[(*n)++] = at;
	return at <= state;
}

/* The state is behind all that it reads and passes on, which are parts of its argument. */
static bool is_drop(const struct eval *e)
{
	uint64_t state, at, parts[PARTS_MIN];
	uint32_t n = 0;

	if (!find_state(e, &state))
		return false;
	for (uint32_t i = 0; i < e->nodes.n; i++)
		if (e->nodes.items[i].kind == SUM_LOAD &&
		    sum_is_argument(&e->nodes, &e->nodes.items[i].of, WIRE_REG_DI, &at) &&
		    !add_part(parts, &n, at, state))
			return false;
	for (uint32_t i = 0; i < e->n_calls; i++)
		if (sum_is_argument(&e->nodes, &e->calls[i].first, WIRE_REG_DI, &at) &&
		    !add_part(parts, &n, at, state))
			return false;
	return n == PARTS_MIN;
}

/* ---- Span::data_untracked -------------------------------------------------------------------- */

static bool shifts(const uint8_t *head, size_t len, uint8_t by)
{
	for (size_t i = 0; i + 3 <= len; i++)
		if (head[i] == 0xc1 && (head[i + 1] & 0xf8) == 0xe8 && head[i + 2] == by)
			return true;
	return false;
}

static bool looks_like_span_data(const uint8_t *head, size_t len)
{
	return shifts(head, len, 32) && shifts(head, len, 48);
}

/* `value` is stored once: *at bytes within what the function fills in. */
static bool stores(const struct eval *e, uint64_t value, uint64_t *at)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->stores.n; i++)
		n += sum_is_constant(&e->stores.items[i].b) &&
		     e->stores.items[i].b.constant == value &&
		     sum_is_argument(&e->nodes, &e->stores.items[i].a, WIRE_REG_DI, at);
	return n == 1;
}

static bool is_span_data(const struct eval *e)
{
	uint64_t start, end, context;

	return stores(e, POSITION, &start) && stores(e, POSITION + LENGTH, &end) &&
	       stores(e, CONTEXT, &context) && start != end && start != context && end != context;
}

/* ---------------------------------------------------------------------------------------------- */

static const struct reader readers[] = {
	{
		.name = "_RINvNtC4core3ptr13drop_in_placeINtNtNtC3std4sync9once_lock8OnceLock"
			"NtNtNtC12rustc_middle2ty7context10GlobalCtxtEEB0_",
		.steps = 4096,
		.single = true,
		.looks = looks_like_drop,
		.is = is_drop,
	},
	{
		.name = "_RNvMNtC10rustc_span13span_encodingNtB0_4Span14data_untracked",
		.steps = 256,
		.second = CONTEXT << 48 | LENGTH << 32 | POSITION,
		.looks = looks_like_span_data,
		.is = is_span_data,
	},
};

struct addresses {
	uint64_t items[RUNS_MAX];
	uint32_t n;
	bool more; /* than there is room for */
};

static void find_likely(const struct elf_image *img, const struct bounds *bounds,
			const struct reader *r, struct addresses *out)
{
	for (uint32_t i = 0; i < bounds->n && !out->more; i++) {
		const struct bound *b = &bounds->items[i];
		size_t len;
		const uint8_t *head = elf_image__code(img, b->addr, &len);

		if (!head || b->of != i)
			continue;
		if (len > b->size)
			len = b->size;
		if (!r->looks(head, len < HEAD ? len : HEAD))
			continue;
		out->more = out->n == RUNS_MAX;
		if (!out->more)
			out->items[out->n++] = b->addr;
	}
}

static int find(struct elf_image *img, const struct bounds *bounds, const struct reader *r,
		struct recovered *out)
{
	struct addresses likely = {.n = 0};
	_owners_ struct owners owners = {0};
	uint64_t found[FOUND_MAX];
	uint32_t n = 0;
	int err;

	find_likely(img, bounds, r, &likely);
	/* One that was not run may be the right one. */
	if (r->single && likely.more)
		return 0;
	err = owners__find(img, likely.items, likely.n, &owners);
	for (size_t i = 0; i < owners.n && n < FOUND_MAX && !err; i++) {
		const struct owner *o = &owners.items[i];
		const struct eval_function f = {
			.img = img,
			EVAL_OF(o),
			.steps = r->steps,
			.has_second = r->second,
			.second = r->second,
		};
		_free_ struct eval *e = NULL;

		err = eval__run(&f, &e);
		if (!err && r->is(e))
			found[n++] = o->entry;
	}
	if (r->single && n > 1)
		return err;
	for (uint32_t i = 0; i < n && !err; i++)
		err = recovered__add(out, found[i], r->name);
	return err;
}

int readers__recover(struct elf_image *img, const struct bounds *bounds, struct recovered *out)
{
	int err = 0;

	for (size_t i = 0; i < N_OF(readers) && !err; i++)
		err = find(img, bounds, &readers[i], out);
	return err == -ENODATA ? 0 : err;
}
