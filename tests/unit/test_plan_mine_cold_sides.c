// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/cold_sides.h"
#include "plan/mine/expansions.h"
#include "plan/mine/owners.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"
#include "../fixtures/session_globals.h"

/* The assembled tests/fixtures/cold_sides.s, as rustup's compilers and as Debian's. */
static struct elf_image *keyed;
static struct cold_sides sides, keyed_sides;
static struct callees callees, keyed_callees;

/* What is in each of them. */
static struct hygiene hygiene = {
	.self = 0xe8,
	.expansions = 0xf0,
	.n_expansions = 0xf8,
	.expansion_size = 80,
	.call = 0x20,
	.contexts = 0x120,
	.n_contexts = 0x128,
	.context_size = 28,
	.number = 4,
};

static int setup(void **state)
{
	if (image_setup(state) || image_of(fixture("cold_sides_keyed.so"), &keyed))
		return -1;
	hygiene.globals = globals_of(img);
	return cold_sides__find(img, globals_of(img), &sides)
		       ?: cold_sides__find(keyed, globals_of(keyed), &keyed_sides)
		       ?: callees__find(img, &callees)
		       ?: callees__find(keyed, &keyed_callees);
}

static int teardown(void **state)
{
	cold_sides__destroy(&sides);
	cold_sides__destroy(&keyed_sides);
	callees__destroy(&callees);
	callees__destroy(&keyed_callees);
	elf_image__free(keyed);
	return image_teardown(state);
}

/* "reg size(at, ...)", or "" for no place. */
static void print_place(const struct wire_place *p, char text[64])
{
	size_t len =
		(size_t)snprintf(text, 64, "%s %u(",
				 p->reg == WIRE_PLACE_SP ? "sp" : plan_reg_name(p->reg), p->size);

	for (uint8_t i = 0; i < p->n; i++)
		len += (size_t)snprintf(text + len, 64 - len, "%s%d", i ? ", " : "", p->at[i]);
	snprintf(text + len, 64 - len, ")");
}

/* Where a text or an item, and its length or a number, come from. */
struct source_row {
	const char *name;
	uint8_t text, value;
	const char *string, *second; /* NULL: not asked for */
};

static void assert_source(const struct wire_source *s, const struct source_row *row)
{
	char text[64];

	row_equal(row->name, s->text, row->text);
	row_equal(row->name, s->value, row->value);
	print_place(&s->string, text);
	if (row->string)
		row_text(row->name, text, row->string);
	print_place(row->value == WIRE_VALUE_NONE ? &s->length : &s->number, text);
	if (row->second)
		row_text(row->name, text, row->second);
}

TEST_CASE(a_cold_side_shows_what_it_prints)
{
	static const struct {
		bool keyed;
		struct source_row row;
	} rows[] = {
#define BOTH(...) {false, __VA_ARGS__}, {true, __VA_ARGS__}
		/* A text is what is interned after the label. */
		{false,
		 {"cold_string", WIRE_ARGUMENT_STRING, WIRE_VALUE_NONE, "rdx 8(8)", "rdx 8(16)"}},
		/* A symbol and a number are what is printed. */
		BOTH({"cold_unit", WIRE_ARGUMENT_SYMBOL, WIRE_VALUE_NUMBER, "rcx 4(0, 0)",
		      "rcx 8(8, 56)"}),
		/* An expansion is what is described; it may be passed in other ways. */
		{false,
		 {"cold_macro", WIRE_ARGUMENT_EXPANSION, WIRE_VALUE_SPAN, "rcx 4(0, 204)",
		  "rcx 8(8, 0)"}},
		{true,
		 {"cold_macro", WIRE_ARGUMENT_EXPANSION, WIRE_VALUE_SPAN, "rcx 4(0, 204)", NULL}},
		/* One that is looked up has the place of its call, which is a part of it. */
		BOTH({"cold_derive", WIRE_ARGUMENT_EXPANSION, WIRE_VALUE_CALL, "rcx 4(0, 0)",
		      NULL}),
		/* A string in quotes is what is formatted. */
		BOTH({"cold_quoted", WIRE_ARGUMENT_C_STRING, WIRE_VALUE_NONE, "rcx 8(0, 0)",
		      "rcx 8(0, 8)"}),
		{false, {"cold_other", WIRE_ARGUMENT_NONE, WIRE_VALUE_NONE, NULL, NULL}},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const char *name = rows[i].row.name;
		const struct cold_side *side =
			rows[i].keyed ? cold_sides__at(&keyed_sides, symbol(keyed, name)->addr)
				      : cold_sides__at(&sides, symbol(img, name)->addr);

		assert_non_null(side);
		assert_source(&side->source, &rows[i].row);
	}
	assert_null(cold_sides__at(&sides, symbol(img, "cold_plain")->addr));
	assert_null(cold_sides__at(&sides, symbol(img, "outside")->addr));
}

