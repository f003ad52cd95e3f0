// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/eh_frame.h"

#include "test.h"
#include "../fixtures/eh_frame_builder.h"
#include "../fixtures/random.h"
#include "../fixtures/rows.h"
#include "base/cleanup.h"

/* The functions of a section, and how many records are unreadable. */
struct found {
	struct eh_fde fdes[16];
	uint32_t n;
	uint32_t unreadable;
};

/* The section of a test, its first CIE, and what was found in it. */
static struct eh_builder b;
static uint32_t cie;
static struct found f;

static int begin(void **state)
{
	b = eh_builder_new();
	cie = eh_builder__cie(&b);
	return 0;
}

static int end(void **state)
{
	eh_builder__destroy(&b);
	return 0;
}

static uint32_t add(uint64_t start, uint32_t length, const char *program, size_t n)
{
	return eh_builder__fde(&b, cie, start, length, program, n);
}

static void read_all(const struct eh_frame *frame)
{
	struct eh_frame_reader r;
	struct eh_fde fde;

	f = (struct found){};
	eh_frame_reader__init(&r, frame);
	while (eh_frame_reader__next(&r, &fde))
		if (f.n < N_OF(f.fdes))
			f.fdes[f.n++] = fde;
	f.unreadable = r.unreadable;
}

static void assert_found(uint32_t n, uint32_t unreadable)
{
	struct eh_frame frame = eh_builder__frame(&b);

	read_all(&frame);
	assert_pairs(f.n, n, f.unreadable, unreadable);
}

/* The section has another CIE only. */
static void begin_with(uint8_t version, const char *augmentation, const void *data, size_t n,
		       const char *program, size_t program_size)
{
	b = eh_builder_new();
	cie = eh_builder__any_cie(&b, version, augmentation, data, n, program, program_size);
}

TEST_CASE_WITH(functions_come_in_the_order_of_the_section, begin, end)
{
	struct eh_frame frame;
	struct eh_frame_reader r;
	struct eh_fde fde;
	uint32_t at;

	add(0x5000, 0x20, BYTES("\x41\x0e\x10"));
	at = add(0x1000, 0x30, BYTES(""));
	assert_found(2, 0);
	assert_pairs(f.fdes[0].start, 0x5000, f.fdes[0].length, 0x20, f.fdes[0].program.size, 3,
		     f.fdes[0].cie.data_factor, -8, f.fdes[0].cie.code_factor, 1,
		     f.fdes[0].cie.program.size, sizeof(EH_BUILDER_INITIAL) - 1,
		     f.fdes[0].cie.signal, false, f.fdes[1].start, 0x1000, f.fdes[1].at, at);
	assert_memory_equal(f.fdes[0].program.bytes, "\x41\x0e\x10", 3);
	/* Again, by its offset; a CIE's offset is that of no function. */
	frame = eh_builder__frame(&b);
	eh_frame_reader__init(&r, &frame);
	assert_true(eh_frame_reader__at(&r, at, &fde));
	assert_int_equal(fde.start, 0x1000);
	assert_false(eh_frame_reader__at(&r, cie, &fde));
	assert_false(eh_frame_reader__at(&r, (uint32_t)frame.size, &fde));
	assert_false(eh_frame_reader__at(&r, UINT32_MAX, &fde));
}

/* An FDE whose address is `bytes`, followed by the length in the same format. */
static void assert_encoding(uint8_t encoding, const char *bytes, size_t n, uint64_t start)
{
	begin_with(1, "zR", &encoding, 1, BYTES(EH_BUILDER_INITIAL));
	eh_builder__begin_fde(&b, cie);
	eh_builder__bytes(&b, bytes, n);
	eh_builder__byte(&b, 0);
	eh_builder__end(&b);
	assert_found(start ? 1 : 0, start ? 0 : 1);
	if (start)
		assert_pairs(f.fdes[0].start, start, f.fdes[0].length, 0x20);
	end(NULL);
}

