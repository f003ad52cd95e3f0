// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/llvm.h"

#include "test.h"
#include "../fixtures/llvm_build.h"

/* Of samples of 1 ms each. */
static void assert_ms(struct sample_sum sum, uint64_t ms)
{
	assert_int_equal(sum.n, ms);
	assert_int_equal(sum.value, ms * LLVM_BUILD_PERIOD);
}

static const struct llvm_pass_row *pass(const struct llvm_rows *rows, const char *name)
{
	for (uint32_t i = 0; i < rows->n_passes; i++)
		if (!strcmp(rows->passes[i].name, name))
			return &rows->passes[i];
	fail_msg("no pass %s", name);
	return NULL;
}

static const struct llvm_generic *generic(const struct llvm_rows *rows, const char *path)
{
	for (uint32_t i = 0; i < rows->n_generics; i++)
		if (!strcmp(rows->generics[i].path, path))
			return &rows->generics[i];
	fail_msg("no generic %s", path);
	return NULL;
}

static void time_is_split_by_what_llvm_did(void **state)
{
	_llvm_build_ struct llvm_build b = {};
	_llvm_rows_ struct llvm_rows rows = {};
	const struct llvm_totals *t = &rows.totals;

	llvm_build__make(&b, 0, true);
	assert_int_equal(llvm__rows(b.model.llvm, NULL, NULL, &rows), 0);
	assert_int_equal(rows.unknown, LLVM_KNOWN);
	assert_ms(t->all, 423);
	/* Debug information is written by the code generator; its own code is not optimised. */
	assert_ms(t->of[LLVM_MACHINE_CODE], 40 + 8);
	assert_ms(t->of[LLVM_ELSE], 5 + 3);
	assert_ms(t->of[LLVM_OPTIMISES], 423 - 48 - 8);
	assert_ms(t->functions, 423 - 4 - 6 - 8 - 5 - 3);
	assert_ms(t->components, 10);
	assert_ms(t->no_function, 4 + 6 + 8 + 5 + 3);
}

static void passes_have_the_time_of_functions_and_of_none(void **state)
{
	_llvm_build_ struct llvm_build b = {};
	_llvm_rows_ struct llvm_rows rows = {};

	llvm_build__make(&b, 0, true);
	assert_int_equal(llvm__rows(b.model.llvm, NULL, NULL, &rows), 0);
	assert_int_equal(rows.n_passes, 7);
	assert_string_equal(rows.passes[0].name, "InstCombine");
	assert_string_equal(rows.passes[0].type, "InstCombinePass");
	assert_ms(rows.passes[0].self, 300);
	assert_ms(pass(&rows, "GVN")->self, 35);
	assert_ms(pass(&rows, "Inliner")->self, 14);
	assert_ms(pass(&rows, "X86DAGToDAGISel")->self, 40);
	assert_true(pass(&rows, "X86DAGToDAGISel")->codegen);
	assert_false(pass(&rows, "GVN")->codegen);
}

static void instances_are_added_up(void **state)
{
	_llvm_build_ struct llvm_build b = {};
	_llvm_rows_ struct llvm_rows rows = {};
	const struct llvm_generic *g;

	llvm_build__make(&b, 0, true);
	assert_int_equal(llvm__rows(b.model.llvm, NULL, NULL, &rows), 0);
	assert_int_equal(rows.n_generics, 1 + 1 + 100 + 1 + 1);
	assert_string_equal(rows.generics[0].path, "app::generic_big");
	assert_ms(rows.generics[0].self, 200);
	assert_int_equal(rows.generics[0].symbols, 200);
	assert_int_equal(rows.generics[0].instances, 0);
	assert_string_equal(rows.generics[0].crate, "app");
	/* LLVM's own suffix makes no instance. */
	assert_string_equal(rows.generics[1].path, "app::huge");
	assert_ms(rows.generics[1].self, 80);
	assert_int_equal(rows.generics[1].symbols, 1);
	g = generic(&rows, "core::ptr::drop_in_place");
	assert_ms(g->self, 12);
	assert_int_equal(g->symbols, 2);
	assert_string_equal(g->crate, "core");
	assert_int_equal(g->n_crates, 2);
	assert_ms(g->crates[0].self, 6);
	assert_ms(g->crates[1].self, 6);
	/* Instances of different types. */
	g = generic(&rows, "<_ as s::Name>::name");
	assert_ms(g->self, 5);
	assert_int_equal(g->n_crates, 1);
	assert_string_equal(g->crates[0].crate, "dep");
	assert_string_equal(g->crate, "s");
}

