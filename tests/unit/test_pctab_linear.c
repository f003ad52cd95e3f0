// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Encoder and decoder; test_pctab_linear_lookup.c covers look-ups. */
#include "test.h"
#include "pctab/linear.h"

#include "../fixtures/pctabs.h"

static struct pctab_linear table_of(const uint8_t *data, size_t size, const struct pctab_runs *r)
{
	return (struct pctab_linear){data, (uint32_t)size, pctab_runs__length(r)};
}

/* Encode, decode from memory without padding, compare. */
static void assert_comes_back(const struct pctab_runs *r, unsigned int shift,
			      struct pctab_linear_stats *stats)
{
	_pctab_runs_ struct pctab_runs back = {};
	_pctab_buffer_ struct pctab_buffer b = {};
	_free_ uint8_t *exact = NULL;
	struct pctab_linear t;

	assert_int_equal(pctab_linear__encode(&b, r, shift), 0);
	exact = pctabs_copy(b.data, b.size);
	t = table_of(exact, b.size, r);
	assert_int_equal(pctab_linear__decode(&t, shift, &back, stats), 0);
	assert_true(pctabs_equal(r, &back));
}

static void assert_encodes(const struct pctab_runs *r, unsigned int shift, const char *bytes,
			   size_t size)
{
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_linear__encode(&b, r, shift), 0);
	assert_int_equal(b.size, size);
	assert_memory_equal(b.data, bytes, size);
	assert_comes_back(r, shift, NULL);
}

#define assert_golden_table(shift, bytes, ...) \
	assert_encodes(&RUNS(__VA_ARGS__), shift, bytes, sizeof(bytes) - 1)

static void tables_are_these_bytes(void **state)
{
	/* One chunk: no index. n, pcs, lengths, values. */
	assert_golden_table(0, "\0\x01\x05", {10, 5});
	assert_golden_table(0, "\0\x01\xff", {256, -1});
	assert_golden_table(0, "\0\x02\x80\0", {1, 128});
	assert_golden_table(0, "\0\x03\0\x80\0\0", {1, 32768});
	assert_golden_table(0, "\x02\x03\x05\x19\x01\x2b\x01\0", {3, 1}, {5, 300}, {9, 1});
	assert_golden_table(0, "\x01\x01\x07\0\0\0\x80\xff", {1, INT32_MIN}, {2, INT32_MAX});
	/* 900 bytes: four chunks and three index entries. All chunks share the first one's data. */
	assert_golden_table(0, "\0\0\0\0\x01\x07", {900, 7});
	/* A change at the start of a chunk is not listed. */
	assert_golden_table(0, "\x03\0\x01\x01\0\x01\x02", {256, 1}, {300, 2});
	assert_golden_table(0, "\x03\0\x01\x01\0\x01\x02", {256, 1}, {512, 2});
	/* A chunk shares data only with an earlier chunk of the same value. */
	assert_golden_table(0, "\x03\0\x06\0\x01\x01\0\x01\x02\x01\x09\x05\x02\xff", {256, 1},
			    {512, 2}, {768, 1}, {777, 2}, {800, 1});
	/* Quanta of 4 bytes. */
	assert_golden_table(2, "\x05\x01\x04\x05\x01\x01\0\x01\x01", {16, 1}, {1024, 2}, {1028, 1});
	assert_golden_table(2, "\0\x01\x07", {1024, 7});
}

/* Change the value at each pc. */
static void fill_alternating(struct pctab_runs *r, uint32_t quanta, unsigned int shift)
{
	pctab_runs__clear(r);
	for (uint32_t i = 0; i < quanta; i++)
		pctabs_add(r, (i + 1) << shift, i % 2 ? INT32_MAX : INT32_MIN + (int32_t)i);
}

static void chunks_hold_up_to_255_pcs(void **state)
{
	static const uint32_t lengths[] = {1, 2, 254, 255, 256, 257, 258, 511, 512, 513, 1024};
	_pctab_runs_ struct pctab_runs r = {};
	struct pctab_linear_stats stats;

	for (size_t i = 0; i < N_OF(lengths); i++) {
		for (unsigned int shift = 0; shift <= 2; shift++) {
			uint32_t listed = lengths[i] < 256 ? lengths[i] - 1 : 255;

			fill_alternating(&r, lengths[i], shift);
			assert_comes_back(&r, shift, &stats);
			assert_int_equal(stats.most_pcs, listed);
			assert_int_equal(stats.chunks, (lengths[i] + 255) / 256);
			assert_int_equal(!stats.index_width, lengths[i] <= 256);
		}
	}
}

