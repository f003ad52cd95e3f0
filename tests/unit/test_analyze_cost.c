// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/cost.h"
#include "analyze/verdict.h"

#include "test.h"
#include "../fixtures/sample_summary.h"

static const struct trace_costs costs = {.ps = {[TRACE_COST_EMULATED] = 500000}};

static const char *no_text(const void *ctx, uint32_t id)
{
	return "";
}

static struct trace_process process(uint32_t index, uint64_t cpu_ns)
{
	return (struct trace_process){.index = index,
				      .pid = 100 + index,
				      .start_ns = 1,
				      .end_ns = 2,
				      .cpu_ns = cpu_ns,
				      .exit_status = TRACE_EXIT_UNKNOWN};
}

/* Two compilers that used 900 and 300 ns, and 40 hits. */
static void make(struct model *m, const struct trace_overhead *overhead, bool cpu)
{
	const struct model_options options = {.texts = {.text = no_text}};
	struct trace_process a = process(0, cpu ? 900 : 0), b = process(1, cpu ? 300 : 0);
	struct trace_item items[] = {
		{.kind = TRACE_ITEM_COSTS, .costs = costs},
		{.kind = TRACE_ITEM_PROCESS, .process = &a},
		{.kind = TRACE_ITEM_PROCESS, .process = &b},
		{.kind = TRACE_ITEM_LOSSES, .losses.count[TRACE_COUNT_HITS] = 40},
	};
	struct trace_item last = {.kind = TRACE_ITEM_OVERHEAD};

	assert_int_equal(model__init(m, &options), 0);
	for (size_t i = 0; i < N_OF(items); i++)
		assert_int_equal(model__item(m, &items[i]), 0);
	if (overhead) {
		last.overhead = *overhead;
		assert_int_equal(model__item(m, &last), 0);
	}
	assert_int_equal(model__end(m), 0);
}

TEST_CASE(the_parts_add_up)
{
	const struct trace_overhead overhead = {.of = {100, 70, 25, 60, 5000, 2, 14, 45, 5}};
	_model_ struct model m = {};
	uint64_t sum = 0;
	struct cost c;

	make(&m, &overhead, true);
	c = cost_of(&m, 2);
	for (int i = 0; i < COST_PARTS; i++)
		sum += c.ns[i];
	assert_struct(c, whole, true, added_ns, 260);
	assert_int_equal(sum, c.added_ns);
	assert_struct(c, hits, 40, breakpoints, 14);
	/* A part of ours, which is in the sum already. */
	assert_int_equal(c.set_up_ns, 45);
	/* Waiting is no CPU time. */
	assert_struct(c, waited_ns, 5000, n_waited, 2);
	/* 1,200 ns less the four parts that are in it. */
	assert_struct(c, in_compilers_ns, 200, compilers_ns, 1000);
	assert_int_equal(cost__share_ppm(&c), 260000);
}

/* An earlier version told only how many hits there were, and what one costs. */
TEST_CASE(without_parts_the_hits_are_known)
{
	_model_ struct model m = {};
	struct cost c;

	make(&m, NULL, true);
	c = cost_of(&m, 2);
	assert_struct(c, whole, false, added_ns, 40 * 500, ns[COST_PROBES], c.added_ns);
	/* Not the rest, so it stays in the CPU time. */
	assert_struct(c, in_compilers_ns, 0, compilers_ns, 1200);
}

TEST_CASE(without_cpu_times_there_is_no_share)
{
	const struct trace_overhead overhead = {.of = {100, 70, 30, 60}};
	_model_ struct model m = {};
	struct cost c;

	make(&m, &overhead, false);
	c = cost_of(&m, 2);
	assert_struct(c, added_ns, 260, compilers_ns, 0);
	assert_int_equal(cost__share_ppm(&c), 0);
}