TEST_CASE(addresses_have_many_encodings)
{
	/* The place of the address in the only FDE, after a CIE of 22 bytes. */
	const uint64_t here = EH_BUILDER_ADDR + 22 + 8;

	assert_encoding(DW_EH_PE_absptr, BYTES("\0\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0"), 0x1000);
	assert_encoding(DW_EH_PE_udata2, BYTES("\0\x10\x20\0"), 0x1000);
	assert_encoding(DW_EH_PE_udata4, BYTES("\0\0\0\x80\x20\0\0\0"), 0x80000000);
	assert_encoding(DW_EH_PE_udata8, BYTES("\0\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0"), 0x1000);
	assert_encoding(DW_EH_PE_uleb128, BYTES("\x80\x20\x20"), 0x1000);
	assert_encoding(DW_EH_PE_pcrel | DW_EH_PE_sdata4, BYTES("\xf0\xff\xff\xff\x20\0\0\0"),
			here - 16);
	assert_encoding(DW_EH_PE_pcrel | DW_EH_PE_sdata2, BYTES("\xf0\xff\x20\0"), here - 16);
	assert_encoding(DW_EH_PE_pcrel | DW_EH_PE_sleb128, BYTES("\x70\x20"), here - 16);
	assert_encoding(DW_EH_PE_pcrel | DW_EH_PE_sdata8,
			BYTES("\xf0\xff\xff\xff\xff\xff\xff\xff\x20\0\0\0\0\0\0\0"), here - 16);
	/* Relative to what is not known here, indirect, or nothing at all. */
	assert_encoding(DW_EH_PE_datarel | DW_EH_PE_sdata4, BYTES("\0\x10\0\0\x20\0\0\0"), 0);
	assert_encoding(DW_EH_PE_indirect | DW_EH_PE_sdata4, BYTES("\0\x10\0\0\x20\0\0\0"), 0);
	assert_encoding(DW_EH_PE_omit, BYTES("\0\x10\0\0\x20\0\0\0"), 0);
	assert_encoding(0x05, BYTES("\0\x10\0\0\x20\0\0\0"), 0);
}

/* Whether a CIE of this kind can be read, by an FDE with an address of 4 bytes. */
static void assert_cie(bool good, uint8_t version, const char *augmentation, const char *data,
		       size_t n)
{
	begin_with(version, augmentation, data, n, BYTES(EH_BUILDER_INITIAL));
	add(0x1000, 0x20, BYTES(""));
	assert_found(good, !good);
	end(NULL);
}

TEST_CASE(augmentations_are_understood_or_refused)
{
	assert_cie(true, 1, "zR", BYTES("\x1b"));
	assert_cie(true, 3, "zR", BYTES("\x1b"));
	assert_cie(true, 1, "zRS", BYTES("\x1b"));
	assert_cie(true, 1, "zPLR", BYTES("\x9b\1\2\3\4\x1b\x1b"));
	assert_cie(true, 1, "zPLR", BYTES("\x00\1\2\3\4\5\6\7\x08\x1b\x1b"));
	assert_cie(true, 1, "zLRS", BYTES("\x1b\x1b"));
	assert_cie(true, 1, "zR", BYTES("\x1b more data than is known"));
	assert_cie(false, 2, "zR", BYTES("\x1b"));
	assert_cie(false, 4, "zR", BYTES("\x1b"));
	assert_cie(false, 0, "zR", BYTES("\x1b"));
	assert_cie(false, 1, "eh", BYTES("\x1b"));
	assert_cie(false, 1, "zXR", BYTES("\x1b"));
	assert_cie(false, 1, "zRSRSRSRSRS", BYTES("\x1b"));
	/* It says more than its data hold. */
	assert_cie(false, 1, "zPLR", BYTES("\x1b"));
	assert_cie(false, 1, "zR", BYTES(""));
	assert_cie(false, 1, "zPR", BYTES("\x50\1\2\3\4\5\6\7\x08\x1b"));
}

TEST_CASE(without_augmentation_addresses_have_8_bytes)
{
	begin_with(1, "", NULL, 0, BYTES(EH_BUILDER_INITIAL));
	eh_builder__begin_fde(&b, cie);
	eh_builder__number(&b, 0x1000, 8);
	eh_builder__number(&b, 0x20, 8);
	eh_builder__bytes(&b, BYTES("\x41"));
	eh_builder__end(&b);
	assert_found(1, 0);
	assert_pairs(f.fdes[0].start, 0x1000, f.fdes[0].program.size, 1);
	end(NULL);
}

TEST_CASE(only_a_signal_frame_is_one)
{
	begin_with(1, "zRS", "\x1b", 1, BYTES(EH_BUILDER_INITIAL));
	add(0x1000, 0x20, BYTES(""));
	assert_found(1, 0);
	assert_true(f.fdes[0].cie.signal);
	end(NULL);
}

/* Which register holds the return address is in the byte before the augmentation's data. */
TEST_CASE_WITH(another_return_register_is_refused, begin, end)
{
	add(0x1000, 0x20, BYTES(""));
	assert_found(1, 0);
	assert_int_equal(b.buf[cie + 14], EH_FRAME_RA);
	b.buf[cie + 14] = 15;
	assert_found(0, 1);
}

