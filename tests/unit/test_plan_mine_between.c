// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/between.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

enum body { PLAIN, ONE, DEEPER, HIDDEN, ALONE, SHARED, BODIES };
enum { PROVIDER = 0x20 };

/* The assembled tests/fixtures/between.s. */
static struct elf_image *img;
static struct code_decoder *decoder;
static struct plan_body bodies[BODIES];
static struct mined_body mined[BODIES];
static struct plan plan = {.bodies = bodies, .n_bodies = BODIES};

static void calls(enum body body, const char *name)
{
	mined[body].calls[mined[body].n_calls++] = symbol(img, name)->addr;
}

static int setup(void **state)
{
	static const char *const names[] = {"plain", "one", "deeper", "hidden", "alone", "shared"};

	if (fixture_dir_setup(state) || image_of(fixture("between.so"), &img) ||
	    code_decoder__new(img, &decoder))
		return -1;
	for (uint32_t i = 0; i < BODIES; i++) {
		bodies[i].addr = symbol(img, names[i])->addr;
		bodies[i].group = i == ALONE ? ALONE : PLAIN;
		mined[i].n_masks = 1;
		mined[i].masks[0].vtable = vtable_none;
	}
	mined[PLAIN].masks[0].vtable.offset = PROVIDER;
	/* What such a body calls through a vtable is another function of the query's. */
	mined[ONE].masks[0].vtable.offset = PROVIDER + 8;
	calls(ONE, "helper");
	calls(ONE, "closure");
	calls(ONE, "hashes");
	calls(DEEPER, "closure");
	calls(DEEPER, "larger");
	calls(HIDDEN, "aligned");
	calls(HIDDEN, "hashes");
	calls(ALONE, "closure");
	bodies[HIDDEN].outlined = SHARED + 1;
	return between_find(img, decoder, &plan, mined);
}

static int teardown(void **state)
{
	code_decoder__free(decoder);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static void a_body_that_calls_providers_itself_has_nothing_between(void **state)
{
	assert_int_equal(bodies[PLAIN].between, 0);
	assert_int_equal(bodies[SHARED].between, 0);
}

/* Its frame and its return address, but not the frames of others that the body calls. */
static void the_frame_of_the_provider_s_caller_is_between(void **state)
{
	assert_int_equal(bodies[ONE].between, 0x100 + 8 + 8);
}

static void of_several_the_deepest_counts(void **state)
{
	assert_int_equal(bodies[DEEPER].between, 0x208 + 8);
}

static void a_body_that_executes_for_another_is_between(void **state)
{
	assert_int_equal(bodies[HIDDEN].between, 0x48 + 8);
}

static void without_the_provider_s_place_nothing_is_known(void **state)
{
	assert_int_equal(bodies[ALONE].between, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_that_calls_providers_itself_has_nothing_between),
		cmocka_unit_test(the_frame_of_the_provider_s_caller_is_between),
		cmocka_unit_test(of_several_the_deepest_counts),
		cmocka_unit_test(a_body_that_executes_for_another_is_between),
		cmocka_unit_test(without_the_provider_s_place_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
