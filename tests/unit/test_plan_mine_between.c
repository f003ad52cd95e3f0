// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include "test.h"
#define LIBRARY "between.so"
#include "../fixtures/image.h"

enum body { PLAIN, ONE, DEEPER, HIDDEN, ALONE, SHARED, THROUGH, HASHING, FAR, BODIES };
enum { PROVIDER = 0x20, CLOSURE = 0x100 + 8 + 8 };

/* The assembled tests/fixtures/between.s. */
static struct plan_body bodies[BODIES];
static struct mined_body mined[BODIES];
static struct plan plan = {.bodies = bodies, .n_bodies = BODIES};

static void calls(enum body body, const char *name)
{
	mined[body].calls[mined[body].n_calls++] = symbol(img, name)->addr;
}

static void calls_through(enum body body, int32_t offset)
{
	mined[body].masks[0].vtable.offset = offset;
	mined[body].offsets[mined[body].n_offsets++] = offset;
}

static void assert_known(enum body body)
{
	assert_null(mined[body].problem);
	assert_null(bodies[body].problem);
}

static void assert_unknown(enum body body)
{
	assert_string_equal(mined[body].problem, "what calls its provider is not known");
	assert_string_equal(bodies[body].problem, mined[body].problem);
}

static int setup(void **state)
{
	static const char *const names[] = {"plain",  "one",	 "deeper",  "hidden", "alone",
					    "shared", "through", "hashing", "far"};

	if (image_setup(state))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++) {
		bodies[i].addr = symbol(img, names[i])->addr;
		bodies[i].group = i == ALONE ? ALONE : PLAIN;
		mined[i].n_masks = 1;
		mined[i].masks[0].vtable = vtable_none;
	}
	calls_through(PLAIN, PROVIDER);
	calls_through(SHARED, PROVIDER);
	/* The function that such a body calls through a vtable is another one of the query's. */
	calls_through(HASHING, PROVIDER + 8);
	bodies[HASHING].incremental = true;
	calls(HASHING, "closure");
	calls(THROUGH, "closure");
	bodies[THROUGH].outlined = ONE + 1;
	calls(ONE, "helper");
	calls(ONE, "closure");
	calls(ONE, "hashes");
	calls(DEEPER, "closure");
	calls(DEEPER, "larger");
	calls(FAR, "closure");
	calls(FAR, "largest");
	calls(HIDDEN, "aligned");
	calls(HIDDEN, "hashes");
	calls(ALONE, "closure");
	bodies[HIDDEN].outlined = SHARED + 1;
	return between_find(img, decoder, &plan, mined);
}

static int teardown(void **state)
{
	for (uint32_t i = 0; i < BODIES; i++)
		free(bodies[i].problem);
	return image_teardown(state);
}

TEST_CASE(a_body_that_calls_providers_itself_has_nothing_between)
{
	assert_int_equal(bodies[PLAIN].between, 0);
	assert_known(PLAIN);
	assert_int_equal(bodies[SHARED].between, 0);
	assert_known(SHARED);
}

/* Its frame and its return address, but not the frames of others that the body calls. */
TEST_CASE(the_frame_of_the_provider_s_caller_is_between)
{
	assert_int_equal(bodies[ONE].between, CLOSURE);
	assert_known(ONE);
}

TEST_CASE(a_call_of_another_function_through_the_vtable_is_not_the_provider_s)
{
	assert_int_equal(bodies[HASHING].between, CLOSURE);
	assert_known(HASHING);
}

TEST_CASE(calls_of_what_runs_the_provider_are_marked)
{
	assert_false(mined[ONE].provides[0]);
	assert_true(mined[ONE].provides[1]);
	assert_false(mined[ONE].provides[2]);
	assert_true(mined[DEEPER].provides[0]);
	assert_true(mined[DEEPER].provides[1]);
	/* Where it is in the vtable is not known. */
	assert_false(mined[ALONE].provides[0]);
}

TEST_CASE(of_several_the_deepest_counts)
{
	assert_int_equal(bodies[DEEPER].between, 0x208 + 8);
	assert_known(DEEPER);
}

TEST_CASE(frames_that_differ_by_more_are_a_problem)
{
	assert_unknown(FAR);
}

TEST_CASE(a_body_that_executes_for_another_is_between)
{
	assert_int_equal(bodies[HIDDEN].between, 0x48 + 8);
	assert_unknown(HIDDEN); /* the frame of its own way is not known */
}

/* The body has a frame of 0. */
TEST_CASE(so_is_what_that_body_calls)
{
	assert_int_equal(bodies[THROUGH].between, 8 + CLOSURE);
	assert_known(THROUGH);
}

TEST_CASE(without_the_provider_s_place_nothing_is_known)
{
	assert_int_equal(bodies[ALONE].between, 0);
	assert_unknown(ALONE);
}

TEST_MAIN(setup, teardown)
