// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_build.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/path_build.h"

static void a_build_is_as_agreed(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	text = printed_build(build_text, &v);
	assert_golden("view/build.txt", text);
}

static void everything_there_is_is_in_full(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	v.full = v.wide = true;
	v.top = 1;
	v.problem = "cut short at byte 4096";
	text = printed_build(build_text, &v);
	assert_golden("view/build_full.txt", text);
}

static void top_is_of_each_table(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	v.top = 1;
	v.losses = NULL;
	text = printed_build(build_text, &v);
	assert_contains(text, "crate (1 of 4) ");
	assert_contains(text, "query (1 of 3) ");
	assert_contains(text, "rustc's pass (1 of 6) ");
	assert_lacks(text, "build script");
	assert_contains(text, "lost: unknown");
}

static void nothing_is_said_of_no_build(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v;
	_free_ char *text = NULL;

	assert_int_equal(build__new(&sample_build_texts, &s.build), 0);
	assert_int_equal(summary__new(&s.summary), 0);
	assert_int_equal(build__end(s.build), 0);
	v = sample_build__view(&s);
	text = printed_build(build_text, &v);
	assert_string_equal(text, "build     0 ns, crates compiled: 0\n"
				  "threads   not recorded when they waited\n\nlost: 0\n");
}

static void items_take_the_place_of_pairs(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL, *full = NULL;

	sample_build__items(&s, &v);
	text = printed_build(build_text, &v);
	assert_golden("view/build_items.txt", text);
	v.full = v.wide = true;
	full = printed_build(build_text, &v);
	assert_contains(full, "\ncrate/query ");
	assert_contains(full, "::module_of_a_module::{{impl}}[13]::a_long_method ");
	assert_contains(full, " most in  on-cpu there  executions\n");
}

/* Rows are ordered by both parts. */
static void items_have_the_time_of_llvm(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL, *markdown = NULL, *json = NULL;

	sample_build__items(&s, &v);
	assert_int_equal(items__llvm(s.items, SB_ITEM, &(struct sample_sum){500, 500000000}), 0);
	text = printed_build(build_text, &v);
	assert_golden("view/build_items_llvm.txt", text);
	markdown = printed_build(build_markdown, &v);
	assert_contains(markdown, " | % | LLVM | most in |\n|---|---:|---:|---:|---|\n");
	assert_contains(markdown, " | 500 ms | `");
	assert_contains(markdown, " | - | `");
	json = printed_build(build_json, &v);
	assert_contains(json, "\"llvm_ns\":500000000,\"llvm_error_ns\":22360680");
}

/* No sample met a query about it: that it was compiled is known by the compiler's tables. */
static void an_item_may_have_only_the_time_of_llvm(void **state)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	const struct trace_results results = {.label = SB_TYPECK,
					      .kind = TRACE_RESULTS_EXECUTED,
					      .n = 1,
					      .items = (uint32_t[]){SB_LAYOUT_OF}};
	_free_ char *text = NULL, *markdown = NULL, *json = NULL;

	sample_build__items(&s, &v);
	assert_int_equal(items__results(s.items, &results), 0);
	assert_int_equal(items__llvm(s.items, SB_LAYOUT_OF, &(struct sample_sum){500, 500000000}),
			 0);
	text = printed_build(build_text, &v);
	assert_contains(
		text, "most in\nlayout_of                            -    0.0  500 ms     LLVM\n");
	markdown = printed_build(build_markdown, &v);
	assert_contains(markdown, "| `layout_of` | - | 0.0 | 500 ms | `LLVM` 500 ms |\n");
	json = printed_build(build_json, &v);
	assert_contains(json,
			"\"self_cpu_ns\":0,\"llvm_ns\":500000000,\"llvm_error_ns\":22360680},");
}

static void samples_alone_are_a_build(void **state)
{
	_sampled_build_ struct sampled_build b = {};
	struct build_view view;
	_free_ char *text = NULL;

	sampled_build__make(&b, MODEL_BUILD, 1u << TRACE_SAMPLE_CPU);
	view = (struct build_view){
		.build = b.model.build,
		.summary = b.model.summary,
		.losses = &b.model.losses,
		.names = &b.model.options.texts,
		.samples = b.model.samples,
		.stacks = &b.model.stacks[TRACE_SAMPLE_CPU],
	};
	text = printed_text(build_text(out, &view));
	assert_golden("view/build_sampled.txt", text);
}

