// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/build_rows.h"

#include <signal.h>

#include "test.h"
#include "../fixtures/sample_build.h"

static void rows_are_sorted_and_distinguished(void **state)
{
	struct sample_build s;
	struct build_rows r;
	struct build_view v = sample_build__make(&s);
	uint64_t cpu_ns = 0, pairs_ns = 0;

	assert_int_equal(build_rows__init(&r, &v), 0);
	assert_int_equal(r.n_crates, 4);
	assert_string_equal(r.crates[0]->name, "killed");
	assert_string_equal(r.crates[1]->name, "fa?iled");
	assert_string_equal(r.crates[2]->name, "syn");
	assert_string_equal(r.crates[3]->name, "ser|de (build script)");
	for (size_t i = 0; i < r.passes.n; i++) {
		cpu_ns += r.passes.rows[i].row.best_cpu_ns;
		assert_true(summary_row__is_activity(&r.passes.rows[i].row));
	}
	for (size_t i = 0; i < r.queries.n; i++) {
		cpu_ns += r.queries.rows[i].row.best_cpu_ns;
		pairs_ns += r.queries.rows[i].row.self_ns;
		assert_false(summary_row__is_activity(&r.queries.rows[i].row));
	}
	assert_int_equal(cpu_ns, r.cpu_ns);
	for (size_t i = 0; i < r.pairs.n; i++)
		pairs_ns -= r.pairs.rows[i].row.self_ns;
	assert_int_equal(pairs_ns, 0);
	assert_int_equal(r.n_reuse, 0);
	build_rows__clear(&r);
	build_rows__clear(&r);
	sample_build__destroy(&s);
}

static void reuse_is_summed_over_all_processes(void **state)
{
	struct sample_build s;
	struct build_rows r;
	struct build_view v = sample_build__make(&s);

	for (uint32_t process = SB_SYN; process <= SB_SCRIPT; process++) {
		struct trace_span load = {.process = process,
					  .tid = 50,
					  .label = SB_TYPECK,
					  .kind = TRACE_KIND_LOAD,
					  .invocation = TRACE_NO_INVOCATION};
		struct trace_span query = load;

		query.kind = TRACE_KIND_QUERY;
		query.label = SB_LAYOUT_OF;
		query.invocation = 9;
		assert_int_equal(computed_span(s.summary, s.self_time, &load), 0);
		if (process == SB_SYN)
			assert_int_equal(computed_span(s.summary, s.self_time, &query), 0);
	}
	assert_int_equal(build_rows__init(&r, &v), 0);
	assert_int_equal(r.n_reuse, 2);
	assert_int_equal(r.reuse.loads, 2);
	assert_int_equal(r.reuse.loaded, 2);
	assert_int_equal(r.reuse.executed, 4);
	/* The second process has no invocation ids. */
	assert_int_equal(r.reuse.results, 0);
	build_rows__clear(&r);
	sample_build__destroy(&s);
}

static void rows_fit_unless_asked_otherwise(void **state)
{
	struct build_view v = {0};

	assert_int_equal(build_rows__shown(&v, 10, 4), 4);
	assert_int_equal(build_rows__shown(&v, 3, 4), 3);
	v.top = 7;
	assert_int_equal(build_rows__shown(&v, 10, 4), 7);
	v.full = true;
	assert_int_equal(build_rows__shown(&v, 10, 4), 10);
}

static void endings_are_reported(void **state)
{
	char buf[FORMAT_MAX * 2];

	struct trace_process p = {.exit_status = TRACE_EXIT_UNKNOWN};

	assert_string_equal(build_ending(buf, &p), "end not seen");
	p.exit_status = SIGTERM;
	assert_string_equal(build_ending(buf, &p), "killed by SIGTERM");
	p.exit_status = SIGKILL;
	p.kill = TRACE_KILL_OTHER;
	assert_string_equal(build_ending(buf, &p), "killed by SIGKILL");
	p.kill = TRACE_KILL_MEMORY;
	assert_string_equal(build_ending(buf, &p), "killed for want of memory");
}

static void kills_for_memory_are_part_of_all(void **state)
{
	struct build_totals t = {.killed = 3};
	char buf[FORMAT_MAX * 2];

	assert_string_equal(build_memory_kills(buf, &t), "");
	t.memory_kills = 1;
	assert_string_equal(build_memory_kills(buf, &t), ", of which 1 for want of memory");
	t.memory_kills = 3;
	assert_string_equal(build_memory_kills(buf, &t), " for want of memory");
}

static void items_are_sorted_and_lack_what_is_around_none(void **state)
{
	const struct trace_span span = {.kind = TRACE_KIND_ACTIVITY, .label = SB_LINK};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_build_rows_ struct build_rows r = {};

	sample_build__items(&s, &v);
	assert_int_equal(items__span(s.items, &span, &(struct trace_times){.self_ns = 99 * MS},
				     TRACE_NO_STRING),
			 0);
	assert_int_equal(build_rows__init(&r, &v), 0);
	assert_int_equal(r.n_items, SB_ITEMS);
	for (size_t i = 1; i < r.n_items; i++)
		assert_true(r.items[i - 1].row.self_ns > r.items[i].row.self_ns);
}

static void assert_item_name(const char *path, size_t most, const char *expected)
{
	const struct build_item item = {.path = path};
	_free_ char *name = build_item_name(&item, most);

	assert_string_equal(name, expected);
}

static void a_long_path_keeps_crate_and_end(void **state)
{
	assert_item_name("app::parse::expression", 0, "app::parse::expression");
	assert_item_name("app::parse::expression", 22, "app::parse::expression");
	assert_item_name("app::parse::expression", 21, "..parse::expression");
	assert_item_name("application::parse::expression", 20, "..parse::expression");
	assert_item_name("abcdefghijklmnopqrstuvwxyz", 10, "abcdefgh..");
	assert_item_name("app::a_module_of_some_length::expression", 28, "app..expression");
	assert_item_name("syn::a::b_very_long_name", 18, "..b_very_long_name");
	assert_item_name("syn::a::b_very_long_name", 12, "b_very_lon..");
	assert_item_name("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4::\u00e4", 8, "..\u00e4");
}

static void a_long_name_of_a_compile_keeps_its_target(void **state)
{
	static const char *const rows[][2] = {
		{"syn (build script)", "syn (build script)"},
		{"regex_automata (build script)", "regex_.. (build script)"},
		{"a_library_of_a_very_long_name", "a_library_of_a_very_lon.."},
		{"x (a target that does not fit at all)", "x (a target that does n.."},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct build_crate crate = {.name = (char *)rows[i][0]};
		_free_ char *name = build_crate_name(&crate, 25 - 2 * (i == 1));

		assert_string_equal(name, rows[i][1]);
	}
}

static void the_crate_is_the_first_segment(void **state)
{
	_free_ char *crate = build_item_crate(&(struct build_item){.path = "app::parse::f"});
	_free_ char *root = build_item_crate(&(struct build_item){.path = "app"});

	assert_string_equal(crate, "app");
	assert_string_equal(root, "app");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_and_distinguished),
		cmocka_unit_test(reuse_is_summed_over_all_processes),
		cmocka_unit_test(rows_fit_unless_asked_otherwise),
		cmocka_unit_test(endings_are_reported),
		cmocka_unit_test(kills_for_memory_are_part_of_all),
		cmocka_unit_test(items_are_sorted_and_lack_what_is_around_none),
		cmocka_unit_test(a_long_path_keeps_crate_and_end),
		cmocka_unit_test(a_long_name_of_a_compile_keeps_its_target),
		cmocka_unit_test(the_crate_is_the_first_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
