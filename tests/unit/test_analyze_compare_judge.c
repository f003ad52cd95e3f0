// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_judge.h"

#include "base/array.h"
#include "test.h"

#define MS 1000000ull

static const struct compare_unit unit = {.crate = (char *)"a", .name = (char *)"a"};

static struct spread one(uint64_t value, uint32_t n)
{
	return (struct spread){.n = n, .median = value, .min = value, .max = value};
}

/* A row of one query, executed once on both sides, or of the crate. */
static struct compare_row row_of(const char *query, uint64_t base, uint64_t new, uint32_t n)
{
	struct compare_row row = {
		.unit = &unit,
		.query = query,
		.in = {true, true},
		.by = {COMPARE_BY_SPANS, COMPARE_BY_SPANS},
	};

	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		row.of[m][COMPARE_BASE] = one(m == COMPARE_COUNT ? 1 : base, n);
		row.of[m][COMPARE_NEW] = one(m == COMPARE_COUNT ? 1 : new, n);
	}
	return row;
}

static struct compare_result result_of(struct compare_row *crate, struct compare_row *rows,
				       size_t n_rows, uint32_t traces)
{
	struct compare_result r = {
		.traces = {traces, traces},
		.rules.min_ns = 5 * MS,
		.build = *crate,
		.crates = crate,
		.n_crates = 1,
		.tables[COMPARE_OF_QUERIES] = {rows, (uint32_t)n_rows, 0},
	};

	r.build.is_build = true;
	r.build.unit = NULL;
	return r;
}

TEST_CASE(too_much_noise_hides_all_but_the_largest_changes)
{
	struct compare_row crate = row_of(NULL, 500 * MS, 5000 * MS, 1);
	struct compare_row rows[] = {row_of("typeck", 100 * MS, 1000 * MS, 1),
				     row_of("layout_of", 100 * MS, 160 * MS, 1),
				     row_of("mir_built", 100 * MS, 170 * MS, 1),
				     row_of("new_query", 0, 100 * MS, 1)};
	struct compare_result r = result_of(&crate, rows, N_OF(rows), 1);

	rows[3].in[COMPARE_BASE] = false;
	rows[3].of[COMPARE_COUNT][COMPARE_BASE] = one(0, 1);
	assert_int_equal(compare_judge__result(&r), 0);
	assert_int_equal(r.noise_ppm, 700000);
	assert_true(r.too_noisy);
	/* It is not there by chance. */
	assert_string_equal(r.tables[COMPARE_OF_QUERIES].rows[0].query, "new_query");
	assert_true(r.tables[COMPARE_OF_QUERIES].rows[0].significant);
	assert_false(r.tables[COMPARE_OF_QUERIES].rows[1].significant);
	/* +900 % of a sum that must change by 10 times 70 %, and of a query by 15 times. */
	assert_true(compare_row__changed(&r.build, COMPARE_CPU));
	/* Executions and memory have no noise of this kind. */
	assert_true(compare_row__changed(&r.build, COMPARE_PEAK));
}

/* Rows that did the same say 5 %, but threads waited for a CPU for longer than they ran. */
TEST_CASE(on_a_busy_machine_one_trace_a_side_shows_little)
{
	for (int busy = 0; busy < 2; busy++) {
		struct compare_row crate = row_of(NULL, 1000 * MS, 530 * MS, 1);
		struct compare_row rows[] = {row_of("typeck", 800 * MS, 800 * MS, 1),
					     row_of("impl_trait_header", 10 * MS, 77 * MS, 1),
					     row_of("mir_built", 100 * MS, 100 * MS, 1)};
		struct compare_result r = result_of(&crate, rows, N_OF(rows), 1);

		r.busy_ppm = busy ? 1500000 : 100000;
		assert_int_equal(compare_judge__result(&r), 0);
		assert_int_equal(r.noise_ppm, busy ? 600000 : 50000);
		assert_int_equal(r.is_noise_of_busy, busy);
		assert_int_equal(compare_row__changed(&r.build, COMPARE_CPU), !busy);
		assert_int_equal(r.tables[COMPARE_OF_QUERIES].rows[0].significant, !busy);
		assert_int_equal(r.crates[0].significant, !busy);
	}
}

/*
 * By samples, of syn with one constant changed in the program that uses it: threads waited for a
 * CPU for 3 and 9 times as long as they ran. Known or not, that is no change.
 */
