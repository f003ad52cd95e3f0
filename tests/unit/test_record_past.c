// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/past.h"

#include "plan/library/file.h"

#include "test.h"
#include "../fixtures/library_file.h"
#include "../fixtures/sample_plan.h"

struct told {
	unsigned int n_libraries, n_files, n_labels;
	uint8_t lib;
	uint32_t n_queries, number;
	bool has_file;
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

static struct told tell(const struct past *p)
{
	struct told told = {0};
	const struct session_sink to = {
		.ctx = &told,
		.library = on_library,
		.file = on_file,
		.record = on_record,
	};

	assert_int_equal(past__tell(p, &to), 0);
	return told;
}

TEST_CASE(a_recorder_that_begins_later_is_told_everything)
{
	const struct wire_label label = {.type = WIRE_LABEL, .label = 1};
	struct past *p = calloc(1, sizeof(*p));
	struct plan *plan = sample_plan();
	struct told told;

	assert_non_null(p);
	told = tell(p);
	assert_int_equal(told.n_libraries + told.n_files + told.n_labels, 0);
	plan->file = make_library_file();
	assert_int_equal(past__library(p, 3, plan), 0);
	assert_int_equal(past__file(p, 9, plan->file), 0);
	assert_int_equal(past__file(p, 9, NULL), 0);
	assert_int_equal(past__label(p, &label), 0);
	/* It outlives the plan. The number of a file may come again. */
	plan__free(plan);
	told = tell(p);
	assert_int_equal(told.n_libraries, 1);
	assert_int_equal(told.lib, 3);
	assert_int_equal(told.n_queries, 2);
	assert_true(told.has_file);
	assert_int_equal(told.n_files, 1);
	assert_int_equal(told.number, 9);
	assert_int_equal(told.n_labels, 1);
	past__clear(p);
	free(p);
}

TEST_CASE(the_number_of_a_library_may_come_again)
{
	struct past *p = calloc(1, sizeof(*p));
	struct plan *plan = sample_plan();
	struct told told;

	assert_non_null(p);
	assert_int_equal(past__library(p, 3, plan), 0);
	plan->n_queries--;
	assert_int_equal(past__library(p, 4, plan), 0);
	plan->n_queries++;
	assert_int_equal(past__library(p, 4, plan), 0);
	plan__free(plan);
	told = tell(p);
	assert_int_equal(told.n_libraries, 2);
	assert_int_equal(told.lib, 4);
	assert_int_equal(told.n_queries, 2);
	past__clear(p);
	free(p);
}

TEST_MAIN(NULL, NULL)
