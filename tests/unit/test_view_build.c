// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json-c/json.h>
#include <signal.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_build.h"
#include "../fixtures/sampled_build.h"
#include "../fixtures/path_build.h"
#include "view/build_rows.h"
#include "view/cost_view.h"
#include "view/llvm_view.h"

TEST_CASE(a_build_is_as_agreed)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	text = printed_columns(build_columns, &v);
	assert_golden("view/build.json", text);
}

TEST_CASE(it_is_json)
{
	struct json_object *object, *crates, *pairs;
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	v.top = 1;
	text = printed_columns(build_columns, &v);
	object = parsed_json(text);
	/* --top does not limit the crates. */
	crates = json_object_object_get(member(object, "build"), "crates");
	assert_int_equal(json_object_array_length(crates), 4);
	pairs = json_object_object_get(member(object, "build"), "pairs");
	assert_int_equal(json_object_array_length(pairs), 1);
	json_object_put(object);
}

TEST_CASE(items_are_there_if_known)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	struct json_object *object, *items, *first;
	_free_ char *text = NULL;

	sample_build__items(&s, &v);
	text = printed_columns(build_columns, &v);
	object = parsed_json(text);
	items = json_object_object_get(member(object, "build"), "items");
	assert_int_equal(json_object_array_length(items), SB_ITEMS);
	first = json_object_array_get_idx(items, 1);
	assert_string_equal(
		json_object_to_json_string_ext(first, JSON_C_TO_STRING_PLAIN),
		"{\"crate\":\"a_crate_of_some_name\",\"name\":\"a_crate_of_some_name::module_of_a_"
		"module::{{impl}}[13]::a_long_method\",\"executions\":2,\"charged\":0,\"self_ns\":"
		"19000000,\"self_cpu_ns\":19000000,\"query\":\"typeck\","
		"\"query_self_ns\":10000000,\"query_self_cpu_ns\":10000000}");
	json_object_put(object);
}

TEST_CASE(waits_of_a_late_compiler_are_lower_limits)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *whole = printed_columns(build_columns, &v), *text = NULL;

	assert_null(strstr(whole, "\"waits_at_least\":true"));
	((struct build_totals *)build__totals(v.build))->late = 1;
	text = printed_columns(build_columns, &v);
	assert_contains(text, "\"waits_at_least\":true,\"blocked_ns\"");
}

/* A self time of 0 is none that was measured, and the row says so. */
TEST_CASE(what_is_too_short_to_time_is_counted)
{
	const struct trace_span span = {.label = SB_TYPECK, .end_ns = 10};
	const struct trace_times times = {.self_ns = 10, .self_probe_ns = UINT64_C(1) << 50};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *without = printed_columns(build_columns, &v), *text = NULL;

	assert_lacks(without, "too_short");
	assert_int_equal(summary__span(s.summary, &span, &times), 0);
	text = printed_columns(build_columns, &v);
	assert_contains(text, "\"too_short\":1");
}

/* Probes recorded them in some compilers, and others have them in their tables. */
TEST_CASE(executions_of_all_compilers_are_counted)
{
	const struct trace_tally tally = {.process = SB_ASKED,
					  .label = SB_LAYOUT_OF,
					  .kind = TRACE_KIND_RESULTS,
					  .events = 50};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *json = NULL, *text = NULL;

	assert_int_equal(summary__tally(s.summary, &tally), 0);
	summary__set_unwatched(s.summary);
	json = printed_columns(build_columns, &v);
	assert_contains(json, "\"name\":\"layout_of\",\"kind\":\"Query\",\"count\":51,");
	text = printed_build(build_markdown, &v);
	assert_contains(text, "| `layout_of` | 51 |");
}

/* ---- Build markdown -------------------------------------------------------------------------- */

TEST_CASE(build_markdown_a_build_is_as_agreed)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	text = printed_build(build_markdown, &v);
	assert_golden("view/build.md", text);
}

