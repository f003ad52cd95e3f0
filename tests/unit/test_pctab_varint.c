// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "pctab/varint.h"

#include "../fixtures/pctabs.h"

static void assert_encodes(const struct pctab_runs *r, unsigned int quantum_shift,
			   const char *bytes, size_t size)
{
	_pctab_runs_ struct pctab_runs back = {};
	_pctab_buffer_ struct pctab_buffer b = {};
	size_t used;

	assert_int_equal(pctab_varint__encode(&b, r, quantum_shift), 0);
	assert_int_equal(b.size, size);
	assert_memory_equal(b.data, bytes, size);
	assert_int_equal(pctab_varint__decode(b.data, b.size, quantum_shift, &back, &used), 0);
	assert_int_equal(used, size);
	assert_true(pctabs_equal(r, &back));
}

#define assert_golden_table(shift, bytes, ...) \
	assert_encodes(&RUNS(__VA_ARGS__), shift, bytes, sizeof(bytes) - 1)

static void tables_are_these_bytes(void **state)
{
	/* The first delta counts from -1. It may be 0, which does not end the table. */
	assert_golden_table(0, "\0\x01\0", {1, -1});
	assert_golden_table(0, "\x02\x7f\0", {127, 0});
	assert_golden_table(0, "\x02\x80\x01\0", {128, 0});
	assert_golden_table(0, "\x04\x10\x01\x02\x02\x03\0", {16, 1}, {18, 0}, {21, 1});
	assert_golden_table(2, "\x04\x10\x01\x02\0", {64, 1}, {72, 0});
	assert_golden_table(0, "\0\x80\x02\xd0\x0f\x01\0", {256, -1}, {257, 999});
	/* The largest steps between values. */
	assert_golden_table(0, "\xff\xff\xff\xff\x0f\x01\0", {1, INT32_MAX});
	assert_golden_table(0, "\xff\xff\xff\xff\x0f\x01\x02\x01\x01\x01\0", {1, INT32_MAX},
			    {2, INT32_MIN}, {3, INT32_MAX});
	/* The longest function. */
	assert_golden_table(0, "\x02\xff\xff\xff\xff\x0f\0", {UINT32_MAX, 0});
}

static void assert_finds_every_pc(const uint8_t *data, size_t size, unsigned int shift,
				  const struct pctab_runs *r)
{
	uint32_t pc = 0;
	int32_t value;

	for (size_t i = 0; i < r->n; i++) {
		for (; pc < r->runs[i].end; pc++) {
			assert_int_equal(pctab_varint__lookup(data, size, shift, pc, &value), 0);
			assert_int_equal(value, r->runs[i].value);
		}
	}
	assert_int_equal(pctab_varint__lookup(data, size, shift, pc, &value), -ERANGE);
	assert_int_equal(pctab_varint__lookup(data, size, shift, UINT32_MAX, &value), -ERANGE);
}

static void any_table_comes_back(void **state)
{
	_pctab_runs_ struct pctab_runs r = {}, back = {};
	struct rng rng = rng_new();

	for (int i = 0; i < 400; i++) {
		_pctab_buffer_ struct pctab_buffer b = {};
		unsigned int shift = (unsigned int)rng_below(&rng, 3);
		_free_ uint8_t *exact = NULL;
		size_t used;

		pctabs_random(&rng, &r, 1 + (uint32_t)rng_below(&rng, 600),
			      1 + (uint32_t)rng_below(&rng, 300), shift);
		assert_int_equal(pctab_varint__encode(&b, &r, shift), 0);
		/* No padding follows. */
		exact = pctabs_copy(b.data, b.size);
		assert_int_equal(pctab_varint__decode(exact, b.size, shift, &back, &used), 0);
		assert_int_equal(used, b.size);
		assert_true(pctabs_equal(&r, &back));
		assert_finds_every_pc(exact, b.size, shift, &r);
	}
}

