// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare.h"

#include "qprof/trace_format.h"
#include "test.h"
#include "../fixtures/sample_compare.h"

#define QUERIES	  tables[COMPARE_OF_QUERIES]
#define ITEM_ROWS tables[COMPARE_OF_ITEMS]

/* The comparison of a test, and its result. */
static struct compare *c;
static struct compare_result r;

static const struct compare_rules usual = {.min_ns = 5 * MS}, by_count = {.metric = COMPARE_COUNT},
				  by_cpu = {.metric = COMPARE_CPU}, no_rules = {};

static int end(void **state)
{
	compare_result__clear(&r);
	compare__free(c);
	c = NULL;
	return 0;
}

#define CASE(name) TEST_CASE_WITH(name, NULL, end)

static void begin(struct compare *with)
{
	end(NULL);
	c = with;
	if (!with)
		must(compare__new(1, 1, &c));
}

static void result(const struct compare_rules *rules)
{
	compare_result__clear(&r);
	must(compare__result(c, rules, &r));
}

CASE(queries_are_paired_and_sorted)
{
	const struct compare_row *row;

	begin(sample_comparison(5));
	result(&usual);
	assert_struct(r.QUERIES, n, 6, rows[0].unit->crate, "regex", rows[0].query, "typeck");
	assert_int_equal(compare_row__change(&r.QUERIES.rows[0], COMPARE_SELF), 822 * MS);
	assert_true(r.QUERIES.rows[0].significant && r.QUERIES.rows[1].significant &&
		    r.QUERIES.rows[2].significant);
	assert_string_equal(r.QUERIES.rows[1].query, "typeck"); /* of the new crate */
	assert_false(r.QUERIES.rows[1].in[COMPARE_BASE]);
	assert_string_equal(r.QUERIES.rows[2].query, "mir_borrowck");
	assert_int_equal(compare_row__change(&r.QUERIES.rows[2], COMPARE_SELF), -36 * (int64_t)MS);
	/* typeck changed by less than 5 ms, and LLVM_passes within its spread. */
	assert_false(sample_find(&r, "serde", "typeck")->significant);
	assert_false(sample_find(&r, "regex", "LLVM_passes")->significant);
	assert_false(r.noise_is_estimated);
	row = sample_find(&r, "serde", "layout_of");
	assert_struct(*row, of[COMPARE_COUNT][COMPARE_BASE].median, 20,
		      of[COMPARE_COUNT][COMPARE_NEW].median, 23, of[COMPARE_SELF][COMPARE_NEW].n,
		      5);
	/* The total of the build is the run time of its compilers. */
	assert_struct(r.build, of[COMPARE_TOTAL][COMPARE_BASE].median, 2000 * MS,
		      of[COMPARE_TOTAL][COMPARE_NEW].median, 3000 * MS,
		      of[COMPARE_COUNT][COMPARE_BASE].median, 43, significant, true);
	assert_struct(r, n_crates, 3, crates[0].unit->name, "regex");
}

CASE(executions_are_facts)
{
	const struct compare_rules rules = {COMPARE_COUNT, .min_ns = 5 * MS};

	begin(sample_comparison(1));
	result(&rules);
	assert_true(r.QUERIES.rows[0].significant && r.QUERIES.rows[1].significant &&
		    !r.QUERIES.rows[2].significant);
	assert_string_equal(r.QUERIES.rows[0].query, "layout_of");
	assert_int_equal(compare_row__change(&r.QUERIES.rows[0], COMPARE_COUNT), 3);
}

/* With one trace per side, rows with equal execution counts give the noise. */
CASE(noise_is_estimated_from_single_traces)
{
	static const struct sample_row base[] = {{"a", "lib", "typeck", 5, 100 * MS, NULL},
						 {"a", "lib", "mir_built", 5, 100 * MS, NULL},
						 {"a", "lib", "mir_borrowck", 5, 100 * MS, NULL},
						 {"a", "lib", "layout_of", 5, 10 * MS, NULL}};
	static const struct sample_row new[] = {{"a", "lib", "typeck", 5, 130 * MS, NULL},
						{"a", "lib", "mir_built", 5, 120 * MS, NULL},
						{"a", "lib", "mir_borrowck", 5, 185 * MS, NULL},
						{"a", "lib", "layout_of", 6, 30 * MS, NULL}};

	begin(NULL);
	sample_add(c, COMPARE_BASE, base, 4);
	sample_add(c, COMPARE_NEW, new, 4);
	result(&usual);
	assert_struct(r, noise_is_estimated, true, noise_ppm, 300000);
	assert_false(r.build.significant);				 /* +50 %, limit 2 * 30 % */
	assert_false(sample_find(&r, "a", "mir_borrowck")->significant); /* +85 %, limit 3 * 30 % */
	assert_true(sample_find(&r, "a", "layout_of")->significant);	 /* +200 % */
}

