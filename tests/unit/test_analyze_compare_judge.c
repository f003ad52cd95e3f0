// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_judge.h"
#include "test.h"
#include "analyze/compare_sides.h"
#include "analyze/compare.h"
#include "../fixtures/llvm_build.h"
#include "../fixtures/sample_compare.h"

#define MS 1000000ull

static const struct compare_unit unit = {.crate = (char *)"a", .name = (char *)"a"};

static struct spread one(uint64_t value, uint32_t n)
{
	return (struct spread){.n = n, .median = value, .min = value, .max = value};
}

/* A row of one query, executed once on both sides, or of the crate. */
static struct compare_row row_of(const char *query, uint64_t base, uint64_t new, uint32_t n)
{
	struct compare_row row = {.unit = &unit,
				  .query = query,
				  .in = {true, true},
				  .by = {COMPARE_BY_SPANS, COMPARE_BY_SPANS}};

	for (int m = 0; m < COMPARE_N_METRICS; m++) {
		row.of[m][COMPARE_BASE] = one(m == COMPARE_COUNT ? 1 : base, n);
		row.of[m][COMPARE_NEW] = one(m == COMPARE_COUNT ? 1 : new, n);
	}
	return row;
}

static struct compare_result result_of(struct compare_row *crate, struct compare_row *rows,
				       size_t n_rows, uint32_t traces)
{
	struct compare_result r = {.traces = {traces, traces},
				   .rules.min_ns = 5 * MS,
				   .build = *crate,
				   .crates = crate,
				   .n_crates = 1,
				   .tables[COMPARE_OF_QUERIES] = {rows, (uint32_t)n_rows, 0}};

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
	assert_struct(r, noise_ppm, 700000, too_noisy, true);
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
		assert_struct(r, noise_ppm, busy ? 600000 : 50000, is_noise_of_busy, busy);
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
		assert_struct(r.build, cost_noise_ns[COMPARE_CPU], cases[i].apart_ms * MS / 2,
			      cost_noise_ns[COMPARE_WALL], cases[i].apart_ms * MS * 3 / 2,
			      cost_noise_ns[COMPARE_PEAK], 0);
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
	assert_struct(r, few_crates, true, n_crates_in[COMPARE_BASE], 1, n_crates_in[COMPARE_NEW],
		      1, n_crates_in_both, 0, build.known, 0);
	assert_true(compare_row__knows(&crates[0], COMPARE_CPU));
}

/* ---- Compare sides --------------------------------------------------------------------------- */

static const struct compare_recording clean = {
	.compiles = 3, .probed = true, .sampled = true, .off_cpu = true};

TEST_CASE(what_differs_is_found_between_sides_and_within_one)
{
	struct compare_recording all[] = {clean, clean, clean};

	assert_int_equal(compare_sides_differ(all, 1, 2), 0);
	all[2].reusing = 1;
	assert_int_equal(compare_sides_differ(all, 1, 2), COMPARE_CLEAN_AND_INCREMENTAL);
	all[0].reusing = 2;
	assert_int_equal(compare_sides_differ(all, 1, 2), 0);
	all[1].probed = false;
	assert_int_equal(compare_sides_differ(all, 2, 1), COMPARE_OTHER_RECORDING);
}

TEST_CASE(what_is_recorded_differs_and_not_what_it_costs)
{
	struct compare_recording all[] = {clean, clean};

	all[0].cost_ppm = 80000;
	all[1].cost_ppm = 250000;
	assert_int_equal(compare_sides_differ(all, 1, 1), 0);
	all[1] = (struct compare_recording){.compiles = 3, .probed = true, .off_cpu = true};
	assert_int_equal(compare_sides_differ(all, 1, 1), COMPARE_OTHER_RECORDING);
}

/* One of a crate that was not compiled, for example. */
TEST_CASE(a_trace_without_compiles_does_not_differ)
{
	const struct compare_recording none = {.off_cpu = false}, exact = {.compiles = 1};
	struct compare_recording reusing = clean;

	reusing.reusing = 2;
	assert_int_equal(compare_sides_differ((struct compare_recording[]){none, reusing}, 1, 1),
			 0);
	assert_int_equal(compare_sides_differ((struct compare_recording[]){reusing, none}, 1, 1),
			 0);
	assert_int_equal(
		compare_sides_differ((struct compare_recording[]){none, clean, exact}, 1, 2),
		COMPARE_OTHER_RECORDING);
}

TEST_CASE(recordings_are_told_in_words)
{
	const struct compare_recording exact = {.probed = true, .off_cpu = true};
	const struct compare_recording samples = {.sampled = true, .cost_ppm = 21000};
	const struct compare_recording counts = {.off_cpu = true};
	char buf[COMPARE_RECORDING_TEXT];

	assert_string_equal(compare_recording_text(buf, &clean), "all probes and samples");
	assert_string_equal(compare_recording_text(buf, &exact), "all probes");
	assert_string_equal(compare_recording_text(buf, &counts), "counts alone");
	assert_string_equal(compare_recording_text(buf, &samples),
			    "counts and samples, without off-CPU times (+2.1 % in compilers)");
}

