// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/llvm.h"

#include "test.h"
#include "../fixtures/llvm_build.h"

/* Of samples of 1 ms each. */
static void assert_ms(struct sample_sum sum, uint64_t ms)
{
	assert_struct(sum, n, ms, value, ms * LLVM_BUILD_PERIOD);
}

static const struct llvm_pass_row *pass(const struct llvm_rows *rows, const char *name)
{
	for (uint32_t i = 0; i < rows->n_passes; i++)
		if (!strcmp(rows->passes[i].name ?: "", name))
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

/* The rows of the fixture, which tests read. */
static struct sampled_build build;
static struct llvm_rows rows;

static int read_build(void **state)
{
	llvm_build__make(&build, 0, true);
	return llvm__rows(build.model.llvm, NULL, NULL, &rows);
}

static int clear_build(void **state)
{
	llvm_rows__clear(&rows);
	sampled_build__clear(&build);
	return 0;
}

TEST_CASE(time_is_split_by_what_llvm_did)
{
	const struct llvm_totals *t = &rows.totals;

	assert_int_equal(rows.unknown, LLVM_KNOWN);
	assert_ms(t->all, 423);
	/* Debug information is written by the code generator; its own code is not optimised. */
	assert_ms(t->of[LLVM_MACHINE_CODE], 40 + 8);
	assert_ms(t->of[LLVM_ELSE], 5 + 3);
	assert_ms(t->of[LLVM_OPTIMISES], 423 - 48 - 8);
	assert_ms(t->functions, 423 - 4 - 6 - 8 - 5 - 3);
	assert_ms(t->components, 10);
	assert_ms(t->no_function, 4 + 6 + 8 + 5);
	/* In a function of LLVM's, and what LLVM did was not read. */
	assert_ms(t->unknown_function, 3);
}

TEST_CASE(passes_have_the_time_of_functions_and_of_none)
{

	assert_int_equal(rows.n_passes, 7);
	assert_struct(rows.passes[0], name, "InstCombine", type, "InstCombinePass");
	assert_ms(rows.passes[0].self, 300);
	assert_ms(pass(&rows, "GVN")->self, 35);
	assert_ms(pass(&rows, "Inliner")->self, 14);
	assert_ms(pass(&rows, "X86DAGToDAGISel")->self, 40);
	assert_true(pass(&rows, "X86DAGToDAGISel")->codegen);
	assert_false(pass(&rows, "GVN")->codegen);
}

TEST_CASE(instances_are_added_up)
{
	const struct llvm_generic *g;

	assert_int_equal(rows.n_generics, 1 + 1 + 100 + 1 + 1);
	assert_string_equal(rows.generics[0].path, "app::generic_big");
	assert_ms(rows.generics[0].self, 200);
	assert_struct(rows.generics[0], symbols, 200, instances, 200, at_least, true, crate, "app");
	/* LLVM's own suffix makes no instance. */
	assert_string_equal(rows.generics[1].path, "app::huge");
	assert_ms(rows.generics[1].self, 80);
	assert_ms(rows.generics[1].component, 10);
	assert_ms(rows.generics[0].component, 0);
	assert_int_equal(rows.generics[1].symbols, 1);
	g = generic(&rows, "core::ptr::drop_in_place");
	assert_ms(g->self, 12);
	assert_struct(*g, symbols, 2, crate, "core", n_crates, 2);
	assert_ms(g->crates[0].self, 6);
	assert_ms(g->crates[1].self, 6);
	/* Instances of different types. */
	g = generic(&rows, "<_ as s::Name>::name");
	assert_ms(g->self, 5);
	assert_struct(*g, n_crates, 1, crates[0].crate, "dep", crate, "s");
}

TEST_CASE(functions_are_symbols)
{
	const struct llvm_function *huge = NULL, *big = NULL;

	assert_int_equal(rows.n_functions, 200 + 1 + 100 + 2 + 2);
	huge = &rows.functions[0];
	assert_string_equal(huge->path, "app::huge");
	assert_ms(huge->self, 80);
	assert_ms(huge->component, 10);
	assert_int_equal(huge->item, TRACE_NO_STRING);
	for (uint32_t i = 0; i < rows.n_functions; i++)
		if (!strcmp(rows.functions[i].symbol, "_RINvCs1_3app11generic_bigKjc7_EB2_"))
			big = &rows.functions[i];
	assert_non_null(big);
	assert_struct(*big, path, "app::generic_big::<199>", generic, "app::generic_big", crate,
		      "app");
}

TEST_CASE(what_is_of_no_function_has_a_name)
{
	static const struct {
		const char *name;
		enum llvm_rest_kind kind;
		uint64_t ms;
	} expected[] = {
		{"debug information (DWARF)", LLVM_REST_WORDS, 8},
		{"IPSCCP", LLVM_REST_PASS, 6},
		{"freeing LLVM's code", LLVM_REST_WORDS, 5},
		{"Inliner", LLVM_REST_PASS, 4},
	};

	assert_int_equal(rows.n_rests, N_OF(expected));
	for (size_t i = 0; i < N_OF(expected); i++) {
		assert_struct(rows.rests[i], name, expected[i].name, kind, expected[i].kind);
		assert_ms(rows.rests[i].self, expected[i].ms);
	}
}

/* A trace of its own: strings, functions, and stacks of one function. */
static const char *own_text(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {"FunctionToLoopPassAdaptor",
					    "ModuleToPostOrderCGSCCPassAdaptor",
					    "GVNPass",
					    "_RNvCs1_3app4huge",
					    "ThinLTOBitcodeWriterPass",
					    "FPPassManager",
					    "codegen_module_optimize",
					    TRACE_ACTIVITY_LLVM};

	return texts[id];
}

static const struct trace_stack *own_stack(const void *ctx, uint32_t id)
{
	static const struct trace_stack stacks[] = {{},
						    {.place = 1},
						    {.parent = 1, .place = 2},
						    {.parent = 1, .place = 3},
						    {.parent = 1, .place = 4},
						    {.place = 7, .kind = TRACE_STACK_ACTIVITY},
						    {.place = 6, .kind = TRACE_STACK_ACTIVITY}};

	return id < N_OF(stacks) ? &stacks[id] : NULL;
}

static bool own_location(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	static const struct trace_function functions[] = {
		{.first = 1, .name = "llvm::PassManager::run", .file = SAMPLED_LLVM},
		{.first = 2, .name = "llvm::LICMPass::run", .file = SAMPLED_LLVM},
		{.first = 3, .name = "llvm::InlinerPass::run", .file = SAMPLED_LLVM},
		{.first = 4, .name = "llvm::BitcodeWriter::writeModule", .file = SAMPLED_LLVM},
	};

	out->function = &functions[locindex - 1];
	return true;
}

static const struct trace_llvm *own_entry(const void *ctx, uint32_t id)
{
	static const struct trace_llvm entries[] = {
		{.pass = 0, .function = 3, .scope = TRACE_LLVM_FUNCTION},
		{.pass = 1, .function = TRACE_NO_STRING, .scope = TRACE_LLVM_MODULE},
		{.pass = 2, .function = 3, .scope = TRACE_LLVM_FUNCTION},
		{.pass = 4, .function = TRACE_NO_STRING, .scope = TRACE_LLVM_MODULE},
		{.pass = TRACE_NO_STRING, .function = 3, .scope = TRACE_LLVM_FUNCTION},
		{.pass = 2, .function = TRACE_NO_STRING, .scope = TRACE_LLVM_FUNCTION},
		{.pass = TRACE_NO_STRING, .function = TRACE_NO_STRING},
		{.pass = 5, .function = TRACE_NO_STRING, .scope = TRACE_LLVM_MODULE}};

	return id ? &entries[id - 1] : NULL;
}

/* Samples of the trace, with an entry of LLVM and a stack each. */
static void make_own(struct llvm **l, const uint32_t (*samples)[2], size_t n,
		     struct llvm_rows *rows)
{
	const struct llvm_source source = {.entry = own_entry};
	const struct stack_source stacks = {.entry = own_stack, .locate = own_location};
	const struct trace_texts texts = {.text = own_text};

	assert_int_equal(llvm__new(&source, &stacks, &texts, l), 0);
	for (size_t i = 0; i < n; i++) {
		const struct trace_sample sample = {.value = LLVM_BUILD_PERIOD,
						    .cause = TRACE_SAMPLE_CPU,
						    .llvm = samples[i][0],
						    .stack = samples[i][1]};

		assert_int_equal(llvm__sample(*l, &sample), 0);
	}
	assert_int_equal(llvm__rows(*l, NULL, NULL, rows), 0);
}

/* LLVM makes no entry for passes over loops, and over functions that call each other. */
TEST_CASE(a_pass_behind_an_adaptor_is_in_the_stack)
{
	static const uint32_t samples[][2] = {{1, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3},
					      {2, 3}, {3, 2}, {3, 2}, {3, 2}, {3, 2}};
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;

	make_own(&l, samples, N_OF(samples), &rows);
	assert_int_equal(rows.n_passes, 4);
	assert_ms(pass(&rows, "GVN")->self, 4);
	assert_ms(pass(&rows, "Inliner")->self, 3);
	assert_string_equal(pass(&rows, "Inliner")->type, "InlinerPass");
	assert_ms(pass(&rows, "LICM")->self, 2);
	assert_ms(pass(&rows, "FunctionToLoopPassAdaptor")->self, 1);
	assert_int_equal(rows.n_rests, 1);
	assert_struct(rows.rests[0], name, "Inliner", kind, LLVM_REST_PASS);
}

/* Rows of passes have the time of the totals, by what they are for. */
TEST_CASE(passes_add_up_to_the_totals)
{
	/* An optimisation, bitcode, a manager, a pass of no name, and what the stack names. */
	static const uint32_t samples[][2] = {{3, 1}, {4, 4}, {4, 1}, {8, 1}, {8, 2},
					      {5, 1}, {5, 2}, {6, 4}, {7, 1}};
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;
	uint64_t of[LLVM_WORKS] = {};

	make_own(&l, samples, N_OF(samples), &rows);
	for (uint32_t i = 0; i < rows.n_passes; i++)
		of[rows.passes[i].work] += rows.passes[i].self.n;
	assert_ms(rows.totals.all, N_OF(samples));
	assert_int_equal(of[LLVM_OPTIMISES], rows.totals.of[LLVM_OPTIMISES].n);
	assert_int_equal(of[LLVM_OPTIMISES], 6);
	/* The last sample is in no pass. */
	assert_int_equal(of[LLVM_ELSE] + 1, rows.totals.of[LLVM_ELSE].n);
	assert_ms(pass(&rows, "LICM")->self, 2);
	assert_ms(pass(&rows, "FPPassManager")->self, 1);
}

/* Of a function without a name, or whose list was not read. */
TEST_CASE(a_function_that_is_not_known_is_not_no_function)
{
	static const uint32_t samples[][2] = {
		{6, 1}, {6, 4}, {TRACE_NO_LLVM, 1}, {7, 1}, {4, 1}, {TRACE_NO_LLVM, 4}, {3, 1}};
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;
	uint64_t rests = 0;

	make_own(&l, samples, N_OF(samples), &rows);
	for (uint32_t i = 0; i < rows.n_rests; i++)
		rests += rows.rests[i].self.n;
	assert_ms(rows.totals.unknown_function, 3);
	assert_ms(rows.totals.no_function, 3);
	assert_ms(rows.totals.functions, 1);
	assert_int_equal(rests, 3);
}

static void assert_doing(const struct llvm *l, uint32_t process, uint32_t tid, const char *what,
			 const char *function)
{
	_llvm_doing_ struct llvm_doing doing = {};

	assert_int_equal(llvm__doing(l, process, tid, &doing), what || function ? 0 : -ENOENT);
	assert_string_equal(doing.what ?: "-", what ?: "-");
	assert_string_equal(doing.function ?: "-", function ?: "-");
}

/* The latest sample of a thread says it, in the same words as rows. */
TEST_CASE(what_a_thread_does_is_what_its_latest_sample_says)
{
	static const struct {
		uint32_t entry, stack;
		const char *what, *function;
	} cases[] = {
		{3, 1, "GVN", "app::huge"},
		{1, 2, "LICM", "app::huge"}, /* behind an adaptor */
		{2, 3, "Inliner", NULL},     /* for no function */
		{2, 1, "ModuleToPostOrderCGSCCPassAdaptor", NULL},
		{4, 4, "bitcode", NULL},		     /* in words */
		{5, 1, NULL, "app::huge"},		     /* a pass without a name */
		{6, 1, "GVN", NULL},			     /* a function without one */
		{7, 1, NULL, NULL},			     /* only a native function is known */
		{TRACE_NO_LLVM, 1, NULL, NULL},		     /* what LLVM did was not read */
		{TRACE_NO_LLVM, TRACE_NO_STACK, NULL, NULL}, /* not in LLVM */
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		/* Another thread, and another process, have no part in it. */
		const uint32_t samples[][2] = {{3, 1}, {cases[i].entry, cases[i].stack}};
		_llvm_rows_ struct llvm_rows rows = {};
		_llvm_ struct llvm *l = NULL;
		struct trace_sample other = {
			.cause = TRACE_SAMPLE_CPU, .tid = 7, .llvm = 2, .stack = 3};

		make_own(&l, samples, N_OF(samples), &rows);
		assert_int_equal(llvm__sample(l, &other), 0);
		other = (struct trace_sample){.cause = TRACE_SAMPLE_FAULT, .llvm = 2, .stack = 3};
		assert_int_equal(llvm__sample(l, &other), 0);
		assert_doing(l, 0, 0, cases[i].what, cases[i].function);
		assert_doing(l, 0, 7, "Inliner", NULL);
		assert_doing(l, 1, 0, NULL, NULL);
	}
}

static uint32_t own_item(const void *ctx, uint32_t process, uint32_t symbol)
{
	return process ? 2 : TRACE_NO_STRING;
}

static bool is_own_item(const void *ctx, const char *name)
{
	return !strcmp(name, own_text(NULL, 2));
}

/* Any string is the path of an item here. */
TEST_CASE(a_function_is_found_by_its_item)
{
	const struct llvm_source source = {.entry = own_entry, .item = own_item};
	const struct stack_source stacks = {.entry = own_stack, .locate = own_location};
	const struct trace_texts texts = {.text = own_text};

	for (uint32_t process = 0; process < 2; process++) {
		const struct trace_sample sample = {.value = LLVM_BUILD_PERIOD,
						    .process = process,
						    .cause = TRACE_SAMPLE_CPU,
						    .llvm = 3,
						    .stack = 1};
		_llvm_rows_ struct llvm_rows rows = {};
		_llvm_ struct llvm *l = NULL;

		must(llvm__new(&source, &stacks, &texts, &l), llvm__sample(l, &sample),
		     llvm__rows(l, is_own_item, NULL, &rows));
		assert_int_equal(rows.n_functions, process);
	}
}

TEST_CASE(a_name_of_a_pass_has_no_ending)
{
	static const char *const names[][2] = {{"InstCombinePass", "InstCombine"},
					       {"X86DAGToDAGISelLegacy", "X86DAGToDAGISel"},
					       {"LiveStacksWrapperLegacy", "LiveStacks"},
					       {"LoopInfoWrapperPass", "LoopInfo"},
					       {"Legacy", "Legacy"}};

	for (size_t i = 0; i < N_OF(names); i++) {
		_free_ char *name = llvm_pass_name(names[i][0]);

		assert_string_equal(name, names[i][1]);
	}
}

static bool is_huge(const void *ctx, const char *name)
{
	return !strcmp(name, "app::huge");
}

static bool is_instance(const void *ctx, const char *name)
{
	return !strncmp(name, "app::generic_big::<1", strlen("app::generic_big::<1"));
}

TEST_CASE(the_passes_of_a_function)
{
	_llvm_rows_ struct llvm_rows huge = {}, instances = {};

	assert_int_equal(llvm__rows(build.model.llvm, is_huge, NULL, &huge), 0);
	assert_struct(huge, n_functions, 1, n_generics, 1, n_rests, 0, n_passes, 3);
	assert_ms(pass(&huge, "X86DAGToDAGISel")->self, 40);
	assert_ms(pass(&huge, "GVN")->self, 30);
	assert_ms(pass(&huge, "Inliner")->self, 10);
	assert_int_equal(llvm__rows(build.model.llvm, is_instance, NULL, &instances), 0);
	/* 1, 10 to 19, 100 to 199 */
	assert_struct(instances, n_functions, 111, n_generics, 1);
}

/* Of the symbols of "app", "dep" knows none; drop_in_place of it is known to "dep" alone. */
static uint32_t item(const void *ctx, uint32_t process, uint32_t symbol)
{
	const char *text = trace_reader__texts(ctx).text(ctx, symbol);

	return strstr(text, "generic_big") ? 1
	       : strstr(text, "NvXs4_")	   ? 2
	       : !strcmp(text, LB_DROP_B)  ? 3
					   : TRACE_NO_STRING;
}

static uint64_t instances(const void *ctx, uint32_t item, bool *all)
{
	static const uint64_t of[] = {[1] = 1000, [2] = 1, [3] = 7};

	*all = !*(const bool *)ctx;
	return of[item];
}

static void read_rows(struct trace_reader *r, struct llvm *l, bool misses, struct llvm_rows *rows)
{
	struct trace_item it;

	llvm__set_instances(l, &(struct llvm_instances){&misses, instances});
	while (!trace_reader__next(r, &it) && it.kind != TRACE_ITEM_END)
		if (it.kind == TRACE_ITEM_SAMPLE)
			assert_int_equal(llvm__sample(l, &it.sample), 0);
	assert_int_equal(llvm__rows(l, NULL, NULL, rows), 0);
}

static void assert_instances(const struct llvm_rows *rows, const char *path, uint64_t n,
			     bool at_least)
{
	assert_struct(*generic(rows, path), instances, n, at_least, at_least);
}

/* What a recording may know beside symbols. */
TEST_CASE(items_and_all_instances_are_asked_for)
{
	for (int misses = 0; misses < 2; misses++) {
		_trace_reader_ struct trace_reader *r = llvm_build_open(true);
		_llvm_rows_ struct llvm_rows rows = {};
		_llvm_ struct llvm *l = NULL;
		struct model_options options = model_options_of(r);
		uint32_t items = 0;

		options.llvm.item = item;
		assert_int_equal(llvm__new(&options.llvm, &options.stacks, &options.texts, &l), 0);
		read_rows(r, l, misses, &rows);
		assert_instances(&rows, "app::generic_big", 1000, misses);
		assert_instances(&rows, "core::ptr::drop_in_place", 7, misses);
		/* There cannot be fewer than samples met. */
		assert_instances(&rows, "<_ as s::Name>::name", 2, true);
		assert_instances(&rows, "app::huge", 1, true);
		for (uint32_t i = 0; i < rows.n_functions; i++) {
			items += rows.functions[i].item != TRACE_NO_STRING;
			assert_int_equal(rows.functions[i].item != TRACE_NO_STRING,
					 !!rows.functions[i].item_path);
		}
		assert_int_equal(items, 200 + 2 + 1);
		/* No process was added. */
		assert_struct(rows.generics[0], n_crates, 1, crates[0].crate, NULL);
	}
}

/* One name of several definitions has the instances of neither. */
static uint32_t two_items(const void *ctx, uint32_t process, uint32_t symbol)
{
	const char *text = trace_reader__texts(ctx).text(ctx, symbol);

	return !strcmp(text, LB_DROP_A) ? 1 : !strcmp(text, LB_DROP_B) ? 3 : TRACE_NO_STRING;
}

TEST_CASE(definitions_of_one_name_have_no_number)
{
	_trace_reader_ struct trace_reader *r = llvm_build_open(true);
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;
	struct model_options options = model_options_of(r);

	options.llvm.item = two_items;
	assert_int_equal(llvm__new(&options.llvm, &options.stacks, &options.texts, &l), 0);
	read_rows(r, l, false, &rows);
	assert_true(generic(&rows, "core::ptr::drop_in_place")->at_least);
}

/* Two compilers of "app" and "dep"; the second one generates an instance of the first one's code.
 */
static void join_write(const char *path, uint32_t compilers)
{
	const struct trace_sampling sampling = {.hz = 999, .queries = true};
	struct trace_sample sample = {.time_ns = 5000,
				      .value = LLVM_BUILD_PERIOD,
				      .stack = TRACE_NO_STACK,
				      .label = TRACE_NO_STRING,
				      .cause = TRACE_SAMPLE_CPU};
	struct trace_llvm entry = {.scope = LB_FN};
	uint32_t symbol, label, app, item, foreign;
	_trace_writer_ struct trace_writer *w = NULL;

	assert_int_equal(trace_writer__open(path, &(struct trace_info){.tool = "t"}, &w), 0);
	label = llvm_build_text(w, "symbol_name");
	symbol = llvm_build_text(w, "_RINvCs1_3app11generic_bigKj1_EB2_");
	item = llvm_build_text(w, "app::generic_big");
	app = llvm_build_text(w, "app");
	must(trace_writer__key_type(w, label, "Instance"), trace_writer__foreign(w, app),
	     trace_writer__compose(
		     w, (const struct trace_piece[]){{.id = app}, {.text = "::generic_big"}}, 2,
		     &foreign),
	     trace_writer__sampling(w, &sampling));
	entry.pass = llvm_build_text(w, "GVNPass");
	entry.function = symbol;
	assert_int_equal(trace_writer__llvm(w, &entry, &sample.llvm), 0);
	for (uint32_t i = 0; i < compilers; i++) {
		const struct trace_process p = {.index = i,
						.pid = 100 + i,
						.start_ns = 1000,
						.end_ns = 400000000,
						.command = "/usr/bin/rustc a.rs",
						.crate = i ? "dep" : "app",
						.crate_type = "lib"};
		uint32_t path_of[] = {i ? foreign : item, i ? foreign : item};
		const struct trace_results results = {.process = i,
						      .label = label,
						      .kind = TRACE_RESULTS_EXECUTED,
						      .n = 2,
						      .items = path_of};
		const struct trace_tally counted = {
			.process = i, .label = label, .kind = TRACE_KIND_RESULTS, .events = 2};

		assert_int_equal(trace_writer__process(w, &p), 0);
		sample.process = i;
		sample.tid = 100 + i;
		for (int k = 0; k < 3; k++, sample.time_ns += LLVM_BUILD_PERIOD)
			assert_int_equal(trace_writer__sample(w, &sample), 0);
		must(trace_writer__results(w, &results), trace_writer__tally(w, &counted),
		     trace_writer__symbol(w, &(struct trace_symbol){i, symbol, path_of[0]}));
	}
	must(trace_writer__losses(w, &(struct trace_losses){}), trace_writer__finish(w));
}

/* An item's row has the time of all its instances, and the generic function their number. */
TEST_CASE(a_trace_joins_items_and_functions)
{
	for (uint32_t compilers = 1; compilers <= 2; compilers++) {
		char path[] = "/tmp/qprof-join-XXXXXX.qpt";
		_sampled_build_ struct sampled_build b = {};
		_llvm_rows_ struct llvm_rows rows = {};
		_free_ struct item_row *items = NULL;
		struct model_options options;
		size_t n;

		temporary_name(path);
		join_write(path, compilers);
		assert_int_equal(trace_reader__open(path, &b.r, NULL), 0);
		unlink(path);
		options = model_options_of(b.r);
		options.parts = MODEL_LLVM | MODEL_ITEMS;
		must(model__init(&b.model, &options), model__read(&b.model, b.r),
		     llvm__rows(b.model.llvm, NULL, NULL, &rows));
		assert_instances(&rows, "app::generic_big", 2 * compilers, compilers > 1);
		assert_string_equal(rows.functions[0].item_path, "app::generic_big");
		assert_int_equal(items__rows(b.model.items, &items, &n), 0);
		assert_int_equal(n, 1 + (items[0].item == TRACE_NO_STRING));
		assert_ms(items[n - 1].llvm, 3 * compilers);
		assert_int_equal(items[n - 1].instances, 2 * compilers);
	}
}

TEST_CASE(the_reason_is_known_where_nothing_is)
{
	_sampled_build_ struct sampled_build b = {};
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
	must(llvm__new(&source, &stacks, &texts, &l), llvm__rows(l, NULL, NULL, &none));
	assert_int_equal(none.unknown, LLVM_NO_SAMPLES);
	assert_int_equal(llvm__sample(l, &front_end), 0);
	llvm_rows__clear(&none);
	assert_int_equal(llvm__rows(l, NULL, NULL, &none), 0);
	assert_struct(none, unknown, LLVM_NOT_RUN, why, NULL);
}

/* From outside only the names of threads show LLVM. */
TEST_CASE(the_time_of_threads_is_known_without_functions)
{
	static const uint32_t samples[][2] = {{0, 5}, {0, 5}, {0, 6}, {0, 0}};
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;

	make_own(&l, samples, N_OF(samples), &rows);
	assert_int_equal(rows.unknown, LLVM_NOT_READ);
	assert_ms(rows.totals.all, 2);
	assert_ms(rows.totals.unknown_function, 2);
}

/* That of the compiler with the most samples. */
TEST_CASE(the_trace_says_why_nothing_is_known)
{
	static char less[] = "less", most[] = "most";
	const struct trace_process processes[] = {
		{.index = 0, .no_llvm = less}, {.index = 1}, {.index = 2, .no_llvm = most}};
	const struct llvm_source source = {};
	const struct stack_source stacks = {};
	const struct trace_texts texts = {};
	_llvm_rows_ struct llvm_rows rows = {};
	_llvm_ struct llvm *l = NULL;

	assert_int_equal(llvm__new(&source, &stacks, &texts, &l), 0);
	for (size_t i = 0; i < N_OF(processes); i++)
		assert_int_equal(llvm__process(l, &processes[i]), 0);
	for (uint32_t n = 0; n < 6; n++) {
		struct trace_sample s = {.process = n < 1   ? 0
						    : n < 3 ? 2
							    : 1,
					 .value = 1,
					 .cause = TRACE_SAMPLE_CPU};

		assert_int_equal(llvm__sample(l, &s), 0);
	}
	assert_int_equal(llvm__rows(l, NULL, NULL, &rows), 0);
	assert_struct(rows, why, "most", unknown, LLVM_NOT_RUN);
}

TEST_MAIN(read_build, clear_build)
