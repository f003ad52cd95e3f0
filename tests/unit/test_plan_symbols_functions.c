// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/functions.h"

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"

#define TEXT ELF_BUILDER_TEXT_ADDR
#define FUNC(n, a, s)                               \
	{                                           \
		n, a, s, STT_FUNC, ELF_BUILDER_TEXT \
	}

static int open_symbols(const struct elf_builder_symbol *syms, size_t n, struct functions **out)
{
	struct elf_builder b = {0};

	elf_builder__build(&b, syms, n);
	return WITH_BYTES(b.buf, b.len, functions_of(path_, out));
}

static void assert_at(const struct functions *f, uint64_t pc, const char *symbol, uint64_t addr,
		      uint32_t size)
{
	struct function_range range;

	if (!symbol) {
		assert_false(functions__find(f, pc, &range));
		return;
	}
	assert_true(functions__find(f, pc, &range));
	assert_string_equal(range.symbol, symbol);
	assert_int_equal(range.addr, addr);
	assert_int_equal(range.size, size);
}

static void a_pc_lies_in_one_function_or_in_none(void **state)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC("b", TEXT + 16, 8), FUNC("a", TEXT + 4, 4), FUNC("label", TEXT + 10, 0)};
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, 3, &f), 0);
	assert_at(f, 0, NULL, 0, 0);
	assert_at(f, TEXT + 3, NULL, 0, 0);
	assert_at(f, TEXT + 4, "a", TEXT + 4, 4);
	assert_at(f, TEXT + 7, "a", TEXT + 4, 4);
	assert_at(f, TEXT + 8, NULL, 0, 0);
	assert_at(f, TEXT + 10, NULL, 0, 0);
	assert_at(f, TEXT + 16, "b", TEXT + 16, 8);
	assert_at(f, TEXT + 24, NULL, 0, 0);
	assert_at(f, UINT64_MAX, NULL, 0, 0);
}

static void folded_functions_have_the_name_of_the_longest_and_first(void **state)
{
	static const struct elf_builder_symbol syms[] = {FUNC("c", TEXT, 8), FUNC("b", TEXT, 8),
							 FUNC("a", TEXT, 4), FUNC("d", TEXT, 8)};
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, 4, &f), 0);
	assert_at(f, TEXT + 2, "b", TEXT, 8);
}

static void a_nested_function_splits_the_outer_one(void **state)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC("outer", TEXT, 32),	 FUNC("inner", TEXT + 8, 8),
		FUNC("innermost", TEXT + 10, 4), FUNC("next", TEXT + 20, 4),
		FUNC("same", TEXT + 20, 2),	 FUNC("beyond", TEXT + 30, 10),
		FUNC("far", TEXT + 44, 2)};
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, 7, &f), 0);
	assert_at(f, TEXT + 7, "outer", TEXT, 8);
	assert_at(f, TEXT + 8, "inner", TEXT + 8, 2);
	assert_at(f, TEXT + 10, "innermost", TEXT + 10, 4);
	assert_at(f, TEXT + 15, "inner", TEXT + 14, 2);
	assert_at(f, TEXT + 16, "outer", TEXT + 16, 4);
	assert_at(f, TEXT + 20, "next", TEXT + 20, 4);
	assert_at(f, TEXT + 24, "outer", TEXT + 24, 6);
	assert_at(f, TEXT + 29, "outer", TEXT + 24, 6);
	assert_at(f, TEXT + 30, "beyond", TEXT + 30, 10);
	assert_at(f, TEXT + 39, "beyond", TEXT + 30, 10);
	assert_at(f, TEXT + 40, NULL, 0, 0);
	assert_at(f, TEXT + 44, "far", TEXT + 44, 2);
	assert_at(f, TEXT + 46, NULL, 0, 0);
}

static void a_file_without_symbols_has_no_functions(void **state)
{
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(NULL, 0, &f), -ENODATA);
	assert_int_equal(functions_of("/nonexistent", &f), -ENOENT);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pc_lies_in_one_function_or_in_none),
		cmocka_unit_test(folded_functions_have_the_name_of_the_longest_and_first),
		cmocka_unit_test(a_nested_function_splits_the_outer_one),
		cmocka_unit_test(a_file_without_symbols_has_no_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