CASE(small_changes_are_left_out)
{
	const struct compare_rules rules = {.min_ppm = 100000}; /* 10 % of 542 ms */

	begin(sample_comparison(5));
	result(&rules);
	assert_false(sample_find(&r, "serde", "mir_borrowck")->significant);
	assert_true(sample_find(&r, "regex", "typeck")->significant);
}

static bool is_typeck(const void *ctx, const struct compare_unit *unit, const char *query)
{
	return unit && query && !strcmp(query, "typeck");
}

static bool is_nothing(const void *ctx, const struct compare_unit *unit, const char *query)
{
	return false;
}

CASE(the_sum_covers_the_selected_rows)
{
	struct compare_row sum;

	begin(sample_comparison(5));
	result(&usual);
	assert_int_equal(compare__sum(c, &r, COMPARE_OF_QUERIES, is_typeck, NULL, &sum), 3);
	assert_struct(sum, of[COMPARE_SELF][COMPARE_BASE].median, 182 * MS,
		      of[COMPARE_SELF][COMPARE_NEW].median, 1056 * MS, significant, true);
	assert_int_equal(compare__sum(c, &r, COMPARE_OF_QUERIES, is_nothing, NULL, &sum), 0);
}

/* The last compiler executed nothing, and the end of the first was not seen. */
CASE(a_query_and_an_activity_of_one_name_are_two)
{
	struct sample_names texts = {{"check"}, 1};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	const struct trace_process p = {.crate = (char *)"a"},
				   idle = {.index = 1, .crate = (char *)"b"};
	_summary_ struct summary *s;

	must(summary__new(&s), summary__process(s, &p), summary__process(s, &idle));
	for (uint64_t ns = 8; ns < 10; ns++) {
		const struct trace_span span = {
			.end_ns = ns, .kind = ns == 8 ? TRACE_KIND_QUERY : TRACE_KIND_ACTIVITY};

		assert_int_equal(summary__span(s, &span, &(struct trace_times){.self_ns = ns}), 0);
	}
	must(compare__new(1, 1, &c), compare__trace(c, COMPARE_BASE, s, &names),
	     compare__trace(c, COMPARE_NEW, s, &names), compare__result(c, &no_rules, &r));
	assert_struct(r, n_crates, 1, QUERIES.n, 2);
	for (size_t i = 0; i < r.QUERIES.n; i++)
		assert_string_equal(r.QUERIES.rows[i].query, "check");
	assert_int_equal(r.crates[0].of[COMPARE_TOTAL][COMPARE_BASE].median, 9);
}

CASE(waiting_is_no_self_time)
{
	struct sample_names texts = {{"typeck"}, 1};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	struct trace_times times = {.self_ns = 30};
	struct trace_span span = {.end_ns = 30, .kind = TRACE_KIND_BLOCKED};
	const struct trace_process p = {.crate = (char *)"a"};
	_summary_ struct summary *s;

	must(summary__new(&s), summary__process(s, &p), summary__span(s, &span, &times));
	span.kind = TRACE_KIND_QUERY;
	times.self_ns = 12;
	must(summary__span(s, &span, &times), compare__new(1, 1, &c),
	     compare__trace(c, COMPARE_BASE, s, &names));
	assert_int_equal(compare__trace(c, COMPARE_BASE, s, &names), -EINVAL);
	must(compare__trace(c, COMPARE_NEW, s, &names), compare__result(c, &no_rules, &r));
	assert_int_equal(r.QUERIES.rows[0].of[COMPARE_SELF][COMPARE_BASE].median, 12);
}

