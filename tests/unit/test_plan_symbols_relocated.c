// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/relocated.h"

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"

/* The assembled tests/fixtures/got.s. */
static struct elf_image *img;

static int setup(void **state)
{
	return fixture_dir_setup(state) ?: image_of(fixture("got.so"), &img);
}

static int teardown(void **state)
{
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

/* The address of the slot that the call or jump at a symbol goes through. */
static uint64_t slot_of(const char *name)
{
	const uint64_t addr = symbol(img, name)->addr;
	uint8_t code[6];
	int32_t disp;

	assert_int_equal(elf_image__copy(img, addr, code, sizeof(code)), sizeof(code));
	memcpy(&disp, code + 2, sizeof(disp));
	return addr + sizeof(code) + (uint64_t)(int64_t)disp;
}

static void pointers_are_those_of_the_relocations(void **state)
{
	uint64_t beside, constants, size, local = symbol(img, "local")->addr;

	assert_true(elf_image__section(img, ".data.rel.ro", &beside, &size));
	assert_true(elf_image__section(img, ".rodata", &constants, &size));
	assert_int_equal(relocated__value(img, beside), local);
	assert_int_equal(relocated__value(img, slot_of("calls.local")), local);
	assert_int_equal(relocated__value(img, slot_of("calls.constant")), constants);
	assert_int_equal(relocated__value(img, slot_of("calls.exported")),
			 symbol(img, "exported")->addr);
}

static void packed_relocations_are_read(void **state)
{
	_elf_image_ struct elf_image *packed = NULL;
	uint64_t beside, size;

	assert_int_equal(image_of(fixture("got_packed.so"), &packed), 0);
	assert_true(elf_image__section(packed, ".data.rel.ro", &beside, &size));
	assert_int_equal(relocated__value(packed, beside), symbol(packed, "local")->addr);
	assert_int_equal(relocated__value(packed, beside + 4), 0);
}

static void others_have_none(void **state)
{
	assert_int_equal(relocated__value(img, slot_of("calls.imported")), 0);
	assert_int_equal(relocated__value(img, slot_of("calls.local") + 1), 0);
	assert_int_equal(relocated__value(img, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_are_those_of_the_relocations),
		cmocka_unit_test(packed_relocations_are_read),
		cmocka_unit_test(others_have_none),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
