// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_names.h"

#include <unistd.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "../fixtures/symbols.h"
#include "plan/symbols/elf_image.h"
#include "trace/reader.h"
#include "../fixtures/library.h"

#define LIB   3
#define FIRST 100 /* a locindex */

/* In the fixture: push, call. The call is on line 12 and returns to this offset. */
#define RETURNS_AT 6

static uint32_t address_of(const char *path, const char *name)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(image_of(path, &img), 0);
	return (uint32_t)symbol(img, name)->addr;
}

static struct trace_writer *open_trace(void)
{
	struct trace_info info = {.tool = (char *)"t", .kernel = (char *)"k", .host = (char *)"h"};
	struct trace_writer *w = NULL;

	unlink(fixture("t.qpt"));
	assert_int_equal(trace_writer__open(fixture("t.qpt"), &info, &w), 0);
	return w;
}

static struct trace_location read_location(struct trace_reader **r, uint32_t locindex)
{
	struct trace_location at = {0};
	struct trace_item item = {.kind = TRACE_ITEM_SPAN};

	assert_int_equal(trace_reader__open(fixture("t.qpt"), r, NULL), 0);
	while (item.kind != TRACE_ITEM_END)
		assert_int_equal(trace_reader__next(*r, &item), 0);
	assert_true(trace_reader__location(*r, locindex, &at));
	return at;
}

static void add(struct code_names *c, const char *path, const struct tracks_functions **functions)
{
	_library_file_ struct library_file *file = NULL;
	struct plan plan = {.path = (char *)path};

	assert_int_equal(library_file__open(path, &file), 0);
	plan.file = file;
	assert_int_equal(code_names__add_library(c, LIB, &plan, functions), 0);
}

/* Add the function at `pc` to the trace and to the names. */
static void meet(struct code_names *c, struct trace_writer *w, const struct tracks_functions *fns,
		 uint32_t pc, const char *expected)
{
	struct trace_function f = {.first = FIRST, .library = "abcd"};
	_free_ char *name = NULL;

	assert_true(fns->find(fns->ctx, pc, &f.addr, &f.size));
	name = fns->name(fns->ctx, pc);
	assert_string_equal(name, expected);
	f.name = name;
	assert_int_equal(trace_writer__function(w, &f), 0);
	assert_int_equal(code_names__note(c, LIB, &f), 0);
}

/* A new code_names with one library that has line information, and one caller noted. */
static struct code_names *meet_a_caller(struct trace_writer *w)
{
	const struct tracks_functions *fns = NULL;
	struct code_names *c = NULL;
	uint32_t addr = address_of(fixture("lines.so"), "first");

	assert_int_equal(code_names__new(&c), 0);
	add(c, fixture("lines.so"), &fns);
	assert_false(fns->find(fns->ctx, 0, &(uint64_t){0}, &(uint32_t){0}));
	meet(c, w, fns, addr + RETURNS_AT - 1, "first");
	return c;
}

/* Finish the trace and read one location back. */
static struct trace_location finish(struct code_names *c, struct trace_writer *w,
				    struct trace_reader **r, uint32_t locindex)
{
	assert_int_equal(code_names__write_lines(c, w), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	return read_location(r, locindex);
}

static void a_caller_is_read_back_with_its_line(void **state)
{
	_trace_writer_ struct trace_writer *w = open_trace();
	_code_names_ struct code_names *c = meet_a_caller(w);
	_trace_reader_ struct trace_reader *r = NULL;
	struct trace_location at = finish(c, w, &r, FIRST + RETURNS_AT);

	assert_string_equal(at.function->name, "first");
	assert_int_equal(at.offset, RETURNS_AT);
	assert_string_equal(strrchr(at.file, '/'), "/lines.s");
	assert_int_equal(at.line, 12);
}

static void a_library_without_lines_has_names(void **state)
{
	_code_names_ struct code_names *c = NULL;
	_trace_writer_ struct trace_writer *w = open_trace();
	_trace_reader_ struct trace_reader *r = NULL;
	const struct tracks_functions *fns = NULL;
	struct trace_location at;

	assert_int_equal(code_names__new(&c), 0);
	add(c, fixture("bodies.so"), &fns);
	meet(c, w, fns, address_of(fixture("bodies.so"), "cold_call"), "cold_call");
	at = finish(c, w, &r, FIRST);
	assert_string_equal(at.function->name, "cold_call");
	assert_null(at.file);
}

/* A caller in the first library is not looked up in the second one, which reuses its number. */
static void a_number_goes_to_another_library(void **state)
{
	_trace_writer_ struct trace_writer *w = open_trace();
	_code_names_ struct code_names *c = meet_a_caller(w);
	_trace_reader_ struct trace_reader *r = NULL;
	const struct tracks_functions *fns = NULL;
	struct trace_location at;

	assert_int_equal(code_names__retire(c, LIB, w), 0);
	add(c, fixture("bodies.so"), &fns);
	at = finish(c, w, &r, FIRST + RETURNS_AT);
	assert_string_equal(at.function->name, "first");
	assert_int_equal(at.line, 12);
}

static void a_library_without_symbols_is_refused(void **state)
{
	_library_file_ struct library_file *file = NULL;
	struct plan plan = {.path = (char *)"stripped"};
	_code_names_ struct code_names *c = NULL;
	const struct tracks_functions *fns = NULL;

	assert_int_equal(code_names__new(&c), 0);
	assert_int_equal(library_file__open(fixture("driver_stripped.so"), &file), 0);
	plan.file = file;
	assert_int_equal(code_names__add_library(c, LIB, &plan, &fns), -ENODATA);
	assert_null(fns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_caller_is_read_back_with_its_line),
		cmocka_unit_test(a_library_without_lines_has_names),
		cmocka_unit_test(a_number_goes_to_another_library),
		cmocka_unit_test(a_library_without_symbols_is_refused),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
