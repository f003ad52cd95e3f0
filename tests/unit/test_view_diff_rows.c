// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/diff_rows.h"

#include "../fixtures/output.h"
#include "../fixtures/sample_compare.h"

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

	assert_int_equal(compare__result(c, &rules, &r), 0);
	assert_int_equal(diff_rows__init(&rows, &view, COMPARE_OF_QUERIES), 0);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.n_shown, 1);
	assert_string_equal(rows.rows[0]->query, "typeck");
	assert_string_equal(rows.rows[1]->query, "mir_borrowck");
	assert_int_equal(rows.within, 2);  /* typeck of serde, LLVM_passes */
	assert_int_equal(rows.recount, 2); /* layout_of, and typeck of the new crate */
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
		 "too "
		 "much to judge times, but for the largest changes: record more traces of each "
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
	_free_ char *text = printed_text((diff_print_uncompared(out, &rows, &r, false), 0));
	_free_ char *markdown = printed_text((diff_print_uncompared(out, &rows, &r, true), 0));

	assert_contains(text, "(a`?[2J)\n");
	assert_contains(markdown, "(`a'?[2J`)\n");
}

/* And in sums only those are that all traces count. */
TEST_CASE(executions_that_are_not_known_are_not_printed)
{
	const struct compare_result r = {.n_uncounted = 4};
	struct compare_row row = {
		.query = "q",
		.by = {COMPARE_BY_SPANS, COMPARE_BY_SAMPLES | COMPARE_UNCOUNTED},
	};
	_free_ char *query = NULL, *sum = NULL;
	char buf[DIFF_CELL_MAX];

	row.of[COMPARE_COUNT][COMPARE_BASE].median = row.of[COMPARE_COUNT][COMPARE_NEW].median = 7;
	assert_string_equal(diff_count(buf, &row), "-");
	query = printed_text((diff_print_change(out, &row, COMPARE_COUNT, &r), 0));
	assert_string_equal(query, "7 -> 7, no change");
	row.query = NULL;
	row.by[COMPARE_NEW] = COMPARE_BY_SAMPLES;
	assert_string_equal(diff_count(buf, &row), "7");
	sum = printed_text((diff_print_change(out, &row, COMPARE_COUNT, &r), 0));
	assert_string_equal(sum, "7 -> 7, of queries counted in all traces, no change");
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
		 "instance in "
		 "LLVM\n"},
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

TEST_MAIN(NULL, NULL)