/* The kind of an expansion lies where it is passed on. */
TEST_CASE(what_expansions_are_is_found_with_the_globals)
{
	struct cold_sides none;

	assert_null(sides.problem);
	assert_null(sides.calls_problem);
	assert_null(keyed_sides.problem);
	assert_pairs(sides.expansions.kind, 0x18, sides.expansions.call, 0x20, sides.calls.contexts,
		     0x120, sides.calls.kind, 0x18, keyed_sides.expansions.kind, 0x18);
	assert_memory_equal(&keyed_sides.calls, &sides.calls, sizeof(sides.calls));
	assert_int_equal(cold_sides__find(img, 0, &none), 0);
	assert_string_equal(none.problem, "where the session's globals are is unknown");
	assert_string_equal(none.calls_problem, none.problem);
	assert_pairs(none.expansions.size, 0, none.calls.context_size, 0);
	cold_sides__destroy(&none);
}

/* ---- Arguments of guards --------------------------------------------------------------------- */

/* At the branch to the cold side from a function. */
TEST_CASE(an_argument_is_where_it_is_sure_at_the_branch)
{
	static const struct source_row rows[] = {
		/* What was captured before the branch is on the stack. */
		{"kept", WIRE_ARGUMENT_STRING, WIRE_VALUE_NONE, "sp 8(56)", "sp 8(64)"},
		/* What is captured behind it is where it comes from. */
		{"moved", WIRE_ARGUMENT_STRING, WIRE_VALUE_NONE, "rbx 8()", "rbp 8(24, 32)"},
		/* Ways must agree. */
		{"joined", WIRE_ARGUMENT_STRING, WIRE_VALUE_NONE, NULL, NULL},
		{"split", WIRE_ARGUMENT_NONE, WIRE_VALUE_NONE, NULL, NULL},
		/* It may have changed, or is at no place. */
		{"changed", WIRE_ARGUMENT_NONE, WIRE_VALUE_NONE, NULL, NULL},
		{"written", WIRE_ARGUMENT_NONE, WIRE_VALUE_NONE, NULL, NULL},
		{"constant", WIRE_ARGUMENT_NONE, WIRE_VALUE_NONE, NULL, NULL},
		{"never", WIRE_ARGUMENT_NONE, WIRE_VALUE_NONE, NULL, NULL},
	};
	const struct cold_side *side = cold_sides__at(&sides, symbol(img, "cold_string")->addr);

	assert_non_null(side);
	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct elf_symbol *sym = symbol(img, rows[i].name);
		const struct code_region region = {sym->addr, sym->size};
		struct wire_source source = {0};
		struct eval_function f = {
			.img = img, .entry = sym->addr, .regions = &region, .n_regions = 1};
		char call[64];

		snprintf(call, sizeof(call), "%s.call", rows[i].name);
		f.until = symbol(img, call)->addr;
		assert_int_equal(guard_argument(&f, side, 0x1234, &source), 0);
		assert_source(&source, &rows[i]);
		if (!i)
			assert_int_equal(source.site, 0x1234);
	}
}

/* ---- Hygiene --------------------------------------------------------------------------------- */

TEST_CASE(tables_are_found)
{
	const struct {
		struct elf_image *img;
		const struct callees *callees;
	} rows[] = {{img, &callees}, {keyed, &keyed_callees}};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct hygiene h = {0}, expected = hygiene;
		const char *problem;

		expected.globals = globals_of(rows[i].img);
		assert_int_equal(
			hygiene__find(rows[i].img, rows[i].callees, expected.globals, &h, &problem),
			0);
		assert_null(problem);
		assert_memory_equal(&h, &expected, sizeof(h));
	}
}

/* The functions of one kind are of another, and of that kind is another function, or none. */
static struct callees with(enum callee kind, enum callee as, const char *instead)
{
	struct callees c = {.n = callees.n};

	c.functions = calloc(c.n, sizeof(*c.functions));
	assert_non_null(c.functions);
	memcpy(c.functions, callees.functions, c.n * sizeof(*c.functions));
	for (uint32_t i = 0; i < c.n; i++)
		if (c.functions[i].kind == kind)
			c.functions[i].kind = as;
		else if (instead && c.functions[i].addr == symbol(img, instead)->addr)
			c.functions[i].kind = kind;
	return c;
}