static void the_most_memory_fits_a_line(void **state)
{
	_sample_build_ struct sample_build s = {};
	_free_ char *text = NULL;
	struct build_view v;

	sample_build__begin(&s);
	for (uint32_t i = 0; i < 2; i++) {
		const struct trace_process p = {
			.index = i,
			.pid = 100 + i,
			.end_ns = 100 * MS,
			.peak_bytes = 123456789,
			.crate = (char *)(i ? "another_crate_of_a_very_long_name"
					    : "a_crate_of_a_very_long_name"),
			.crate_type = (char *)"lib",
			.command = (char *)"rustc --crate-name x",
		};

		assert_int_equal(build__process(s.build, &p), 0);
		assert_int_equal(summary__process(s.summary, &p), 0);
	}
	assert_int_equal(build__end(s.build), 0);
	v = sample_build__view(&s);
	text = printed_build(build_text, &v);
	assert_contains(text, "memory    at most: a_crate_of_a_very_.. 118 MiB, "
			      "another_crate_of_a.. 118 MiB\n");
}

static void an_unseen_end_is_at_least(void **state)
{
	static const struct path_compile of[] = {
		{"a", "lib", "a.rs", 0, 100, 200, 200, 0},
		{"b", "lib", "b.rs", 50, 300, 350, 0, 0},
	};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_path_build_ struct path_build b;
	_free_ char *text = NULL;

	path_build__make(&b, of, N_OF(of));
	v.build = b.build;
	v.items = NULL;
	text = printed_build(build_text, &v);
	assert_contains(text,
			"build     at least 350 ms, crates compiled: 2 (1 not seen to end)\n");
	assert_contains(text, "\n! b    >=300 ms ");
	assert_contains(text, "\na        200 ms ");
}

static void a_part_has_the_path_of_the_whole(void **state)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 300, 310, 320, 0},
		{"b", "lib", LIB("b1", RMETA("a", "a1")), 300, 500, 550, 600, 0},
	};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_path_build_ struct path_build whole, part, alone;
	_free_ char *text = NULL, *without = NULL, *json = NULL;

	path_build__make(&whole, of, N_OF(of));
	path_build__make(&part, of, 1);
	assert_int_equal(build__set_whole(part.build, whole.build), 0);
	v.build = part.build;
	v.items = NULL;
	text = printed_build(build_text, &v);
	assert_contains(text, "compile   a: 320 ms");
	assert_contains(text, "build     600 ms, crates compiled: 2, chosen: 1\n");
	assert_contains(text, "\n> a                             front end   300 ms   300 ms\n"
			      "b                               front end   200 ms   200 ms\n");
	assert_contains(text, "  >: chosen, 300 ms of the 600 ms; the rest is the whole build's\n");
	json = printed_build(build_json, &v);
	assert_contains(json, "{\"wall_ns\":600000000,");
	assert_contains(json, "\"name\":\"b\",\"pid\":101,\"part\":\"front_end\"");
	assert_contains(json, "\"chosen\":true}");
	assert_contains(json, "\"chosen\":false}");
	path_build__make(&alone, of, 1);
	assert_int_equal(build__set_whole(alone.build, NULL), 0);
	v.build = alone.build;
	without = printed_build(build_text, &v);
	assert_lacks(without, "what kept it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_build_is_as_agreed),
		cmocka_unit_test(everything_there_is_is_in_full),
		cmocka_unit_test(top_is_of_each_table),
		cmocka_unit_test(nothing_is_said_of_no_build),
		cmocka_unit_test(items_take_the_place_of_pairs),
		cmocka_unit_test(items_have_the_time_of_llvm),
		cmocka_unit_test(the_most_memory_fits_a_line),
		cmocka_unit_test(an_item_may_have_only_the_time_of_llvm),
		cmocka_unit_test(samples_alone_are_a_build),
		cmocka_unit_test(an_unseen_end_is_at_least),
		cmocka_unit_test(a_part_has_the_path_of_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