/* A chunk of `size` bytes: one value of 4 bytes, `two` values of 2 and the rest of 4. */
static void fill_chunk(struct pctab_runs *r, uint32_t chunk, uint32_t size)
{
	const int32_t base = 1 << 24;

	for (uint32_t n = 1; n <= 255; n++) {
		for (uint32_t two = 0; two <= n; two++) {
			if (1 + n + n / 4 + 1 + 4 * (n + 1) - 2 * two != size)
				continue;
			for (uint32_t i = 0; i < n; i++)
				pctabs_add(r, 256 * chunk + i + 1,
					   !i	      ? base
					   : i <= two ? base + 1000 + (int32_t)i
						      : base + (1 << 20) + (int32_t)i);
			pctabs_add(r, 256 * (chunk + 1),
				   base + (n <= two ? 1000 : 1 << 20) + (int32_t)n);
			return;
		}
	}
	fail_msg("no chunk has %u bytes", size);
}

/* The index has this width if the chunks have these sizes (up to a 0) and one more follows. */
static void assert_index_width(const uint32_t *sizes, uint32_t width)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct pctab_linear_stats stats;
	uint32_t i;

	for (i = 0; sizes[i]; i++)
		fill_chunk(&r, i, sizes[i]);
	pctabs_add(&r, 256 * i + 9, 5);
	assert_comes_back(&r, 0, &stats);
	assert_int_equal(stats.index_width, width);
}

static void an_index_is_as_narrow_as_it_can_be(void **state)
{
	uint32_t long_table[50] = {};

	/* The first entry must not equal the mark of a wider index. */
	assert_index_width((const uint32_t[]){0xfd, 0}, 1);
	assert_index_width((const uint32_t[]){0xfe, 0}, 2);
	assert_index_width((const uint32_t[]){0xff, 0}, 2);
	/* The others may. */
	assert_index_width((const uint32_t[]){0x40, 0xfe - 0x40, 0}, 1);
	assert_index_width((const uint32_t[]){0x40, 0xff - 0x40, 0}, 1);
	assert_index_width((const uint32_t[]){0x40, 0x100 - 0x40, 0}, 2);
	for (size_t i = 0; i < 48; i++)
		long_table[i] = 1344;
	long_table[48] = 0xffff - 48 * 1344;
	assert_index_width(long_table, 2);
	long_table[48]++;
	assert_index_width(long_table, 4);
}

static void constant_chunks_are_stored_once(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};
	_pctab_buffer_ struct pctab_buffer b = {};
	struct pctab_linear_stats stats;

	/* 100 constant chunks with three different values, and one chunk that is not constant. */
	for (uint32_t i = 0; i < 100; i++)
		pctabs_add(&r, 256 * (i + 1), (int32_t)i % 3);
	pctabs_add(&r, 25610, 8);
	pctabs_add(&r, 25620, 9);
	assert_comes_back(&r, 0, &stats);
	assert_int_equal(stats.chunks, 101);
	assert_int_equal(stats.constant, 100);
	assert_int_equal(stats.shared, 97);
	assert_int_equal(pctab_linear__encode(&b, &r, 0), 0);
	assert_int_equal(b.size, 100 + 3 * 3 + 5);
}

static void any_table_comes_back(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct rng rng = rng_new();

	for (int i = 0; i < 3000; i++) {
		unsigned int shift = (unsigned int)rng_below(&rng, 3);
		uint32_t quanta = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 10) ? 700 : 40000);

		pctabs_random(&rng, &r, quanta, 1 + (uint32_t)rng_any_size(&rng) % 1000, shift);
		assert_comes_back(&r, shift, NULL);
	}
}

static void tables_are_appended(void **state)
{
	_pctab_runs_ struct pctab_runs r = {}, back = {};
	_pctab_buffer_ struct pctab_buffer b = {};
	struct pctab_linear t;
	size_t first;

	pctabs_add(&r, 700, 5);
	assert_int_equal(pctab_linear__encode(&b, &r, 0), 0);
	first = b.size;
	assert_int_equal(pctab_linear__encode(&b, &r, 0), 0);
	assert_int_equal(b.size, 2 * first);
	t = table_of(b.data + first, first, &r);
	assert_int_equal(pctab_linear__decode(&t, 0, &back, NULL), 0);
	assert_true(pctabs_equal(&r, &back));
}

static int decode(const char *bytes, size_t size, uint32_t length, unsigned int shift)
{
	_free_ uint8_t *exact = pctabs_copy((const uint8_t *)bytes, size);
	struct pctab_linear t = {exact, (uint32_t)size, length};
	_pctab_runs_ struct pctab_runs r = {};

	return pctab_linear__decode(&t, shift, &r, NULL);
}