static void a_table_ends_itself(void **state)
{
	static const uint8_t bytes[] = {4, 16, 0, 9, 9, 9};
	_pctab_runs_ struct pctab_runs r = {};
	size_t used;
	int32_t value;

	assert_int_equal(pctab_varint__decode(bytes, sizeof(bytes), 0, &r, &used), 0);
	assert_int_equal(used, 3);
	assert_int_equal(pctab_varint__lookup(bytes, sizeof(bytes), 0, 15, &value), 0);
	assert_int_equal(value, 1);
	assert_int_equal(pctab_varint__lookup(bytes, sizeof(bytes), 0, 16, &value), -ERANGE);
}

static void assert_damaged(const char *bytes, size_t size, unsigned int quantum_shift)
{
	_free_ uint8_t *exact = pctabs_copy((const uint8_t *)bytes, size);
	_pctab_runs_ struct pctab_runs r = {};

	assert_int_equal(pctab_varint__decode(exact, size, quantum_shift, &r, NULL), -EBADMSG);
}

#define assert_no_table(bytes, shift) assert_damaged(bytes, sizeof(bytes) - 1, shift)

static void damage_is_an_error(void **state)
{
	assert_no_table("", 0);
	assert_no_table("\0", 0);
	assert_no_table("\x04\x10", 0);
	assert_no_table("\x04\x10\x01", 0);
	/* Not the shortest form; an empty run; more than 32 bits. */
	assert_no_table("\x82\0\x10\0", 0);
	assert_no_table("\x04\x10\x80\0\x01\0", 0);
	assert_no_table("\x04\0\0", 0);
	assert_no_table("\xff\xff\xff\xff\x1f\x01\0", 0);
	assert_no_table("\xff\xff\xff\xff\xff\x01\x01\0", 0);
	/* Longer than the largest pc. */
	assert_no_table("\x02\xff\xff\xff\xff\x0f\x01\x01\0", 0);
	assert_no_table("\x02\xff\xff\xff\xff\x0f\0", 1);
	assert_no_table("\x02\x01\0", PCTAB_QUANTUM_SHIFT_MAX + 1);
}

/* A look-up in any bytes returns a value or an error, and reads no other bytes. */
static void look_at(const uint8_t *bytes, size_t size, unsigned int shift, uint32_t pcs)
{
	_free_ uint8_t *exact = pctabs_copy(bytes, size);
	_pctab_runs_ struct pctab_runs r = {};
	bool sound = !pctab_varint__decode(exact, size, shift, &r, NULL);
	uint32_t run = 0;
	int32_t value;

	for (uint32_t pc = 0; pc < pcs; pc++) {
		int err = pctab_varint__lookup(exact, size, shift, pc, &value);

		if (!sound)
			continue;
		while (run < r.n && r.runs[run].end <= pc)
			run++;
		assert_int_equal(err, run < r.n ? 0 : -ERANGE);
		if (run < r.n)
			assert_int_equal(value, r.runs[run].value);
	}
}

static void cut_and_flipped_tables_do_no_harm(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct rng rng = rng_new();

	for (int i = 0; i < 20; i++) {
		_pctab_buffer_ struct pctab_buffer b = {};

		pctabs_random(&rng, &r, 600, i % 2 ? 40 : 300, 0);
		assert_int_equal(pctab_varint__encode(&b, &r, 0), 0);
		for (size_t size = 0; size < b.size; size++) {
			look_at(b.data, size, 0, 610);
			assert_damaged((const char *)b.data, size, 0);
		}
		for (size_t bit = 0; bit < 8 * b.size; bit++) {
			b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			look_at(b.data, b.size, 0, 610);
			b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

static void an_invalid_table_is_not_encoded(void **state)
{
	struct pctab_runs r = RUNS({4, 1}, {8, 1});
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_varint__encode(&b, &r, 0), -EINVAL);
	r.runs[1] = (struct pctab_run){6, 2};
	assert_int_equal(pctab_varint__encode(&b, &r, 2), -EINVAL);
	r.n = 0;
	assert_int_equal(pctab_varint__encode(&b, &r, 0), -EINVAL);
	assert_int_equal(b.size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_these_bytes),
		cmocka_unit_test(any_table_comes_back),
		cmocka_unit_test(a_table_ends_itself),
		cmocka_unit_test(damage_is_an_error),
		cmocka_unit_test(cut_and_flipped_tables_do_no_harm),
		cmocka_unit_test(an_invalid_table_is_not_encoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
