// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/announcements.h"

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

static int on_record(void *ctx, const struct record *r)
{
	struct told *told = ctx;

	switch (r->kind) {
	case RECORD_LIBRARY:
		told->n_libraries++;
		told->lib = r->lib;
		told->n_queries = r->library.plan->n_queries;
		told->has_file = r->library.plan->file;
		assert_string_equal(r->library.plan->queries[1].name, "typeck");
		assert_false(r->library.queries[0]);
		assert_true(r->library.queries[1]);
		assert_true(r->library.guards[0]);
		assert_false(r->library.guards[1]);
		return 0;
	case RECORD_FILE:
		told->n_files++;
		told->number = r->file.number;
		return 0;
	default:
		assert_int_equal(r->kind, WIRE_LABEL);
		told->n_labels++;
		return 0;
	}
}

static struct told tell(const struct announcements *p)
{
	struct told told = {0};

	assert_int_equal(announcements__tell(p, on_record, &told), 0);
	return told;
}

static int keep_library(struct announcements *p, uint8_t lib, const struct plan *plan)
{
	static const bool queries[] = {false, true}, guards[8] = {true};

	return announcements__take(p, &(struct record){.kind = RECORD_LIBRARY,
						       .lib = lib,
						       .library = {plan, queries, guards}});
}

static int keep_file(struct announcements *p, uint32_t number, struct library_file *file)
{
	return announcements__take(
		p, &(struct record){.kind = RECORD_FILE, .file = {number, file, NULL}});
}

TEST_CASE(a_recorder_that_begins_later_is_told_everything)
{
	const struct wire_label label = {.type = WIRE_LABEL, .label = 1};
	const struct record labelled = record_of(&label, sizeof(label));
	struct announcements *p = calloc(1, sizeof(*p));
	struct plan *plan = sample_plan();
	struct told told;

	assert_non_null(p);
	told = tell(p);
	assert_int_equal(told.n_libraries + told.n_files + told.n_labels, 0);
	plan->file = make_library_file();
	assert_int_equal(keep_library(p, 3, plan), 0);
	assert_int_equal(keep_file(p, 9, plan->file), 0);
	assert_int_equal(keep_file(p, 9, NULL), 0);
	assert_int_equal(announcements__take(p, &labelled), 0);
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
	announcements__clear(p);
	free(p);
}

TEST_CASE(the_number_of_a_library_may_come_again)
{
	struct announcements *p = calloc(1, sizeof(*p));
	struct plan *plan = sample_plan();
	struct told told;

	assert_non_null(p);
	assert_int_equal(keep_library(p, 3, plan), 0);
	plan->n_queries--;
	assert_int_equal(keep_library(p, 4, plan), 0);
	plan->n_queries++;
	assert_int_equal(keep_library(p, 4, plan), 0);
	plan__free(plan);
	told = tell(p);
	assert_int_equal(told.n_libraries, 2);
	assert_int_equal(told.lib, 4);
	assert_int_equal(told.n_queries, 2);
	announcements__clear(p);
	free(p);
}

TEST_MAIN(NULL, NULL)
