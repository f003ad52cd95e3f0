// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/activities.h"

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
	return activities__recover(img, &found, &problem);
}

static int teardown(void **state)
{
	recovered__destroy(&found);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

/* The name that the function was given, or NULL. */
static const char *name_of(const char *function)
{
	for (uint32_t i = 0; i < found.n; i++)
		if (found.items[i].addr == symbol(img, function)->addr)
			return found.text + found.items[i].at;
	return NULL;
}

static void a_cold_side_without_a_name_is_found(void **state)
{
	struct name_info info;

	assert_non_null(name_of("fn_cold"));
	name_classify(name_of("fn_cold"), &info);
	assert_int_equal(info.kind, NAME_COLD_ACTIVITY);
	assert_int_equal(info.part, NAME_PART_ENTRY);
}

static void functions_that_number_labels_are_found(void **state)
{
	assert_non_null(strstr(name_of("number_text"), "get_or_alloc_cached_stringRe"));
	assert_non_null(strstr(name_of("number_other"), "get_or_alloc_cached_stringRe"));
}

static void functions_without_a_label_are_not(void **state)
{
	assert_null(name_of("fn_callback"));
	assert_null(name_of("fn_apart"));
	assert_int_equal(found.n, 3);
	assert_null(problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cold_side_without_a_name_is_found),
		cmocka_unit_test(functions_that_number_labels_are_found),
		cmocka_unit_test(functions_without_a_label_are_not),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
