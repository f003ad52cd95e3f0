// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_diff.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/schema_fields.h"
#include "view/diff_rows.h"
#include "../fixtures/sample_compare.h"

TEST_CASE(several_traces_a_side)
{
	assert_shows(sample_diff(diff_text, 5, COMPARE_SELF, 0), "@view/diff.txt");
}

TEST_CASE(one_trace_a_side_says_so)
{
	assert_shows(sample_diff(diff_text, 1, COMPARE_SELF, 0), "@view/diff_single.txt");
}

TEST_CASE(executions_need_no_spread_of_times)
{
	assert_shows(sample_diff(diff_text, 1, COMPARE_COUNT, 0),
		     "executions:   43 -> 47, +4 (+9.3 %)\n",
		     "\n    +3  +15.0    20   23  serde/layout_of\n", "!noise is");
}

TEST_CASE(top_limits_the_rows)
{
	assert_shows(sample_diff(diff_text, 5, COMPARE_SELF, 1),
		     "regex/typeck\n  and 1 more; --top 0 shows all\n", "!mir_borrowck");
}

/* A narrow diff drops columns of numbers and keeps the crate and query. */
TEST_CASE(numbers_go_before_names)
{
	assert_shows(sample_diff_within(diff_text, sample_comparison(1), COMPARE_SELF, 0, 60),
		     "\n  change      %     base      new  crate/query\n",
		     "  hidden column: executions (--wide)\n");
}

/* Matched by crate name and start order, serde's script would be compared with libc's. */
TEST_CASE(build_scripts_go_by_their_packages)
{
	assert_shows(sample_diff_of(diff_text, sample_scripts(), COMPARE_COUNT, 0),
		     "@view/diff_scripts.txt");
}

TEST_CASE(items_have_their_paths)
{
	assert_shows(sample_diff_of(diff_text, sample_comparison_of_items(), COMPARE_SELF, 0),
		     "@view/diff_items.txt");
}

/* ---- Diff markdown --------------------------------------------------------------------------- */

TEST_CASE(a_summary_of_several_traces)
{
	assert_shows(sample_diff(diff_markdown, 5, COMPARE_SELF, 0), "@view/diff.md");
}

/* The sample's new crate has a name that tries to end its cell and its code span. */
TEST_CASE(names_stay_in_their_cells)
{
	assert_shows(sample_diff(diff_markdown, 1, COMPARE_SELF, 0),
		     "| `ev\\|l?' (bin) (only in new)` |\n", "noise is estimated");
}

TEST_CASE(diff_markdown_top_limits_the_rows)
{
	assert_shows(sample_diff(diff_markdown, 1, COMPARE_SELF, 1), "\nand 1 more\n");
}

/* ---- Diff json ------------------------------------------------------------------------------- */

TEST_CASE(the_document_is_stable_and_valid)
{
	_free_ char *text = sample_diff(diff_json, 5, COMPARE_SELF, 1);
	struct json_object *object;

	assert_golden("view/diff.json", text);
	object = parsed_json(text);
	assert_int_equal(json_object_array_length(member(object, "rows")),
			 6); /* --top does not limit them */
	json_object_put(object);
}

TEST_CASE(unknown_values_are_null)
{
	assert_shows(
		sample_diff(diff_json, 1, COMPARE_COUNT, 0), "\"metric\":\"count\"",
		"\"noise\":null",
		"\"change_percent\":null,\"compared\":true,\"significant\":true,\"base\":null,");
	assert_shows(sample_diff(diff_json, 1, COMPARE_SELF, 0), "\"noise\":{\"percent\":");
}

static int with_other_recordings(FILE *out, const struct diff_view *v)
{
	_free_ struct diff_trace *traces = calloc(v->n_traces, sizeof(*traces));
	struct diff_view with = *v;

	assert_non_null(traces);
	memcpy(traces, v->traces, v->n_traces * sizeof(*traces));
	traces[v->n_traces - 1].recording.n_beside = 2;
	with.traces = traces;
	return diff_json(out, &with);
}