TEST_CASE(hygiene_that_is_not_shown_is_not_guessed)
{
	const uint64_t globals = globals_of(img);
	const struct {
		enum callee kind; /* CALLEE_NONE: all are as they are */
		const char *instead;
		uint64_t globals;
		const char *problem;
	} rows[] = {
		{CALLEE_NONE, NULL, globals + 8,
		 "hygiene::walk_chain looks up no expansion of a context"},
		{CALLEE_NONE, NULL, 0, "where the session's globals are is unknown"},
		{CALLEE_EXPANSION_OF, NULL, globals, "there is no HygieneData::expn_data"},
		{CALLEE_WALK_CHAIN, NULL, globals, "there is no hygiene::walk_chain"},
		{CALLEE_EXPANSION_OF, "cold_string", globals,
		 "HygieneData::expn_data compares no crate with the one that is compiled"},
		{CALLEE_WALK_CHAIN, "cold_string", globals,
		 "hygiene::walk_chain looks up no expansion of a context"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct callees c = with(rows[i].kind, CALLEE_NONE, rows[i].instead);
		struct hygiene h = {.call = 7};
		const char *problem;

		assert_int_equal(hygiene__find(img, &c, rows[i].globals, &h, &problem), 0);
		row_text(rows[i].problem, problem, rows[i].problem);
		row_equal(rows[i].problem, h.call, 7);
		free(c.functions);
	}
}

/* ---- Templates of texts ---------------------------------------------------------------------- */

/* The first template that `function` formats with; of ExpnKind::descr, of a kind of macro. */
static bool first_of(struct elf_image *image, const char *function, uint64_t macro,
		     struct template *out)
{
	const struct elf_symbol *sym = symbol(image, function);
	const struct code_region region = {sym->addr, sym->size};
	const struct eval_given given[] = {{WIRE_REG_SI, 1, 0, 1}, {WIRE_REG_SI, 1, 1, macro}};
	const struct eval_function f = {.img = image,
					.entry = sym->addr,
					.regions = &region,
					.n_regions = 1,
					.given = given,
					.n_given = 2};
	_free_ struct eval *e = NULL;

	assert_int_equal(eval__run(&f, &e), 0);
	for (uint32_t i = 0; i < e->n_calls; i++)
		if (e->calls[i].target == symbol(image, "format")->addr)
			return template__of(image, &e->calls[i], out);
	return false;
}

/* From codes, and from pieces. */
TEST_CASE(literals_are_read)
{
	static const struct {
		const char *function;
		uint64_t macro;
		const char *holds, *lacks;
	} rows[] = {{"kind", 0, "!", "#["},
		    {"kind", 1, "#[", "#[derive("},
		    {"kind", 2, "#[derive(", "#[derive(A"},
		    {"cold_quoted", 0, NULL, "!"}};

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < N_OF(rows); i++) {
			struct template t;

			row_equal(rows[i].function,
				  first_of(k ? keyed : img, rows[i].function, rows[i].macro, &t),
				  true);
			if (rows[i].holds)
				row_equal(rows[i].holds, template__holds(&t, rows[i].holds), true);
			row_equal(rows[i].lacks, template__holds(&t, rows[i].lacks), false);
			if (!i || !rows[i].holds)
				row_equal(rows[i].lacks, t.is_bare, !rows[i].holds);
		}
}

TEST_CASE(nothing_is_read_elsewhere)
{
	struct eval_call call = {.second = sum_constant(1ull << 40)};
	struct template t;

	assert_false(template__of(img, &call, &t));
	call.second = sum_unknown;
	assert_false(template__of(img, &call, &t));
	call.pieces[0] = sum_constant(1ull << 40);
	call.pieces[1] = sum_constant(2);
	assert_false(template__of(img, &call, &t));
	/* No pieces, and more than there may be. */
	call.pieces[0] = sum_constant(key_of(keyed));
	call.pieces[1] = sum_constant(0);
	assert_false(template__of(keyed, &call, &t));
	call.pieces[1] = sum_constant(9);
	assert_false(template__of(keyed, &call, &t));
}

/* ---- Expansions ------------------------------------------------------------------------------ */

static const struct expansion_use use = {.kind = 0x18};

TEST_CASE(the_table_and_the_macros_are_found)
{
	/* The globals may be found by their key. */
	const struct expansion_use with_key = {.kind = 0x18, .key = key_of(keyed)};
	const struct expansion_use other = {.kind = 0x18, .key = key_of(keyed) + 8};
	struct wire_expansions x = {0};
	struct hygiene h = hygiene;
	const char *problem;

	assert_int_equal(expansions_mine(img, &callees, &hygiene, &use, &x, &problem), 0);
	assert_null(problem);
	assert_pairs(x.table, 0xf0, x.count, 0xf8, x.size, 80, x.kind, 0x18, x.call, 0x20, x.tag, 1,
		     x.macro, 1, x.symbol, 4, x.macros[0], WIRE_MACRO_BANG, x.macros[1],
		     WIRE_MACRO_ATTRIBUTE, x.macros[2], WIRE_MACRO_DERIVE);
	x = (struct wire_expansions){0};
	h.globals = globals_of(keyed);
	assert_int_equal(expansions_mine(keyed, &keyed_callees, &h, &with_key, &x, &problem), 0);
	assert_null(problem);
	assert_pairs(x.table, 0xf0, x.symbol, 4);
	assert_int_equal(expansions_mine(keyed, &keyed_callees, &h, &other, &x, &problem), 0);
	assert_string_equal(problem, "LocalExpnId::expn_data copies no entry of the table");
}

