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

static int open_readers(const char *name)
{
	return image_of(fixture(name), &img) ?: bounds__find(img, &bounds)
						     ?: readers__recover(img, &bounds, &found);
}

static void close_readers(void)
{
	recovered__destroy(&found);
	bounds__destroy(&bounds);
	elf_image__free(img);
	img = NULL;
	bounds = (struct bounds){0};
	found = (struct recovered){0};
}

static int setup(void **state)
{
	return fixture_dir_setup(state) || open_readers("readers.so") ? -1 : 0;
}

static int teardown(void **state)
{
	close_readers();
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
	assert_int_equal(kind_of("no_state"), NAME_OTHER);
}

/* Before 1.86 the state of a context that is there was 3. */
static void an_older_drop_is_found(void **state)
{
	close_readers();
	assert_int_equal(open_readers("readers_before.so"), 0);
	assert_int_equal(kind_of("drop"), NAME_DROP_CONTEXT);
	assert_int_equal(kind_of("no_state"), NAME_OTHER);
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
		cmocka_unit_test(an_older_drop_is_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
