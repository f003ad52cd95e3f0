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
		assert_false(functions__find(f, pc, &range) && range.symbol);
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

static void folded_functions_have_the_name_of_the_longest(void **state)
{
	static const struct elf_builder_symbol syms[] = {FUNC("c", TEXT, 8), FUNC("b", TEXT, 8),
							 FUNC("a", TEXT, 4), FUNC("d", TEXT, 8)};
	_functions_ struct functions *f = NULL;

	assert_int_equal(open_symbols(syms, 4, &f), 0);
	/* Of equally long ones, the first in the table of names. */
	assert_at(f, TEXT + 2, "c", TEXT, 8);
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
	_functions_ struct functions *f = NULL, *none = NULL;

	assert_int_equal(open_symbols(NULL, 0, &f), 0);
	assert_at(f, TEXT, NULL, 0, 0);
	assert_int_equal(functions_of("/nonexistent", &none), -ENOENT);
	assert_null(none);
}

/* The symbols are in a table of this type. */
static struct functions *open_any(uint32_t type, const struct elf_builder_symbol *syms, size_t n)
{
	struct elf_builder b = {0};
	struct functions *f = NULL;
	Elf64_Shdr shdr;

	elf_builder__build(&b, syms, n);
	shdr = elf_builder__get(&b, ELF_BUILDER_SYMTAB);
	shdr.sh_type = type;
	elf_builder__put(&b, ELF_BUILDER_SYMTAB, shdr);
	assert_int_equal(WITH_BYTES(b.buf, b.len, functions_of(path_, &f)), 0);
	return f;
}

static void assert_unnamed(const struct functions *f, uint64_t pc, uint64_t addr, uint32_t size)
{
	struct function_range range;

	assert_true(functions__find(f, pc, &range));
	assert_null(range.symbol);
	assert_int_equal(range.addr, addr);
	assert_int_equal(range.size, size);
}

static void symbols_for_the_linker_will_do(void **state)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC("b", TEXT + 16, 8), FUNC("a", TEXT + 4, 4), FUNC("longer", TEXT + 4, 6)};
	_functions_ struct functions *f = open_any(SHT_DYNSYM, syms, 3);

	assert_at(f, TEXT + 4, "longer", TEXT + 4, 6);
	assert_at(f, TEXT + 17, "b", TEXT + 16, 8);
	/* There is no table of starts. */
	assert_at(f, TEXT + 12, NULL, 0, 0);
	assert_in_range(functions__memory(f), 1, 10000);
}

static void code_without_a_symbol_has_ranges(void **state)
{
	/* Without an unwind table, functions start where symbols are, also those without a size. */
	static const struct elf_builder_symbol syms[] = {
		FUNC("a", TEXT + 4, 4), FUNC("label", TEXT + 10, 0), FUNC("b", TEXT + 16, 8)};
	_functions_ struct functions *f = open_any(SHT_SYMTAB, syms, 3);

	assert_at(f, TEXT + 3, NULL, 0, 0);
	assert_at(f, TEXT + 7, "a", TEXT + 4, 4);
	assert_unnamed(f, TEXT + 8, TEXT + 8, 2);
	assert_unnamed(f, TEXT + 9, TEXT + 8, 2);
	assert_unnamed(f, TEXT + 10, TEXT + 10, 6);
	assert_at(f, TEXT + 16, "b", TEXT + 16, 8);
	assert_unnamed(f, TEXT + 24, TEXT + 24, ELF_BUILDER_TEXT_SIZE - 24);
	assert_at(f, TEXT + ELF_BUILDER_TEXT_SIZE, NULL, 0, 0);
	assert_at(f, UINT64_MAX, NULL, 0, 0);
}

static void a_file_may_have_nothing_at_all(void **state)
{
	_functions_ struct functions *f = open_any(SHT_PROGBITS, NULL, 0);

	assert_at(f, TEXT + 4, NULL, 0, 0);
}

/* The bytes of a file's functions, of which a test damages a copy. */
static uint8_t *copy_of(const struct functions *f, size_t *len)
{
	const uint8_t *bytes = functions__bytes(f, len);
	uint8_t *copy = malloc(*len);

	assert_non_null(copy);
	return memcpy(copy, bytes, *len);
}

static const struct elf_builder_symbol few[] = {FUNC("a", TEXT + 4, 4), FUNC("bc", TEXT + 8, 4),
						FUNC("d", TEXT + 16, 8)};

static void functions_are_the_same_in_a_store(void **state)
{
	_functions_ struct functions *f = open_any(SHT_SYMTAB, few, 3), *back = NULL;
	uint8_t id[ELF_BUILD_ID_MAX], same[ELF_BUILD_ID_MAX];
	struct function_range x, y;
	size_t len;
	_free_ uint8_t *copy = copy_of(f, &len);

	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), 0);
	for (uint64_t pc = TEXT - 1; pc <= TEXT + ELF_BUILDER_TEXT_SIZE; pc++) {
		bool found = functions__find(f, pc, &x);

		assert_int_equal(functions__find(back, pc, &y), found);
		if (!found)
			continue;
		assert_int_equal(x.addr, y.addr);
		assert_int_equal(x.size, y.size);
		assert_string_equal(x.symbol ?: "", y.symbol ?: "");
	}
	assert_int_equal(functions__build_id(f, id), functions__build_id(back, same));
	assert_memory_equal(id, same, sizeof(id));
}

static void damaged_functions_are_refused(void **state)
{
	_functions_ struct functions *f = open_any(SHT_SYMTAB, few, 3), *back = NULL;
	size_t len, ranges;
	_free_ uint8_t *copy = copy_of(f, &len);

	for (size_t n = 0; n < len; n++)
		assert_int_equal(functions__of_bytes(copy, n, NULL, 0, &back), -EBADMSG);
	/* All but the names has a checksum. */
	ranges = len - sizeof("a\0bc\0d");
	for (size_t i = 0; i < ranges; i++) {
		copy[i] ^= 0x10;
		assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
		copy[i] ^= 0x10;
	}
	/* Without its end, a name would be read beyond the bytes. */
	copy[len - 1] = 'x';
	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
	copy[len - 1] = 0;
	/* A checksum can be made for everything: two ranges that overlap, one without a size. */
	memset(copy + FUNCTIONS_HEADER + FUNCTIONS_RANGE, 0, 4);
	functions__seal(copy, len);
	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
	memcpy(copy, functions__bytes(f, &len), len);
	memset(copy + FUNCTIONS_HEADER + 4, 0, 4);
	functions__seal(copy, len);
	assert_int_equal(functions__of_bytes(copy, len, NULL, 0, &back), -EBADMSG);
	assert_null(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pc_lies_in_one_function_or_in_none),
		cmocka_unit_test(folded_functions_have_the_name_of_the_longest),
		cmocka_unit_test(a_nested_function_splits_the_outer_one),
		cmocka_unit_test(a_file_without_symbols_has_no_functions),
		cmocka_unit_test(symbols_for_the_linker_will_do),
		cmocka_unit_test(code_without_a_symbol_has_ranges),
		cmocka_unit_test(a_file_may_have_nothing_at_all),
		cmocka_unit_test(functions_are_the_same_in_a_store),
		cmocka_unit_test(damaged_functions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
