// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/build_id.h"

#include "test.h"
#include "../fixtures/elf_builder.h"

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
		cmocka_unit_test(it_is_read_from_the_note),
		cmocka_unit_test(a_file_without_one_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