/* Add a trace with one span of typeck, and one of mir_built that is equal in all traces. */
static void add_with_probes(struct compare *c, enum compare_side side, uint64_t ns,
			    uint64_t probe_ns)
{
	const struct sample_names texts = {{"typeck", "mir_built"}, 2};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	const struct trace_process p = {.crate = (char *)"a"};
	struct trace_span span = {.end_ns = ns};
	struct trace_times times = {.self_ns = ns, .probe_ns = probe_ns, .self_probe_ns = probe_ns};
	_summary_ struct summary *s;

	must(summary__new(&s), summary__process(s, &p), summary__span(s, &span, &times));
	span = (struct trace_span){.end_ns = 1000 * MS, .label = 1};
	times = (struct trace_times){.self_ns = 1000 * MS};
	must(summary__span(s, &span, &times), compare__trace(c, side, s, &names));
}

/* Probe time is an estimate: in single traces, a smaller change is not significant. */
CASE(probes_make_single_traces_vague)
{
	for (int vague = 0; vague < 2; vague++) {
		begin(NULL);
		add_with_probes(c, COMPARE_BASE, (vague ? 30 : 5) * MS, (vague ? 25 : 0) * MS);
		add_with_probes(c, COMPARE_NEW, (vague ? 30 : 25) * MS, (vague ? 5 : 0) * MS);
		result(&usual);
		assert_int_equal(compare_row__change(sample_find(&r, "a", "typeck"), COMPARE_SELF),
				 20 * MS);
		assert_int_equal(sample_find(&r, "a", "typeck")->significant, !vague);
	}
}

/* A build of a crate that was off the CPU for a part of its time, beside one of cargo's questions.
 */
static void add_costs(struct compare *c, enum compare_side side, uint64_t off_ns, uint64_t peak,
		      const struct cost *cost)
{
	struct sample_names texts = {{"typeck", "<preempted>"}, 2};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	const struct trace_process all[] = {
		{.end_ns = 10 * MS,
		 .crate = (char *)"___",
		 .command = (char *)"rustc - --crate-name ___ --print=cfg",
		 .peak_bytes = 50},
		{.index = 1,
		 .start_ns = 10 * MS,
		 .end_ns = 100 * MS,
		 .crate = (char *)"a",
		 .peak_bytes = peak},
	};
	struct trace_span span = {
		.start_ns = 10 * MS, .end_ns = 90 * MS, .process = 1, .invocation = (uint32_t)peak};
	const struct trace_span answer = {.end_ns = MS, .kind = TRACE_KIND_ACTIVITY};
	_summary_ struct summary *s = NULL;
	struct build *b = NULL;

	must(summary__new(&s), build__new(&names, &b));
	for (size_t i = 0; i < N_OF(all); i++)
		must(summary__process(s, &all[i]), build__process(b, &all[i]));
	assert_int_equal(summary__span(s, &answer, &(struct trace_times){.self_ns = MS}), 0);
	assert_int_equal(summary__span(s, &span, &(struct trace_times){.self_ns = 80 * MS}), 0);
	assert_int_equal(build__span(b, &span), 0);
	span.kind = TRACE_KIND_OFF_CPU;
	span.label = 1;
	span.end_ns = span.start_ns + off_ns;
	must(build__span(b, &span), build__end(b), compare__trace(c, side, s, &names));
	compare__costs(c, side, b, NULL, cost);
	build__free(b);
}

CASE(crates_and_the_build_have_costs)
{
	const struct cost unknown = {};

	begin(NULL);
	add_costs(c, COMPARE_BASE, 50 * MS, 40, &unknown);
	add_costs(c, COMPARE_NEW, 20 * MS, 70, &unknown);
	result(&by_cpu);
	assert_struct(r, n_crates, 1, build.of[COMPARE_WALL][COMPARE_BASE].median, 100 * MS,
		      crates[0].of[COMPARE_WALL][COMPARE_BASE].median, 90 * MS,
		      crates[0].of[COMPARE_CPU][COMPARE_BASE].median, 30 * MS,
		      build.of[COMPARE_CPU][COMPARE_NEW].median, 60 * MS);
	/* The most that any compiler had. */
	assert_struct(r, build.of[COMPARE_PEAK][COMPARE_BASE].median, 50,
		      crates[0].of[COMPARE_PEAK][COMPARE_BASE].median, 40,
		      build.of[COMPARE_PEAK][COMPARE_NEW].median, 70, build.preempted_ns, 30 * MS);
	/* The answer has no number of results, and needs none. */
	assert_int_equal(r.build.of[COMPARE_RESULTS][COMPARE_BASE].median, 41);
	assert_int_equal(r.crates[0].of[COMPARE_RESULTS][COMPARE_NEW].median, 71);
}

