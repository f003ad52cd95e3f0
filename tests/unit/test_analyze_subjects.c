// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/subjects.h"
#include "test.h"
#include "analyze/modules.h"
#include "base/cleanup.h"
#include "../fixtures/sample_items.h"

#define NONE TRACE_NO_STRING

enum {
	EXPAND,
	OUTER,
	CODEGEN,
	OPTIMIZE,
	EMIT,
	LTO,
	OTHER,
	DERIVE,
	DERIVE_HERE,
	BANG,
	UNIT_0,
	UNIT_0_SIZE,
	UNIT_1,
	UNKNOWN_TEXT,
};

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {
		[EXPAND] = "expand_proc_macro",
		[OUTER] = "expand_derive_proc_macro_outer",
		[CODEGEN] = "codegen_module",
		[OPTIMIZE] = "LLVM_module_optimize",
		[EMIT] = "LLVM_module_codegen_emit_obj",
		[LTO] = "codegen_module_perform_lto",
		[OTHER] = "codegen_crate",
		[DERIVE] = "#[derive(A)]",
		[DERIVE_HERE] = "#[derive(A)]\x1esrc/lib.rs:1:1: 1:2",
		[BANG] = "b!",
		[UNIT_0] = "x-cgu.0",
		[UNIT_0_SIZE] = "x-cgu.0\x1e"
				"144",
		[UNIT_1] = "x-cgu.1",
		[UNKNOWN_TEXT] = "<unknown>",
	};

	assert_in_range(id, 0, N_OF(texts) - 1);
	return texts[id];
}

static struct summary *processes_of;
static struct subjects *subjects;
static struct subject_row *rows;
static size_t n_rows;

static void begin(enum subjects_of of)
{
	const struct trace_texts texts = {.text = text_of};
	const struct trace_process processes[] = {
		{.index = 0, .pid = 100, .crate = "app"},
		{.index = 1, .pid = 101, .crate = "lib"},
		{.index = 2, .pid = 102, .crate = "app"},
	};

	assert_int_equal(summary__new(&processes_of), 0);
	for (size_t i = 0; i < N_OF(processes); i++)
		assert_int_equal(summary__process(processes_of, &processes[i]), 0);
	assert_int_equal(subjects__new(&texts, processes_of, of, &subjects), 0);
}

static void take_off(uint64_t off_ns, uint32_t process, uint32_t tid, uint32_t label,
		     uint16_t depth, uint64_t start, uint64_t end, uint32_t event)
{
	const struct trace_span s = {.start_ns = start,
				     .end_ns = end,
				     .process = process,
				     .tid = tid,
				     .label = label,
				     .depth = depth,
				     .kind = TRACE_KIND_ACTIVITY};
	const struct trace_times times = {.off_ns = off_ns};

	assert_int_equal(subjects__span(subjects, &s, &times, event), 0);
}

static void take(uint32_t process, uint32_t tid, uint32_t label, uint16_t depth, uint64_t start,
		 uint64_t end, uint32_t event)
{
	take_off(0, process, tid, label, depth, start, end, event);
}

static void end(size_t expected)
{
	assert_int_equal(subjects__rows(subjects, &rows, &n_rows), 0);
	assert_int_equal(n_rows, expected);
}

static int done(void **state)
{
	subject_rows__free(rows, n_rows);
	rows = NULL;
	n_rows = 0;
	subjects__free(subjects);
	subjects = NULL;
	summary__free(processes_of);
	return 0;
}
#define SUBJECTS_CASE(name) TEST_CASE_WITH(name, NULL, done)

static const struct subject_row *row(const char *name)
{
	for (size_t i = 0; i < n_rows; i++)
		if (name ? rows[i].name && !strcmp(rows[i].name, name) : !rows[i].name)
			return &rows[i];
	fail_msg("no row %s", name ?: "(none)");
	return NULL;
}

SUBJECTS_CASE(a_macro_has_the_time_of_all_its_expansions)
{
	begin(SUBJECTS_MACROS);
	take(0, 7, EXPAND, 1, 100, 110, DERIVE);
	take(0, 7, EXPAND, 1, 120, 150, DERIVE_HERE);
	take(1, 8, EXPAND, 1, 100, 105, DERIVE);
	take(2, 9, EXPAND, 1, 100, 101, DERIVE);
	take(1, 8, EXPAND, 1, 200, 202, BANG);
	end(2);
	assert_struct(*row("#[derive(A)]"), total_ns, 46, count, 4, max_ns, 30);
	assert_int_equal(row("b!")->total_ns, 2);
}

