// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/expansions.h"

#include "test.h"
#define LIBRARY "cold_sides.so"
#include "../fixtures/image.h"
#include "../fixtures/session_globals.h"
#include "plan/mine/owners.h"

/* The assembled tests/fixtures/cold_sides.s, as rustup's compilers and as Debian's. */
static struct elf_image *keyed;
static struct callees callees, keyed_callees;

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
	return callees__find(img, &callees) ?: callees__find(keyed, &keyed_callees);
}

static int teardown(void **state)
{
	callees__destroy(&callees);
	callees__destroy(&keyed_callees);
	elf_image__free(keyed);
	return image_teardown(state);
}

static void assert_found(struct elf_image *image, const struct callees *c)
{
	const uint64_t globals = globals_of(image);
	const struct hygiene expected = {
		.globals = globals,
		.self = 0xe8,
		.expansions = 0xf0,
		.n_expansions = 0xf8,
		.expansion_size = 80,
		.call = 0x20,
		.contexts = 0x120,
		.n_contexts = 0x128,
		.context_size = 28,
		.crate = 0,
		.number = 4,
	};
	struct hygiene h = {0};
	const char *problem;

	assert_int_equal(hygiene__find(image, c, globals, &h, &problem), 0);
	assert_null(problem);
	assert_memory_equal(&h, &expected, sizeof(h));
}

TEST_CASE(tables_are_found)
{
	assert_found(img, &callees);
}

TEST_CASE(tables_are_found_by_the_key_of_the_globals)
{
	assert_found(keyed, &keyed_callees);
}

static const char *problem_of(const struct callees *c, uint64_t globals)
{
	struct hygiene h = {.call = 7};
	const char *problem;

	assert_int_equal(hygiene__find(img, c, globals, &h, &problem), 0);
	assert_int_equal(h.call, 7);
	return problem;
}

TEST_CASE(other_globals_are_not_taken)
{
	assert_string_equal(problem_of(&callees, globals_of(img) + 8),
			    "hygiene::walk_chain looks up no expansion of a context");
	assert_string_equal(problem_of(&callees, 0), "where the session's globals are is unknown");
}

/* As if functions of one kind had no name, or another function had theirs. */
static const char *problem_without(enum callee kind, const char *instead)
{
	const uint64_t globals = globals_of(img);
	struct callees other = {.n = callees.n};
	const char *problem;

	other.functions = calloc(other.n, sizeof(*other.functions));
	assert_non_null(other.functions);
	memcpy(other.functions, callees.functions, other.n * sizeof(*other.functions));
	for (uint32_t i = 0; i < other.n; i++)
		if (other.functions[i].kind == kind)
			other.functions[i].kind = CALLEE_NONE;
		else if (instead && other.functions[i].addr == symbol(img, instead)->addr)
			other.functions[i].kind = kind;
	problem = problem_of(&other, globals);
	free(other.functions);
	return problem;
}

