// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/answers.h"

#include "test.h"
#include "../fixtures/library_file.h"
#include "../fixtures/sample_plan.h"

static struct compiler *make(void)
{
	struct plan *plan = sample_plan();
	struct compiler *c = NULL;

	plan->file = make_library_file();
	free(plan->held_keys);
	plan->n_held_keys = 1;
	plan->held_keys = calloc(1, sizeof(*plan->held_keys));
	plan->held_keys[0] = (struct plan_held_key){.addr = 0x8065, .query = 1, .slot = 8};
	assert_int_equal(compiler__new(plan, &c), 0);
	/* It outlives the plan. */
	plan__free(plan);
	return c;
}

static void numbers_have_names(void **state)
{
	_compiler_ struct compiler *c = make();

	assert_string_equal(compiler__query(c, 0), "mir_built");
	assert_string_equal(compiler__query(c, 1), "typeck");
	assert_null(compiler__query(c, 2));
	assert_null(compiler__query(c, UINT32_MAX));
	assert_string_equal(compiler__guard(c, 0), "early_lint_checks");
	assert_null(compiler__guard(c, 1));
	assert_null(compiler__guard(c, 2));
}

static void what_is_recorded_has_its_place_in_cookies(void **state)
{
	_compiler_ struct compiler *c = make();
	struct wire_begun b;

	assert_false(compiler__begun(c, WIRE_KIND_QUERY, 1, PLAN_NONE, &b));
	compiler__set_recorded(c, (const bool[]){false, true}, (const bool[]){true, true});
	assert_false(compiler__begun(c, WIRE_KIND_QUERY, 0, PLAN_NONE, &b));
	assert_false(compiler__begun(c, WIRE_KIND_QUERY, PLAN_NONE, PLAN_NONE, &b));
	assert_true(compiler__begun(c, WIRE_KIND_QUERY, 1, PLAN_NONE, &b));
	assert_int_equal(b.query, 1);
	assert_int_equal(b.number, 0);
	assert_true(compiler__begun(c, WIRE_KIND_ACTIVITY, PLAN_NONE, 0, &b));
	assert_int_equal(b.query, 0);
	assert_int_not_equal(b.number, 0);
	/* Its label is not known. */
	assert_false(compiler__begun(c, WIRE_KIND_ACTIVITY, PLAN_NONE, 1, &b));
	assert_false(compiler__begun(c, WIRE_KIND_BLOCKED, PLAN_NONE, 0, &b));
}

static void frames_and_keys_are_those_of_the_plan(void **state)
{
	_compiler_ struct compiler *c = make();
	struct plan_frame_code code = plan_frames__code(compiler__frames(c), 0x9000, false);
	const struct plan_held_key *held = compiler__held_key(c, 0x8065);

	assert_true(code.frame);
	assert_non_null(held);
	assert_int_equal(held->slot, 8);
	assert_int_equal(compiler__memory_key(c, held)->offset, 24);
	assert_null(compiler__held_key(c, 0x8064));
	assert_null(compiler__held_key(c, 0x8066));
	assert_null(compiler__layout(c)->problem);
}

static void it_is_one_file(void **state)
{
	_library_file_ struct library_file *ours = make_library_file();
	_library_file_ struct library_file *other = make_library_file();
	_compiler_ struct compiler *c = NULL;
	struct plan *plan = sample_plan();

	plan->file = library_file__ref(ours);
	assert_int_equal(compiler__new(plan, &c), 0);
	plan__free(plan);
	assert_true(compiler__is(c, ours));
	assert_false(compiler__is(c, other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_names),
		cmocka_unit_test(what_is_recorded_has_its_place_in_cookies),
		cmocka_unit_test(frames_and_keys_are_those_of_the_plan),
		cmocka_unit_test(it_is_one_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