/* Two compilers: one with three of four intervals, and three quarters of the CPU time. */
static void fill(struct model *m, bool alone)
{
	const struct trace_process all[] = {
		{.cpu_ns = 75000, .end_ns = 9},
		{.index = 1, .cpu_ns = 25000, .end_ns = 9},
	};
	const struct model_options options = {.parts = MODEL_BUILD, .texts.text = no_text};
	const uint64_t parts[] = {4000, 300, 20, 800, 90, 2, 14, 45, 60};

	assert_int_equal(model__init(m, &options), 0);
	for (size_t i = 0; i < (alone ? 1 : 2); i++)
		assert_int_equal(model__item(m, &(struct trace_item){.kind = TRACE_ITEM_PROCESS,
								     .process = &all[i]}),
				 0);
	for (uint64_t i = 0; i < (alone ? 30 : 40); i++) {
		struct trace_item item = {
			.kind = TRACE_ITEM_SPAN,
			.span = {.process = i / 30, .start_ns = i, .end_ns = i + 1}};

		assert_int_equal(model__item(m, &item), 0);
	}
	m->has_losses = true;
	m->losses.count[TRACE_COUNT_HITS] = 240;
	m->has_overhead = true;
	memcpy(m->overhead.of, parts, sizeof(parts));
	assert_int_equal(model__end(m), 0);
}

TEST_CASE(each_compiler_has_a_part_of_it)
{
	uint32_t n;
	_model_ struct model m = {};
	const struct build_process *all;
	uint64_t one_ns, other_ns, both_ns;
	struct cost c;

	fill(&m, false);
	c = cost_of(&m, 2);
	all = build__processes(m.build, &n);
	assert_true(cost__cpu_ns(&c, m.build, NULL, &all[0], &one_ns));
	assert_true(cost__cpu_ns(&c, m.build, NULL, &all[1], &other_ns));
	assert_true(cost__cpu_ns(&c, m.build, NULL, NULL, &both_ns));
	/* Three quarters of hits and samples, half of the rest. */
	assert_int_equal(one_ns, 75000 - 3000 - 150 - 15 - 30);
	assert_int_equal(both_ns, c.compilers_ns);
	assert_int_equal(both_ns, one_ns + other_ns);
	assert_int_equal(both_ns, 100000 - c.in_compilers_ns);
	/* Where it is not known, it is in there. */
	assert_true(cost__cpu_ns(NULL, m.build, NULL, NULL, &both_ns));
	assert_int_equal(both_ns, 100000);
}

/* Of one who has a quarter of the hits, and is one of three. */
TEST_CASE(a_part_of_a_recording_has_a_part_of_it)
{
	_model_ struct model m = {};
	struct cost c;

	fill(&m, true);
	/* How many samples the others had is not known. */
	c = cost_of(&m, 3);
	assert_true(c.is_part && !c.whole);
	assert_int_equal(c.compilers_ns, 75000);
	m.overhead.of[TRACE_OVERHEAD_SAMPLES] = 0;
	c = cost_of(&m, 3);
	assert_true(c.is_part && c.whole);
	assert_struct(c, ns[COST_PROBES], 1000, ns[COST_BREAKPOINTS], 100, ns[COST_NAMES], 20,
		      in_compilers_ns, 1120);
	/* It may be one of the two that waited. */
	assert_int_equal(c.n_waited, 1);
}

/*
 * A compiler that was attached to while it ran, with a thread that met no probe from then on: only
 * samples have its CPU time. Of another one all is known.
 */
TEST_CASE(a_thread_that_met_no_probe_ran_all_the_same)
{
	const struct model_options options = {.parts = MODEL_BUILD, .texts.text = no_text};
	struct trace_process late = process(0, 900), seen = process(1, 300);
	const struct trace_sampling sampling = {.queries = true};
	struct trace_item items[] = {
		{.kind = TRACE_ITEM_PROCESS, .process = &late},
		{.kind = TRACE_ITEM_PROCESS, .process = &seen},
		{.kind = TRACE_ITEM_SAMPLING, .sampling = sampling},
		{.kind = TRACE_ITEM_SPAN,
		 .span = {.tid = 5, .kind = TRACE_KIND_OFF_CPU, .start_ns = 1, .end_ns = 2}},
		{.kind = TRACE_ITEM_SAMPLE,
		 .sample = {.cause = TRACE_SAMPLE_CPU, .tid = 6, .time_ns = 2, .value = 700}},
		{.kind = TRACE_ITEM_SAMPLE,
		 .sample = {.cause = TRACE_SAMPLE_CPU,
			    .process = 1,
			    .tid = 7,
			    .time_ns = 2,
			    .value = 700}},
	};
	_model_ struct model m = {};
	uint64_t ns;

	late.attached_late = true;
	assert_int_equal(model__init(&m, &options), 0);
	for (size_t i = 0; i < N_OF(items); i++)
		assert_int_equal(model__item(&m, &items[i]), 0);
	assert_int_equal(model__end(&m), 0);
	assert_struct(*build__totals(m.build), off_cpu_known, true, late, 1);
	assert_true(cost__cpu_ns(NULL, m.build, m.samples, NULL, &ns));
	assert_int_equal(ns, 700 + 300);
}

