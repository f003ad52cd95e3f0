// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/code_functions.h"

#include "base/cleanup.h"
#include "test.h"

/* Functions of 9 bytes each, from locindex 1 on; the names of the last two are long. */
static char long_name[100000];
static struct trace_function functions[] = {
	{.name = "a::f::<u8>", .file = "/d/librustc_driver-1.so"},
	{.name = "a::f::<u16>", .file = "/d/librustc_driver-1.so"},
	{.name = "a::g", .file = "/d/librustc_driver-1.so"},
	{.name = "", .file = "/d/libLLVM.so.22"},
	{.name = "", .file = NULL},
	{.name = long_name, .file = NULL},
	{.name = "typeck", .file = NULL},
};

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	if (!locindex || locindex > 10 * N_OF(functions))
		return false;
	*out = (struct trace_location){.function = &functions[(locindex - 1) / 10]};
	return true;
}

static const char *text(const void *ctx, uint32_t id)
{
	return "typeck";
}

static struct code_functions start(void)
{
	memset(long_name, 'x', sizeof(long_name) - 1);
	for (uint32_t i = 0; i < N_OF(functions); i++) {
		functions[i].first = 1 + 10 * i;
		functions[i].size = 9;
	}
	return (struct code_functions){.source = {.locate = locate}, .texts = {.text = text}};
}

static uint32_t find(struct code_functions *f, uint8_t kind, uint32_t place)
{
	const struct trace_stack entry = {.kind = kind, .place = place};
	uint32_t number;

	assert_int_equal(code_functions__find(f, &entry, &number), 0);
	return number;
}

static uint32_t location(struct code_functions *f, uint32_t locindex)
{
	return find(f, TRACE_STACK_LOCATION, locindex);
}

static void equal_functions_have_one_number(void **state)
{
	struct code_functions f = start();
	uint32_t first = location(&f, 1), other;

	/* Of any place in it, its end too, and of each instance. */
	assert_int_equal(location(&f, 10), first);
	assert_int_equal(location(&f, 15), first);
	assert_int_equal(location(&f, 3), first);
	assert_string_equal(f.at[first].name, "a::f");
	assert_string_equal(f.parts[f.at[first].part], "a");
	assert_string_equal(f.at[first].file, "/d/librustc_driver-1.so");
	other = location(&f, 21);
	assert_int_not_equal(other, first);
	assert_int_equal(f.at[other].part, f.at[first].part);
	code_functions__destroy(&f);
}

static void what_has_no_name_is_named_by_its_file(void **state)
{
	struct code_functions f = start();
	uint32_t unknown = location(&f, 41), nameless = location(&f, 31);

	assert_string_equal(f.at[nameless].name, "[libLLVM.so.22]");
	assert_string_equal(f.at[unknown].name, "(unknown)");
	assert_true(f.at[unknown].is_general);
	assert_int_equal(location(&f, TRACE_NO_LOCATION), unknown);
	assert_int_equal(location(&f, 1000), unknown);
	f.source.locate = NULL;
	assert_int_equal(location(&f, 31), unknown);
	code_functions__destroy(&f);
}

static void intervals_are_no_functions(void **state)
{
	struct code_functions f = start();
	uint32_t query = find(&f, TRACE_STACK_QUERY, 5);
	uint32_t unknown = find(&f, TRACE_STACK_UNKNOWN, 0);

	assert_int_equal(f.at[query].part, CODE_NO_PART);
	assert_int_equal(f.at[query].kind, TRACE_KIND_QUERY);
	/* By its name, as an imported trace may have two strings of one text. */
	assert_int_equal(find(&f, TRACE_STACK_QUERY, 6), query);
	assert_int_not_equal(find(&f, TRACE_STACK_ACTIVITY, 5), query);
	assert_int_not_equal(location(&f, 61), query);
	assert_true(f.at[unknown].is_unknown);
	code_functions__destroy(&f);
}

/* Or each function of a hostile trace could take a megabyte. */
static void names_are_cut(void **state)
{
	struct code_functions f = start();
	uint32_t number = location(&f, 51);

	assert_true(strlen(f.at[number].name) < 4096);
	code_functions__destroy(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_functions_have_one_number),
		cmocka_unit_test(what_has_no_name_is_named_by_its_file),
		cmocka_unit_test(intervals_are_no_functions),
		cmocka_unit_test(names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
