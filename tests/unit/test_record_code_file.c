// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/code_file.h"

#include <unistd.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"

#define TEXT	ELF_BUILDER_TEXT_ADDR
#define INVOKER 1000

/* With symbols of its own: `c` is freed before them. */
struct opened {
	struct code_symbols *symbols;
	struct code_file *c;
};

static void open_for(struct opened *o, const char *path, uid_t invoker)
{
	const struct code_symbols_options options = {invoker, SIZE_MAX, SIZE_MAX};
	_library_file_ struct library_file *file = NULL;
	struct symbol_file *symbols;

	assert_int_equal(library_file__open(path, &file), 0);
	assert_int_equal(code_symbols__new(&options, &o->symbols), 0);
	assert_int_equal(symbol_file__get(o->symbols, file, &symbols), 0);
	assert_int_equal(code_file__new(symbols, 7, &o->c), 0);
	assert_int_equal(code_file__functions(o->c)->file, 7);
}

static void close_opened(struct opened *o)
{
	code_file__free(o->c);
	assert_int_equal(code_symbols__bytes(o->symbols), 0);
	code_symbols__free(o->symbols);
}

static bool has_code_at(const struct code_file *c, uint32_t pc)
{
	const struct decoder_functions *f = code_file__functions(c);

	return f->find(f->ctx, pc, &(uint64_t){0}, &(uint32_t){0});
}

/* The name of the only function of a file. */
static char *only_name(const char *symbol)
{
	const struct elf_builder_symbol sym = {symbol, TEXT, 8, STT_FUNC, ELF_BUILDER_TEXT};
	struct elf_builder b = {0};
	const struct decoder_functions *f;
	struct opened o;
	char *name;

	elf_builder__build(&b, &sym, 1);
	WITH_BYTES(b.buf, b.len, (open_for(&o, path_, getuid()), has_code_at(o.c, TEXT), 0));
	f = code_file__functions(o.c);
	assert_true(has_code_at(o.c, TEXT + 4));
	name = f->name(f->ctx, TEXT + 4);
	close_opened(&o);
	return name;
}

static void assert_readable(const char *symbol, const char *expected)
{
	_free_ char *name = only_name(symbol);

	assert_string_equal(name, expected);
}

TEST_CASE(names_are_readable)
{
	assert_readable("_RNvCs1_5crate8function", "crate::function");
	assert_readable("_RINvCs1_5crate8functionhE", "crate::function::<u8>");
	assert_readable("_ZN4llvm12SelectionDAG8LegalizeEv", "llvm::SelectionDAG::Legalize");
	assert_readable("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_readable("malloc", "malloc");
	assert_readable("_Z", "_Z");
}

/* Line tables are for libdw, in a process with the rights of a recording. */
TEST_CASE(foreign_line_tables_are_not_read)
{
	const struct trace_function f = {.addr = 0x1000, .size = 16, .first = 1};
	struct opened o;

	/* Root's own files are nobody else's. */
	if (!getuid())
		assert_int_equal(chown(fixture("lines.so"), INVOKER + 1, (gid_t)-1), 0);
	open_for(&o, fixture("lines.so"), getuid() == INVOKER ? INVOKER + 1 : INVOKER);
	assert_true(has_code_at(o.c, 0x1000));
	assert_int_equal(code_file__note(o.c, &f), 0);
	/* A writer that is not there is not called. */
	assert_int_equal(code_file__write_lines(o.c, NULL), 0);
	close_opened(&o);
}

TEST_MAIN(fixture_dir_setup, fixture_dir_teardown)