/* ---- Verdict --------------------------------------------------------------------------------- */

/* A summary of `n` compiles without intervals. */
static struct summary *compiled(uint32_t n)
{
	struct summary *s;

	assert_int_equal(summary__new(&s), 0);
	for (uint32_t i = 0; i < n; i++)
		sample_process(s, i, (char *)"serde", 0);
	return s;
}

static void add_spans(struct summary *s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sample_span(s, 0, SAMPLE_TYPECK, 10, 10, 0);
}

static struct verdict verdict_with(enum trace_loss loss, uint64_t lost, uint64_t hits,
				   unsigned int spans)
{
	_summary_ struct summary *s = compiled(1);
	struct trace_losses l = {.count = {[TRACE_COUNT_HITS] = hits}};

	l.count[loss] = lost;
	add_spans(s, spans);
	return verdict_of(s, &l);
}

TEST_CASE(most_is_more_than_half)
{
	assert_false(verdict_is_most(0, 0));
	assert_false(verdict_is_most(1, 2));
	assert_true(verdict_is_most(2, 3));
	assert_true(verdict_is_most(1, 1));
	assert_int_equal(verdict_with(TRACE_LOST_RING_FULL, 10, 40, 10).state, VERDICT_SOUND);
	assert_int_equal(verdict_with(TRACE_LOST_RING_FULL, 11, 42, 10).state,
			 VERDICT_LOST_INTERVALS);
	assert_int_equal(verdict_with(TRACE_LOST_NO_STORAGE, 20, 40, 10).state, VERDICT_SOUND);
	assert_int_equal(verdict_with(TRACE_LOST_NO_STORAGE, 21, 41, 10).state, VERDICT_LOST_HITS);
}

TEST_CASE(the_cause_and_the_share_are_reported)
{
	struct verdict v = verdict_with(TRACE_LOST_NO_STORAGE, 916, 916, 0);

	assert_struct(v, state, VERDICT_LOST_HITS, cause, TRACE_LOST_NO_STORAGE, lost, 916, of,
		      916);
	/* The count of hits does not include hits lost to recursion. */
	v = verdict_with(TRACE_LOST_RECURSION, 30, 20, 10);
	assert_struct(v, state, VERDICT_LOST_HITS, of, 50);
	v = verdict_with(TRACE_LOST_STACK_FULL, 90, 200, 10);
	assert_struct(v, state, VERDICT_LOST_INTERVALS, cause, TRACE_LOST_STACK_FULL, of, 100);
}

/* A third of the hits, and two fifths of the records of the others, are lost: 60 % in all. */
TEST_CASE(several_causes_count_together)
{
	_summary_ struct summary *s = compiled(1);
	struct trace_losses l = {.count = {[TRACE_COUNT_HITS] = 300,
					   [TRACE_LOST_NO_STORAGE] = 100,
					   [TRACE_LOST_BAD_RECORD] = 15,
					   [TRACE_LOST_RING_FULL] = 25}};
	struct verdict v;

	add_spans(s, 60);
	v = verdict_of(s, &l);
	assert_struct(v, state, VERDICT_LOST_INTERVALS, cause, TRACE_LOST_RING_FULL, lost, 40);
	l.count[TRACE_LOST_NO_STORAGE] = 0;
	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
}

TEST_CASE(compilers_may_be_lost)
{
	_summary_ struct summary *s = sample_three();
	struct trace_losses l = {.count = {[TRACE_LOST_COMPILERS] = 3}};
	struct verdict v;

	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
	l.count[TRACE_LOST_COMPILERS] = 4;
	v = verdict_of(s, &l);
	assert_struct(v, state, VERDICT_LOST_COMPILERS, lost, 4, of, 7);
}