TEST_CASE(without_a_function_the_problem_names_it)
{
	assert_string_equal(problem_without(CALLEE_EXPANSION_OF, NULL),
			    "there is no HygieneData::expn_data");
	assert_string_equal(problem_without(CALLEE_WALK_CHAIN, NULL),
			    "there is no hygiene::walk_chain");
	assert_string_equal(
		problem_without(CALLEE_EXPANSION_OF, "cold_string"),
		"HygieneData::expn_data compares no crate with the one that is compiled");
	assert_string_equal(problem_without(CALLEE_WALK_CHAIN, "cold_string"),
			    "hygiene::walk_chain looks up no expansion of a context");
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

static void assert_texts(struct elf_image *image)
{
	struct template t;

	assert_true(first_of(image, "kind", 0, &t));
	assert_true(template__holds(&t, "!"));
	assert_false(template__holds(&t, "#["));
	assert_false(t.is_bare);
	assert_true(first_of(image, "kind", 1, &t));
	assert_true(template__holds(&t, "#["));
	assert_false(template__holds(&t, "#[derive("));
	assert_true(first_of(image, "kind", 2, &t));
	assert_true(template__holds(&t, "#[derive("));
	assert_false(template__holds(&t, "#[derive(A"));
	assert_true(first_of(image, "cold_quoted", 0, &t));
	assert_true(t.is_bare);
	assert_false(template__holds(&t, "!"));
}

TEST_CASE(literals_are_read_from_codes)
{
	assert_texts(img);
}

TEST_CASE(literals_are_read_from_pieces)
{
	assert_texts(keyed);
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
	struct wire_expansions x = {0};
	const char *problem;

	assert_int_equal(expansions_mine(img, &callees, &hygiene, &use, &x, &problem), 0);
	assert_null(problem);
	assert_int_equal(x.table, 0xf0);
	assert_int_equal(x.count, 0xf8);
	assert_int_equal(x.size, 80);
	assert_int_equal(x.kind, 0x18);
	assert_int_equal(x.call, 0x20);
	assert_int_equal(x.tag, 1);
	assert_int_equal(x.macro, 1);
	assert_int_equal(x.symbol, 4);
	assert_int_equal(x.macros[0], WIRE_MACRO_BANG);
	assert_int_equal(x.macros[1], WIRE_MACRO_ATTRIBUTE);
	assert_int_equal(x.macros[2], WIRE_MACRO_DERIVE);
}

TEST_CASE(the_globals_may_be_found_by_their_key)
{
	const struct expansion_use with_key = {.kind = 0x18, .key = key_of(keyed)};
	const struct expansion_use other = {.kind = 0x18, .key = key_of(keyed) + 8};
	struct hygiene h = hygiene;
	struct wire_expansions x = {0};
	const char *problem;

	h.globals = globals_of(keyed);
	assert_int_equal(expansions_mine(keyed, &keyed_callees, &h, &with_key, &x, &problem), 0);
	assert_null(problem);
	assert_int_equal(x.table, 0xf0);
	assert_int_equal(x.symbol, 4);
	assert_int_equal(expansions_mine(keyed, &keyed_callees, &h, &other, &x, &problem), 0);
	assert_string_equal(problem, "LocalExpnId::expn_data copies no entry of the table");
}

TEST_CASE(the_calls_of_macros_are_found)
{
	const struct wire_expansions x = {.kind = 0x18, .tag = 1};
	const struct wire_layout_calls expected = {.contexts = 0x120,
						   .n_contexts = 0x128,
						   .context_size = 28,
						   .number = 4,
						   .expansions = 0xf0,
						   .n_expansions = 0xf8,
						   .expansion_size = 80,
						   .call = 0x20,
						   .kind = 0x18,
						   .tag = 1};
	struct hygiene behind = hygiene;
	struct wire_layout_calls l = {0};

	assert_null(expansions_calls(&x, &hygiene, &l));
	assert_memory_equal(&l, &expected, sizeof(l));
	l = (struct wire_layout_calls){0};
	behind.call = 73;
	assert_string_equal(expansions_calls(&x, &behind, &l),
			    "contexts or expansions with a field behind their end");
	assert_int_equal(l.context_size, 0);
}

/* As if functions of one kind were of another. */
static void change(struct callees *other, enum callee kind, enum callee as)
{
	*other = (struct callees){.n = callees.n};
	other->functions = calloc(other->n, sizeof(*other->functions));
	assert_non_null(other->functions);
	memcpy(other->functions, callees.functions, other->n * sizeof(*other->functions));
	for (uint32_t i = 0; i < other->n; i++)
		if (other->functions[i].kind == kind)
			other->functions[i].kind = as;
}

static const char *problem_with(const struct hygiene *h, enum callee kind, enum callee as)
{
	struct wire_expansions x = {.size = 7};
	struct callees other;
	const char *problem;

	change(&other, kind, as);
	assert_int_equal(expansions_mine(img, &other, h, &use, &x, &problem), 0);
	assert_int_equal(x.size, 7);
	free(other.functions);
	return problem;
}

TEST_CASE(a_function_that_is_missing_is_named)
{
	assert_string_equal(problem_with(&hygiene, CALLEE_EXPANSION, CALLEE_NONE),
			    "there is no LocalExpnId::expn_data");
	assert_string_equal(problem_with(&hygiene, CALLEE_EXPANSION_KIND, CALLEE_NONE),
			    "there is no ExpnKind::descr");
	assert_string_equal(problem_with(&hygiene, CALLEE_FORMAT, CALLEE_NONE),
			    "ExpnKind::descr prints no macro in a known way");
}

TEST_CASE(another_table_is_not_taken)
{
	struct hygiene other = hygiene;

	other.expansions = 0xf8;
	assert_string_equal(problem_with(&other, CALLEE_NONE, CALLEE_NONE),
			    "LocalExpnId::expn_data copies no entry of the table");
	other = hygiene;
	other.globals = globals_of(img) + 8;
	assert_string_equal(problem_with(&other, CALLEE_NONE, CALLEE_NONE),
			    "LocalExpnId::expn_data copies no entry of the table");
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
		assert_int_equal(callees__at(&callees, symbol(img, functions[i].name)->addr),
				 functions[i].kind);
}

TEST_CASE(nothing_is_known_elsewhere)
{
	assert_int_equal(callees__at(&callees, symbol(img, "intern")->addr + 1), CALLEE_NONE);
	assert_int_equal(callees__at(&callees, 0), CALLEE_NONE);
}

TEST_MAIN(setup, teardown)
