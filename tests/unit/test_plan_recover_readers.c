// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/readers.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/names.h"

/* The assembled tests/fixtures/readers.s. */
static struct elf_image *img;
static struct bounds bounds;
static struct recovered found;

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("readers.so"), &img))
		return -1;
	return bounds__find(img, &bounds) ?: readers__recover(img, &bounds, &found);
}

static int teardown(void **state)
{
	recovered__destroy(&found);
	bounds__destroy(&bounds);
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

static void the_drop_of_the_context_is_found(void **state)
{
	assert_int_equal(kind_of("drop"), NAME_DROP_CONTEXT);
	assert_int_equal(kind_of("near"), NAME_OTHER);
	assert_int_equal(kind_of("amid"), NAME_OTHER);
	assert_int_equal(kind_of("reads_few"), NAME_OTHER);
}

static void functions_that_unpack_spans_are_found(void **state)
{
	assert_int_equal(kind_of("span"), NAME_SPAN_DATA);
	assert_int_equal(kind_of("span_elsewhere"), NAME_SPAN_DATA);
	assert_int_equal(kind_of("span_lost"), NAME_OTHER);
	assert_int_equal(found.n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_drop_of_the_context_is_found),
		cmocka_unit_test(functions_that_unpack_spans_are_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