TEST_CASE(samples_of_a_busy_machine_show_no_change)
{
	static const struct {
		const char *query;
		uint64_t base, new, error;
	} recorded[] = {
		{"LLVM_module_codegen_emit_obj", 1513943940, 1462151121, 108889624},
		{"codegen_module", 768924159, 824701041, 79681260},
		{"typeck", 342629418, 521912253, 58688912},
		{"mir_borrowck", 422310678, 454183182, 59093204},
		{"mir_built", 131474079, 187250961, 35634543},
		{"optimized_mir", 123505953, 155378457, 33333062},
		{"check_well_formed", 59760945, 143426268, 28451901},
		{"fn_abi_of_instance", 35856567, 111553764, 24234109},
	};

	for (int busy = 0; busy < 2; busy++) {
		struct compare_row crate = row_of(NULL, 7360 * MS, 9770 * MS, 1);
		struct compare_row rows[N_OF(recorded)];
		struct compare_result r = result_of(&crate, rows, N_OF(rows), 1);

		for (size_t i = 0; i < N_OF(rows); i++) {
			rows[i] = row_of(recorded[i].query, recorded[i].base, recorded[i].new, 1);
			rows[i].by[0] = rows[i].by[1] = COMPARE_BY_SAMPLES;
			rows[i].error_ns[COMPARE_SELF] = recorded[i].error;
		}
		r.on_cpu = true;
		r.busy_ppm = busy ? 9179000 : 0;
		assert_int_equal(compare_judge__result(&r), 0);
		for (size_t i = 0; i < N_OF(rows); i++)
			assert_false(r.tables[COMPARE_OF_QUERIES].rows[i].significant);
		assert_true(!busy || !compare_row__changed(&r.build, COMPARE_CPU));
	}
}

TEST_CASE(wall_time_needs_three_traces)
{
	for (uint32_t n = 1; n <= COMPARE_WALL_TRACES; n++) {
		struct compare_row crate = row_of(NULL, 500 * MS, 1000 * MS, n);
		struct compare_row rows[] = {row_of("typeck", 200 * MS, 200 * MS, n),
					     row_of("layout_of", 100 * MS, 100 * MS, n)};
		struct compare_result r = result_of(&crate, rows, N_OF(rows), n);
		bool enough = n == COMPARE_WALL_TRACES;

		assert_int_equal(compare_judge__result(&r), 0);
		assert_int_equal(compare_row__knows(&r.build, COMPARE_WALL), enough);
		assert_int_equal(compare_row__changed(&r.build, COMPARE_WALL), enough);
		assert_true(compare_row__changed(&r.build, COMPARE_CPU));
		/* Its threads waited that long for a CPU. */
		r.build.preempted_ns = 500 * MS;
		compare_judge__row(&r, &r.build, false, true);
		assert_false(compare_row__changed(&r.build, COMPARE_WALL));
	}
}

TEST_CASE(builds_of_another_kind_are_not_judged)
{
	struct compare_row crate = row_of(NULL, 500 * MS, 1000 * MS, 1);
	struct compare_row rows[] = {row_of("typeck", 200 * MS, 900 * MS, 1),
				     row_of("layout_of", 100 * MS, 100 * MS, 1)};
	struct compare_result r = result_of(&crate, rows, N_OF(rows), 1);

	r.rules.different_recording = true;
	assert_int_equal(compare_judge__result(&r), 0);
	assert_false(compare_row__knows(&r.build, COMPARE_CPU));
	assert_true(compare_row__knows(&r.build, COMPARE_PEAK));
	assert_true(rows[0].significant);
	r.rules.different_work = true;
	assert_int_equal(compare_judge__result(&r), 0);
	assert_int_equal(r.build.known | rows[0].known | crate.known, 0);
}

