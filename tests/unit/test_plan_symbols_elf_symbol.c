// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/elf_symbol.h"

#include "test.h"
#include "../fixtures/elf_builder.h"

static const char names[] = "abcd";

static void assert_sorted(struct elf_symbol *syms, size_t n)
{
	elf_symbols__sort(syms, n);
	for (size_t i = 1; i < n; i++) {
		const struct elf_symbol *x = &syms[i - 1], *y = &syms[i];

		assert_true(x->addr <= y->addr);
		assert_true(x->addr < y->addr || x->size >= y->size);
		assert_true(x->addr < y->addr || x->size > y->size || x->name <= y->name);
	}
}

/* Addresses that differ in each digit, and some of them several times. */
static void symbols_are_sorted_by_address(void **state)
{
	struct elf_symbol syms[3000];
	uint64_t address = 1, sum = 0, sum_sorted = 0;

	for (size_t i = 0; i < N_OF(syms); i++) {
		address = address * 6364136223846793005u + 1442695040888963407u;
		syms[i] = (struct elf_symbol){.addr = i % 3 ? address : address >> 52,
					      .size = i % 5,
					      .name = &names[i % 4]};
		sum += syms[i].addr;
	}
	assert_sorted(syms, N_OF(syms));
	for (size_t i = 0; i < N_OF(syms); i++)
		sum_sorted += syms[i].addr;
	assert_int_equal(sum, sum_sorted);
}

static void the_longest_of_an_address_is_first(void **state)
{
	struct elf_symbol syms[] = {
		{.addr = 0x20000, .size = 1, .name = names},
		{.addr = 0x10000, .size = 1, .name = names + 1},
		{.addr = 0x10000, .size = 9, .name = names + 2},
		{.addr = 0x10000, .size = 1, .name = names},
	};

	assert_sorted(syms, N_OF(syms));
	assert_ptr_equal(syms[0].name, names + 2);
	assert_ptr_equal(syms[1].name, names);
	assert_ptr_equal(syms[2].name, names + 1);
	assert_int_equal(syms[3].addr, 0x20000);
}

static void few_are_sorted_too(void **state)
{
	struct elf_symbol one = {.addr = 7};

	elf_symbols__sort(NULL, 0);
	elf_symbols__sort(&one, 1);
	assert_int_equal(one.addr, 7);
}

/* ---- Symbols build id ------------------------------------------------------------------------ */

static uint32_t read_id(bool without, uint8_t *id, uint32_t most)
{
	static const struct elf_builder_symbol sym = {"f", ELF_BUILDER_TEXT_ADDR, 8, STT_FUNC,
						      ELF_BUILDER_TEXT};
	struct elf_builder b = {.no_build_id = without};
	uint32_t len;
	Elf *elf;

	elf_builder__build(&b, &sym, 1);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)b.buf, b.len);
	len = build_id_of(elf, id, most);
	elf_end(elf);
	return len;
}

static void it_is_read_from_the_note(void **state)
{
	static const uint8_t expected[] = {0xde, 0xad, 0xbe, 0xef};
	uint8_t id[20];

	assert_int_equal(read_id(false, id, sizeof(id)), sizeof(expected));
	assert_memory_equal(id, expected, sizeof(expected));
	assert_int_equal(read_id(false, id, 4), 4);
	/* longer than there is room for */
	assert_int_equal(read_id(false, id, 3), 0);
}

static void a_file_without_one_has_none(void **state)
{
	uint8_t id[20];

	assert_int_equal(read_id(true, id, sizeof(id)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_sorted_by_address),
		cmocka_unit_test(the_longest_of_an_address_is_first),
		cmocka_unit_test(few_are_sorted_too),
		cmocka_unit_test(it_is_read_from_the_note),
		cmocka_unit_test(a_file_without_one_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
