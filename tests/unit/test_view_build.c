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

#define AS_TEXT	    printed_build(build_text, v)
#define AS_MARKDOWN printed_build(build_markdown, v)
#define AS_JSON	    printed_columns(build_columns, v)

BUILD_CASE(a_build_is_as_agreed)
{
	assert_shows(AS_JSON, "@view/build.json");
	assert_shows(AS_MARKDOWN, "@view/build.md");
	assert_shows(AS_TEXT, "@view/build.txt");
}

BUILD_CASE(it_is_json)
{
	struct json_object *object, *build;
	_free_ char *text = NULL;

	v->top = 1;
	text = AS_JSON;
	object = parsed_json(text);
	build = member(object, "build");
	/* --top does not limit the crates. */
	assert_int_equal(json_object_array_length(member(build, "crates")), 4);
	assert_int_equal(json_object_array_length(member(build, "pairs")), 1);
	json_object_put(object);
}

BUILD_CASE(items_are_there_if_known)
{
	struct json_object *object, *items;
	_free_ char *text = NULL;

	sample_build__items(s, v);
	text = AS_JSON;
	object = parsed_json(text);
	items = member(member(object, "build"), "items");
	assert_int_equal(json_object_array_length(items), SB_ITEMS);
	assert_string_equal(
		json_object_to_json_string_ext(json_object_array_get_idx(items, 1),
					       JSON_C_TO_STRING_PLAIN),
		"{\"crate\":\"a_crate_of_some_name\",\"name\":\"a_crate_of_some_name::module_of_a_"
		"module::{{impl}}[13]::a_long_method\",\"executions\":2,\"charged\":0,\"self_ns\":"
		"19000000,\"self_cpu_ns\":19000000,\"query\":\"typeck\","
		"\"query_self_ns\":10000000,\"query_self_cpu_ns\":10000000}");
	json_object_put(object);
}

BUILD_CASE(waits_of_a_late_compiler_are_lower_limits)
{
	assert_shows(AS_JSON, "!\"waits_at_least\":true");
	((struct build_totals *)build__totals(v->build))->late = 1;
	assert_shows(AS_JSON, "\"waits_at_least\":true,\"blocked_ns\"");
}

/* A self time of 0 is none that was measured, and the row says so. */
BUILD_CASE(what_is_too_short_to_time_is_counted)
{
	const struct trace_span span = {.label = SB_TYPECK, .end_ns = 10};
	const struct trace_times times = {.self_ns = 10, .self_probe_ns = UINT64_C(1) << 50};

	assert_shows(AS_JSON, "!too_short");
	assert_int_equal(summary__span(s->summary, &span, &times), 0);
	assert_shows(AS_JSON, "\"too_short\":1");
}

/* Probes recorded them in some compilers, and others have them in their tables. */
BUILD_CASE(executions_of_all_compilers_are_counted)
{
	const struct trace_tally tally = {SB_ASKED, SB_LAYOUT_OF, TRACE_KIND_RESULTS, .events = 50};

	assert_int_equal(summary__tally(s->summary, &tally), 0);
	summary__set_unwatched(s->summary);
	assert_shows(AS_JSON, "\"name\":\"layout_of\",\"kind\":\"Query\",\"count\":51,");
	assert_shows(AS_MARKDOWN, "| `layout_of` | 51 |");
}

BUILD_CASE(tables_of_markdown_stay_whole)
{
	v->top = 4;
	v->losses = NULL;
	v->problem = "unfinished";
	assert_shows(AS_MARKDOWN, "| `ser\\|de (build script)` |",
		     "\nLost: unknown, the trace does not say. Incomplete: `unfinished`.");
}

BUILD_CASE(what_did_not_end_well_is_marked)
{
	struct build_totals *totals = (struct build_totals *)build__totals(v->build);
	struct trace_process *first;
	_build_rows_ struct build_rows r = {};

	assert_int_equal(build_rows__init(&r, v), 0);
	first = (struct trace_process *)r.crates[0]->process->process;
	first->end_ns = 0;
	first->exit_status = TRACE_EXIT_UNKNOWN;
	totals->unended = 1;
	totals->cached = 3;
	assert_shows(AS_MARKDOWN, "### rustc: at least 700 ms, 4 crates compiled",
		     ", **1 not seen to end**; 3 from a cache\n", "\n| ! `", " | >=");
}

