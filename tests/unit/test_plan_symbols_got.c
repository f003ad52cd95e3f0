// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/got.h"

#include <fcntl.h>

#include "test.h"
#include "../fixtures/fixture_dir.h"
#include "../fixtures/library.h"
#include "../fixtures/symbols.h"
#include "plan/code/decode.h"

/* The assembled tests/fixtures/got.s, and the same with packed relocations. */
static struct elf_image *img, *packed;
static struct code_decoder *decoder;

static int setup(void **state)
{
	if (fixture_dir_setup(state) || image_of(fixture("got.so"), &img) ||
	    image_of(fixture("got_packed.so"), &packed))
		return -1;
	return code_decoder__new(img, &decoder);
}

static int teardown(void **state)
{
	code_decoder__free(decoder);
	elf_image__free(packed);
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

/* The address of the slot that the call or jump at a symbol goes through. */
static uint64_t slot_of(struct elf_image *of, const char *name)
{
	const uint64_t addr = symbol(of, name)->addr;
	uint8_t code[6];

	assert_int_equal(elf_image__copy(of, addr, code, sizeof(code)), sizeof(code));
	return addr + sizeof(code) +
	       (uint64_t)(int32_t)(code[2] | code[3] << 8 | code[4] << 16 |
				   (uint32_t)code[5] << 24);
}

static void assert_slots(struct elf_image *of)
{
	uint64_t local = symbol(of, "local")->addr;

	assert_int_equal(elf_image__through(of, slot_of(of, "calls.local")), local);
	assert_int_equal(elf_image__through(of, slot_of(of, "calls.exported")),
			 symbol(of, "exported")->addr);
	/* another library's; no code; not in the table; not where a slot begins */
	assert_int_equal(elf_image__through(of, slot_of(of, "calls.imported")), 0);
	assert_int_equal(elf_image__through(of, slot_of(of, "calls.constant")), 0);
	assert_int_equal(elf_image__through(of, slot_of(of, "calls.beside")), 0);
	assert_int_equal(elf_image__through(of, slot_of(of, "calls.local") + 1), 0);
	assert_int_equal(elf_image__through(of, 0), 0);
}

static void slots_lead_to_what_relocations_write(void **state)
{
	assert_slots(img);
}

static void packed_relocations_are_read(void **state)
{
	assert_true(elf_image__has_section(packed, ".relr.dyn"));
	assert_false(elf_image__has_section(img, ".relr.dyn"));
	assert_slots(packed);
}

static struct code_insn decoded(const char *name)
{
	struct code_insn insn;

	assert_true(code_decoder__at(decoder, symbol(img, name)->addr, &insn));
	return insn;
}

/* The kernel does not emulate it all the same. */
static void a_call_through_a_slot_is_one_of_the_function(void **state)
{
	struct code_insn call = decoded("calls.exported"), jump = decoded("calls.tail");

	assert_int_equal(call.flow, CODE_CALL);
	assert_int_equal(call.target, symbol(img, "exported")->addr);
	assert_int_equal(call.size, 6);
	assert_int_equal(call.shape, CODE_OTHER);
	assert_false(call.emulated);
	assert_int_equal(jump.flow, CODE_JMP);
	assert_int_equal(jump.target, symbol(img, "local")->addr);
	assert_false(jump.emulated);
	/* the second time from memory */
	assert_int_equal(decoded("calls.local").target, symbol(img, "local")->addr);
	assert_int_equal(decoded("calls.imported").flow, CODE_CALL_INDIRECT);
	assert_int_equal(decoded("calls.imported").target, slot_of(img, "calls.imported"));
}

static void assert_parts(struct elf_image *of, const char *name)
{
	const uint64_t slot = slot_of(of, "calls.local"), local = symbol(of, "local")->addr;
	_close_ int fd = open(fixture(name), O_RDONLY | O_CLOEXEC);
	_got_ struct got *some = NULL, *short_one = NULL, *none = NULL;
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct got_part part = {.addr = slot, .size = 8};
	size_t room;

	assert_non_null(elf);
	part.bytes = elf_image__bytes(of, slot, &room);
	assert_int_equal(got__read(elf, &part, 1, &some), 0);
	assert_int_equal(got__value(some, slot), local);
	assert_int_equal(got__value(some, slot_of(of, "calls.exported")), 0);
	assert_int_equal(got__read(elf, NULL, 0, &none), 0);
	assert_int_equal(got__value(none, slot), 0);
	part.size = 7;
	assert_int_equal(got__read(elf, &part, 1, &short_one), 0);
	/* the address itself is in the relocation, or cut */
	assert_int_equal(got__value(short_one, slot), of == packed ? 0 : local);
	elf_end(elf);
}

static void only_the_parts_asked_for_are_read(void **state)
{
	assert_parts(img, "got.so");
	assert_parts(packed, "got_packed.so");
}

static void nothing_is_nothing_to_free(void **state)
{
	got__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_lead_to_what_relocations_write),
		cmocka_unit_test(packed_relocations_are_read),
		cmocka_unit_test(a_call_through_a_slot_is_one_of_the_function),
		cmocka_unit_test(only_the_parts_asked_for_are_read),
		cmocka_unit_test(nothing_is_nothing_to_free),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
