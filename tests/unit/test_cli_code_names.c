// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/code_names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../fixtures/fixture_dir.h"
#include "../fixtures/output.h"
#include "../fixtures/symbols.h"
#include "plan/elf_image.h"
#include "trace/reader.h"

#define LIB   3
#define FIRST 100 /* a locindex */

/* In the fixture: push; call; and the call returns here, behind line 12. */
#define RETURNS_AT 6

static uint32_t address_of(const char *path, const char *name)
{
	_elf_image_ struct elf_image *img = NULL;

	assert_int_equal(elf_image__open(path, &img), 0);
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
	struct plan plan = {.path = (char *)path};

	assert_int_equal(code_names__add_library(c, LIB, &plan, functions), 0);
}

/* Tell the trace and the names of the function at `pc`. */
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

static void a_caller_is_read_back_with_its_line(void **state)
{
	_code_names_ struct code_names *c = NULL;
	_trace_writer_ struct trace_writer *w = open_trace();
	_trace_reader_ struct trace_reader *r = NULL;
	const struct tracks_functions *fns = NULL;
	struct trace_location at;
	uint32_t addr = address_of(fixture("lines.so"), "first");

	(void)state;
	assert_int_equal(code_names__new(&c), 0);
	add(c, fixture("lines.so"), &fns);
	assert_false(fns->find(fns->ctx, 0, &(uint64_t){0}, &(uint32_t){0}));
	meet(c, w, fns, addr + RETURNS_AT - 1, "first");
	assert_int_equal(code_names__write_lines(c, w), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	at = read_location(&r, FIRST + RETURNS_AT);
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

	(void)state;
	assert_int_equal(code_names__new(&c), 0);
	add(c, fixture("bodies.so"), &fns);
	meet(c, w, fns, address_of(fixture("bodies.so"), "cold_call"), "cold_call");
	assert_int_equal(code_names__write_lines(c, w), 0);
	assert_int_equal(trace_writer__finish(w), 0);
	at = read_location(&r, FIRST);
	assert_string_equal(at.function->name, "cold_call");
	assert_null(at.file);
}

static void a_library_without_symbols_is_refused(void **state)
{
	struct plan plan = {.path = (char *)fixture("driver_stripped.so")};
	_code_names_ struct code_names *c = NULL;
	const struct tracks_functions *fns = NULL;

	(void)state;
	assert_int_equal(code_names__new(&c), 0);
	assert_int_equal(code_names__add_library(c, LIB, &plan, &fns), -ENODATA);
	assert_null(fns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_caller_is_read_back_with_its_line),
		cmocka_unit_test(a_library_without_lines_has_names),
		cmocka_unit_test(a_library_without_symbols_is_refused),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