/* A short query of one crate, and another crate; both waited for a CPU for `off` of their time. */
static void add_busy(struct compare *c, enum compare_side side, uint64_t header_ns,
		     uint64_t macro_ns, double off)
{
	struct sample_names texts = {{"typeck", "impl_trait_header", "<preempted>"}, 3};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	const struct trace_process all[] = {
		{.crate = (char *)"proc_macro2", .end_ns = 4000 * MS},
		{.crate = (char *)"syn", .index = 1, .end_ns = 4000 * MS}};
	const struct {
		uint32_t process, label;
		struct trace_times times;
	} rows[] = {{0, 0, {.self_ns = macro_ns}},
		    {1, 0, {.self_ns = 400 * MS}},
		    {1, 1, {header_ns + 4 * MS, .probe_ns = 4 * MS, .self_probe_ns = 4 * MS}}};
	uint64_t at_ns = 0;
	_summary_ struct summary *s = NULL;
	struct build *b = NULL;

	must(summary__new(&s), build__new(&names, &b));
	for (size_t i = 0; i < N_OF(all); i++)
		must(summary__process(s, &all[i]), build__process(b, &all[i]));
	for (size_t i = 0; i < N_OF(rows); i++) {
		uint64_t self_ns = rows[i].times.self_ns;
		struct trace_span span = {.start_ns = at_ns,
					  .end_ns = at_ns + self_ns,
					  .process = rows[i].process,
					  .label = rows[i].label};

		must(summary__span(s, &span, &rows[i].times), build__span(b, &span));
		span.kind = TRACE_KIND_OFF_CPU;
		span.label = 2;
		span.end_ns = at_ns + (uint64_t)((double)self_ns * off);
		assert_int_equal(build__span(b, &span), 0);
		at_ns += self_ns;
	}
	must(build__end(b), compare__trace(c, side, s, &names));
	compare__costs(c, side, b, NULL, &(struct cost){});
	build__free(b);
}

/* A probe costs more, and all else takes longer, while other programs use the caches. */
CASE(what_a_busy_machine_adds_is_no_change)
{
	static const double off[] = {0, 0.2, 0.6};

	for (size_t i = 0; i < N_OF(off); i++) {
		const struct compare_row *header;

		begin(NULL);
		add_busy(c, COMPARE_BASE, 2 * MS, 1000 * MS, off[i]);
		add_busy(c, COMPARE_NEW, 15400000, 530 * MS, off[i]);
		result(&usual);
		header = sample_find(&r, "syn", "impl_trait_header");
		assert_int_equal(compare_row__change(header, COMPARE_SELF), 13400000);
		assert_int_equal(header->significant, i == 0);
		assert_struct(r.crates[0], unit->crate, "proc_macro2", significant, i < 2);
		assert_int_equal(compare_row__changed(&r.crates[0], COMPARE_CPU), i < 2);
	}
}

/* If it is known of all traces. */
CASE(cpu_times_are_without_the_cost_of_recording)
{
	const struct cost base = {
		.whole = true,
		.ns = {[COST_PROBES] = 4 * MS,
		       [COST_SAMPLES] = 2 * MS,
		       [COST_BREAKPOINTS] = 10 * MS,
		       [COST_NAMES] = 3 * MS,
		       [COST_OWN] = 20 * MS},
		.spent_ns = 30 * MS,
		.waited_ns = 6 * MS,
		.n_waited = 2,
	};
	const struct cost new[] = {
		{.whole = true,
		 .ns = {[COST_PROBES] = 8 * MS,
			[COST_SAMPLES] = MS,
			[COST_BREAKPOINTS] = 3 * MS,
			[COST_NAMES] = 3 * MS},
		 .spent_ns = 60 * MS},
		{},
	};

	for (size_t i = 0; i < N_OF(new); i++) {
		begin(NULL);
		add_costs(c, COMPARE_BASE, 50 * MS, 40, &base);
		add_costs(c, COMPARE_NEW, 20 * MS, 70, &new[i]);
		result(&by_cpu);
		assert_struct(r, without_cost, new[i].whole,
			      build.of[COMPARE_CPU][COMPARE_BASE].median,
			      (new[i].whole ? 11 : 30) * MS,
			      build.of[COMPARE_WALL][COMPARE_BASE].median, 100 * MS);
		if (!new[i].whole)
			continue;
		assert_int_equal(r.crates[0].of[COMPARE_CPU][COMPARE_NEW].median, 48 * MS);
		assert_int_equal(r.build.recording_ns[COMPARE_NEW], 15 * MS);
		/* Each part for itself: 4 + 1 + 7, and in wall times also 6 + 20. */
		assert_int_equal(r.build.recording_apart_ns, 12 * MS);
		assert_int_equal(r.build.recording_apart_wall_ns, 38 * MS);
		/*
		 * Half of the breakpoints, one of two that waited, and nine tenths of the wall time
		 * of the build.
		 */
		assert_int_equal(r.crates[0].recording_apart_wall_ns, 29500000);
	}
}