/* Half of what costs are apart may be left in CPU times, and all and a half is in wall times. */
TEST_CASE(what_recording_cost_is_noise)
{
	static const struct {
		uint64_t apart_ms;
		bool cpu, wall;
	} cases[] = {{0, true, true},
		     {333, true, true},
		     {335, true, false},
		     {999, true, false},
		     {1001, false, false}};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct compare_row crate = row_of(NULL, 500 * MS, 1000 * MS, COMPARE_WALL_TRACES);
		struct compare_result r = result_of(&crate, NULL, 0, COMPARE_WALL_TRACES);

		r.rules.different_recording = true;
		r.rules.min_ns = 0;
		r.without_cost = true;
		r.build.recording_apart_ns = cases[i].apart_ms * MS;
		r.build.recording_apart_wall_ns = cases[i].apart_ms * MS;
		r.noise_is_estimated = true;
		compare_judge__row(&r, &r.build, false, true);
		assert_true(compare_row__knows(&r.build, COMPARE_CPU));
		assert_int_equal(compare_row__changed(&r.build, COMPARE_CPU), cases[i].cpu);
		assert_int_equal(compare_row__is_doubted(&r.build, COMPARE_CPU), !cases[i].cpu);
		assert_int_equal(compare_row__is_doubted(&r.build, COMPARE_WALL), !cases[i].wall);
		assert_int_equal(r.build.cost_noise_ns[COMPARE_CPU], cases[i].apart_ms * MS / 2);
		assert_int_equal(r.build.cost_noise_ns[COMPARE_WALL],
				 cases[i].apart_ms * MS * 3 / 2);
		assert_int_equal(r.build.cost_noise_ns[COMPARE_PEAK], 0);
		assert_true(compare_row__changed(&r.build, COMPARE_PEAK));
		r.mixed_cpu = true;
		compare_judge__row(&r, &r.build, false, true);
		assert_false(compare_row__knows(&r.build, COMPARE_CPU));
	}
}

TEST_CASE(results_are_facts)
{
	struct compare_row crate = row_of(NULL, 1000, 1001, 1);
	struct compare_result r = result_of(&crate, NULL, 0, 1);

	r.rules.different_recording = true;
	assert_int_equal(compare_judge__result(&r), 0);
	assert_true(compare_row__knows(&r.build, COMPARE_RESULTS));
	assert_true(compare_row__changed(&r.build, COMPARE_RESULTS));
}

/* Not even if neither side knows it. */
TEST_CASE(an_unknown_number_of_executions_is_not_compared)
{
	static const struct {
		uint8_t base, new;
		bool self, count;
	} cases[] = {
		{COMPARE_BY_SPANS, COMPARE_BY_SPANS, true, true},
		{COMPARE_BY_SAMPLES, COMPARE_BY_SAMPLES, true, true},
		{COMPARE_BY_SAMPLES, COMPARE_BY_SAMPLES | COMPARE_UNCOUNTED, true, false},
		{COMPARE_BY_SPANS | COMPARE_UNCOUNTED, COMPARE_BY_SAMPLES | COMPARE_UNCOUNTED,
		 false, false},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct compare_row crate = row_of(NULL, 500 * MS, 900 * MS, 1);
		struct compare_row row = row_of("typeck", 100 * MS, 300 * MS, 1);
		struct compare_result r = result_of(&crate, &row, 1, 1);

		row.by[COMPARE_BASE] = cases[i].base;
		row.by[COMPARE_NEW] = cases[i].new;
		assert_int_equal(compare_judge__result(&r), 0);
		assert_int_equal(compare_row__knows(&row, COMPARE_SELF), cases[i].self);
		assert_int_equal(compare_row__knows(&row, COMPARE_COUNT), cases[i].count);
		r.on_cpu = true;
		assert_int_equal(compare_judge__result(&r), 0);
		assert_true(compare_row__knows(&row, COMPARE_SELF));
		assert_int_equal(compare_row__knows(&row, COMPARE_COUNT), cases[i].count);
	}
}

/* Of two crates on one side each, none is in both builds. */
TEST_CASE(a_build_of_other_crates_is_not_judged)
{
	struct compare_row crates[] = {row_of(NULL, 500 * MS, 0, 1), row_of(NULL, 0, 900 * MS, 1)};
	struct compare_result r = result_of(crates, NULL, 0, 1);

	crates[0].in[COMPARE_NEW] = crates[1].in[COMPARE_BASE] = false;
	r.n_crates = 2;
	assert_int_equal(compare_judge__result(&r), 0);
	assert_true(r.few_crates);
	assert_int_equal(r.n_crates_in[COMPARE_BASE], 1);
	assert_int_equal(r.n_crates_in[COMPARE_NEW], 1);
	assert_int_equal(r.n_crates_in_both, 0);
	assert_int_equal(r.build.known, 0);
	assert_true(compare_row__knows(&crates[0], COMPARE_CPU));
}

TEST_MAIN(NULL, NULL)