TEST_CASE(tables_stay_whole)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	v.top = 4;
	v.losses = NULL;
	v.problem = "unfinished";
	text = printed_build(build_markdown, &v);
	assert_contains(text, "| `ser\\|de (build script)` |");
	assert_contains(text, "\nLost: unknown, the trace does not say. Incomplete: `unfinished`.");
}

TEST_CASE(what_did_not_end_well_is_marked)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	struct build_totals *totals = (struct build_totals *)build__totals(v.build);
	struct trace_process *first;
	_build_rows_ struct build_rows r = {};
	_free_ char *text = NULL;

	assert_int_equal(build_rows__init(&r, &v), 0);
	first = (struct trace_process *)r.crates[0]->process->process;
	first->end_ns = 0;
	first->exit_status = TRACE_EXIT_UNKNOWN;
	totals->unended = 1;
	totals->cached = 3;
	text = printed_build(build_markdown, &v);
	assert_contains(text, "### rustc: at least 700 ms, 4 crates compiled");
	assert_contains(text, ", **1 not seen to end**; 3 from a cache\n");
	assert_contains(text, "\n| ! `");
	assert_contains(text, " | >=");
}

TEST_CASE(items_are_a_table)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	sample_build__items(&s, &v);
	v.top = 3;
	text = printed_build(build_markdown, &v);
	assert_contains(text, "\n| item | on-cpu | % | most in |\n");
	assert_contains(text, "\n| `app` | 15.0 ms | 2.4 | `typeck` 8.00 ms |\n\nand 1 more\n");
}

/* ---- Build text ------------------------------------------------------------------------------ */

TEST_CASE(build_text_a_build_is_as_agreed)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	text = printed_build(build_text, &v);
	assert_golden("view/build.txt", text);
}

TEST_CASE(everything_there_is_is_in_full)
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

TEST_CASE(top_is_of_each_table)
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

TEST_CASE(nothing_is_said_of_no_build)
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
				  "threads   when they waited was not recorded\n\nlost: 0\n");
}

TEST_CASE(items_take_the_place_of_pairs)
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
TEST_CASE(items_have_the_time_of_llvm)
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
	json = printed_columns(build_columns, &v);
	assert_contains(json, "\"llvm_ns\":500000000,\"llvm_error_ns\":22360680");
}

/* No sample met a query about it: that it was compiled is known by the compiler's tables. */
TEST_CASE(an_item_may_have_only_the_time_of_llvm)
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
	json = printed_columns(build_columns, &v);
	assert_contains(json,
			"\"self_cpu_ns\":0,\"llvm_ns\":500000000,\"llvm_error_ns\":22360680},");
}

TEST_CASE(samples_alone_are_a_build)
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

TEST_CASE(the_most_memory_fits_a_line)
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

TEST_CASE(an_unseen_end_is_at_least)
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

static const char *macro_text(const void *ctx, uint32_t id)
{
	return id == SB_EXPAND ? "expand_proc_macro" : sample_build_text(ctx, id);
}

TEST_CASE(a_build_with_procedural_macros_says_where_they_are)
{
	static const struct trace_texts names = {.text = macro_text};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = printed_build(build_text, &v), *macros = NULL;

	assert_lacks(text, "--by macro");
	v.names = &names;
	macros = printed_build(build_text, &v);
	assert_contains(macros, "\nprocedural macros: --by macro\n");
}

/* Without probes of queries nothing tells what was executed from what was taken over. */
TEST_CASE(loads_alone_are_from_the_last_build)
{
	static const struct trace_span load = {.process = SB_SYN,
					       .tid = 3,
					       .label = SB_TYPECK,
					       .kind = TRACE_KIND_LOAD,
					       .end_ns = MS};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_free_ char *text = NULL;

	summary__set_unwatched(s.summary);
	assert_int_equal(computed_span(s.summary, s.self_time, &load), 0);
	text = printed_build(build_text, &v);
	assert_contains(text, "\nreuse     ~1 loaded from the last build (1 compile)\n");
}

