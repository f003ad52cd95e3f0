// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Compares the look-up with the decoded table. */

#include "test.h"
#include "../fixtures/pctabs.h"
#include "pctab/linear.h"

/* Each pc of the table is found. */
static void assert_finds(const struct pctab_linear *t, unsigned int shift,
			 const struct pctab_runs *r)
{
	uint32_t pc = 0;
	int32_t value;

	for (size_t i = 0; i < r->n; i++) {
		for (; pc < r->runs[i].end; pc++) {
			if (pctab_linear__lookup(t, shift, pc, &value))
				fail_msg("nothing at %u", pc);
			if (value != r->runs[i].value)
				fail_msg("%d at %u, not %d", value, pc, r->runs[i].value);
		}
	}
	assert_int_equal(pctab_linear__lookup(t, shift, pc, &value), -ERANGE);
	assert_int_equal(pctab_linear__lookup(t, shift, UINT32_MAX, &value), -ERANGE);
}

static void assert_looked_up(const struct pctab_runs *r, unsigned int shift)
{
	_pctab_buffer_ struct pctab_buffer b = {};
	_free_ uint8_t *copy = NULL;
	struct pctab_linear t;

	assert_int_equal(pctab_linear__encode(&b, r, shift), 0);
	copy = pctabs_copy(b.data, b.size);
	t = (struct pctab_linear){copy, (uint32_t)b.size, pctab_runs__length(r)};
	assert_finds(&t, shift, r);
}

static void any_table_is_looked_up(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct rng rng = rng_new();

	for (int i = 0; i < 300; i++) {
		unsigned int shift = (unsigned int)rng_below(&rng, 3);

		pctabs_random(&rng, &r, 1 + (uint32_t)rng_below(&rng, 900),
			      1 + (uint32_t)rng_any_size(&rng) % 300, shift);
		assert_looked_up(&r, shift);
	}
}

static void any_number_of_pcs_in_a_chunk_is_looked_up(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct rng rng = rng_new();

	for (uint32_t quanta = 1; quanta <= 258; quanta++) {
		pctabs_random(&rng, &r, quanta, 1, 0);
		assert_looked_up(&r, 0);
	}
}

static void wide_indices_are_looked_up(void **state)
{
	static const uint32_t quanta[] = {3000, 20000, 60000};
	struct rng rng = rng_new();

	for (size_t i = 0; i < N_OF(quanta); i++) {
		_pctab_runs_ struct pctab_runs r = {};

		for (uint32_t end = 1; end <= quanta[i]; end++)
			pctabs_add(&r, end,
				   (int32_t)(end % 2) << 30 | (int32_t)rng_below(&rng, 99));
		assert_looked_up(&r, 0);
	}
}

/*
 * A look-up in any bytes returns a value or an error, and reads only the bytes.
 * If the decoder accepts the bytes, the look-up agrees with it.
 */
static void look_at(const uint8_t *bytes, size_t size, uint32_t length, unsigned int shift)
{
	_free_ uint8_t *copy = pctabs_copy(bytes, size);
	struct pctab_linear t = {copy, (uint32_t)size, length};
	_pctab_runs_ struct pctab_runs r = {};
	int32_t value;

	if (!pctab_linear__decode(&t, shift, &r, NULL)) {
		assert_finds(&t, shift, &r);
		return;
	}
	for (uint32_t pc = 0; pc < 1000 && pc < length; pc++)
		pctab_linear__lookup(&t, shift, pc, &value);
	pctab_linear__lookup(&t, shift, length - 1, &value);
}

static void cut_and_flipped_tables_do_no_harm(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct rng rng = rng_new();

	for (int i = 0; i < 12; i++) {
		_pctab_buffer_ struct pctab_buffer b = {};
		uint32_t length;

		pctabs_random(&rng, &r, 1 + (uint32_t)rng_below(&rng, 800), 60, 0);
		length = pctab_runs__length(&r);
		assert_int_equal(pctab_linear__encode(&b, &r, 0), 0);
		for (size_t size = 0; size <= b.size; size++)
			look_at(b.data, size, length, 0);
		for (size_t bit = 0; bit < 8 * b.size; bit++) {
			b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			look_at(b.data, b.size, length, 0);
			b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		look_at(b.data, b.size, length + 1, 0);
		look_at(b.data, b.size, UINT32_MAX, 0);
		look_at(b.data, b.size, 1, 0);
	}
}

static void random_bytes_do_no_harm(void **state)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 3000; i++) {
		uint8_t bytes[400];
		size_t size = rng_below(&rng, sizeof(bytes) + 1);

		for (size_t k = 0; k < size; k++)
			bytes[k] = (uint8_t)rng_any_size(&rng);
		if (size && !rng_below(&rng, 3))
			bytes[0] = (uint8_t)(0xfe + rng_below(&rng, 2));
		look_at(bytes, size, 1 + (uint32_t)rng_any_size(&rng) % UINT32_MAX,
			(unsigned int)rng_below(&rng, 3));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_table_is_looked_up),
		cmocka_unit_test(any_number_of_pcs_in_a_chunk_is_looked_up),
		cmocka_unit_test(wide_indices_are_looked_up),
		cmocka_unit_test(cut_and_flipped_tables_do_no_harm),
		cmocka_unit_test(random_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