BUILD_CASE(everything_there_is_is_in_full)
{
	v->full = v->wide = true;
	v->top = 1;
	v->problem = "cut short at byte 4096";
	assert_shows(AS_TEXT, "@view/build_full.txt");
}

BUILD_CASE(top_is_of_each_table)
{
	v->top = 1;
	v->losses = NULL;
	assert_shows(AS_TEXT, "crate (1 of 4) ", "query (1 of 3) ", "rustc's pass (1 of 6) ",
		     "!build script", "lost: unknown");
}

TEST_CASE(nothing_is_said_of_no_build)
{
	_sample_build_ struct sample_build s = {};
	struct build_view v;

	sample_build__begin(&s);
	assert_int_equal(build__end(s.build), 0);
	v = sample_build__view(&s);
	assert_shows(printed_build(build_text, &v),
		     "=build     0 ns, crates compiled: 0\n"
		     "threads   when they waited was not recorded\n\nlost: 0\n");
}

BUILD_CASE(items_take_the_place_of_pairs)
{
	sample_build__items(s, v);
	assert_shows(AS_TEXT, "@view/build_items.txt");
	v->top = 3;
	assert_shows(AS_MARKDOWN, "\n| item | on-cpu | % | most in |\n",
		     "\n| `app` | 15.0 ms | 2.4 | `typeck` 8.00 ms |\n\nand 1 more\n");
	v->full = v->wide = true;
	assert_shows(AS_TEXT, "\ncrate/query ",
		     "::module_of_a_module::{{impl}}[13]::a_long_method ",
		     " most in  on-cpu there  executions\n");
}

static const struct sample_sum llvm_sum = {500, 500000000};

/* Rows are ordered by both parts. */
BUILD_CASE(items_have_the_time_of_llvm)
{
	sample_build__items(s, v);
	assert_int_equal(items__llvm(s->items, SB_ITEM, &llvm_sum), 0);
	assert_shows(AS_TEXT, "@view/build_items_llvm.txt");
	assert_shows(AS_MARKDOWN, " | % | LLVM | most in |\n|---|---:|---:|---:|---|\n",
		     " | 500 ms | `", " | - | `");
	assert_shows(AS_JSON, "\"llvm_ns\":500000000,\"llvm_error_ns\":22360680");
}

/* No sample met a query about it: that it was compiled is known by the compiler's tables. */
BUILD_CASE(an_item_may_have_only_the_time_of_llvm)
{
	const struct trace_results results = {.label = SB_TYPECK,
					      .kind = TRACE_RESULTS_EXECUTED,
					      .n = 1,
					      .items = (uint32_t[]){SB_LAYOUT_OF}};

	sample_build__items(s, v);
	must(items__results(s->items, &results), items__llvm(s->items, SB_LAYOUT_OF, &llvm_sum));
	assert_shows(AS_TEXT,
		     "most in\nlayout_of                            -    0.0  500 ms     LLVM\n");
	assert_shows(AS_MARKDOWN, "| `layout_of` | - | 0.0 | 500 ms | `LLVM` 500 ms |\n");
	assert_shows(AS_JSON,
		     "\"self_cpu_ns\":0,\"llvm_ns\":500000000,\"llvm_error_ns\":22360680},");
}

TEST_CASE(samples_alone_are_a_build)
{
	_sampled_build_ struct sampled_build b = {};
	struct build_view view;

	sampled_build__make(&b, MODEL_BUILD, 1u << TRACE_SAMPLE_CPU);
	view = (struct build_view){.build = b.model.build,
				   .summary = b.model.summary,
				   .losses = &b.model.losses,
				   .names = &b.model.options.texts,
				   .samples = b.model.samples,
				   .stacks = &b.model.stacks[TRACE_SAMPLE_CPU]};
	assert_shows(printed_text(build_text(out, &view)), "@view/build_sampled.txt");
}