/* Linkers and the like are in the trace too, and so are compilers of which it has nothing else. */
TEST_CASE(what_is_lost_is_a_part_of_the_compilers)
{
	_summary_ struct summary *s = compiled(0);
	struct trace_losses l = {.count = {[TRACE_LOST_COMPILERS] = 2}};
	struct verdict v;

	for (uint32_t i = 0; i < 9; i++) {
		const struct trace_process p = {.index = i,
						.crate = i < 3 ? (char *)"serde" : NULL,
						.attached_late = i < 3};

		assert_int_equal(summary__process(s, &p), 0);
	}
	sample_span(s, 0, SAMPLE_TYPECK, 10, 10, 0);
	v = verdict_of(s, &l);
	assert_struct(v, state, VERDICT_LOST_COMPILERS, lost, 2, of, 3);
	assert_int_equal(summary__sample(s, &(struct trace_sample){.process = 1}), 0);
	l.count[TRACE_LOST_COMPILERS] = 1;
	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
}

static struct verdict without_compilers(uint64_t mappings, char *crate, int32_t status)
{
	const struct trace_losses l = {.count = {[TRACE_LOST_MAPPINGS] = mappings}};
	_summary_ struct summary *s = compiled(0);

	sample_process(s, 0, crate, status);
	return verdict_of(s, &l);
}

/* A lost mapping may be a compiler's: "no compiler ran" must not look like "none was seen". */
TEST_CASE(no_compiler_and_a_lost_mapping_is_no_sound_recording)
{
	const struct trace_losses one = {.count = {[TRACE_LOST_MAPPINGS] = 1}};
	_summary_ struct summary *nothing = compiled(0);
	struct verdict v = verdict_of(nothing, &one);

	assert_struct(v, state, VERDICT_LOST_MAPPINGS, cause, TRACE_LOST_MAPPINGS, lost, 1);
	/* A process without a crate is no compiler. */
	assert_int_equal(without_compilers(1, NULL, 0).state, VERDICT_LOST_MAPPINGS);
	assert_int_equal(without_compilers(0, NULL, 0).state, VERDICT_SOUND);
	/* Compilers were seen: a failed one, and a running one. */
	assert_int_equal(without_compilers(1, (char *)"serde", 1 << 8).state, VERDICT_SOUND);
	assert_int_equal(without_compilers(1, (char *)"serde", TRACE_EXIT_UNKNOWN).state,
			 VERDICT_SOUND);
	assert_int_equal(verdict_with(TRACE_LOST_MAPPINGS, 1000, 2, 1).state, VERDICT_SOUND);
}

TEST_CASE(a_compilation_without_an_interval_is_nothing)
{
	_summary_ struct summary *s = compiled(3);
	struct trace_losses l = {.count = {[TRACE_COUNT_HITS] = 7}};
	struct verdict v = verdict_of(s, &l);

	assert_struct(v, state, VERDICT_NOTHING, compiles, 3, late, 1, hits, 7, lost, 0);
	/* One that was gone before it could be followed is not known to be late. */
	l.count[TRACE_LOST_COMPILERS] = 1;
	v = verdict_of(s, &l);
	assert_struct(v, state, VERDICT_NOTHING, lost, 1);
	assert_int_equal(verdict_of(s, NULL).state, VERDICT_NOTHING);
	/* Samples need no interval. */
	summary__set_sampled(s);
	assert_int_equal(verdict_of(s, NULL).state, VERDICT_SOUND);
	add_spans(s, 1);
	assert_int_equal(verdict_of(s, &l).state, VERDICT_SOUND);
}

/* One compiler failed, one still runs, and one has no crate. */
TEST_CASE(others_need_not_execute_a_query)
{
	_summary_ struct summary *s = compiled(0);

	sample_process(s, 0, (char *)"serde", 1 << 8);
	sample_process(s, 1, (char *)"serde", TRACE_EXIT_UNKNOWN);
	sample_process(s, 2, NULL, 0);
	assert_int_equal(verdict_of(s, NULL).state, VERDICT_SOUND);
}

TEST_MAIN(NULL, NULL)
