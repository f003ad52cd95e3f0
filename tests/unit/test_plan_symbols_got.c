// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/got.h"
#include "plan/symbols/relocated.h"

#include <fcntl.h>

#include "test.h"
#define LIBRARY "got.so"
#include "../fixtures/image.h"
#include "../fixtures/rows.h"
#include "plan/code/decode.h"
#include "base/array.h"

/* The assembled tests/fixtures/got.s, and the same with packed relocations. */
static struct elf_image *packed;

static int setup(void **state)
{
	if (image_setup(state) || image_of(fixture("got_packed.so"), &packed))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	elf_image__free(packed);
	return image_teardown(state);
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

TEST_CASE(slots_lead_to_what_relocations_write)
{
	assert_slots(img);
}

TEST_CASE(packed_relocations_are_read)
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
TEST_CASE(a_call_through_a_slot_is_one_of_the_function)
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

TEST_CASE(only_the_parts_asked_for_are_read)
{
	assert_parts(img, "got.so");
	assert_parts(packed, "got_packed.so");
}

/* ---- Symbols relr ---------------------------------------------------------------------------- */

#define ALL UINT64_MAX

struct found {
	uint64_t at[256];
	size_t n;
	size_t stop; /* fail at this one */
};

static int note(void *arg, uint64_t place)
{
	struct found *f = arg;

	assert_true(f->n < N_OF(f->at));
	f->at[f->n++] = place;
	return f->n == f->stop ? -5 : 0;
}

static struct found read_table(const uint64_t *words, size_t n)
{
	struct found f = {0};

	assert_int_equal(relr__each((const uint8_t *)words, n * sizeof(*words), note, &f), 0);
	return f;
}

#define READ(...) \
	read_table((const uint64_t[]){__VA_ARGS__}, N_OF(((const uint64_t[]){__VA_ARGS__})))

TEST_GROUP(NULL, NULL)

TEST_CASE(an_odd_word_has_a_bit_for_each_of_63_words)
{
	struct found f = READ(0x1000, 1 | 1 << 1 | 1 << 3, 1, 1 | 1 << 1 | 1ULL << 63, 0x2000);

	assert_int_equal(f.n, 6);
	assert_pairs(f.at[1], 0x1008, f.at[2], 0x1018, f.at[3], 0x1008 + 2 * 63 * 8, f.at[4],
		     0x1008 + 2 * 63 * 8 + 62 * 8, f.at[5], 0x2000);
}

/* A place that came again and again would be kept each time. */
TEST_CASE(places_that_do_not_ascend_end_the_table)
{
	assert_int_equal(READ(0x1000, 0x1000, 0x2000).n, 1);
	assert_int_equal(READ(0x1000, ALL, 0x1100, 0x2000).n, 64);
	assert_int_equal(READ(0x1000, 0x800).n, 1);
}

TEST_CASE(places_beyond_the_last_address_end_the_table)
{
	assert_int_equal(READ(0x1000, ALL - 1, 1).n, 1);
	assert_int_equal(READ(ALL - 15, ALL, 0x1000).n, 1);
	assert_int_equal(READ(ALL - 63 * 8 - 7, ALL).n, 1);
	assert_int_equal(READ(ALL - 63 * 8 - 9, ALL).n, 64);
}

TEST_CASE(a_word_that_is_cut_is_left_out)
{
	const uint64_t words[] = {0x1000, 0x2000};
	struct found f = {0};

	assert_int_equal(relr__each((const uint8_t *)words, 15, note, &f), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(relr__each(NULL, 0, note, &f), 0);
	assert_int_equal(f.n, 1);
}

TEST_CASE(a_result_ends_the_reading)
{
	const uint64_t words[] = {0x1000, ALL, 0x2000};

	for (size_t stop = 1; stop < 3; stop++) {
		struct found f = {.stop = stop};

		assert_int_equal(relr__each((const uint8_t *)words, sizeof(words), note, &f), -5);
		assert_int_equal(f.n, stop);
	}
}

/* ---- Symbols relocated ----------------------------------------------------------------------- */

/* The assembled tests/fixtures/got.s. */

static int relocated_setup(void **state)
{
	return fixture_dir_setup(state) ?: image_of(fixture("got.so"), &img);
}

static int relocated_teardown(void **state)
{
	elf_image__free(img);
	return fixture_dir_teardown(state);
}

/* The address of the slot that the call or jump at a symbol goes through. */
static uint64_t relocated_slot_of(const char *name)
{
	const uint64_t addr = symbol(img, name)->addr;
	uint8_t code[6];
	int32_t disp;

	assert_int_equal(elf_image__copy(img, addr, code, sizeof(code)), sizeof(code));
	memcpy(&disp, code + 2, sizeof(disp));
	return addr + sizeof(code) + (uint64_t)(int64_t)disp;
}

TEST_GROUP(relocated_setup, relocated_teardown)

TEST_CASE(pointers_are_those_of_the_relocations)
{
	uint64_t beside, constants, size, local = symbol(img, "local")->addr;

	assert_true(elf_image__section(img, ".data.rel.ro", &beside, &size));
	assert_true(elf_image__section(img, ".rodata", &constants, &size));
	assert_int_equal(relocated__value(img, beside), local);
	assert_int_equal(relocated__value(img, relocated_slot_of("calls.local")), local);
	assert_int_equal(relocated__value(img, relocated_slot_of("calls.constant")), constants);
	assert_int_equal(relocated__value(img, relocated_slot_of("calls.exported")),
			 symbol(img, "exported")->addr);
}

TEST_CASE(relocated_packed_relocations_are_read)
{
	_elf_image_ struct elf_image *packed = NULL;
	uint64_t beside, size;

	assert_int_equal(image_of(fixture("got_packed.so"), &packed), 0);
	assert_true(elf_image__section(packed, ".data.rel.ro", &beside, &size));
	assert_int_equal(relocated__value(packed, beside), symbol(packed, "local")->addr);
	assert_int_equal(relocated__value(packed, beside + 4), 0);
}

TEST_CASE(others_have_none)
{
	assert_int_equal(relocated__value(img, relocated_slot_of("calls.imported")), 0);
	assert_int_equal(relocated__value(img, relocated_slot_of("calls.local") + 1), 0);
	assert_int_equal(relocated__value(img, 0), 0);
}

TEST_MAIN(setup, teardown)
