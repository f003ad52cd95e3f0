// SPDX-License-Identifier: Apache-2.0 OR MIT
/* LLVM's time in two builds: by pass, by function of the source, and by instance. */
#include "analyze/compare.h"

#include <errno.h>

#include "test.h"
#include "../fixtures/llvm_build.h"
#include "../fixtures/sample_compare.h"

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
		assert_int_equal(compare__llvm(c, side, b.model.llvm), 0);
		assert_int_equal(compare__trace(c, side, b.model.summary, &b.model.options.texts),
				 0);
	}
}

static const struct compare_row *row_of(const struct compare_result *r, enum compare_of of,
					const char *name)
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
	assert_true(row->compared);
	assert_int_equal(row->significant, significant);
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
	assert_change(row_of(&r, COMPARE_OF_GENERICS, "core::ptr::drop_in_place"), 12, 24, false);
	assert_change(row_of(&r, COMPARE_OF_GENERICS, "app::generic_big"), 200, 200, false);
	assert_change(row_of(&r, COMPARE_OF_PASSES, "GVN"), 35, 435, true);
	assert_change(row_of(&r, COMPARE_OF_INSTANCES, "app::generic_big::<7>"), 1, 1, false);
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
		assert_int_equal(llvm__new(&source, &stacks, &texts, &l), 0);
		assert_int_equal(llvm__process(l, &process), 0);
		assert_int_equal(llvm__sample(l, &sample), 0);
		assert_int_equal(compare__new(1, 1, &c), 0);
		add_traces(c, COMPARE_BASE, 1, true, 0, 0);
		assert_int_equal(compare__llvm(c, COMPARE_NEW, l), 0);
		assert_int_equal(
			compare__trace(c, COMPARE_NEW, b.model.summary, &b.model.options.texts), 0);
		assert_int_equal(compare__result(c, &rules, &r), 0);
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