TEST_CASE(a_name_longer_than_a_trace_may_hold_is_refused_as_such)
{
	_free_ char *name = malloc(QPT_TEXT_MAX + 2);
	struct sample_names texts = {};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	const struct sample_row row = {"a", "lib", name, 1, MS, NULL};
	_compare_ struct compare *c = NULL;
	struct summary *s;

	assert_non_null(name);
	memset(name, 'a', QPT_TEXT_MAX + 1);
	name[QPT_TEXT_MAX + 1] = '\0';
	s = sample_build(&row, 1, &texts);
	assert_int_equal(compare__new(1, 1, &c), 0);
	assert_int_equal(compare__trace(c, COMPARE_BASE, s, &names), -E2BIG);
	summary__free(s);
}

static const struct compare_row *find_item(const struct compare_result *r, const char *path)
{
	for (size_t i = 0; i < r->ITEM_ROWS.n; i++)
		if (!strcmp(r->ITEM_ROWS.rows[i].query, path))
			return &r->ITEM_ROWS.rows[i];
	fail_msg("no %s", path);
	return NULL;
}

CASE(items_are_paired_by_path)
{
	begin(sample_comparison_of_items());
	result(&usual);
	assert_struct(r, has_items, true, ITEM_ROWS.n, 5, QUERIES.n,
		      5); /* of queries, which the sample calls like its items */
	assert_int_equal(r.n_crates, 2);
	assert_int_equal(compare_row__change(find_item(&r, "app::parse::f"), COMPARE_SELF),
			 60 * MS);
	assert_struct(*find_item(&r, "app::parse::f"), significant, true, unit, NULL);
	assert_int_equal(compare_row__change(find_item(&r, COMPARE_NO_ITEM), COMPARE_SELF), 0);
	assert_false(find_item(&r, "low::g")->in[COMPARE_BASE]);
	/* The build is the sum of its compilers. */
	assert_int_equal(r.build.of[COMPARE_SELF][COMPARE_BASE].median, 160 * MS);
	assert_int_equal(r.build.of[COMPARE_COUNT][COMPARE_NEW].median, 5);
}

static bool is_of_app(const void *ctx, const struct compare_unit *unit, const char *query)
{
	return !unit && query && !strncmp(query, "app", 3);
}

CASE(items_can_be_summed)
{
	struct compare_row row;

	begin(sample_comparison_of_items());
	result(&usual);
	assert_int_equal(compare__sum(c, &r, COMPARE_OF_ITEMS, is_of_app, NULL, &row), 3);
	assert_int_equal(compare_row__change(&row, COMPARE_SELF), 80 * MS);
}

/* Of each string, in the file with that name. */
static const struct trace_place *place_of(const void *ctx, uint32_t id)
{
	static struct trace_place place;

	place = (struct trace_place){.file = id, .line = 7};
	return &place;
}

