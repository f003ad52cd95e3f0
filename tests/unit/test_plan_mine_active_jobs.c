// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/active_jobs.h"

#include "test.h"
#define LIBRARY "jobs.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"

static const char *mine(const char *body, struct active_jobs *out)
{
	const char *problem = "not set";

	*out = (struct active_jobs){.current = 77};
	assert_int_equal(active_jobs_mine(img, symbol(img, body)->addr, symbol(img, "slot")->addr,
					  out, &problem),
			 0);
	return problem;
}

static struct active_jobs found(const char *body, uint8_t size, uint8_t key, uint8_t job,
				uint8_t parent)
{
	struct active_jobs out;

	assert_null(mine(body, &out));
	assert_pairs(out.current, 0x18, out.entry.size, size, out.entry.key, key, out.entry.job,
		     job, out.entry.parent, parent);
	return out;
}

TEST_CASE(an_entry_is_filled_in_field_by_field)
{
	struct active_jobs out = found("by_value", 0x28, 0, 8, 0x18);

	assert_true(out.has_table);
	assert_int_equal(out.ctrl, 0);
	assert_int_equal(out.mask, 8);
}

TEST_CASE(an_entry_is_found_in_many_ways)
{
	/* Fields have any order. */
	assert_false(found("spilled", 0x20, 0x18, 0, 8).has_table);
	/* All branches are followed. */
	found("branches", 0x30, 0, 0x10, 0x20);
	/* A large key may be copied. */
	found("copied", 0x78, 0, 0x58, 0x68);
	/* A table of one entry has no key. */
	found("unit", 0x20, PLAN_NO_KEY, 0, 0x10);
}

TEST_CASE(what_shows_no_entry_is_a_problem)
{
	static const char *const bodies[] = {"elsewhere", "alone", "above", "endless"};

	for (size_t i = 0; i < N_OF(bodies); i++) {
		struct active_jobs out;

		assert_non_null(mine(bodies[i], &out));
		assert_int_equal(out.current, 77);
	}
}

TEST_CASE(what_is_beside_a_state_is_the_key)
{
	static const struct plan_job_entry held = {32, PLAN_NO_KEY, 0, 16};
	struct plan_job_entry before = {96, PLAN_NO_KEY, 64, 80}, behind = {96, PLAN_NO_KEY, 0, 16},
			      another = {96, PLAN_NO_KEY, 64, 88},
			      between = {96, PLAN_NO_KEY, 32, 48}, known = {96, 8, 64, 80};

	active_jobs_infer_key(&before, &held);
	assert_int_equal(before.key, 0);
	active_jobs_infer_key(&behind, &held);
	assert_int_equal(behind.key, 32);
	active_jobs_infer_key(&another, &held);
	assert_int_equal(another.key, PLAN_NO_KEY);
	active_jobs_infer_key(&between, &held);
	assert_int_equal(between.key, PLAN_NO_KEY);
	active_jobs_infer_key(&known, &held);
	assert_int_equal(known.key, 8);
}

TEST_MAIN(image_setup, image_teardown)