TEST_CASE(the_most_memory_fits_a_line)
{
	_sample_build_ struct sample_build s = {};
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
			.command = (char *)"rustc --crate-name x"};

		must(build__process(s.build, &p), summary__process(s.summary, &p));
	}
	assert_int_equal(build__end(s.build), 0);
	v = sample_build__view(&s);
	assert_shows(
		printed_build(build_text, &v),
		"memory    at most: a_crate_of_a_very_.. 118 MiB, another_crate_of_a.. 118 MiB\n");
}

BUILD_CASE(an_unseen_end_is_at_least)
{
	static const struct path_compile of[] = {
		{"a", "lib", "a.rs", 0, 100, 200, 200, 0},
		{"b", "lib", "b.rs", 50, 300, 350, 0, 0},
	};
	_path_build_ struct path_build b;

	path_build__make(&b, of, N_OF(of));
	v->build = b.build;
	assert_shows(AS_TEXT, "build     at least 350 ms, crates compiled: 2 (1 not seen to end)\n",
		     "\n! b    >=300 ms ", "\na        200 ms ");
}

static const char *macro_text(const void *ctx, uint32_t id)
{
	return id == SB_EXPAND ? "expand_proc_macro" : sample_build_text(ctx, id);
}

BUILD_CASE(a_build_with_procedural_macros_says_where_they_are)
{
	static const struct trace_texts names = {.text = macro_text};

	assert_shows(AS_TEXT, "!--by macro");
	v->names = &names;
	assert_shows(AS_TEXT, "\nprocedural macros: --by macro\n");
}

/* Without probes of queries nothing tells what was executed from what was taken over. */
BUILD_CASE(loads_alone_are_from_the_last_build)
{
	static const struct trace_span load = {.process = SB_SYN,
					       .tid = 3,
					       .label = SB_TYPECK,
					       .kind = TRACE_KIND_LOAD,
					       .end_ns = MS};

	summary__set_unwatched(s->summary);
	assert_int_equal(computed_span(s->summary, s->self_time, &load), 0);
	assert_shows(AS_TEXT, "\nreuse     ~1 loaded from the last build (1 compile)\n");
}

/* No share of theirs is known, so their tables say nothing either. */
TEST_CASE(few_samples_in_llvm_have_no_line)
{
	struct llvm_rows rows = {.totals.all = {4, 4000000}};

	assert_shows(printed_text(llvm_print_line(out, "", 0, &rows)), "=");
}

/* Of one compile: its first row is what is slow. */
BUILD_CASE(a_pass_that_took_most_comes_first)
{
	static const struct path_compile of[] = {{"a", "lib", "a.rs", 0, 100, 200, 200, 0}};
	static const char *const tables[2][3] = {{"\nrustc's pass ", "\nitem ", "\nquery "},
						 {"\nitem ", "\nquery ", "\nrustc's pass "}};
	static const struct trace_span pass = {.process = SB_SYN,
					       .tid = 3,
					       .label = SB_LINK,
					       .kind = TRACE_KIND_ACTIVITY,
					       .end_ns = 200 * MS};
	_path_build_ struct path_build b;

	path_build__make(&b, of, N_OF(of));
	sample_build__items(s, v);
	assert_int_equal(computed_span(s->summary, s->self_time, &pass), 0);
	v->build = b.build;
	for (int llvm = 0; llvm < 2; llvm++) {
		char *text = AS_TEXT, *at = text;

		for (int i = 0; i < 3 && at; i++)
			at = strstr(at, tables[llvm][i]);
		free(text);
		assert_non_null(at);
		assert_int_equal(items__llvm(s->items, SB_ITEM, &llvm_sum), 0);
	}
}