SUBJECTS_CASE(its_crates_are_those_that_expand_it_the_most_expensive_first)
{
	const struct subject_row *r;

	begin(SUBJECTS_MACROS);
	take(1, 8, EXPAND, 1, 0, 10, DERIVE);
	take(0, 7, EXPAND, 1, 0, 6, DERIVE);
	take(2, 9, EXPAND, 1, 0, 5, DERIVE);
	end(1);
	r = row("#[derive(A)]");
	assert_struct(*r, n_crates, 2, crates[0].crate, "app", crates[0].total_ns, 11,
		      crates[1].crate, "lib");
}

SUBJECTS_CASE(time_counts_once_where_activities_lie_within_each_other)
{
	begin(SUBJECTS_MACROS);
	/* The outer one has the inner one, though another interval lies between. */
	take(0, 7, EXPAND, 3, 20, 80, DERIVE);
	take(0, 7, OTHER, 2, 15, 85, NONE);
	take(0, 7, OUTER, 1, 10, 90, DERIVE);
	/* An interval that ended before is no part of this one. */
	take(0, 7, EXPAND, 1, 100, 104, BANG);
	end(2);
	assert_struct(*row("#[derive(A)]"), total_ns, 80, count, 1, max_ns, 80);
	assert_int_equal(row("b!")->total_ns, 4);
}

SUBJECTS_CASE(time_on_the_cpu_counts_once_too)
{
	begin(SUBJECTS_MACROS);
	take_off(50, 0, 7, EXPAND, 3, 20, 80, DERIVE);
	take_off(53, 0, 7, OUTER, 1, 10, 90, DERIVE);
	end(1);
	assert_struct(*row("#[derive(A)]"), total_ns, 80, cpu_ns, 80 - 53);
}

SUBJECTS_CASE(a_unit_has_its_steps_and_the_thread_of_most_of_them)
{
	const struct trace_thread name = {.process = 0, .tid = 8, .name = "opt cgu.0"};
	const struct subject_row *r;

	begin(SUBJECTS_UNITS);
	assert_int_equal(subjects__thread(subjects, &name), 0);
	take(0, 7, CODEGEN, 1, 0, 10, UNIT_0_SIZE);
	take(0, 8, EMIT, 1, 30, 34, UNIT_0);
	take(0, 8, OPTIMIZE, 2, 40, 60, UNIT_0);
	take(0, 8, LTO, 1, 39, 64, UNIT_0);
	take(0, 7, CODEGEN, 1, 10, 12, UNIT_1);
	end(2);
	r = row("x-cgu.0");
	assert_struct(*r, total_ns, 39, phase_ns[SUBJECT_CODEGEN], 10, phase_ns[SUBJECT_OPTIMIZE],
		      20, phase_ns[SUBJECT_LTO], 5, phase_ns[SUBJECT_EMIT], 4, size, 144, pid, 100,
		      tid, 8, thread, "opt cgu.0", crates[0].crate, "app");
	assert_struct(*row("x-cgu.1"), tid, 7, thread, NULL);
}

SUBJECTS_CASE(units_of_two_compiles_are_two)
{
	begin(SUBJECTS_UNITS);
	take(0, 7, CODEGEN, 1, 0, 10, UNIT_0);
	take(2, 9, CODEGEN, 1, 0, 10, UNIT_0);
	end(2);
}

SUBJECTS_CASE(what_is_not_known_is_a_row_without_a_name)
{
	begin(SUBJECTS_UNITS);
	take(0, 7, OPTIMIZE, 1, 0, 3, NONE);
	take(0, 7, OPTIMIZE, 1, 3, 7, UNKNOWN_TEXT);
	take(0, 7, EXPAND, 1, 7, 9, DERIVE);
	end(1);
	assert_int_equal(row(NULL)->total_ns, 7);
}

/* ---- Modules --------------------------------------------------------------------------------- */