/* An item with `n` samples of 1 ms, or with one execution that took as long. */
static void add_item(struct compare *c, enum compare_side side, bool sampled, uint64_t n)
{
	const struct sample_row row = {"app", "lib", "typeck", 1, 40 * MS, NULL};
	struct sample_names texts = {};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name, .place = place_of};
	_summary_ struct summary *s = sample_build(&row, 1, &texts);
	uint32_t item = sample_id(&texts, "app::f"), typeck = sample_id(&texts, "typeck");
	const struct trace_span span = {.end_ns = n * MS, .label = typeck};
	_items_ struct items *items = NULL;

	assert_int_equal(items__new(&names, &items), 0);
	if (sampled)
		summary__set_unwatched(s);
	else
		assert_int_equal(
			items__span(items, &span, &(struct trace_times){.self_ns = n * MS}, item),
			0);
	for (uint64_t i = 0; sampled && i < n; i++)
		assert_int_equal(items__sample(items, typeck, item, TRACE_SAMPLE_CPU, MS), 0);
	must(compare__items(c, side, items, &names), compare__trace(c, side, s, &names));
}

/* 100 and 180 samples have errors of 10 and 13.4 of them. */
TEST_CASE(items_by_samples_have_errors_and_no_count)
{
	static const struct {
		bool base, new;
		uint64_t error_us;
		bool counted;
	} cases[] = {
		{true, true, 16733, false}, {false, true, 13416, false}, {false, false, 0, true}};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct compare_rules times = {}, counts = {.metric = COMPARE_COUNT};
		_compare_result_ struct compare_result by_time, by_count;
		_compare_ struct compare *c;
		const struct compare_row *row;

		assert_int_equal(compare__new(1, 1, &c), 0);
		add_item(c, COMPARE_BASE, cases[i].base, 100);
		add_item(c, COMPARE_NEW, cases[i].new, 180);
		assert_int_equal(compare__result(c, &times, &by_time), 0);
		row = find_item(&by_time, "app::f");
		assert_true(row->compared);
		assert_int_equal(compare_row__change(row, COMPARE_SELF), 80 * MS);
		assert_int_equal(row->error_ns[COMPARE_SELF] / 1000, cases[i].error_us);
		assert_struct(*row, file, "app::f", line, 7);
		assert_int_equal(compare__result(c, &counts, &by_count), 0);
		assert_int_equal(find_item(&by_count, "app::f")->compared, cases[i].counted);
	}
}

/*
 * A trace without probes in queries that lists `n` results of typeck, and some of layout_of, of
 * which `kind` says what is known; both about app::f.
 */
static void add_listed(struct compare *c, enum compare_side side, uint32_t n, uint8_t kind)
{
	const struct sample_row row = {"app", "lib", "typeck", 1, 40 * MS, NULL};
	const struct trace_tally tally = {.kind = TRACE_KIND_RESULTS, .events = 1};
	struct sample_names texts = {};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	_summary_ struct summary *s = sample_build(&row, 1, &texts);
	const uint32_t f = sample_id(&texts, "app::f"), of[] = {f, f, f};
	const struct trace_results typeck = {
		.label = sample_id(&texts, "typeck"), .n = n, .items = of};
	const struct trace_results others = {.label = sample_id(&texts, "layout_of"),
					     .kind = kind,
					     .n = kind != TRACE_RESULTS_UNKNOWN,
					     .items = of};
	_items_ struct items *items = NULL;

	assert_int_equal(items__new(&names, &items), 0);
	summary__set_unwatched(s);
	must(summary__tally(s, &tally), items__results(items, &typeck),
	     items__results(items, &others),
	     items__sample(items, typeck.label, TRACE_NO_STRING, TRACE_SAMPLE_CPU, MS),
	     compare__items(c, side, items, &names), compare__trace(c, side, s, &names));
}

/* Those of queries that all traces list. Nothing is listed of what is about no item. */
CASE(items_of_the_compilers_tables_are_counted)
{
	static const struct {
		uint8_t base, new;
		uint64_t count[2];
	} cases[] = {
		{TRACE_RESULTS_EXECUTED, TRACE_RESULTS_EXECUTED, {2 + 1, 3 + 1}},
		{TRACE_RESULTS_EXECUTED, TRACE_RESULTS_UNSURE, {2, 3}},
		{TRACE_RESULTS_UNKNOWN, TRACE_RESULTS_EXECUTED, {2, 3}},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct compare_row *row;

		begin(NULL);
		add_listed(c, COMPARE_BASE, 2, cases[i].base);
		add_listed(c, COMPARE_NEW, 3, cases[i].new);
		result(&by_count);
		row = find_item(&r, "app::f");
		assert_struct(*row, compared, true, of[COMPARE_COUNT][COMPARE_BASE].median,
			      cases[i].count[0], of[COMPARE_COUNT][COMPARE_NEW].median,
			      cases[i].count[1]);
		assert_false(find_item(&r, COMPARE_NO_ITEM)->compared);
	}
}