BUILD_CASE(a_part_has_the_path_of_the_whole)
{
	static const struct path_compile of[] = {
		{"a", "lib", LIB("a1", ""), 0, 300, 310, 320, 0},
		{"b", "lib", LIB("b1", RMETA("a", "a1")), 300, 500, 550, 600, 0},
	};
	_path_build_ struct path_build whole, part, alone;

	path_build__make(&whole, of, N_OF(of));
	path_build__make(&part, of, 1);
	assert_int_equal(build__set_whole(part.build, whole.build), 0);
	v->build = part.build;
	assert_shows(AS_TEXT, "compile   a: 320 ms",
		     "build     600 ms, crates compiled: 2, chosen: 1\n",
		     "\n> a                             front end   300 ms   300 ms\n"
		     "b                               front end   200 ms   200 ms\n",
		     "  >: chosen, 300 ms of the 600 ms; the rest is the whole build's\n");
	assert_shows(AS_JSON, "{\"wall_ns\":600000000,",
		     "\"name\":\"b\",\"pid\":101,\"part\":\"front_end\"", "\"chosen\":true}",
		     "\"chosen\":false}");
	path_build__make(&alone, of, 1);
	assert_int_equal(build__set_whole(alone.build, NULL), 0);
	v->build = alone.build;
	assert_shows(AS_TEXT, "!what kept it");
}

/* ---- Build rows ------------------------------------------------------------------------------ */

BUILD_CASE(rows_are_sorted_and_distinguished)
{
	static const char *const crates[] = {"killed", "fa?iled", "syn", "ser|de (build script)"};
	_build_rows_ struct build_rows r = {};
	uint64_t cpu_ns = 0, pairs_ns = 0;

	assert_int_equal(build_rows__init(&r, v), 0);
	assert_int_equal(r.n_crates, N_OF(crates));
	for (size_t i = 0; i < N_OF(crates); i++)
		assert_string_equal(r.crates[i]->name, crates[i]);
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
}

BUILD_CASE(reuse_is_summed_over_all_processes)
{
	_build_rows_ struct build_rows r = {};

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
		assert_int_equal(computed_span(s->summary, s->self_time, &load), 0);
		if (process == SB_SYN)
			assert_int_equal(computed_span(s->summary, s->self_time, &query), 0);
	}
	assert_int_equal(build_rows__init(&r, v), 0);
	assert_int_equal(r.n_reuse, 2);
	assert_struct(r.reuse, loads, 2, loaded, 2, executed, 4);
	/* The second process has no invocation ids. */
	assert_int_equal(r.reuse.results, 0);
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
	static const struct {
		const char *text;
		int32_t status;
		uint8_t kill;
	} cases[] = {
		{"end not seen", TRACE_EXIT_UNKNOWN, 0},
		{"killed by SIGTERM", SIGTERM, 0},
		{"killed by SIGKILL", SIGKILL, TRACE_KILL_OTHER},
		{"killed for want of memory", SIGKILL, TRACE_KILL_MEMORY},
	};
	static const char *const of_all[] = {"", ", of which 1 for want of memory",
					     ", of which 2 for want of memory",
					     " for want of memory"};
	char buf[FORMAT_MAX * 2];

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct trace_process p = {.exit_status = cases[i].status,
						.kill = cases[i].kill};

		assert_string_equal(build_ending(buf, &p), cases[i].text);
	}
	for (size_t n = 0; n < N_OF(of_all); n++) {
		const struct build_totals t = {.killed = 3, .memory_kills = n};

		assert_string_equal(build_memory_kills(buf, &t), of_all[n]);
	}
}

BUILD_CASE(items_are_sorted_and_lack_what_is_around_none)
{
	const struct trace_span span = {.kind = TRACE_KIND_ACTIVITY, .label = SB_LINK};
	const struct trace_times times = {.self_ns = 99 * MS};
	_build_rows_ struct build_rows r = {};

	sample_build__items(s, v);
	must(items__span(s->items, &span, &times, TRACE_NO_STRING), build_rows__init(&r, v));
	assert_int_equal(r.n_items, SB_ITEMS);
	for (size_t i = 1; i < r.n_items; i++)
		assert_true(r.items[i - 1].row.self_ns > r.items[i].row.self_ns);
}

