// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/loaders.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* The assembled tests/fixtures/modes.s. */
static struct elf_image *img;
static struct loaders found;

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("modes.so"), &img))
		return -1;
	return loaders__find(img, &found);
}

static int teardown(void **state)
{
	loaders__destroy(&found);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static bool has(const char *function)
{
	return loaders__has(&found, symbol(img, function)->addr);
}

static void functions_that_load_and_their_callers_are_found(void **state)
{
	assert_true(has("loads"));
	assert_true(has("no_body"));
	assert_true(has("relay"));
}

static void other_functions_are_not(void **state)
{
	assert_false(has("plain"));
	assert_false(has("hashes"));
	assert_false(has("far"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_load_and_their_callers_are_found),
		cmocka_unit_test(other_functions_are_not),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
