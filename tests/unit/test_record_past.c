// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/past.h"

#include "plan/library/file.h"

#include "test.h"
#include "../fixtures/library_file.h"
#include "../fixtures/sample_plan.h"

struct told {
	unsigned int n_libraries, n_files, n_labels, n_decisions, n_sampled;
	uint8_t lib;
	uint32_t n_queries, number;
	bool has_file;
	uint64_t time_ns;
};

static int on_library(void *ctx, uint8_t lib, const struct plan *plan)
{
	struct told *told = ctx;

	told->n_libraries++;
	told->lib = lib;
	told->n_queries = plan->n_queries;
	told->has_file = plan->file;
	assert_string_equal(plan->queries[1].name, "typeck");
	return 0;
}

static int on_file(void *ctx, uint32_t number, struct library_file *file)
{
	struct told *told = ctx;

	told->n_files++;
	told->number = number;
	return 0;
}

static int on_record(void *ctx, const void *record, size_t size)
{
	struct told *told = ctx;

	told->n_labels += size == sizeof(struct wire_label);
	return 0;
}

static int on_decision(void *ctx, const struct session_decision *d)
{
	struct told *told = ctx;

	/* Its label is known by then. */
	assert_int_equal(told->n_libraries, 1);
	told->n_decisions++;
	told->time_ns = d->time_ns;
	return 0;
}

static int on_sampled(void *ctx)
{
	struct told *told = ctx;

	assert_int_equal(told->n_libraries, 0);
	told->n_sampled++;
	return 0;
}

static struct told tell(const struct past *p)
{
	struct told told = {0};
	const struct session_sink to = {
		.ctx = &told,
		.library = on_library,
		.file = on_file,
		.record = on_record,
		.decision = on_decision,
		.sampled = on_sampled,
	};

	assert_int_equal(past__tell(p, &to), 0);
	return told;
}

static void a_recorder_that_begins_later_is_told_everything(void **state)
{
	const struct wire_label label = {.type = WIRE_LABEL, .label = 1};
	struct past *p = calloc(1, sizeof(*p));
	struct session_decision d = {.lib = 3, .query = 1, .time_ns = 7};
	struct plan *plan = sample_plan();
	struct told told;

	assert_non_null(p);
	told = tell(p);
	assert_int_equal(told.n_libraries + told.n_files + told.n_decisions, 0);
	plan->file = make_library_file();
	assert_int_equal(past__library(p, 3, plan), 0);
	assert_int_equal(past__file(p, 9, plan->file), 0);
	assert_int_equal(past__file(p, 9, NULL), 0);
	assert_int_equal(past__label(p, &label), 0);
	assert_int_equal(past__decision(p, &d), 0);
	d.time_ns = 8;
	assert_int_equal(past__decision(p, &d), 0);
	p->sampled = true;
	/* It outlives the plan. The number of a file, or a decision, may come again. */
	plan__free(plan);
	told = tell(p);
	assert_int_equal(told.n_libraries, 1);
	assert_int_equal(told.lib, 3);
	assert_int_equal(told.n_queries, 2);
	assert_true(told.has_file);
	assert_int_equal(told.n_files, 1);
	assert_int_equal(told.number, 9);
	assert_int_equal(told.n_labels, 1);
	assert_int_equal(told.n_decisions, 1);
	assert_int_equal(told.time_ns, 8);
	assert_int_equal(told.n_sampled, 1);
	past__clear(p);
	free(p);
}

static void decisions_go_with_their_library(void **state)
{
	const struct session_decision of_three = {.lib = 3, .query = 1, .time_ns = 7};
	const struct session_decision of_four = {.lib = 4, .query = 1, .time_ns = 9};
	struct past *p = calloc(1, sizeof(*p));
	struct plan *plan = sample_plan();
	struct told told;

	assert_non_null(p);
	assert_int_equal(past__library(p, 3, plan), 0);
	assert_int_equal(past__decision(p, &of_three), 0);
	assert_int_equal(past__decision(p, &of_four), 0);
	/* The number now is of another library. */
	assert_int_equal(past__library(p, 3, plan), 0);
	plan__free(plan);
	told = tell(p);
	assert_int_equal(told.n_decisions, 1);
	assert_int_equal(told.time_ns, 9);
	past__clear(p);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorder_that_begins_later_is_told_everything),
		cmocka_unit_test(decisions_go_with_their_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