TEST_CASE(a_long_path_keeps_crate_and_end)
{
	static const struct {
		const char *path;
		size_t most;
		const char *name;
	} rows[] = {
		{"app::parse::expression", 0, "app::parse::expression"},
		{"app::parse::expression", 22, "app::parse::expression"},
		{"app::parse::expression", 21, "..parse::expression"},
		{"application::parse::expression", 20, "..parse::expression"},
		{"abcdefghijklmnopqrstuvwxyz", 10, "abcdefgh.."},
		{"app::a_module_of_some_length::expression", 28, "app..expression"},
		{"syn::a::b_very_long_name", 18, "..b_very_long_name"},
		{"syn::a::b_very_long_name", 12, "b_very_lon.."},
		{"\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4::\u00e4", 8, "..\u00e4"},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		_free_ char *name =
			build_item_name(&(struct build_item){.path = rows[i].path}, rows[i].most);

		assert_string_equal(name, rows[i].name);
	}
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
	_free_ char *root = build_item_crate(&(struct build_item){.path = "app"});

	assert_shows(build_item_crate(&(struct build_item){.path = "app::parse::f"}), "=app");
	assert_string_equal(root, "app");
}

/* ---- Cost text ------------------------------------------------------------------------------- */

static const struct cost known = {.ns = {100000000, 70000000, 25000000, 5000000, 50000000},
				  .added_ns = 250000000,
				  .set_up_ns = 40000000,
				  .whole = true,
				  .in_compilers_ns = 200000000,
				  .compilers_ns = 1000000000,
				  .hits = 100000,
				  .breakpoints = 14000,
				  .waited_ns = 5000000,
				  .n_waited = 1};

TEST_CASE(every_part_has_a_line)
{
	assert_shows(printed_text(cost_text(out, &known)),
		     "=what recording added                             CPU     %   number\n"
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

TEST_CASE(cpu_time_that_no_look_saw_is_a_line)
{
	const struct cost none = {.added_ns = 5}, c = {.unseen_ns = 415000000};

	assert_shows(printed_text((cost_text_unseen(out, &none, "- unseen: "),
				   cost_text_unseen(out, &c, "- unseen: "), 0)),
		     "=- unseen: 415 ms of CPU time, of what ended between two looks\n");
}

TEST_CASE(other_recordings_have_a_line)
{
	static const char *const lines[] = {
		"=",
		"=- 1 other recording at the same time: probes make compilers slower\n",
		"=- 2 other recordings at the same time: probes make compilers slower\n",
	};

	for (size_t n = 0; n < N_OF(lines); n++) {
		const struct cost cost = {.n_beside = n};

		assert_shows(printed_text((cost_text_beside(out, &cost, "- "), 0)), lines[n]);
	}
}

#define LINE(cost) printed_text(cost_text_line(out, cost, "; ") ? 0 : -1)

TEST_CASE(the_line_has_the_share_and_what_is_large)
{
	struct cost small = known, new = known;

	assert_shows(LINE(&known),
		     "=recording added 250 ms of CPU, 25.0 % of what the compilers used");
	/* A small crate: little was compiled in the time that set-up took. */
	small.ns[COST_OWN] = 1100000000;
	small.set_up_ns = 1000000000;
	small.added_ns = 1300000000;
	small.compilers_ns = 100000000;
	assert_shows(LINE(&small), "=recording added 1.30 s of CPU, 1300.0 % of what the compilers "
				   "used; 1.00 s of it once, for set-up");
	/* It is in no sum: the next recording has it from the store. */
	new.read_ns = 1800000000;
	assert_shows(LINE(&new), "=recording added 250 ms of CPU, 25.0 % of what the compilers "
				 "used; 1.80 s more, before, to read a new toolchain");
}

TEST_CASE(what_is_not_told_is_not_printed)
{
	const struct cost none = {};

	assert_shows(printed_text(cost_text_line(out, &none, "; ") ? -1 : 0), "=");
	assert_shows(printed_text(cost_text(out, &none)),
		     "=the cost of this recording is unknown\n");
}

TEST_CASE(json_has_the_share)
{
	assert_shows(printed_columns(cost_columns, &known), "\"share_of_cpu\":0.2500,",
		     "\"set_up_ns\":40000000,", "\"breakpoints_ns\":70000000,");
}

TEST_MAIN(NULL, NULL)