CASE(a_listed_item_is_not_compared_with_a_recorded_one)
{
	begin(NULL);
	add_item(c, COMPARE_BASE, false, 100);
	add_listed(c, COMPARE_NEW, 1, TRACE_RESULTS_EXECUTED);
	result(&by_count);
	assert_false(find_item(&r, "app::f")->compared);
}

/* Without its items, a trace would look as if it had none of those of the others. */
CASE(items_of_some_traces_are_no_rows)
{
	const struct sample_row rows[] = {{"app", "lib", "app::f", 1, 40 * MS, NULL}};

	begin(NULL);
	sample_add_items(c, COMPARE_BASE, rows, 1);
	sample_add(c, COMPARE_NEW, rows, 1);
	result(&by_count);
	assert_struct(r, has_items, false, ITEM_ROWS.n, 0, QUERIES.n, 1);
}

/*
 * A build of one crate in which typeck has `n` samples of 1 ms, and layout_of 100; or intervals.
 * With `results`, no query has probes, and the compiler's tables have so many of typeck.
 */
static void add_sampled(struct compare *c, enum compare_side side, uint64_t n, bool spans,
			uint64_t results)
{
	static const char *const names[] = {"typeck", "layout_of"};
	struct sample_names texts = {};
	const struct trace_texts of = {&texts, .text = sample_name};
	const struct trace_process p = {
		.pid = 1, .end_ns = 1000 * MS, .crate = (char *)"a", .crate_type = (char *)"lib"};
	const struct trace_tally tally = {.kind = TRACE_KIND_RESULTS, .events = results};
	_summary_ struct summary *s = NULL;

	must(summary__new(&s), summary__process(s, &p));
	summary__set_sampled(s);
	if (results) {
		summary__set_unwatched(s);
		assert_int_equal(summary__tally(s, &tally), 0);
	}
	for (size_t i = 0; i < N_OF(names); i++) {
		uint64_t samples = i ? 100 : n;
		const struct sample_sums sums = {
			.self[TRACE_SAMPLE_CPU] = {samples, samples * MS},
			.total[TRACE_SAMPLE_CPU] = {samples, samples * MS}};
		const struct trace_span span = {.end_ns = n * MS, .label = (uint32_t)i};
		const struct trace_times times = {.self_ns = n * MS};

		assert_int_equal(sample_id(&texts, names[i]), i);
		assert_int_equal(summary__samples(s, 0, (uint32_t)i, 1, &sums), 0);
		if (spans && !i)
			assert_int_equal(summary__span(s, &span, &times), 0);
	}
	assert_int_equal(compare__trace(c, side, s, &of), 0);
}

static struct compare *sampled(uint64_t base, uint64_t new, bool spans)
{
	struct compare *c;

	assert_int_equal(compare__new(1, 1, &c), 0);
	add_sampled(c, COMPARE_BASE, base, false, 0);
	add_sampled(c, COMPARE_NEW, new, spans, 0);
	return c;
}

/* Of 400 and 560 samples the change has an error of 31: 160 are five of them, 80 are not three. */
CASE(samples_have_errors_of_their_own)
{
	static const struct {
		uint64_t new;
		bool significant;
	} cases[] = {{560, true}, {480, false}};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct compare_row *row;

		begin(sampled(400, cases[i].new, false));
		result(&usual);
		row = sample_find(&r, "a", "typeck");
		assert_true(row->compared);
		assert_int_equal(row->error_ns[COMPARE_SELF] / MS, i ? 29 : 30);
		assert_int_equal(row->significant, cases[i].significant);
		assert_false(sample_find(&r, "a", "layout_of")->significant);
		/* The error of a sum is that of all its samples. */
		assert_int_equal(r.build.error_ns[COMPARE_SELF] / MS, i ? 32 : 34);
	}
}