/* Labels, then items. */
enum {
	TYPECK,
	LINT_MOD,
	MODEL_OF,
	CRATE,
	MODULE,
	INNER,
	FUNCTION,
	CLOSURE,
	IMPL,
	METHOD,
	LIKE_A_MODULE,
	TYPE,
};

static const char *modules_text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {
		"typeck",
		"lint_mod",
		"model_of",
		"app",
		"app::inner",
		"app::inner::deep",
		"app::inner::f",
		"app::inner::f::{{closure}}[1]",
		"app::inner::{{impl}}[3]",
		"app::inner::{{impl}}[3]::fmt::{{closure}}",
		"app::inner_too::g",
		"Binder { value: core::fmt::Debug, bound_vars: [] }",
	};

	return texts[id];
}

static const struct trace_texts texts = {.text = modules_text_of};

static struct items *items;
static struct module_row *module_rows;
static size_t n_module_rows;

static int modules_begin(void **state)
{
	return items__new(&texts, &items);
}

static int modules_end(void **state)
{
	items__free(items);
	module_rows__free(module_rows, n_module_rows);
	module_rows = NULL;
	n_module_rows = 0;
	return 0;
}
#define MODULES_CASE(name) TEST_CASE_WITH(name, modules_begin, modules_end)

static void add(uint32_t label, uint32_t item, uint64_t self_ns)
{
	const struct trace_span span = {.label = label, .kind = TRACE_KIND_QUERY, .end_ns = 1};
	const struct trace_times times = {.self_ns = self_ns};

	assert_int_equal(items__span(items, &span, &times, item), 0);
}

static const struct module_row *row_of(const char *path)
{
	if (!module_rows)
		assert_int_equal(modules__rows(items, &texts, &module_rows, &n_module_rows), 0);
	for (size_t i = 0; i < n_module_rows; i++)
		if (!strcmp(module_rows[i].path ?: "", path))
			return &module_rows[i];
	return NULL;
}

static void assert_row(const char *path, uint32_t n_items, uint64_t self_ns)
{
	const struct module_row *row = row_of(path);

	assert_non_null(row);
	assert_struct(*row, items, n_items, sums.self_ns, self_ns);
}

MODULES_CASE(an_item_counts_for_the_innermost_module_or_impl)
{
	add(TYPECK, FUNCTION, 1);
	add(TYPECK, CLOSURE, 10);
	add(TYPECK, IMPL, 100);
	add(TYPECK, METHOD, 1000);
	add(LINT_MOD, CRATE, 2);
	add(LINT_MOD, MODULE, 20);
	add(LINT_MOD, INNER, 200);
	add(TYPECK, LIKE_A_MODULE, 3);
	assert_row("app", 2, 5);
	assert_row("app::inner", 3, 31);
	assert_row("app::inner::deep", 1, 200);
	assert_row("app::inner::{{impl}}[3]", 2, 1100);
	assert_int_equal(n_module_rows, 4);
}

/* An unchanged incremental build runs no query of a module. */
MODULES_CASE(without_modules_there_are_crates_and_impls)
{
	add(MODEL_OF, MODULE, 1);
	add(TYPECK, FUNCTION, 10);
	add(TYPECK, METHOD, 100);
	assert_row("app", 2, 11);
	assert_row("app::inner::{{impl}}[3]", 1, 100);
	assert_int_equal(n_module_rows, 2);
}

MODULES_CASE(queries_of_several_items_are_one)
{
	const struct module_row *row;

	add(TYPECK, FUNCTION, 4);
	add(MODEL_OF, FUNCTION, 5);
	add(TYPECK, CRATE, 3);
	row = row_of("app");
	assert_non_null(row);
	assert_struct(row->sums, executions, 3, n_queries, 2, queries[0].label, TYPECK,
		      queries[0].self_ns, 7, queries[1].self_ns, 5);
}