TEST_CASE(the_calls_of_macros_are_found)
{
	const struct wire_expansions x = {.kind = 0x18, .tag = 1};
	struct hygiene behind = hygiene;
	struct wire_layout_calls l = {0};

	assert_null(expansions_calls(&x, &hygiene, &l));
	assert_pairs(l.contexts, 0x120, l.n_contexts, 0x128, l.context_size, 28, l.crate, 0,
		     l.number, 4, l.expansions, 0xf0, l.n_expansions, 0xf8, l.expansion_size, 80,
		     l.call, 0x20, l.kind, 0x18, l.tag, 1);
	l = (struct wire_layout_calls){0};
	behind.call = 73;
	assert_string_equal(expansions_calls(&x, &behind, &l),
			    "contexts or expansions with a field behind their end");
	assert_int_equal(l.context_size, 0);
}

TEST_CASE(expansions_that_are_not_shown_are_not_guessed)
{
	struct hygiene table = hygiene, globals = hygiene;
	const struct {
		const struct hygiene *h;
		enum callee missing;
		const char *problem;
	} rows[] = {
		{&hygiene, CALLEE_EXPANSION, "there is no LocalExpnId::expn_data"},
		{&hygiene, CALLEE_EXPANSION_KIND, "there is no ExpnKind::descr"},
		{&hygiene, CALLEE_FORMAT, "ExpnKind::descr prints no macro in a known way"},
		{&table, CALLEE_NONE, "LocalExpnId::expn_data copies no entry of the table"},
		{&globals, CALLEE_NONE, "LocalExpnId::expn_data copies no entry of the table"},
	};

	table.expansions = 0xf8;
	globals.globals = globals_of(img) + 8;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct callees c = with(rows[i].missing, CALLEE_NONE, NULL);
		struct wire_expansions x = {.size = 7};
		const char *problem;

		assert_int_equal(expansions_mine(img, &c, rows[i].h, &use, &x, &problem), 0);
		row_text(rows[i].problem, problem, rows[i].problem);
		row_equal(rows[i].problem, x.size, 7);
		free(c.functions);
	}
}

/* ---- Callees by name ------------------------------------------------------------------------- */

TEST_CASE(functions_are_known_by_their_names)
{
	static const struct {
		const char *name;
		enum callee kind;
	} functions[] = {
		{"intern", CALLEE_INTERN},
		{"other_intern", CALLEE_NONE},
		{"print_symbol", CALLEE_PRINT_SYMBOL},
		{"print_number", CALLEE_PRINT_NUMBER},
		{"record_span", CALLEE_RECORD_SPAN},
		{"expansion_text", CALLEE_EXPANSION_TEXT},
		{"expansion", CALLEE_EXPANSION},
		{"kind", CALLEE_EXPANSION_KIND},
		{"expansion_of", CALLEE_EXPANSION_OF},
		{"local_expansion", CALLEE_LOCAL_EXPANSION},
		{"walk", CALLEE_WALK_CHAIN},
		{"number_text", CALLEE_PRINT_NUMBER},
		{"display_number", CALLEE_DISPLAY_NUMBER},
		{"globals", CALLEE_NONE},
		{"format", CALLEE_FORMAT},
		{"debug_c_string", CALLEE_DEBUG_C_STRING},
		{"debug_other", CALLEE_NONE},
		{"cold_string", CALLEE_COLD_WITH_ARGUMENT},
		{"cold_unit", CALLEE_COLD_WITH_ARGUMENT},
		{"cold_plain", CALLEE_NONE},
		{"outside", CALLEE_NONE},
	};

	for (size_t i = 0; i < N_OF(functions); i++)
		row_equal(functions[i].name,
			  callees__at(&callees, symbol(img, functions[i].name)->addr),
			  functions[i].kind);
	assert_int_equal(callees__at(&callees, symbol(img, "intern")->addr + 1), CALLEE_NONE);
	assert_int_equal(callees__at(&callees, 0), CALLEE_NONE);
}

TEST_MAIN(setup, teardown)
