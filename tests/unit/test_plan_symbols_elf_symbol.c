// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/elf_symbol.h"
#include "plan/symbols/function_name.h"
#include "plan/symbols/dwarf_bytes.h"

#include "test.h"
#include "../fixtures/elf_builder.h"
#include "../fixtures/library.h"
#include <errno.h>

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
TEST_CASE(symbols_are_sorted_by_address)
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

TEST_CASE(the_longest_of_an_address_is_first)
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

TEST_CASE(few_are_sorted_too)
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

TEST_CASE(it_is_read_from_the_note)
{
	static const uint8_t expected[] = {0xde, 0xad, 0xbe, 0xef};
	uint8_t id[20];

	assert_int_equal(read_id(false, id, sizeof(id)), sizeof(expected));
	assert_memory_equal(id, expected, sizeof(expected));
	assert_int_equal(read_id(false, id, 4), 4);
	/* longer than there is room for */
	assert_int_equal(read_id(false, id, 3), 0);
}

TEST_CASE(a_file_without_one_has_none)
{
	uint8_t id[20];

	assert_int_equal(read_id(true, id, sizeof(id)), 0);
}

/* ---- Symbols known symbols ------------------------------------------------------------------- */

#define TEXT ELF_BUILDER_TEXT_ADDR
#define FUNC(n, a)                                  \
	{                                           \
		n, a, 8, STT_FUNC, ELF_BUILDER_TEXT \
	}
#define WRAPPER                                                                                 \
	"_RNvNtNtNtCsfhTr2ijyTAe_16rustc_query_impl10query_impl6typeck22execute_query_non_incr" \
	"26___rust_end_short_backtrace"

static struct elf_image *image(const struct elf_builder_symbol *syms, size_t n)
{
	struct elf_builder b = {0};
	struct elf_image *img = NULL;

	elf_builder__build(&b, syms, n);
	assert_int_equal(image_of_bytes(b.buf, b.len, &img), 0);
	return img;
}

TEST_CASE(only_known_names_are_kept_by_address)
{
	static const struct elf_builder_symbol syms[] = {
		FUNC(WRAPPER ".cold", TEXT + 16),
		FUNC("main", TEXT + 24),
		FUNC("__rust_panic_cleanup", TEXT + 8),
		FUNC(WRAPPER, TEXT),
	};
	_elf_image_ struct elf_image *img = image(syms, N_OF(syms));
	_known_symbols_ struct known_symbols known;

	assert_int_equal(known_symbols__find(img, &known), 0);
	assert_int_equal(known.n, 3);
	assert_int_equal(known.items[0].sym->addr, TEXT);
	assert_int_equal(known.items[0].info.kind, NAME_WRAPPER_NON_INCR);
	assert_int_equal(known.items[0].info.part, NAME_PART_ENTRY);
	assert_int_equal(known.items[1].sym->addr, TEXT + 8);
	assert_int_equal(known.items[1].info.kind, NAME_PANIC_CLEANUP);
	assert_int_equal(known.items[2].info.kind, NAME_WRAPPER_NON_INCR);
	assert_int_equal(known.items[2].info.part, NAME_PART_COLD);
}

TEST_CASE(a_library_without_symbols)
{
	_elf_image_ struct elf_image *img = image(NULL, 0);
	_known_symbols_ struct known_symbols known;

	assert_int_equal(known_symbols__find(img, &known), -ENODATA);
	assert_int_equal(known.n, 0);
}

/* ---- Symbols dwarf bytes --------------------------------------------------------------------- */

#define READER(bytes)                                   \
	((struct dwarf_bytes){(const uint8_t *)(bytes), \
			      (const uint8_t *)(bytes) + sizeof(bytes) - 1, false})

static void assert_uleb(const char *bytes, size_t n, uint64_t value)
{
	struct dwarf_bytes b = {(const uint8_t *)bytes, (const uint8_t *)bytes + n, false};

	assert_int_equal(dwarf_bytes__uleb(&b), value);
	assert_false(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

static void assert_sleb(const char *bytes, size_t n, int64_t value)
{
	struct dwarf_bytes b = {(const uint8_t *)bytes, (const uint8_t *)bytes + n, false};

	assert_int_equal(dwarf_bytes__sleb(&b), value);
	assert_false(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

#define ULEB(bytes, value) assert_uleb(bytes, sizeof(bytes) - 1, value)
#define SLEB(bytes, value) assert_sleb(bytes, sizeof(bytes) - 1, value)

/* The first ones are the examples of the standard. */
TEST_CASE(numbers_of_any_length_are_read)
{
	ULEB("\x02", 2);
	ULEB("\x7f", 127);
	ULEB("\x80\x01", 128);
	ULEB("\xb9\x64", 12857);
	ULEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", UINT64_MAX);
	ULEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 1);
	SLEB("\x02", 2);
	SLEB("\x7e", -2);
	SLEB("\xff\x00", 127);
	SLEB("\x81\x7f", -127);
	SLEB("\x80\x7f", -128);
	SLEB("\xff\x7e", -129);
	SLEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", INT64_MIN);
	SLEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", INT64_MAX);
}

TEST_CASE(numbers_of_fixed_size_are_little_endian)
{
	struct dwarf_bytes b = READER("\x01\x02\x03\xff\xff\xfe\x80\0\0\0\0\0\0\x80");

	assert_int_equal(dwarf_bytes__u8(&b), 1);
	assert_int_equal(dwarf_bytes__number(&b, 2), 0x302);
	assert_int_equal(dwarf_bytes__number(&b, 2), 0xffff);
	assert_int_equal(dwarf_bytes__signed(&b, 1), -2);
	assert_int_equal(dwarf_bytes__signed(&b, 8), INT64_MIN + 0x80);
	assert_false(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

/* A missing byte is 0, and so is all that follows it. */
TEST_CASE(a_missing_byte_is_remembered)
{
	struct dwarf_bytes b = READER("\x80");

	assert_int_equal(dwarf_bytes__uleb(&b), 0);
	assert_true(b.bad);
	b = READER("\x01\x02\x03");
	assert_int_equal(dwarf_bytes__number(&b, 4), 0);
	assert_true(b.bad);
	assert_int_equal(dwarf_bytes__u8(&b), 0);
	b = READER("\x01\x02");
	assert_null(dwarf_bytes__take(&b, UINT64_MAX));
	assert_true(b.bad);
	assert_int_equal(dwarf_bytes__left(&b), 0);
}

/* A number that never ends takes no more than DWARF_LEB_MAX bytes. */
TEST_CASE(a_number_that_is_too_long_is_refused)
{
	char bytes[64];
	struct dwarf_bytes b = {(const uint8_t *)bytes, (const uint8_t *)bytes + 64, false};

	memset(bytes, 0x80, sizeof(bytes));
	assert_int_equal(dwarf_bytes__uleb(&b), 0);
	assert_true(b.bad);
}

TEST_MAIN(NULL, NULL)