TEST_CASE(recordings_beside_a_trace_are_a_difference)
{
	_free_ char *with = sample_diff(with_other_recordings, 1, COMPARE_SELF, 0);

	assert_shows(sample_diff(diff_json, 1, COMPARE_SELF, 0), "!\"other_recordings\"]");
	assert_contains(with, "\"other_recordings\"],");
}

TEST_CASE(items_are_no_queries)
{
	_free_ char *text =
		sample_diff_of(diff_json, sample_comparison_of_items(), COMPARE_SELF, 0);
	struct json_object *object = parsed_json(text), *items = member(object, "items"), *row;

	assert_string_equal(json_object_get_string(member(object, "by")), "query");
	assert_int_equal(json_object_array_length(member(object, "rows")), 5);
	assert_int_equal(json_object_array_length(items), 5);
	row = json_object_array_get_idx(items, 0);
	assert_string_equal(json_object_get_string(member(row, "item")), "app::parse::f");
	assert_false(json_object_object_get_ex(row, "query", NULL));
	assert_false(json_object_object_get_ex(row, "crate", NULL));
	assert_false(json_object_object_get_ex(member(row, "new"), "total_ns", NULL));
	assert_contains(text, "{\"item\":null,\"change\":0,");
	json_object_put(object);
}

/* ---- Diff schema ----------------------------------------------------------------------------- */

TEST_CASE(every_field_of_a_document_is_listed_with_its_unit)
{
	_free_ char *text = printed_text(diff_schema(out));
	struct json_object *schema = parsed_json(text);
	char *documents[] = {
		sample_diff(diff_json, 5, COMPARE_SELF, 0),
		sample_diff(diff_json, 1, COMPARE_PEAK, 0),
		sample_diff_of(diff_json, sample_comparison_of_items(), COMPARE_COUNT, 0),
	};

	schema_fields = member(schema, "fields");
	assert_string_equal(json_object_get_string(member(schema, "of")), "qprof-diff/5");
	for (size_t i = 0; i < N_OF(documents); i++) {
		struct json_object *document = parsed_json(documents[i]);

		schema_check(document, "");
		json_object_put(document);
		free(documents[i]);
	}
	assert_string_equal(schema_unit_of("build.base.cpu_ns.median"), "ns");
	assert_string_equal(schema_unit_of("build.base.cpu_ns.n"), "count");
	assert_string_equal(schema_unit_of("crates[].new.peak_bytes.max"), "bytes");
	assert_string_equal(schema_unit_of("gates[].change_percent"), "percent");
	assert_string_equal(schema_unit_of("rows[].change_error"), "ns");
	json_object_put(schema);
}

/* ---- Diff head ------------------------------------------------------------------------------- */

TEST_CASE(what_makes_builds_hard_to_compare_is_said)
{
	const struct compare_recording sampled = {
		.compiles = 5, .cost_ppm = 21000, .sampled = true, .off_cpu = true};
	const struct compare_recording exact = {
		.compiles = 4, .reusing = 3, .probed = true, .off_cpu = true};
	const struct diff_trace traces[] = {
		{.side = COMPARE_BASE, .compiler = "rustc 1", .recording = sampled},
		{.side = COMPARE_NEW, .compiler = "rustc 2", .recording = exact}};
	const struct compare_result r = {
		.few_crates = true, .n_crates = 3, .n_crates_in = {3, 1}, .n_crates_in_both = 1};
	const struct diff_view v = {.result = &r,
				    .traces = traces,
				    .n_traces = 2,
				    .differences =
					    COMPARE_CLEAN_AND_INCREMENTAL | COMPARE_OTHER_RECORDING,
				    .other_compilers = {&traces[0], &traces[1]}};

	assert_shows(
		printed_text(diff_head__differences(out, &v, "- ") ? 0 : -1),
		"=- different work: base is a clean build; in new 3 of 4 compiles reused results "
		"(incremental): neither times nor executions say which is better\n"
		"- different work: crates compiled: 3 in base, 1 in new, 1 in both: the "
		"whole build is not compared\n"
		"- different compilers: base by `rustc 1`, new by `rustc 2`\n"
		"- recorded differently: base with counts and samples (+2.1 % in "
		"compilers), new with all probes: CPU and wall time hold the cost of recording, "
		"which "
		"differs, and are not compared; record all with --exact and the same options to "
		"compare them\n");
}