static void functions_are_symbols(void **state)
{
	_llvm_build_ struct llvm_build b = {};
	_llvm_rows_ struct llvm_rows rows = {};
	const struct llvm_function *huge = NULL, *big = NULL;

	llvm_build__make(&b, 0, true);
	assert_int_equal(llvm__rows(b.model.llvm, NULL, NULL, &rows), 0);
	assert_int_equal(rows.n_functions, 200 + 1 + 100 + 2 + 2);
	huge = &rows.functions[0];
	assert_string_equal(huge->path, "app::huge");
	assert_ms(huge->self, 80);
	assert_ms(huge->components, 10);
	assert_int_equal(huge->item, TRACE_NO_STRING);
	for (uint32_t i = 0; i < rows.n_functions; i++)
		if (!strcmp(rows.functions[i].symbol, "_RINvCs1_3app11generic_bigKjc7_EB2_"))
			big = &rows.functions[i];
	assert_non_null(big);
	assert_string_equal(big->path, "app::generic_big::<199>");
	assert_string_equal(big->generic, "app::generic_big");
	assert_string_equal(big->crate, "app");
}

static void what_is_of_no_function_has_a_name(void **state)
{
	static const struct {
		const char *name;
		enum llvm_rest_kind kind;
		uint64_t ms;
	} expected[] = {
		{"debug information (DWARF)", LLVM_REST_WORDS, 8}, {"IPSCCP", LLVM_REST_PASS, 6},
		{"freeing LLVM's code", LLVM_REST_WORDS, 5},	   {"Inliner", LLVM_REST_PASS, 4},
		{"[libLLVM.so.22.1-rust]", LLVM_REST_NATIVE, 3},
	};
	_llvm_build_ struct llvm_build b = {};
	_llvm_rows_ struct llvm_rows rows = {};

	llvm_build__make(&b, 0, true);
	assert_int_equal(llvm__rows(b.model.llvm, NULL, NULL, &rows), 0);
	assert_int_equal(rows.n_rests, N_OF(expected));
	for (size_t i = 0; i < N_OF(expected); i++) {
		assert_string_equal(rows.rests[i].name, expected[i].name);
		assert_int_equal(rows.rests[i].kind, expected[i].kind);
		assert_ms(rows.rests[i].self, expected[i].ms);
	}
}

/* A trace of its own: strings, functions, and stacks of one function. */
static const char *own_text(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {"FunctionToLoopPassAdaptor",
					    "ModuleToPostOrderCGSCCPassAdaptor", "GVNPass",
					    "_RNvCs1_3app4huge"};

	return texts[id];
}

static const struct trace_stack *own_stack(const void *ctx, uint32_t id)
{
	static const struct trace_stack stacks[] = {
		{}, {.place = 1}, {.parent = 1, .place = 2}, {.parent = 1, .place = 3}};

	return id < N_OF(stacks) ? &stacks[id] : NULL;
}

static bool own_location(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	static const struct trace_function functions[] = {
		{.first = 1, .name = "llvm::PassManager::run", .file = LLVM_BUILD_LIB},
		{.first = 2, .name = "llvm::LICMPass::run", .file = LLVM_BUILD_LIB},
		{.first = 3, .name = "llvm::InlinerPass::run", .file = LLVM_BUILD_LIB},
	};

	out->function = &functions[locindex - 1];
	return true;
}

static const struct trace_llvm *own_entry(const void *ctx, uint32_t id)
{
	static const struct trace_llvm entries[] = {
		{.pass = 0, .function = 3, .scope = TRACE_LLVM_FUNCTION},
		{.pass = 1, .function = TRACE_NO_STRING, .scope = TRACE_LLVM_MODULE},
		{.pass = 2, .function = 3, .scope = TRACE_LLVM_FUNCTION}};

	return id ? &entries[id - 1] : NULL;
}

/* LLVM makes no entry for passes over loops, and over functions that call each other. */
static void a_pass_behind_an_adaptor_is_in_the_stack(void **state)
{
	const struct llvm_source source = {.entry = own_entry};
	const struct stack_source stacks = {.entry = own_stack, .locate = own_location};
	const struct trace_texts texts = {.text = own_text};
	/* An entry of LLVM and a stack each. */
	static const uint32_t samples[][2] = {{1, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3},
					      {2, 3}, {3, 2}, {3, 2}, {3, 2}, {3, 2}};
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;

	assert_int_equal(llvm__new(&source, &stacks, &texts, &l), 0);
	for (size_t i = 0; i < N_OF(samples); i++) {
		const struct trace_sample sample = {.value = LLVM_BUILD_PERIOD,
						    .cause = TRACE_SAMPLE_CPU,
						    .llvm = samples[i][0],
						    .stack = samples[i][1]};

		assert_int_equal(llvm__sample(l, &sample), 0);
	}
	assert_int_equal(llvm__rows(l, NULL, NULL, &rows), 0);
	assert_int_equal(rows.n_passes, 4);
	assert_ms(pass(&rows, "GVN")->self, 4);
	assert_ms(pass(&rows, "Inliner")->self, 3);
	assert_string_equal(pass(&rows, "Inliner")->type, "InlinerPass");
	assert_ms(pass(&rows, "LICM")->self, 2);
	assert_ms(pass(&rows, "FunctionToLoopPassAdaptor")->self, 1);
	assert_int_equal(rows.n_rests, 1);
	assert_string_equal(rows.rests[0].name, "Inliner");
	assert_int_equal(rows.rests[0].kind, LLVM_REST_PASS);
}