MODULES_CASE(samples_of_the_items_of_a_module_are_added_up)
{
	static const uint32_t of[] = {FUNCTION, CLOSURE, CLOSURE, CRATE};

	for (size_t i = 0; i < N_OF(of); i++) {
		uint32_t label = of[i] == CRATE ? MODEL_OF : TYPECK;

		assert_int_equal(items__about(items, label, of[i]), 1);
		for (uint8_t cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
			assert_int_equal(items__sample(items, label, of[i], cause, 1000), 0);
	}
	assert_row("app", 3, 4000);
	assert_int_equal(row_of("app")->sums.cpu_ns, 4000);
	for (uint8_t cause = TRACE_SAMPLE_CPU; cause < TRACE_SAMPLE_CAUSES; cause++)
		assert_int_equal(sample_sum__error(&row_of("app")->sums.sampled[cause]), 2000);
}

MODULES_CASE(time_outside_of_items_has_no_path)
{
	add(TYPECK, TRACE_NO_STRING, 9);
	add(TYPECK, FUNCTION, 1);
	assert_row("", 0, 9);
	assert_int_equal(row_of("")->sums.item, TRACE_NO_STRING);
	assert_int_not_equal(row_of("app")->sums.item, TRACE_NO_STRING);
}

/* Profiles of rustc's own print keys that are no definitions. */
MODULES_CASE(a_type_is_not_cut)
{
	add(TYPECK, TYPE, 9);
	assert_row("Binder { value: core::fmt::Debug, bound_vars: [] }", 1, 9);
}

MODULES_CASE(nothing_has_no_rows)
{
	assert_null(row_of("app"));
	assert_int_equal(n_module_rows, 0);
}

/* ---- Item list ------------------------------------------------------------------------------- */

/* Item `id` of a compile, with one query that took `self_us`. */
static void item_list_add(struct items *items, uint32_t id, uint64_t self_us)
{
	const struct trace_span span = {.label = SI_TYPECK, .end_ns = 1};
	const struct trace_times times = {.self_ns = self_us * 1000};

	assert_int_equal(items__span(items, &span, &times, id), 0);
}

static struct items *new_items(void)
{
	struct items *items;

	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	return items;
}

static void check(const struct item_list *l, uint32_t i, uint32_t process, uint32_t item,
		  uint64_t self_us, uint64_t executions)
{
	assert_true(i < l->n);
	assert_struct(l->at[i], process, process, item, item, self_ns, self_us * 1000, executions,
		      executions, most.label, SI_TYPECK, most.self_ns, self_us * 1000);
}

TEST_CASE(the_items_of_several_compiles_are_in_one_order)
{
	_items_ struct items *first = new_items(), *second = new_items(), *again = new_items();
	struct item_list l = {};

	item_list_add(first, SI_FUNCTION, 20);
	item_list_add(first, SI_METHOD, 30);
	item_list_add(first, SI_METHOD, 10);
	assert_int_equal(item_list__set(&l, 0, first), 0);
	assert_int_equal(l.n, 2);
	item_list_add(second, SI_FUNCTION, 30);
	item_list_add(second, SI_CRATE, 50);
	item_list_add(second, SI_MODULE, 1);
	assert_int_equal(item_list__set(&l, 7, second), 0);
	assert_int_equal(l.n, 5);
	check(&l, 0, 7, SI_CRATE, 50, 1);
	check(&l, 1, 0, SI_METHOD, 40, 2);
	check(&l, 2, 7, SI_FUNCTION, 30, 1);
	check(&l, 3, 0, SI_FUNCTION, 20, 1);
	check(&l, 4, 7, SI_MODULE, 1, 1);
	assert_int_equal(l.changes, 2);

	/* More is known of a compile than before. */
	item_list_add(again, SI_FUNCTION, 35);
	assert_int_equal(item_list__set(&l, 0, again), 0);
	assert_int_equal(l.n, 4);
	check(&l, 0, 7, SI_CRATE, 50, 1);
	check(&l, 1, 0, SI_FUNCTION, 35, 1);
	check(&l, 2, 7, SI_FUNCTION, 30, 1);
	check(&l, 3, 7, SI_MODULE, 1, 1);
	assert_int_equal(l.changes, 3);
	item_list__clear(&l);
	assert_int_equal(l.n, 0);
}

TEST_CASE(a_compile_without_items_adds_none)
{
	_items_ struct items *none = new_items();
	struct item_list l = {};

	assert_int_equal(item_list__set(&l, 3, none), 0);
	assert_struct(l, n, 0, changes, 1);
	item_list__clear(&l);
}

TEST_MAIN(NULL, NULL)