TEST_CASE(costs_of_recording_that_are_known_are_taken_out)
{
	const struct diff_trace traces[] = {
		{.side = COMPARE_BASE,
		 .recording = {.compiles = 1, .probed = true, .off_cpu = true}},
		{.side = COMPARE_NEW, .recording = {.compiles = 1, .sampled = true}}};
	struct compare_result r = {.without_cost = true};
	const struct diff_view v = {.result = &r,
				    .traces = traces,
				    .n_traces = 2,
				    .differences = COMPARE_OTHER_RECORDING};

	assert_shows(printed_text((diff_head__differences(out, &v, ""), 0)),
		     ": the cost of recording differs, and is taken out of CPU times\n");
	r.mixed_cpu = true;
	assert_shows(printed_text((diff_head__differences(out, &v, ""), 0)),
		     ": CPU times are not compared: those of a trace are counted by samples\n");
}

/* Beside the CPU time, whatever the rows are about; noise is only of what is compared. */
TEST_CASE(what_is_taken_out_of_cpu_times_is_said)
{
	static const struct {
		struct compare_result result;
		const char *text;
	} cases[] = {
		{{.without_cost = true},
		 "- CPU times are without what recording added in compilers: 14.0 ms in base, 0 ns "
		 "in new; half of the difference counts as noise\n"},
		{{.without_cost = true, .rules.different_work = true},
		 "- CPU times are without what recording added in compilers: 14.0 ms in base, 0 ns "
		 "in new\n"},
		{{.without_cost = true, .mixed_cpu = true},
		 "- CPU times are without what recording added in compilers: 14.0 ms in base, 0 ns "
		 "in new\n"},
		{{}, ""},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct compare_result r = cases[i].result;
		const struct diff_view v = {.result = &r};
		_free_ char *text = NULL;

		r.rules.metric = COMPARE_COUNT;
		r.build.recording_ns[COMPARE_BASE] = 14000000;
		text = printed_text((diff_head__costs(out, &v, "- "), 0));
		if (*cases[i].text)
			assert_contains(text, cases[i].text);
		else
			assert_lacks(text, "recording");
	}
}

TEST_CASE(other_recordings_beside_a_side_are_a_reason)
{
	const char *const sides[] = {NULL, "beside base:", "beside new:", "beside both:"};

	for (unsigned int i = 0; i < N_OF(sides); i++) {
		const struct diff_trace traces[] = {
			{.side = COMPARE_BASE, .recording = {.n_beside = i & 1}},
			{.side = COMPARE_NEW, .recording = {.n_beside = i & 2}}};
		const struct compare_result r = {};
		const struct diff_view v = {.result = &r, .traces = traces, .n_traces = 2};
		_free_ char *text = printed_text(
			diff_head__differences(out, &v, "") == (sides[i] != NULL) ? 0 : -1);

		if (sides[i])
			assert_contains(text, sides[i]);
		else
			assert_string_equal(text, "");
	}
}

TEST_CASE(a_trace_without_compiles_was_not_recorded_differently)
{
	const struct diff_trace traces[] = {
		{.side = COMPARE_BASE},
		{.side = COMPARE_BASE, .recording = {.compiles = 1, .probed = true}},
		{.side = COMPARE_NEW, .recording = {.compiles = 1, .sampled = true}}};
	const struct compare_result r = {};
	const struct diff_view v = {.result = &r,
				    .traces = traces,
				    .n_traces = 3,
				    .differences = COMPARE_OTHER_RECORDING};

	assert_shows(printed_text((diff_head__differences(out, &v, ""), 0)),
		     "recorded differently: base with all probes, without off-CPU times, "
		     "new with counts and samples, without off-CPU times: ");
}