TEST_CASE(a_recording_is_that_of_its_model)
{
	const struct trace_process compile = {.crate = (char *)"a", .cpu_ns = 1100};
	const struct trace_span load = {.kind = TRACE_KIND_LOAD, .end_ns = 5};
	const struct model_options options = {.parts = MODEL_BUILD, .texts = {NULL, NULL}};
	struct compare_recording r;
	struct cost cost;
	_model_ struct model m = {};

	must(model__init(&m, &options), summary__process(m.summary, &compile),
	     build__process(m.build, &compile), build__end(m.build),
	     summary__span(m.summary, &load, &(struct trace_times){}));
	m.has_overhead = true;
	m.overhead.of[TRACE_OVERHEAD_PROBES] = 100;
	m.overhead.of[TRACE_OVERHEAD_OWN] = 70; /* of another process */
	cost = cost_of(&m, 1);
	r = compare_recording_of(&m, &cost);
	assert_struct(r, compiles, 1, reusing, 1, cost_ppm, 100000);
	assert_true(r.probed && !r.sampled && !r.off_cpu);
	m.by_samples = true;
	assert_false(compare_recording_of(&m, &cost).probed);
}

/* ---- Compare llvm ---------------------------------------------------------------------------- */

/* LLVM's time in two builds: by pass, by function of the source, and by instance. */

#define TRACES SPREAD_TRUSTED /* a side: no noise has to be estimated */

/* Entries of the fixture's trace. */
enum { GVN_OF_HUGE = 1, SIMPLIFY_OF_DROP_A = 8 };

static void add_samples(struct llvm *l, uint32_t entry, uint32_t n)
{
	const struct trace_sample sample = {.value = LLVM_BUILD_PERIOD,
					    .process = 0,
					    .stack = TRACE_NO_STACK,
					    .cause = TRACE_SAMPLE_CPU,
					    .llvm = entry};

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(llvm__sample(l, &sample), 0);
}

/* Traces of a side, with more samples of each entry than the fixture has. */
static void add_traces(struct compare *c, enum compare_side side, uint32_t n, bool known,
		       uint32_t of_huge, uint32_t of_drop)
{
	for (uint32_t i = 0; i < n; i++) {
		_sampled_build_ struct sampled_build b = {};

		llvm_build__make(&b, 0, known);
		add_samples(b.model.llvm, GVN_OF_HUGE, of_huge);
		add_samples(b.model.llvm, SIMPLIFY_OF_DROP_A, of_drop);
		must(compare__llvm(c, side, b.model.llvm),
		     compare__trace(c, side, b.model.summary, &b.model.options.texts));
	}
}

static const struct compare_row *compare_llvm_row_of(const struct compare_result *r,
						     enum compare_of of, const char *name)
{
	struct compare_table t = compare_result__table(r, of);