/* No share of theirs is known, so their tables say nothing either. */
TEST_CASE(few_samples_in_llvm_have_no_line)
{
	struct llvm_rows rows = {.totals.all = {4, 4000000}};
	_free_ char *text = printed_text(llvm_print_line(out, "", 0, &rows));

	assert_string_equal(text, "");
}

/* Of one compile: its first row is what is slow. */
TEST_CASE(a_pass_that_took_most_comes_first)
{
	static const struct path_compile of[] = {{"a", "lib", "a.rs", 0, 100, 200, 200, 0}};
	static const char *const tables[2][3] = {{"\nrustc's pass ", "\nitem ", "\nquery "},
						 {"\nitem ", "\nquery ", "\nrustc's pass "}};
	static const struct trace_span pass = {.process = SB_SYN,
					       .tid = 3,
					       .label = SB_LINK,
					       .kind = TRACE_KIND_ACTIVITY,
					       .end_ns = 200 * MS};
	_sample_build_ struct sample_build s = {};
	struct build_view v = sample_build__make(&s);
	_path_build_ struct path_build b;

	path_build__make(&b, of, N_OF(of));
	sample_build__items(&s, &v);
	assert_int_equal(computed_span(s.summary, s.self_time, &pass), 0);
	v.build = b.build;
	for (int llvm = 0; llvm < 2; llvm++) {
		char *text = printed_build(build_text, &v), *at = text;

		for (int i = 0; i < 3 && at; i++)
			at = strstr(at, tables[llvm][i]);
		free(text);
		assert_non_null(at);
		assert_int_equal(
			items__llvm(s.items, SB_ITEM, &(struct sample_sum){500, 500000000}), 0);
	}
}

TEST_CASE(a_part_has_the_path_of_the_whole)
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
	json = printed_columns(build_columns, &v);
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

/* ---- Build rows ------------------------------------------------------------------------------ */

TEST_CASE(rows_are_sorted_and_distinguished)
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

TEST_CASE(reuse_is_summed_over_all_processes)
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

TEST_CASE(rows_fit_unless_asked_otherwise)
{
	struct build_view v = {0};

	assert_int_equal(build_rows__shown(&v, 10, 4), 4);
	assert_int_equal(build_rows__shown(&v, 3, 4), 3);
	v.top = 7;
	assert_int_equal(build_rows__shown(&v, 10, 4), 7);
	v.full = true;
	assert_int_equal(build_rows__shown(&v, 10, 4), 10);
}

TEST_CASE(endings_are_reported)
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

TEST_CASE(kills_for_memory_are_part_of_all)
{
	struct build_totals t = {.killed = 3};
	char buf[FORMAT_MAX * 2];

	assert_string_equal(build_memory_kills(buf, &t), "");
	t.memory_kills = 1;
	assert_string_equal(build_memory_kills(buf, &t), ", of which 1 for want of memory");
	t.memory_kills = 3;
	assert_string_equal(build_memory_kills(buf, &t), " for want of memory");
}

TEST_CASE(items_are_sorted_and_lack_what_is_around_none)
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

TEST_CASE(a_long_path_keeps_crate_and_end)
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

TEST_CASE(a_long_name_of_a_compile_keeps_its_target)
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

TEST_CASE(the_crate_is_the_first_segment)
{
	_free_ char *crate = build_item_crate(&(struct build_item){.path = "app::parse::f"});
	_free_ char *root = build_item_crate(&(struct build_item){.path = "app"});

	assert_string_equal(crate, "app");
	assert_string_equal(root, "app");
}

/* ---- Cost text ------------------------------------------------------------------------------- */

static const struct cost known = {
	.ns = {100000000, 70000000, 25000000, 5000000, 50000000},
	.added_ns = 250000000,
	.set_up_ns = 40000000,
	.whole = true,
	.in_compilers_ns = 200000000,
	.compilers_ns = 1000000000,
	.hits = 100000,
	.breakpoints = 14000,
	.waited_ns = 5000000,
	.n_waited = 1,
};

