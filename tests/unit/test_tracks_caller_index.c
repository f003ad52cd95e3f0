// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/caller_index.h"

#include "test.h"

/* Two functions: one of 0x100 bytes, and one that needs almost all location numbers. */
#define SMALL	   0x1000
#define SMALL_SIZE 0x100
#define HUGE	   0x10000
#define HUGE_SIZE  0xf0000000u

struct asked {
	unsigned int find, name;
	bool fail;
};

static bool find(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size)
{
	struct asked *asked = (void *)ctx;

	asked->find++;
	*addr = pc >= HUGE ? HUGE : SMALL;
	*size = pc >= HUGE ? HUGE_SIZE : SMALL_SIZE;
	return pc >= *addr && pc - *addr < *size;
}

static char *name(const void *ctx, uint32_t pc)
{
	struct asked *asked = (void *)ctx;

	asked->name++;
	return asked->fail ? NULL : strdup(pc >= HUGE ? "huge" : "small");
}

static struct caller_index *new_index(void)
{
	struct caller_index *c = NULL;

	assert_int_equal(caller_index__new(&c), 0);
	return c;
}

static uint32_t get(struct caller_index *c, struct asked *asked, uint8_t lib, uint32_t caller,
		    const char *expected)
{
	const struct tracks_functions functions = {asked, find, name};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__get(c, &functions, lib, caller, &locindex, &found), 0);
	if (!expected)
		assert_null(found.name);
	else
		assert_string_equal(found.name, expected);
	if (expected)
		assert_int_equal(found.first, locindex - (caller - found.addr));
	free((char *)found.name);
	return locindex;
}

static void a_function_is_asked_for_once_and_an_address_too(void **state)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {0};
	uint32_t first;

	first = get(c, &asked, 0, SMALL + 8, "small");
	assert_int_equal(get(c, &asked, 0, SMALL + 9, NULL), first + 1);
	assert_int_equal(get(c, &asked, 0, SMALL + 8, NULL), first);
	assert_int_equal(get(c, &asked, 0, SMALL + SMALL_SIZE, NULL), first - 8 + SMALL_SIZE);
	assert_int_equal(get(c, &asked, 0, SMALL, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 0, SMALL, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 0, 0, NULL), TRACE_NO_LOCATION);
	assert_int_equal(asked.find, 4);
	assert_int_equal(asked.name, 1);
}

static void libraries_are_kept_apart(void **state)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {0};

	assert_int_not_equal(get(c, &asked, 0, SMALL + 8, "small"),
			     get(c, &asked, 255, SMALL + 8, "small"));
}

static void a_function_that_gets_no_locindex_is_counted(void **state)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {0};

	assert_int_not_equal(get(c, &asked, 0, HUGE + 1, "huge"), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 1, HUGE + 1, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 1, HUGE + 1, NULL), TRACE_NO_LOCATION);
	assert_int_equal(caller_index__refused(c), 1);
	assert_int_not_equal(get(c, &asked, 1, SMALL + 1, "small"), TRACE_NO_LOCATION);
}

static void a_name_that_cannot_be_had_is_an_error(void **state)
{
	_caller_index_ struct caller_index *c = new_index();
	struct asked asked = {.fail = true};
	const struct tracks_functions functions = {&asked, find, name};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__get(c, &functions, 0, SMALL + 8, &locindex, &found),
			 -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_asked_for_once_and_an_address_too),
		cmocka_unit_test(libraries_are_kept_apart),
		cmocka_unit_test(a_function_that_gets_no_locindex_is_counted),
		cmocka_unit_test(a_name_that_cannot_be_had_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
