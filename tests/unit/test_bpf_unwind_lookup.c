// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests of bpf/unwind_lookup.h: any pc-value table, and bytes that are none. */
#include <unistd.h>

#include "test.h"
#include "../fixtures/pctabs.h"
#include "../fixtures/unwind_blocks.h"

#define PAGE WIRE_UNWIND_PAGE_BYTES

/* Put the table of these runs at an offset of the area. */
static void put_table(const struct pctab_runs *r, uint32_t at)
{
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_linear__encode(&b, r, 0), 0);
	assert_true((at & (WIRE_UNWIND_BLOCK_BYTES - 1)) + b.size <= WIRE_UNWIND_BLOCK_BYTES);
	memcpy(unwind_blocks[at >> WIRE_UNWIND_BLOCK_SHIFT] + (at & (WIRE_UNWIND_BLOCK_BYTES - 1)),
	       b.data, b.size);
}

/* Every value of a page whose table lies there. */
static void assert_values(const struct pctab_runs *r, uint32_t at)
{
	uint32_t pc = 0;

	for (uint32_t i = 0; i < r->n; i++)
		for (; pc < r->runs[i].end; pc++)
			assert_int_equal((int32_t)unwind_page_value(at, pc), r->runs[i].value);
	assert_int_equal(pc, PAGE);
}

/* Values of all widths, indices of all widths, and up to 255 pcs in a chunk. */
TEST_CASE(a_look_up_finds_what_was_encoded)
{
	static const uint32_t longest[] = {1, 2, 10, 100, 1000, 30000};
	struct rng rng = rng_new();

	for (int i = 0; i < 30; i++) {
		_pctab_runs_ struct pctab_runs r = {};
		uint32_t at = (uint32_t)rng_below(&rng, 2 * WIRE_UNWIND_BLOCK_BYTES);

		pctabs_random(&rng, &r, PAGE, longest[i % N_OF(longest)], 0);
		if (at % WIRE_UNWIND_BLOCK_BYTES > WIRE_UNWIND_BLOCK_BYTES / 2)
			at -= WIRE_UNWIND_BLOCK_BYTES / 2;
		put_table(&r, at);
		assert_values(&r, at);
	}
}

/* A table that ends with its block is read within the padding. */
TEST_CASE(a_table_may_end_with_its_block)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 20; i++) {
		_pctab_runs_ struct pctab_runs r = {};
		_pctab_buffer_ struct pctab_buffer b = {};
		uint32_t at;

		pctabs_random(&rng, &r, PAGE, i % 2 ? 40 : 1, 0);
		assert_int_equal(pctab_linear__encode(&b, &r, 0), 0);
		at = 2 * WIRE_UNWIND_BLOCK_BYTES - (uint32_t)b.size;
		put_table(&r, at);
		assert_values(&r, at);
	}
}

static void put_rule(uint32_t at, struct wire_unwind_rule rule)
{
	memcpy(unwind_blocks[0] + at, &rule, sizeof(rule));
}

TEST_CASE(a_file_has_pages_and_rules)
{
	const struct wire_unwind_rule rule = {.base = WIRE_UNWIND_RBP, .cfa = 16};
	const struct wire_unwind_file f = {
		.start = 0x10000, .pages = 3, .directory = 64, .rules = 8, .n_rules = 3};
	static const uint32_t directory[] = {1000, WIRE_UNWIND_NOWHERE, 1000};
	_pctab_runs_ struct pctab_runs r = {};

	pctabs_add(&r, 0x100, 0);
	pctabs_add(&r, 0x200, 2);
	pctabs_add(&r, 0x300, 3);
	pctabs_add(&r, 0x400, -1);
	pctabs_add(&r, PAGE, 1);
	put_table(&r, 1000);
	memcpy(unwind_blocks[0] + 64, directory, sizeof(directory));
	put_rule(8, (struct wire_unwind_rule){});
	put_rule(16, (struct wire_unwind_rule){.base = WIRE_UNWIND_RSP, .cfa = 8});
	put_rule(24, rule);
	put_rule(32, (struct wire_unwind_rule){.base = WIRE_UNWIND_END});
	assert_int_equal(unwind_lookup(&f, 0x10000).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&f, 0x10100).base, WIRE_UNWIND_RBP);
	assert_int_equal(unwind_lookup(&f, 0x101ff).cfa, 16);
	/* Numbers of no rule. */
	assert_int_equal(unwind_lookup(&f, 0x10200).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&f, 0x10300).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&f, 0x1ffff).base, WIRE_UNWIND_RSP);
	assert_int_equal(unwind_lookup(&f, 0x20100).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&f, 0x30100).base, WIRE_UNWIND_RBP);
	assert_int_equal(unwind_lookup(&f, 0x40100).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&f, 0xffff).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&f, 0xffffffff00010100).base, WIRE_UNWIND_NONE);
}

TEST_CASE(a_file_without_tables_has_no_rule)
{
	const struct wire_unwind_file none = {}, outside = {.pages = 1,
							    .directory = UNWIND_BLOCKS << 20,
							    .rules = UNWIND_BLOCKS << 20,
							    .n_rules = 5};

	assert_int_equal(unwind_lookup(&none, 0).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&none, 0x1000).base, WIRE_UNWIND_NONE);
	assert_int_equal(unwind_lookup(&outside, 0x1000).base, WIRE_UNWIND_NONE);
}

/* A value that is read may be wrong, but it is in a block: there is nothing behind one. */
TEST_CASE(any_bytes_are_read_within_their_block)
{
	struct rng rng = rng_new();
	uint64_t sum = 0;

	for (int round = 0; round < 3; round++) {
		for (int block = 0; block < UNWIND_BLOCKS; block++)
			for (size_t i = 0; i < WIRE_UNWIND_BLOCK_VALUE; i++)
				unwind_blocks[block][i] =
					(uint8_t)(round ? rng_u64(&rng) | (round == 2) * 0xfc
							: 0xff);
		for (int i = 0; i < 300000; i++) {
			struct wire_unwind_file f = {
				.start = 0,
				.pages = UINT32_MAX,
				.directory = (uint32_t)rng_u64(&rng),
				.rules = (uint32_t)rng_u64(&rng),
				.n_rules = UINT32_MAX,
			};

			f.directory %= UNWIND_BLOCKS << WIRE_UNWIND_BLOCK_SHIFT;
			f.rules %= UNWIND_BLOCKS << WIRE_UNWIND_BLOCK_SHIFT;
			sum += unwind_lookup(&f, rng_u64(&rng) >> 16).base;
			sum += unwind_page_value((uint32_t)rng_u64(&rng) >> 10,
						 (uint32_t)rng_below(&rng, PAGE));
		}
	}
	assert_true(sum > 0);
}

TEST_MAIN(unwind_blocks_setup, NULL)