TEST_CASE(texts_of_a_trace_cannot_move_the_cursor)
{
	const struct diff_trace traces[] = {{.side = COMPARE_BASE, .compiler = "rustc \033[2J"},
					    {.side = COMPARE_NEW, .compiler = "rustc 2"}};
	const struct compare_unit unit = {.name = "a\033[2J"};
	struct compare_row crates[] = {{.unit = &unit}, {.unit = &unit}};
	struct compare_result r = {.crates = crates, .n_crates = 2};
	const struct diff_view v = {
		.result = &r, .traces = traces, .other_compilers = {&traces[0], &traces[1]}};

	for (int i = 0; i < COMPARE_N_SIDES; i++) {
		r.build.of[COMPARE_PEAK][i].median = 1 << 20;
		crates[0].of[COMPARE_PEAK][i].median = 1 << 20;
	}
	assert_shows(printed_text((diff_head__differences(out, &v, ""), 0)),
		     "=different compilers: base by rustc ?[2J, new by rustc 2\n");
	assert_shows(printed_text((diff_head__costs(out, &v, ""), 0)), ", most in a?[2J\n");
}

TEST_CASE(costs_are_said_with_the_metric_of_the_limits_first)
{
	struct compare_result r = {.rules.metric = COMPARE_PEAK};
	const struct diff_view v = {.result = &r};

	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		r.build.of[m][COMPARE_BASE].median = 1 << 20;
		r.build.of[m][COMPARE_NEW].median = 2 << 20;
	}
	r.build.known = r.build.changed = 0xff;
	assert_shows(printed_text((diff_head__costs(out, &v, ""), 0)),
		     "=peak memory:  1.00 MiB -> 2.00 MiB, +1.00 MiB (+100.0 %)\n"
		     "wall time:    1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %)\n"
		     "CPU time:     1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %)\n"
		     "executions:   1,048,576 -> 2,097,152, +1,048,576 (+100.0 %)\n");
	r.rules.metric = COMPARE_SELF;
	r.build.of[COMPARE_PEAK][0].median = r.build.of[COMPARE_PEAK][1].median = 0;
	r.build.known &= ~(1 << COMPARE_WALL);
	r.build.changed = 1 << COMPARE_SELF;
	assert_shows(printed_text((diff_head__costs(out, &v, ""), 0)),
		     "wall time:    1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %): no verdict with "
		     "fewer than 3 traces a side\n"
		     "CPU time:     1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %): within noise\n"
		     "self time:    1.05 ms -> 2.10 ms, +1.05 ms (+100.0 %)\n",
		     "!memory", "!results");
}

/* ---- Diff rows ------------------------------------------------------------------------------- */

static struct compare_row row_of(uint64_t base, uint64_t new)
{
	return (struct compare_row){
		.of[COMPARE_SELF] = {{1, base, base, base}, {1, new, new, new}},
		.of[COMPARE_COUNT] = {{1, base, base, base}, {1, new, new, new}},
	};
}

TEST_CASE(queries_of_a_crate_of_one_side_are_no_rows)
{
	const struct compare_rules rules = {.min_ns = 5 * MS};
	_compare_ struct compare *c = sample_comparison(5);
	_compare_result_ struct compare_result r;
	const struct diff_view view = {.result = &r, .top = 1};
	_diff_rows_ struct diff_rows rows;

	must(compare__result(c, &rules, &r), diff_rows__init(&rows, &view, COMPARE_OF_QUERIES));
	assert_struct(rows, n, 2, n_shown, 1, rows[0]->query, "typeck", rows[1]->query,
		      "mir_borrowck", within, 2); /* typeck of serde, LLVM_passes */
	assert_int_equal(rows.recount, 2);	  /* layout_of, and typeck of the new crate */
}

TEST_CASE(changes_have_a_sign)
{
	const struct compare_row more = row_of(1000, 1234), less = row_of(1000, 999),
				 none = row_of(5, 5);
	char buf[DIFF_CELL_MAX];

	assert_string_equal(diff_change(buf, &more, COMPARE_SELF), "+234 ns");
	assert_string_equal(diff_change(buf, &less, COMPARE_COUNT), "-1");
	assert_string_equal(diff_change(buf, &none, COMPARE_SELF), "0 ns");
	assert_string_equal(diff_count(buf, &more), "1,000 -> 1,234");
	assert_string_equal(diff_count(buf, &none), "5");
}

