// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_file.h"

#include <unistd.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"

#define TEXT   ELF_BUILDER_TEXT_ADDR
#define PLENTY SIZE_MAX

static struct code_file *open_file(const char *path, size_t *bytes, size_t most)
{
	_library_file_ struct library_file *file = NULL;
	struct code_file *c = NULL;

	assert_int_equal(library_file__open(path, &file), 0);
	assert_int_equal(code_file__new(file, 7, false, bytes, most, &c), 0);
	assert_int_equal(code_file__functions(c)->file, 7);
	return c;
}

static bool has_code_at(const struct code_file *c, uint32_t pc)
{
	const struct tracks_functions *f = code_file__functions(c);

	return f->find(f->ctx, pc, &(uint64_t){0}, &(uint32_t){0});
}

static void symbols_are_read_when_they_are_needed(void **state)
{
	size_t bytes = 0;
	struct code_file *c = open_file(fixture("guards.so"), &bytes, PLENTY);

	assert_int_equal(bytes, 0);
	assert_true(has_code_at(c, 0x1000));
	assert_in_range(bytes, 1, 1 << 20);
	code_file__free(c);
	assert_int_equal(bytes, 0);
}

static void too_many_symbols_are_not_read(void **state)
{
	size_t bytes = 100;
	struct code_file *c = open_file(fixture("guards.so"), &bytes, 99);

	assert_false(has_code_at(c, 0x1000));
	assert_int_equal(bytes, 100);
	/* There may be room later, but a file is the same one for a whole recording. */
	bytes = 0;
	assert_false(has_code_at(c, 0x1000));
	code_file__free(c);
	c = open_file(fixture("guards.so"), &bytes, 0);
	assert_true(has_code_at(c, 0x1000));
	code_file__free(c);
}

/* The name of the only function of a file. */
static char *only_name(const char *symbol)
{
	const struct elf_builder_symbol sym = {symbol, TEXT, 8, STT_FUNC, ELF_BUILDER_TEXT};
	struct elf_builder b = {0};
	struct code_file *c;
	const struct tracks_functions *f;
	size_t bytes = 0;
	char *name;

	elf_builder__build(&b, &sym, 1);
	WITH_BYTES(b.buf, b.len, (c = open_file(path_, &bytes, PLENTY), has_code_at(c, TEXT), 0));
	f = code_file__functions(c);
	assert_true(has_code_at(c, TEXT + 4));
	name = f->name(f->ctx, TEXT + 4);
	code_file__free(c);
	return name;
}

static void assert_readable(const char *symbol, const char *expected)
{
	_free_ char *name = only_name(symbol);

	assert_string_equal(name, expected);
}

static void names_are_readable(void **state)
{
	assert_readable("_RNvCs1_5crate8function", "crate::function");
	assert_readable("_RINvCs1_5crate8functionhE", "crate::function::<u8>");
	assert_readable("_ZN4llvm12SelectionDAG8LegalizeEv", "llvm::SelectionDAG::Legalize");
	assert_readable("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_readable("malloc", "malloc");
	assert_readable("_Z", "_Z");
}

/* Line tables are for libdw, in a process with the rights of a recording. */
static void foreign_line_tables_are_not_read(void **state)
{
	const struct trace_function f = {.addr = 0x1000, .size = 16, .first = 1};
	_library_file_ struct library_file *file = NULL;
	struct code_file *c = NULL;
	size_t bytes = 0;

	assert_int_equal(library_file__open(fixture("lines.so"), &file), 0);
	assert_int_equal(code_file__new(file, 1, true, &bytes, PLENTY, &c), 0);
	assert_true(has_code_at(c, 0x1000));
	assert_int_equal(code_file__note(c, &f), 0);
	/* A writer that is not there is not called. */
	assert_int_equal(code_file__write_lines(c, NULL), 0);
	code_file__free(c);
}

static void one_file_is_itself(void **state)
{
	_library_file_ struct library_file *same = NULL, *other = NULL;
	size_t bytes = 0;
	_code_file_ struct code_file *c = open_file(fixture("guards.so"), &bytes, PLENTY);

	assert_int_equal(library_file__open(fixture("guards.so"), &same), 0);
	assert_int_equal(library_file__open(fixture("bodies.so"), &other), 0);
	assert_true(code_file__is(c, same));
	assert_false(code_file__is(c, other));
	assert_false(code_file__is(c, NULL));
	/* Its content was changed: it is another file. */
	library_file__free(take_ptr(other));
	assert_int_equal(truncate(fixture("guards.so"), 100), 0);
	assert_int_equal(library_file__open(fixture("guards.so"), &other), 0);
	assert_false(code_file__is(c, other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_read_when_they_are_needed),
		cmocka_unit_test(too_many_symbols_are_not_read),
		cmocka_unit_test(names_are_readable),
		cmocka_unit_test(foreign_line_tables_are_not_read),
		cmocka_unit_test(one_file_is_itself),
	};

	return cmocka_run_group_tests(tests, fixture_dir_setup, fixture_dir_teardown);
}
