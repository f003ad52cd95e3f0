// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/guards.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/names.h"

/* The assembled tests/fixtures/drops.s. */
static struct elf_image *img;
static struct recovered found;

static int setup(void **state)
{
	_known_symbols_ struct known_symbols known = {0};

	if (fixture_dir_setup(state) || image_of(fixture("drops.so"), &img))
		return -1;
	return known_symbols__find(img, &known) ?: recovered_guards__find(img, &known, &found);
}

static int teardown(void **state)
{
	recovered__destroy(&found);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

/* The kind of the name that the function was given; NAME_OTHER: none. */
static enum name_kind kind_of(const char *function)
{
	struct name_info info = {.kind = NAME_OTHER};

	for (uint32_t i = 0; i < found.n; i++)
		if (found.items[i].addr == symbol(img, function)->addr)
			name_classify(found.text + found.items[i].at, &info);
	return info.kind;
}

static void drops_of_guards_are_found(void **state)
{
	assert_int_equal(kind_of("drop"), NAME_DROP_GUARD);
	assert_int_equal(kind_of("drop_moved"), NAME_DROP_GUARD);
}

static void other_functions_are_not(void **state)
{
	assert_int_equal(kind_of("no_test"), NAME_OTHER);
	assert_int_equal(kind_of("tests_other"), NAME_OTHER);
	assert_int_equal(kind_of("no_clock"), NAME_OTHER);
	assert_int_equal(kind_of("elsewhere"), NAME_OTHER);
	assert_int_equal(kind_of("drop_timer"), NAME_OTHER);
	assert_int_equal(found.n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drops_of_guards_are_found),
		cmocka_unit_test(other_functions_are_not),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