TEST_CASE(percent_end_where_factors_begin)
{
	static const struct {
		uint64_t base, new;
		const char *text;
	} cases[] = {
		{1000, 1234, "+23.4"},	{1000, 500, "-50.0"}, {10, 99, "+890.0"}, {10, 100, "x10"},
		{1, 1234567, "x1.23M"}, {0, 1, "new"},	      {1, 0, "gone"},	  {0, 0, "0.0"},
	};
	char buf[DIFF_CELL_MAX];

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct compare_row row = row_of(cases[i].base, cases[i].new);

		assert_string_equal(diff_percent(buf, &row, COMPARE_SELF), cases[i].text);
	}
}

TEST_CASE(the_noise_estimate_is_printed)
{
	static const struct {
		struct compare_result result;
		const char *text;
	} cases[] = {
		{{.traces = {5, 5}}, ""},
		{{.traces = {1, 3}, .noise_is_estimated = true, .noise_ppm = 123400},
		 "fewer than 5 traces on a side (1, 3): noise is estimated, at 12.3 %\n"},
		{{.traces = {1, 1}, .noise_is_estimated = true, .noise_ppm = UINT64_MAX},
		 "fewer than 5 traces on a side (1, 1): too few queries were executed equally "
		 "often on both sides to estimate noise; only times of what one side does not "
		 "have are reported\n"},
		{{.traces = {1, 1},
		  .noise_is_estimated = true,
		  .noise_ppm = 600000,
		  .too_noisy = true},
		 "fewer than 5 traces on a side (1, 1): noise is estimated, at 60.0 %, which is "
		 "too much to judge times, but for the largest changes: record more traces of each "
		 "side, in turns\n"},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		_free_ char *text = printed_text((diff_print_noise(out, &cases[i].result), 0));

		assert_string_equal(text, cases[i].text);
	}
}

TEST_CASE(names_of_a_trace_cannot_move_the_cursor)
{
	const struct compare_row row = {.query = "a`\033[2J"};
	const struct compare_result r = {};
	const struct diff_rows rows = {.uncompared = 1, .first_uncompared = {&row}};
	_free_ char *markdown = printed_text((diff_print_uncompared(out, &rows, &r, true), 0));

	assert_shows(printed_text((diff_print_uncompared(out, &rows, &r, false), 0)), "(a`?[2J)\n");
	assert_contains(markdown, "(`a'?[2J`)\n");
}

/* And in sums only those are that all traces count. */
TEST_CASE(executions_that_are_not_known_are_not_printed)
{
	const struct compare_result r = {.n_uncounted = 4};
	struct compare_row row = {.query = "q",
				  .by = {COMPARE_BY_SPANS, COMPARE_BY_SAMPLES | COMPARE_UNCOUNTED}};
	char buf[DIFF_CELL_MAX];

	row.of[COMPARE_COUNT][COMPARE_BASE].median = row.of[COMPARE_COUNT][COMPARE_NEW].median = 7;
	assert_string_equal(diff_count(buf, &row), "-");
	assert_shows(printed_text((diff_print_change(out, &row, COMPARE_COUNT, &r), 0)),
		     "=7 -> 7, no change");
	row.query = NULL;
	row.by[COMPARE_NEW] = COMPARE_BY_SAMPLES;
	assert_string_equal(diff_count(buf, &row), "7");
	assert_shows(printed_text((diff_print_change(out, &row, COMPARE_COUNT, &r), 0)),
		     "=7 -> 7, of queries counted in all traces, no change");
}

TEST_CASE(what_is_within_noise_is_named)
{
	static const struct {
		size_t within[COMPARE_TABLES];
		const char *text;
	} cases[] = {
		{{}, ""},
		{{[COMPARE_OF_QUERIES] = 1},
		 "within noise, or too small to judge: 1 query of a crate\n"},
		{{3, 2}, "within noise, or too small to judge: 3 items, 2 queries of crates\n"},
		{{0, 0, 1, 2, 1},
		 "within noise, or too small to judge: 1 pass of LLVM, 2 functions in LLVM, 1 "
		 "instance in LLVM\n"},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct diff_tables tables = {};
		_free_ char *text = NULL;

		for (unsigned int of = 0; of < COMPARE_TABLES; of++)
			tables.of[of] = (struct diff_rows){.of = of, .within = cases[i].within[of]};
		text = printed_text((diff_print_within(out, &tables), 0));
		assert_string_equal(text, cases[i].text);
	}
}