TEST_CASE(samples_are_not_compared_with_intervals)
{
	const struct compare_rules times = {}, counts = {.metric = COMPARE_COUNT};
	_compare_ struct compare *mixed = sampled(400, 900, true), *both = sampled(4, 4, false);
	_compare_result_ struct compare_result by_time, by_count;

	assert_int_equal(compare__result(mixed, &times, &by_time), 0);
	assert_false(sample_find(&by_time, "a", "typeck")->compared);
	assert_true(sample_find(&by_time, "a", "layout_of")->compared);
	/* Nobody counted. */
	assert_int_equal(compare__result(both, &counts, &by_count), 0);
	assert_false(sample_find(&by_count, "a", "typeck")->compared);
}

/* The compiler's tables know how often typeck was executed, and nothing does of layout_of. */
TEST_CASE(executions_are_in_sums_if_all_traces_know_them)
{
	static const struct sample_row base[] = {{"a", "lib", "typeck", 50, 100 * MS, NULL},
						 {"a", "lib", "layout_of", 20, 10 * MS, NULL}};
	const struct compare_rules counts = {.metric = COMPARE_COUNT}, times = {.min_ns = 5 * MS};
	_compare_result_ struct compare_result r, of_times;
	_compare_ struct compare *c;
	struct compare_row sum;

	assert_int_equal(compare__new(1, 1, &c), 0);
	sample_add(c, COMPARE_BASE, base, 2);
	add_sampled(c, COMPARE_NEW, 100, false, 51);
	assert_int_equal(compare__result(c, &counts, &r), 0);
	assert_struct(r, on_cpu, true, n_uncounted, 1);
	assert_true(sample_find(&r, "a", "typeck")->significant);
	assert_int_equal(compare_row__change(sample_find(&r, "a", "typeck"), COMPARE_COUNT), 1);
	assert_false(sample_find(&r, "a", "layout_of")->compared);
	assert_int_equal(r.build.of[COMPARE_COUNT][COMPARE_BASE].median, 50);
	assert_int_equal(r.build.of[COMPARE_COUNT][COMPARE_NEW].median, 51);
	assert_int_equal(r.crates[0].of[COMPARE_COUNT][COMPARE_BASE].median, 50);
	assert_int_equal(compare__sum(c, &r, COMPARE_OF_QUERIES, is_typeck, NULL, &sum), 1);
	assert_true(sum.compared);
	/* Times on the CPU are compared whoever knows them; the second result is as the first. */
	assert_int_equal(compare__result(c, &times, &of_times), 0);
	assert_int_equal(of_times.n_uncounted, 1);
	assert_int_equal(of_times.build.of[COMPARE_COUNT][COMPARE_BASE].median, 50);
	assert_true(sample_find(&of_times, "a", "layout_of")->compared);
	assert_true(sample_find(&of_times, "a", "typeck")->compared);
}

/* A compiler without a table of layout_of, which no sample met. */
static void add_blind(struct compare *c, enum compare_side side)
{
	const struct sample_row row = {"a", "lib", "typeck", 0, 0, NULL};
	struct sample_names texts = {};
	const struct trace_texts names = {.ctx = &texts, .text = sample_name};
	_summary_ struct summary *s = sample_build(&row, 1, &texts);
	const struct trace_tally counted = {
		.kind = TRACE_KIND_RESULTS, .label = sample_id(&texts, "typeck"), .events = 50};
	const struct trace_tally blind = {.kind = TRACE_KIND_RESULTS_AT_LEAST,
					  .label = sample_id(&texts, "layout_of")};

	summary__set_unwatched(s);
	must(summary__tally(s, &counted), summary__tally(s, &blind),
	     compare__trace(c, side, s, &names));
}

CASE(a_query_without_a_table_was_not_executed_0_times)
{
	static const struct sample_row base[] = {{"a", "lib", "typeck", 50, 100 * MS, NULL},
						 {"a", "lib", "layout_of", 20, 10 * MS, NULL}};

	for (int from = COMPARE_BASE; from < COMPARE_N_SIDES; from++) {
		begin(NULL);
		add_blind(c, !from);
		sample_add(c, from, base, 2);
		result(&by_count);
		assert_int_equal(r.n_uncounted, 1);
		assert_true(sample_find(&r, "a", "typeck")->compared);
		assert_false(sample_find(&r, "a", "layout_of")->compared);
		assert_int_equal(r.build.of[COMPARE_COUNT][from].median, 50);
		assert_int_equal(compare_row__change(&r.build, COMPARE_COUNT), 0);
	}
}

TEST_MAIN(NULL, NULL)