/* Each function would run it. */
TEST_CASE(a_long_program_of_a_cie_is_refused)
{
	const char program[EH_FRAME_CIE_PROGRAM_MAX + 1] = "";

	for (size_t over = 0; over < 2; over++) {
		begin_with(1, "zR", "\x1b", 1, program, EH_FRAME_CIE_PROGRAM_MAX + over);
		add(0x1000, 0x20, BYTES(""));
		assert_found(!over, over);
		end(NULL);
	}
}

TEST_CASE_WITH(an_empty_record_separates, begin, end)
{
	add(0x1000, 0x20, BYTES(""));
	eh_builder__number(&b, 0, 4);
	cie = eh_builder__cie(&b);
	add(0x2000, 0x20, BYTES(""));
	assert_found(2, 0);
}

TEST_CASE_WITH(a_record_with_a_long_length_is_left_out, begin, end)
{
	eh_builder__number(&b, UINT32_MAX, 4);
	eh_builder__number(&b, 20, 8);
	eh_builder__bytes(&b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	add(0x1000, 0x20, BYTES(""));
	assert_found(1, 1);
	/* One that leads out of the section. */
	eh_builder__number(&b, UINT32_MAX, 4);
	eh_builder__number(&b, UINT64_MAX - 8, 8);
	assert_found(1, 2);
}

TEST_CASE_WITH(a_length_that_lies_ends_the_reading, begin, end)
{
	uint32_t at;

	add(0x1000, 0x20, BYTES(""));
	at = add(0x2000, 0x20, BYTES(""));
	add(0x3000, 0x20, BYTES(""));
	memcpy(b.buf + at, "\xff\xff\xff\x7f", 4);
	assert_found(1, 1);
}

/* Its CIE would be an FDE, itself, or outside of the section. */
TEST_CASE_WITH(a_function_without_a_cie_is_left_out, begin, end)
{
	const uint32_t distances[] = {4, 5, 0x1000, UINT32_MAX, 0x80000000};
	uint32_t at;

	add(0x1000, 0x20, BYTES(""));
	at = add(0x2000, 0x20, BYTES(""));
	for (size_t i = 0; i < N_OF(distances); i++) {
		memcpy(b.buf + at + 4, &distances[i], 4);
		assert_found(1, 1);
	}
}

/* In memory of exactly that size, so that a sanitizer sees a read behind it. */
TEST_CASE(sections_may_end_anywhere)
{
	begin_with(1, "zPLR", "\x9b\1\2\3\4\x1b\x1b", 7, BYTES(EH_BUILDER_INITIAL));
	add(0x1000, 0x20, BYTES("\x41\x0e\x10"));
	add(0x2000, 0x20, BYTES("\x41\x0e\x10"));
	for (size_t size = 0; size < b.len; size++) {
		_free_ uint8_t *exact = malloc(size ?: 1);
		struct eh_frame frame = {exact, size, EH_BUILDER_ADDR};

		memcpy(exact, b.buf, size);
		read_all(&frame);
		assert_true(f.n < 2);
	}
	end(NULL);
}

TEST_CASE_WITH(damaged_sections_are_read_within_their_bytes, begin, end)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 8; i++)
		add(0x1000 * (uint32_t)i, 0x20, BYTES("\x41\x0e\x10"));
	for (int i = 0; i < 20000; i++) {
		_free_ uint8_t *exact = malloc(b.len);
		struct eh_frame frame = {exact, b.len, EH_BUILDER_ADDR};

		memcpy(exact, b.buf, b.len);
		for (uint64_t n = 1 + rng_below(&rng, 4); n; n--)
			exact[rng_below(&rng, b.len)] = (uint8_t)rng_any_size(&rng);
		read_all(&frame);
		assert_true(f.n + f.unreadable <= b.len / 4);
	}
}

TEST_CASE(an_address_ends_before_the_end)
{
	static const uint8_t bytes[] = {1, 0, 0, 0};
	struct eh_frame frame = {bytes, sizeof(bytes), 0x100};
	const uint8_t *at = bytes;
	uint64_t addr;

	assert_false(eh_frame__address(&frame, DW_EH_PE_udata8, &at, bytes + 4, &addr));
	assert_ptr_equal(at, bytes);
	assert_true(eh_frame__address(&frame, EH_BUILDER_ENCODING, &at, bytes + 4, &addr));
	assert_ptr_equal(at, bytes + 4);
	assert_int_equal(addr, 0x101);
}

TEST_MAIN(NULL, NULL)
