// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/caller_index.h"

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

static void describe(const void *ctx, struct trace_function *f)
{
	f->library = "abcd";
	f->file = "/lib/some.so";
}

static uint32_t get(struct caller_index *c, struct asked *asked, uint32_t file, uint32_t caller,
		    const char *expected)
{
	const struct decoder_functions functions = {asked, find, name, describe, file};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__get(c, &functions, caller, &locindex, &found), 0);
	if (!expected)
		assert_null(found.name);
	else
		assert_string_equal(found.name, expected);
	if (expected)
		assert_struct(found, first, locindex - (caller - found.addr), library, "abcd", file,
			      "/lib/some.so");
	free((char *)found.name);
	return locindex;
}

#define CASE(name) \
	TEST_CASE_GIVEN(name, NULL, NULL, _caller_index_ struct caller_index *, c, new_index())

CASE(a_function_is_asked_for_once_and_an_address_too)
{
	struct asked asked = {0};
	uint32_t first;

	first = get(c, &asked, 0, SMALL + 8, "small");
	assert_int_equal(get(c, &asked, 0, SMALL + 9, NULL), first + 1);
	assert_int_equal(get(c, &asked, 0, SMALL + 8, NULL), first);
	assert_int_equal(get(c, &asked, 0, SMALL + SMALL_SIZE, NULL), first - 8 + SMALL_SIZE);
	assert_int_equal(get(c, &asked, 0, SMALL, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 0, SMALL, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 0, 0, NULL), TRACE_NO_LOCATION);
	assert_struct(asked, find, 4, name, 1);
}

CASE(files_are_kept_apart)
{
	struct asked asked = {0};

	assert_int_not_equal(get(c, &asked, 0, SMALL + 8, "small"),
			     get(c, &asked, 255, SMALL + 8, "small"));
}

CASE(a_function_that_gets_no_locindex_is_counted)
{
	struct asked asked = {0};

	assert_int_not_equal(get(c, &asked, 0, HUGE + 1, "huge"), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 1, HUGE + 1, NULL), TRACE_NO_LOCATION);
	assert_int_equal(get(c, &asked, 1, HUGE + 1, NULL), TRACE_NO_LOCATION);
	assert_int_equal(caller_index__refused(c), 1);
	assert_int_not_equal(get(c, &asked, 1, SMALL + 1, "small"), TRACE_NO_LOCATION);
}

CASE(a_name_that_cannot_be_had_is_an_error)
{
	struct asked asked = {.fail = true};
	const struct decoder_functions functions = {&asked, find, name, describe, 0};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__get(c, &functions, SMALL + 8, &locindex, &found), -ENOMEM);
}

/* The number of a place, and whether it was the first one in its function. */
static uint32_t place(struct caller_index *c, struct asked *asked, uint64_t addr, bool is_return,
		      bool *is_first)
{
	const struct decoder_functions functions = {asked, find, name, NULL, 1};
	struct trace_function found;
	uint32_t locindex;

	assert_int_equal(caller_index__find(c, &functions, addr, is_return, &locindex, &found), 0);
	*is_first = found.name;
	if (found.name)
		assert_string_equal(found.library, "");
	free((char *)found.name);
	return locindex;
}

CASE(a_pc_lies_where_it_is)
{
	struct asked asked = {0};
	uint32_t first;
	bool is_first;

	/* The first byte is in the function; as a return address it belongs to what is before. */
	first = place(c, &asked, SMALL, false, &is_first);
	assert_true(is_first);
	assert_int_not_equal(first, TRACE_NO_LOCATION);
	assert_int_equal(place(c, &asked, SMALL, true, &is_first), TRACE_NO_LOCATION);
	/* The byte behind it is not, but a call may return there. */
	assert_int_equal(place(c, &asked, SMALL + SMALL_SIZE, false, &is_first), TRACE_NO_LOCATION);
	assert_int_equal(place(c, &asked, SMALL + SMALL_SIZE, true, &is_first), first + SMALL_SIZE);
	assert_false(is_first);
	/* A caller and a pc at one address are one place. */
	assert_int_equal(get(c, &asked, 1, SMALL + 8, NULL), first + 8);
	/* Places are numbers of 32 bits, also in a file with more code. */
	assert_int_equal(place(c, &asked, (1ull << 32) + SMALL, false, &is_first),
			 TRACE_NO_LOCATION);
	assert_int_equal(place(c, &asked, 0, true, &is_first), TRACE_NO_LOCATION);
}

CASE(without_functions_there_are_no_places)
{
	struct trace_function found;
	uint32_t locindex = 1;

	assert_int_equal(caller_index__get(c, NULL, SMALL + 8, &locindex, &found), 0);
	assert_int_equal(locindex, TRACE_NO_LOCATION);
	assert_null(found.name);
	assert_int_equal(caller_index__unplaced(c), 1);
}

TEST_MAIN(NULL, NULL)
