// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/diff_rows.h"

#include "test.h"

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
	assert_int_equal(crates.metric, COMPARE_CPU);
	assert_int_equal(crates.n_changed, 12);
	assert_int_equal(crates.n_shown, DIFF_CRATES_MOST);
	assert_ptr_equal(crates.rows[0], &rows[13]);
	/* 0 and 1, which are within noise, and 2 and 3. */
	assert_int_equal(crates.n_others, 4);
	assert_int_equal(crates.others[COMPARE_BASE], 400);
	assert_int_equal(crates.others[COMPARE_NEW], 460);
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
	assert_int_equal(crates.metric, COMPARE_SELF);
	assert_int_equal(crates.n_shown, 2);
	assert_true(diff_crates_any(&r));
	r.n_crates = 1;
	assert_false(diff_crates_any(&r));
}

TEST_MAIN(NULL, NULL)