static bool is_huge(const void *ctx, const char *name)
{
	return !strcmp(name, "app::huge");
}

static bool is_instance(const void *ctx, const char *name)
{
	return !strncmp(name, "app::generic_big::<1", strlen("app::generic_big::<1"));
}

static void the_passes_of_a_function(void **state)
{
	_llvm_build_ struct llvm_build b = {};
	_llvm_rows_ struct llvm_rows rows = {}, instances = {};

	llvm_build__make(&b, 0, true);
	assert_int_equal(llvm__rows(b.model.llvm, is_huge, NULL, &rows), 0);
	assert_int_equal(rows.n_functions, 1);
	assert_int_equal(rows.n_generics, 1);
	assert_int_equal(rows.n_rests, 0);
	assert_int_equal(rows.n_passes, 3);
	assert_ms(pass(&rows, "X86DAGToDAGISel")->self, 40);
	assert_ms(pass(&rows, "GVN")->self, 30);
	assert_ms(pass(&rows, "Inliner")->self, 10);
	assert_int_equal(llvm__rows(b.model.llvm, is_instance, NULL, &instances), 0);
	/* 1, 10 to 19, 100 to 199 */
	assert_int_equal(instances.n_functions, 111);
	assert_int_equal(instances.n_generics, 1);
}

static uint32_t item(const void *ctx, uint32_t process, uint32_t symbol)
{
	return process == 1 ? 1 : TRACE_NO_STRING;
}

static uint32_t instances(const void *ctx, uint32_t process, uint32_t symbol)
{
	return process ? 0 : 1000;
}

/* What a recording may know beside symbols. */
static void items_and_all_instances_are_asked_for(void **state)
{
	_trace_reader_ struct trace_reader *r = llvm_build_open(true);
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;
	struct model_options options;
	struct trace_item it;
	uint32_t items = 0;

	options = model_options_of(r);
	options.llvm.item = item;
	options.llvm.instances = instances;
	assert_int_equal(llvm__new(&options.llvm, &options.stacks, &options.texts, &l), 0);
	while (!trace_reader__next(r, &it) && it.kind != TRACE_ITEM_END)
		if (it.kind == TRACE_ITEM_SAMPLE)
			assert_int_equal(llvm__sample(l, &it.sample), 0);
	assert_int_equal(llvm__rows(l, NULL, NULL, &rows), 0);
	assert_int_equal(generic(&rows, "app::generic_big")->instances, 1000);
	assert_int_equal(generic(&rows, "<_ as s::Name>::name")->instances, 0);
	for (uint32_t i = 0; i < rows.n_functions; i++) {
		items += rows.functions[i].item == 1;
		assert_int_equal(rows.functions[i].item == 1, !!rows.functions[i].item_path);
	}
	assert_int_equal(items, 3);
	/* No process was added. */
	assert_int_equal(rows.generics[0].n_crates, 1);
	assert_null(rows.generics[0].crates[0].crate);
}

static void the_reason_is_known_where_nothing_is(void **state)
{
	_llvm_build_ struct llvm_build b = {};
	_llvm_rows_ struct llvm_rows rows = {}, none = {};
	const struct llvm_source source = {};
	const struct stack_source stacks = {};
	const struct trace_texts texts = {};
	const struct trace_sample front_end = {.value = 1, .cause = TRACE_SAMPLE_CPU};
	_llvm_ struct llvm *l = NULL;

	llvm_build__make(&b, 0, false);
	assert_int_equal(llvm__rows(b.model.llvm, NULL, NULL, &rows), 0);
	assert_int_equal(rows.unknown, LLVM_NOT_READ);
	assert_ms(rows.totals.all, 123);
	assert_int_equal(rows.n_passes, 0);
	assert_int_equal(llvm__new(&source, &stacks, &texts, &l), 0);
	assert_int_equal(llvm__rows(l, NULL, NULL, &none), 0);
	assert_int_equal(none.unknown, LLVM_NO_SAMPLES);
	assert_int_equal(llvm__sample(l, &front_end), 0);
	llvm_rows__clear(&none);
	assert_int_equal(llvm__rows(l, NULL, NULL, &none), 0);
	assert_int_equal(none.unknown, LLVM_NOT_RUN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_split_by_what_llvm_did),
		cmocka_unit_test(passes_have_the_time_of_functions_and_of_none),
		cmocka_unit_test(instances_are_added_up),
		cmocka_unit_test(functions_are_symbols),
		cmocka_unit_test(what_is_of_no_function_has_a_name),
		cmocka_unit_test(a_pass_behind_an_adaptor_is_in_the_stack),
		cmocka_unit_test(the_passes_of_a_function),
		cmocka_unit_test(items_and_all_instances_are_asked_for),
		cmocka_unit_test(the_reason_is_known_where_nothing_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