TEST_CASE(a_metric_of_crates_has_no_rows)
{
	static const struct {
		enum compare_metric metric;
		bool items, queries, llvm;
	} cases[] = {
		{COMPARE_SELF, true, true, true},    {COMPARE_COUNT, true, true, false},
		{COMPARE_TOTAL, false, true, false}, {COMPARE_PEAK, false, false, false},
		{COMPARE_CPU, true, true, true},     {COMPARE_RESULTS, false, false, false},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct compare_result r = {
			.has_items = true, .has_llvm = true, .rules.metric = cases[i].metric};
		const bool shown[COMPARE_TABLES] = {cases[i].items, cases[i].queries, cases[i].llvm,
						    cases[i].llvm, cases[i].llvm};

		for (unsigned int of = 0; of < COMPARE_TABLES; of++) {
			const struct diff_view both = {.result = &r};

			assert_int_equal(diff_shows(&both, of),
					 shown[of] && of != COMPARE_OF_INSTANCES);
			for (unsigned int by = DIFF_BY_QUERY; by <= DIFF_BY_INSTANCE; by++) {
				const struct diff_view one = {.result = &r, .by = by};

				assert_int_equal(diff_shows(&one, of),
						 shown[of] && diff_by_of(by) == of);
			}
		}
		/* A value that some trace does not know is not shown. */
		r.has_llvm = false;
		assert_false(diff_shows(&(struct diff_view){.result = &r}, COMPARE_OF_PASSES));
	}
}

/* ---- Diff crates ----------------------------------------------------------------------------- */

#define N_CRATES 14

static const struct compare_unit unit = {.crate = (char *)"a", .name = (char *)"a"};

/* Crates that take 10, 20... more CPU time; from `changed` on they changed by more than noise. */
static void make_crates(struct compare_row rows[N_CRATES], uint32_t changed)
{
	for (uint32_t i = 0; i < N_CRATES; i++) {
		rows[i] = (struct compare_row){.unit = &unit, .in = {true, true}};
		rows[i].of[COMPARE_CPU][COMPARE_BASE].median = 100;
		rows[i].of[COMPARE_CPU][COMPARE_NEW].median = 100 + 10 * i;
		rows[i].changed = i < changed ? 0 : 1 << COMPARE_CPU;
	}
}

TEST_CASE(crates_that_changed_come_first_and_the_rest_is_summed)
{
	struct compare_row rows[N_CRATES];
	struct compare_result r = {.crates = rows, .n_crates = N_CRATES};
	_diff_crates_ struct diff_crates crates = {};

	make_crates(rows, 2);
	r.build.of[COMPARE_CPU][COMPARE_BASE].median = r.build.of[COMPARE_CPU][COMPARE_NEW].median =
		1;
	assert_int_equal(diff_crates__init(&crates, &r), 0);
	assert_struct(crates, metric, COMPARE_CPU, n_changed, 12, n_shown, DIFF_CRATES_MOST);
	assert_ptr_equal(crates.rows[0], &rows[13]);
	/* 0 and 1, which are within noise, and 2 and 3. */
	assert_struct(crates, n_others, 4, others[COMPARE_BASE], 400, others[COMPARE_NEW], 460);
}

TEST_CASE(crates_of_one_side_are_shown_and_cpu_time_may_be_unknown)
{
	struct compare_row rows[N_CRATES];
	struct compare_result r = {.crates = rows, .n_crates = N_CRATES};
	_diff_crates_ struct diff_crates crates = {};

	make_crates(rows, N_CRATES);
	rows[5].in[COMPARE_BASE] = false;
	rows[6].changed = 1 << COMPARE_PEAK;
	assert_int_equal(diff_crates__init(&crates, &r), 0);
	assert_struct(crates, metric, COMPARE_SELF, n_shown, 2);
	assert_true(diff_crates_any(&r));
	r.n_crates = 1;
	assert_false(diff_crates_any(&r));
}

TEST_MAIN(NULL, NULL)
