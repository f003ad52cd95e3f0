// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/timers.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/names.h"

/* The assembled tests/fixtures/drops.s. */
static struct elf_image *img;
static struct recovered found;
static const char *problem;

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("drops.so"), &img))
		return -1;
	return timers__recover(img, &found, &problem);
}

static int teardown(void **state)
{
	recovered__destroy(&found);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

static void functions_that_print_a_text_of_their_argument_drop_timers(void **state)
{
	struct name_info info;

	assert_null(problem);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.items[0].addr, symbol(img, "drop_timer")->addr);
	name_classify(found.text, &info);
	assert_int_equal(info.kind, NAME_DROP_TIMER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_print_a_text_of_their_argument_drop_timers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
