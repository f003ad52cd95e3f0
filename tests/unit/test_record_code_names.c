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

/* As a plan of the file has it, which is made from a mapping. */
static const char *identity_of(const char *path, char hex[2 * ELF_BUILD_ID_MAX + 1])
{
	_elf_image_ struct elf_image *img = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint32_t n;

	assert_int_equal(image_of(path, &img), 0);
	n = elf_image__identity(img, id);
	for (uint32_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	return hex;
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

static void add(struct code_names *c, const char *path, const struct decoder_functions **functions)
{
	_library_file_ struct library_file *file = NULL;
	struct plan plan = {.path = (char *)path};

	assert_int_equal(library_file__open(path, &file), 0);
	plan.file = file;
	assert_int_equal(code_names__add_library(c, LIB, &plan, functions), 0);
}

/* Add the function at `pc` to the trace and to the names. */
static void meet(struct code_names *c, struct trace_writer *w, const struct decoder_functions *fns,
		 uint32_t pc, const char *expected)
{
	struct trace_function f = {.first = FIRST};
	char id[2 * ELF_BUILD_ID_MAX + 1];
	_free_ char *name = NULL;

	assert_true(fns->find(fns->ctx, pc, &f.addr, &f.size));
	name = fns->name(fns->ctx, pc);
	assert_string_equal(name, expected);
	f.name = name;
	fns->describe(fns->ctx, &f);
	assert_string_equal(f.library, identity_of(f.file, id));
	assert_int_equal(trace_writer__function(w, &f), 0);
	assert_int_equal(code_names__note(c, fns->file, &f), 0);
}

/* A new code_names with one library that has line information, and one caller noted. */
static struct code_names *meet_a_caller(struct trace_writer *w)
{
	const struct decoder_functions *fns = NULL;
	struct code_names *c = NULL;
	uint32_t addr = address_of(fixture("lines.so"), "first");

	assert_int_equal(code_names__new(NULL, &c), 0);
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

TEST_CASE(a_caller_is_read_back_with_its_line)
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

TEST_CASE(a_library_without_lines_has_names)
{
	_code_names_ struct code_names *c = NULL;
	_trace_writer_ struct trace_writer *w = open_trace();
	_trace_reader_ struct trace_reader *r = NULL;
	const struct decoder_functions *fns = NULL;
	struct trace_location at;

	assert_int_equal(code_names__new(NULL, &c), 0);
	add(c, fixture("bodies.so"), &fns);
	meet(c, w, fns, address_of(fixture("bodies.so"), "cold_call"), "cold_call");
	at = finish(c, w, &r, FIRST);
	assert_string_equal(at.function->name, "cold_call");
	assert_null(at.file);
}

/* A caller in the first library is not looked up in the second one, which reuses its number. */
TEST_CASE(a_number_goes_to_another_library)
{
	_trace_writer_ struct trace_writer *w = open_trace();
	_code_names_ struct code_names *c = meet_a_caller(w);
	_trace_reader_ struct trace_reader *r = NULL;
	const struct decoder_functions *fns = NULL;
	struct trace_location at;

	assert_int_equal(code_names__retire(c, LIB, w), 0);
	add(c, fixture("bodies.so"), &fns);
	at = finish(c, w, &r, FIRST + RETURNS_AT);
	assert_string_equal(at.function->name, "first");
	assert_int_equal(at.line, 12);
}

static const struct decoder_functions *add_file(struct code_names *c, const char *path)
{
	const struct decoder_functions *functions = NULL;
	_library_file_ struct library_file *file = NULL;

	if (path)
		assert_int_equal(library_file__open(path, &file), 0);
	assert_int_equal(code_names__add_file(c, file, &functions), 0);
	return functions;
}

TEST_CASE(a_file_has_one_number_however_it_comes)
{
	_code_names_ struct code_names *c = NULL;
	const struct decoder_functions *lib = NULL, *file, *other;

	assert_int_equal(code_names__new(NULL, &c), 0);
	file = add_file(c, fixture("lines.so"));
	other = add_file(c, fixture("bodies.so"));
	assert_ptr_not_equal(file, other);
	assert_int_not_equal(file->file, other->file);
	assert_ptr_equal(add_file(c, fixture("lines.so")), file);
	add(c, fixture("lines.so"), &lib);
	assert_ptr_equal(lib, file);
	/* The library is gone, but samples may still come. */
	assert_int_equal(code_names__retire(c, LIB, NULL), 0);
	assert_true(file->find(file->ctx, address_of(fixture("lines.so"), "first"), &(uint64_t){0},
			       &(uint32_t){0}));
	/* Without samples it is forgotten, and comes back as another one. */
	add(c, fixture("guards.so"), &lib);
	assert_int_equal(code_names__retire(c, LIB, NULL), 0);
	other = add_file(c, fixture("guards.so"));
	assert_int_equal(other->file, 4);
	assert_int_equal(code_names__retire(c, LIB, NULL), 0);
}

static char *name_at(const struct decoder_functions *fns, uint32_t pc)
{
	uint64_t addr;
	uint32_t size;

	return fns->find(fns->ctx, pc, &addr, &size) ? fns->name(fns->ctx, pc) : NULL;
}

static void assert_name(const struct decoder_functions *fns, uint32_t pc, const char *expected)
{
	_free_ char *name = name_at(fns, pc);

	if (!expected)
		assert_null(name);
	else
		assert_string_equal(name, expected);
}

TEST_CASE(the_vdso_has_no_file)
{
	_code_names_ struct code_names *c = NULL;
	struct trace_function f = {0};
	const struct decoder_functions *fns;

	assert_int_equal(code_names__new(NULL, &c), 0);
	fns = add_file(c, NULL);
	assert_ptr_equal(add_file(c, NULL), fns);
	assert_name(fns, 0xa40, "");
	assert_name(fns, 1u << 20, NULL);
	fns->describe(fns->ctx, &f);
	assert_string_equal(f.file, "[vdso]");
	assert_string_equal(f.library, "");
}

/* Of a file without symbols or an unwind table nothing is known, and of one that is none. */
TEST_CASE(a_file_may_have_no_names)
{
	_code_names_ struct code_names *c = NULL;
	_output_ struct output o = {};
	const struct decoder_functions *fns;

	assert_int_equal(code_names__new(NULL, &c), 0);
	fns = add_file(c, fixture("driver_stripped.so"));
	assert_name(fns, 0x1000, NULL);
	fns = add_file(c, "/etc/passwd");
	CAPTURED(&o, (assert_name(fns, 0x1000, NULL), 0));
	assert_name(fns, 0x1000, NULL);
}

TEST_CASE(names_are_readable)
{
	_code_names_ struct code_names *c = NULL;
	const struct decoder_functions *fns;

	assert_int_equal(code_names__new(NULL, &c), 0);
	fns = add_file(c, fixture("driver_v0.so"));
	assert_name(fns,
		    address_of(fixture("driver_v0.so"), "_RNvCs4_7___rustc20___rust_panic_cleanup"),
		    "__rustc::__rust_panic_cleanup");
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