#define decode_bytes(bytes, length, shift) decode(bytes, sizeof(bytes) - 1, length, shift)

static void damage_is_an_error(void **state)
{
	assert_int_equal(decode_bytes("\x02\x03\x05\x19\x01\x2b\x01\0", 9, 0), 0);
	/* No bytes; no length; a length that is no multiple of the quantum; an invalid quantum. */
	assert_int_equal(decode_bytes("", 9, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\0\x01\x05", 0, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\0\x01\x05", 9, 1), -EBADMSG);
	assert_int_equal(decode_bytes("\0\x01\x05", 64, PCTAB_QUANTUM_SHIFT_MAX + 1), -EBADMSG);
	/* A pc beyond the end, repeated, descending, or 0. */
	assert_int_equal(decode_bytes("\x02\x03\x05\x19\x01\x2b\x01\0", 5, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\x02\x03\x03\x19\x01\x2b\x01\0", 9, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\x02\x05\x03\x19\x01\x2b\x01\0", 9, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\x02\0\x05\x19\x01\x2b\x01\0", 9, 0), -EBADMSG);
	/* A value without a length; a length without a value; unused bytes. */
	assert_int_equal(decode_bytes("\x02\x03\x05\x18\x01\x2b\x01\0", 9, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\x02\x03\x05\x59\x01\x2b\x01\0", 9, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\x02\x03\x05\x19\x01\x2b\x01\0\0", 9, 0), -EBADMSG);
	/* More pcs than bytes; an index without chunks; a chunk outside the table. */
	assert_int_equal(decode_bytes("\xff\x01", 256, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\0\0\0", 900, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\xff\0\0\0", UINT32_MAX, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\0\0\x03\0\x01\x07", 900, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\xfe\xff\xff\0\x01\x07", 300, 0), -EBADMSG);
	assert_int_equal(decode_bytes("\xff\xff\xff\xff\xff\0\x01\x07", 300, 0), -EBADMSG);
}

/* The encoder does not write such tables, but they are unambiguous. */
static void values_may_be_longer_than_they_need(void **state)
{
	assert_int_equal(decode_bytes("\0\x03\x05\0\0\0", 10, 0), 0);
	assert_int_equal(decode_bytes("\xfe\0\0\0\x01\x07", 300, 0), 0);
	assert_int_equal(decode_bytes("\xff\0\0\0\0\0\x01\x07", 300, 0), 0);
}

static void a_cut_table_is_an_error(void **state)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct rng rng = rng_new();

	for (int i = 0; i < 60; i++) {
		_pctab_buffer_ struct pctab_buffer b = {};

		pctabs_random(&rng, &r, 1 + (uint32_t)rng_below(&rng, 3000), 40, 0);
		assert_int_equal(pctab_linear__encode(&b, &r, 0), 0);
		for (size_t size = 0; size < b.size; size++)
			assert_int_equal(decode((char *)b.data, size, pctab_runs__length(&r), 0),
					 -EBADMSG);
	}
}

static void an_invalid_table_is_not_encoded(void **state)
{
	struct pctab_runs r = RUNS({4, 1}, {6, 2});
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_linear__encode(&b, &r, 2), -EINVAL);
	r.n = 0;
	assert_int_equal(pctab_linear__encode(&b, &r, 0), -EINVAL);
	assert_int_equal(b.size, 0);
}

static void the_longest_function_has_as_many_chunks(void **state)
{
	struct pctab_runs r = RUNS({UINT32_MAX, 1});
	struct pctab_linear_stats stats;

	assert_int_equal(pctab_linear__chunks(UINT32_MAX, 0), 1 << 24);
	assert_int_equal(pctab_linear__chunks(0, 0), 0);
	assert_comes_back(&r, 0, &stats);
	assert_int_equal(stats.chunks, 1 << 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_these_bytes),
		cmocka_unit_test(chunks_hold_up_to_255_pcs),
		cmocka_unit_test(an_index_is_as_narrow_as_it_can_be),
		cmocka_unit_test(constant_chunks_are_stored_once),
		cmocka_unit_test(any_table_comes_back),
		cmocka_unit_test(tables_are_appended),
		cmocka_unit_test(damage_is_an_error),
		cmocka_unit_test(values_may_be_longer_than_they_need),
		cmocka_unit_test(a_cut_table_is_an_error),
		cmocka_unit_test(an_invalid_table_is_not_encoded),
		cmocka_unit_test(the_longest_function_has_as_many_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