	for (size_t i = 0; i < t.n; i++)
		if (!strcmp(t.rows[i].query, name))
			return &t.rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void assert_change(const struct compare_row *row, uint64_t base_ms, uint64_t new_ms,
			  bool significant)
{
	assert_int_equal(row->of[COMPARE_SELF][COMPARE_BASE].median, base_ms * LLVM_BUILD_PERIOD);
	assert_int_equal(row->of[COMPARE_SELF][COMPARE_NEW].median, new_ms * LLVM_BUILD_PERIOD);
	assert_struct(*row, compared, true, significant, significant);
	assert_int_equal(compare_row__knows(row, COMPARE_COUNT), 0);
}

/* Within four standard errors of its samples a change says nothing. */
TEST_CASE(llvms_time_is_paired_by_name)
{
	const struct compare_rules rules = {.min_ns = 5 * MS};
	_compare_result_ struct compare_result r;
	const struct compare_row *row;
	_compare_ struct compare *c;

	assert_int_equal(compare__new(TRACES, TRACES, &c), 0);
	add_traces(c, COMPARE_BASE, TRACES, true, 0, 0);
	add_traces(c, COMPARE_NEW, TRACES, true, 400, 12);
	assert_int_equal(compare__result(c, &rules, &r), 0);
	assert_true(r.has_llvm);
	assert_int_equal(compare_result__table(&r, COMPARE_OF_PASSES).n, 7);
	assert_int_equal(compare_result__table(&r, COMPARE_OF_GENERICS).n, 104);
	assert_int_equal(compare_result__table(&r, COMPARE_OF_INSTANCES).n, 305);
	/* The significant ones come first. */
	row = compare_result__table(&r, COMPARE_OF_GENERICS).rows;
	assert_string_equal(row->query, "app::huge");
	assert_change(row, 80, 480, true);
	/* sqrt(80 + 480) samples */
	assert_true(row->error_ns[COMPARE_SELF] > 23 * MS);
	assert_true(row->error_ns[COMPARE_SELF] < 24 * MS);
	assert_change(compare_llvm_row_of(&r, COMPARE_OF_GENERICS, "core::ptr::drop_in_place"), 12,
		      24, false);
	assert_change(compare_llvm_row_of(&r, COMPARE_OF_GENERICS, "app::generic_big"), 200, 200,
		      false);
	assert_change(compare_llvm_row_of(&r, COMPARE_OF_PASSES, "GVN"), 35, 435, true);
	assert_change(compare_llvm_row_of(&r, COMPARE_OF_INSTANCES, "app::generic_big::<7>"), 1, 1,
		      false);
	/* Neither a query nor an item has this time. */
	assert_int_equal(r.tables[COMPARE_OF_ITEMS].n, 0);
	for (size_t i = 0; i < r.tables[COMPARE_OF_QUERIES].n; i++)
		assert_int_equal(r.tables[COMPARE_OF_QUERIES].rows[i].table, COMPARE_OF_QUERIES);
}

static bool is_of_app(const void *ctx, const struct compare_unit *unit, const char *query)
{
	return !unit && query && !strncmp(query, "app::", strlen("app::"));
}

TEST_CASE(rows_of_llvm_can_be_summed)
{
	const struct compare_rules rules = {.min_ns = 5 * MS};
	_compare_result_ struct compare_result r;
	_compare_ struct compare *c;
	struct compare_row row;

	assert_int_equal(compare__new(TRACES, TRACES, &c), 0);
	add_traces(c, COMPARE_BASE, TRACES, true, 0, 0);
	add_traces(c, COMPARE_NEW, TRACES, true, 400, 0);
	assert_int_equal(compare__result(c, &rules, &r), 0);
	assert_int_equal(compare__sum(c, &r, COMPARE_OF_GENERICS, is_of_app, NULL, &row), 102);
	assert_change(&row, 380, 780, true);
	assert_int_equal(compare__sum(c, &r, COMPARE_OF_PASSES, is_of_app, NULL, &row), 0);
	assert_int_equal(compare__sum(c, &r, COMPARE_OF_ITEMS, is_of_app, NULL, &row), 0);
}

/* A trace that does not know what LLVM did has no zeroes. */
TEST_CASE(what_one_trace_does_not_know_has_no_rows)
{
	const struct compare_rules rules = {.min_ns = 5 * MS};

	for (int known = 0; known < 2; known++) {
		_compare_result_ struct compare_result r;
		_compare_ struct compare *c;

		assert_int_equal(compare__new(1, 1, &c), 0);
		add_traces(c, COMPARE_BASE, 1, true, 0, 0);
		add_traces(c, COMPARE_NEW, 1, known, 0, 0);
		assert_int_equal(compare__result(c, &rules, &r), 0);
		assert_int_equal(r.has_llvm, known);
		assert_int_equal(compare_result__table(&r, COMPARE_OF_PASSES).n != 0, known);
	}
}

/* A compiler that hides LLVM in its own library has no sample in it. */
TEST_CASE(a_hidden_llvm_is_not_one_that_does_nothing)
{
	static char why[] = "LLVM is a part of the compiler";
	const struct compare_rules rules = {.min_ns = 5 * MS};

	for (int hidden = 0; hidden < 2; hidden++) {
		const struct trace_process process = {.no_llvm = hidden ? why : NULL};
		const struct trace_sample sample = {.value = 1, .cause = TRACE_SAMPLE_CPU};
		const struct llvm_source source = {};
		const struct stack_source stacks = {};
		const struct trace_texts texts = {};
		_sampled_build_ struct sampled_build b = {};
		_compare_result_ struct compare_result r;
		_compare_ struct compare *c;
		_llvm_ struct llvm *l = NULL;

		llvm_build__make(&b, 0, true);
		must(llvm__new(&source, &stacks, &texts, &l), llvm__process(l, &process),
		     llvm__sample(l, &sample), compare__new(1, 1, &c));
		add_traces(c, COMPARE_BASE, 1, true, 0, 0);
		must(compare__llvm(c, COMPARE_NEW, l),
		     compare__trace(c, COMPARE_NEW, b.model.summary, &b.model.options.texts),
		     compare__result(c, &rules, &r));
		assert_int_equal(r.has_llvm, !hidden);
	}
}

TEST_CASE(a_trace_too_many_is_an_error)
{
	_sampled_build_ struct sampled_build b = {};
	_compare_ struct compare *c;

	llvm_build__make(&b, 0, true);
	assert_int_equal(compare__new(1, 1, &c), 0);
	add_traces(c, COMPARE_BASE, 1, true, 0, 0);
	assert_int_equal(compare__llvm(c, COMPARE_BASE, b.model.llvm), -EINVAL);
}

TEST_MAIN(NULL, NULL)