TEST_CASE(every_part_has_a_line)
{
	_free_ char *text = printed_text(cost_text(out, &known));

	assert_string_equal(text,
			    "what recording added                             CPU     %   number\n"
			    "hits of probes                                100 ms  10.0  100,000\n"
			    "breakpoints, written into each new compiler  70.0 ms   7.0   14,000\n"
			    "samples of stacks                            25.0 ms   2.5        -\n"
			    "copies of names                              5.00 ms   0.5        -\n"
			    "qprof-bpf itself                             50.0 ms   5.0        -\n"
			    "  of it once, for set-up                     40.0 ms   4.0        -\n"
			    "together                                      250 ms  25.0        -\n"
			    "  of it in compilers                          200 ms  20.0        -\n"
			    "\n"
			    "100 %: 1.00 s, the CPU time of the compilers without it\n"
			    "1 compiler waited for probes, 5.00 ms in all, which is no CPU time\n");
}

TEST_CASE(other_recordings_have_a_line)
{
	static const char *const lines[] = {
		"",
		"- 1 other recording at the same time: probes make compilers slower\n",
		"- 2 other recordings at the same time: probes make compilers slower\n",
	};

	for (size_t n = 0; n < N_OF(lines); n++) {
		const struct cost c = {.n_beside = n};
		_free_ char *text = printed_text((cost_text_beside(out, &c, "- "), 0));

		assert_string_equal(text, lines[n]);
	}
}

TEST_CASE(cpu_time_that_no_look_saw_is_a_line)
{
	const struct cost none = {.added_ns = 5}, c = {.unseen_ns = 415000000};
	_free_ char *text = printed_text((cost_text_unseen(out, &none, "- unseen: "),
					  cost_text_unseen(out, &c, "- unseen: "), 0));

	assert_string_equal(text,
			    "- unseen: 415 ms of CPU time, of what ended between two looks\n");
}

TEST_CASE(the_line_has_the_share)
{
	_free_ char *text = printed_text(cost_text_line(out, &known, "; ") ? 0 : -1);

	assert_string_equal(text,
			    "recording added 250 ms of CPU, 25.0 % of what the compilers used");
}

/* A small crate: little was compiled in the time that set-up took. */
TEST_CASE(the_line_tells_a_large_set_up)
{
	struct cost c = known;
	_free_ char *text = NULL;

	c.ns[COST_OWN] = 1100000000;
	c.set_up_ns = 1000000000;
	c.added_ns = 1300000000;
	c.compilers_ns = 100000000;
	text = printed_text(cost_text_line(out, &c, "; ") ? 0 : -1);
	assert_string_equal(text, "recording added 1.30 s of CPU, 1300.0 % of what the compilers "
				  "used; 1.00 s of it once, for set-up");
}

/* It is in no sum: the next recording has it from the store. */
TEST_CASE(the_line_tells_that_a_toolchain_was_new)
{
	struct cost c = known;
	_free_ char *text = NULL;

	c.read_ns = 1800000000;
	text = printed_text(cost_text_line(out, &c, "; ") ? 0 : -1);
	assert_string_equal(text, "recording added 250 ms of CPU, 25.0 % of what the compilers "
				  "used; 1.80 s more, before, to read a new toolchain");
}

TEST_CASE(what_is_not_told_is_not_printed)
{
	const struct cost none = {};
	_free_ char *text = printed_text(cost_text_line(out, &none, "; ") ? -1 : 0);
	_free_ char *table = printed_text(cost_text(out, &none));

	assert_string_equal(text, "");
	assert_string_equal(table, "the cost of this recording is unknown\n");
}

TEST_CASE(json_has_the_share)
{
	_free_ char *text = printed_columns(cost_columns, &known);

	assert_non_null(strstr(text, "\"share_of_cpu\":0.2500,"));
	assert_non_null(strstr(text, "\"set_up_ns\":40000000,"));
	assert_non_null(strstr(text, "\"breakpoints_ns\":70000000,"));
}

TEST_MAIN(NULL, NULL)
