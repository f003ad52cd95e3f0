// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "pctab/pctab.h"
#include "pctab/varint.h"
#include "pctab/linear.h"

#include "test.h"
#include "../fixtures/pctabs.h"
#include "../fixtures/rows.h"

TEST_CASE(runs_of_the_same_value_become_one)
{
	_pctab_runs_ struct pctab_runs r = {};

	assert_int_equal(pctab_runs__length(&r), 0);
	assert_int_equal(pctab_runs__add(&r, 3, 7), 0);
	assert_int_equal(pctab_runs__add(&r, 5, 7), 0);
	assert_int_equal(pctab_runs__add(&r, 6, -7), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.runs[0].end, 5);
	assert_int_equal(pctab_runs__length(&r), 6);
}

TEST_CASE(ends_only_rise)
{
	_pctab_runs_ struct pctab_runs r = {};

	assert_int_equal(pctab_runs__add(&r, 0, 1), -EINVAL);
	assert_int_equal(pctab_runs__add(&r, 4, 1), 0);
	assert_int_equal(pctab_runs__add(&r, 4, 2), -EINVAL);
	assert_int_equal(pctab_runs__add(&r, 3, 1), -EINVAL);
	assert_int_equal(r.n, 1);
	pctab_runs__clear(&r);
	assert_int_equal(pctab_runs__add(&r, 1, 1), 0);
}

TEST_CASE(invalid_runs_are_refused)
{
	struct pctab_run runs[] = {{4, 1}, {8, 2}};
	struct pctab_runs r = {.runs = runs, .n = 2};

	assert_int_equal(pctab_runs__check(&r, 0), 0);
	assert_int_equal(pctab_runs__check(&r, 2), 0);
	assert_int_equal(pctab_runs__check(&r, 3), -EINVAL);
	assert_int_equal(pctab_runs__check(&r, PCTAB_QUANTUM_SHIFT_MAX + 1), -EINVAL);
	runs[1].value = 1;
	assert_int_equal(pctab_runs__check(&r, 0), -EINVAL);
	runs[1] = (struct pctab_run){4, 2};
	assert_int_equal(pctab_runs__check(&r, 0), -EINVAL);
	r.n = 0;
	assert_int_equal(pctab_runs__check(&r, 0), -EINVAL);
}

TEST_CASE(too_much_is_refused)
{
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_buffer__append(&b, "x", 1), 0);
	assert_int_equal(pctab_buffer__reserve(&b, SIZE_MAX), -ENOMEM);
	assert_int_equal(pctab_buffer__reserve(&b, SIZE_MAX - 1), -ENOMEM);
	assert_int_equal(b.size, 1);
	assert_int_equal(b.data[0], 'x');
}

/* ---- Varint ---------------------------------------------------------------------------------- */

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

#define varint_is(shift, bytes, ...) \
	assert_encodes(&RUNS(__VA_ARGS__), shift, bytes, sizeof(bytes) - 1)

TEST_CASE(tables_are_these_bytes)
{
	/* The first delta counts from -1. It may be 0, which does not end the table. */
	varint_is(0, "\0\x01\0", {1, -1});
	varint_is(0, "\x02\x7f\0", {127, 0});
	varint_is(0, "\x02\x80\x01\0", {128, 0});
	varint_is(0, "\x04\x10\x01\x02\x02\x03\0", {16, 1}, {18, 0}, {21, 1});
	varint_is(2, "\x04\x10\x01\x02\0", {64, 1}, {72, 0});
	varint_is(0, "\0\x80\x02\xd0\x0f\x01\0", {256, -1}, {257, 999});
	/* The largest steps between values. */
	varint_is(0, "\xff\xff\xff\xff\x0f\x01\0", {1, INT32_MAX});
	varint_is(0, "\xff\xff\xff\xff\x0f\x01\x02\x01\x01\x01\0", {1, INT32_MAX}, {2, INT32_MIN},
		  {3, INT32_MAX});
	/* The longest function. */
	varint_is(0, "\x02\xff\xff\xff\xff\x0f\0", {UINT32_MAX, 0});
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

TEST_CASE(any_table_comes_back)
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

TEST_CASE(a_table_ends_itself)
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

TEST_CASE(damage_is_an_error)
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

TEST_CASE(cut_and_flipped_tables_do_no_harm)
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

TEST_CASE(an_invalid_table_is_not_encoded)
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

/* ---- Linear ---------------------------------------------------------------------------------- */

/* Encoder and decoder. */

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

static void assert_linear(const struct pctab_runs *r, unsigned int shift, const char *bytes,
			  size_t size)
{
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_linear__encode(&b, r, shift), 0);
	assert_int_equal(b.size, size);
	assert_memory_equal(b.data, bytes, size);
	assert_comes_back(r, shift, NULL);
}

#define linear_is(shift, bytes, ...) \
	assert_linear(&RUNS(__VA_ARGS__), shift, bytes, sizeof(bytes) - 1)

TEST_CASE(pctab_linear_tables_are_these_bytes)
{
	/* One chunk: no index. n, pcs, lengths, values. */
	linear_is(0, "\0\x01\x05", {10, 5});
	linear_is(0, "\0\x01\xff", {256, -1});
	linear_is(0, "\0\x02\x80\0", {1, 128});
	linear_is(0, "\0\x03\0\x80\0\0", {1, 32768});
	linear_is(0, "\x02\x03\x05\x19\x01\x2b\x01\0", {3, 1}, {5, 300}, {9, 1});
	linear_is(0, "\x01\x01\x07\0\0\0\x80\xff", {1, INT32_MIN}, {2, INT32_MAX});
	/* 900 bytes: four chunks and three index entries. All chunks share the first one's data. */
	linear_is(0, "\0\0\0\0\x01\x07", {900, 7});
	/* A change at the start of a chunk is not listed. */
	linear_is(0, "\x03\0\x01\x01\0\x01\x02", {256, 1}, {300, 2});
	linear_is(0, "\x03\0\x01\x01\0\x01\x02", {256, 1}, {512, 2});
	/* A chunk shares data only with an earlier chunk of the same value. */
	linear_is(0, "\x03\0\x06\0\x01\x01\0\x01\x02\x01\x09\x05\x02\xff", {256, 1}, {512, 2},
		  {768, 1}, {777, 2}, {800, 1});
	/* Quanta of 4 bytes. */
	linear_is(2, "\x05\x01\x04\x05\x01\x01\0\x01\x01", {16, 1}, {1024, 2}, {1028, 1});
	linear_is(2, "\0\x01\x07", {1024, 7});
}

/* Change the value at each pc. */
static void fill_alternating(struct pctab_runs *r, uint32_t quanta, unsigned int shift)
{
	pctab_runs__clear(r);
	for (uint32_t i = 0; i < quanta; i++)
		pctabs_add(r, (i + 1) << shift, i % 2 ? INT32_MAX : INT32_MIN + (int32_t)i);
}

TEST_CASE(chunks_hold_up_to_255_pcs)
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

TEST_CASE(an_index_is_as_narrow_as_it_can_be)
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

TEST_CASE(constant_chunks_are_stored_once)
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
	assert_pairs(stats.chunks, 101, stats.constant, 100, stats.shared, 97);
	assert_int_equal(pctab_linear__encode(&b, &r, 0), 0);
	assert_int_equal(b.size, 100 + 3 * 3 + 5);
}

TEST_CASE(pctab_linear_any_table_comes_back)
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

TEST_CASE(tables_are_appended)
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

TEST_CASE(pctab_linear_damage_is_an_error)
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
TEST_CASE(values_may_be_longer_than_they_need)
{
	assert_int_equal(decode_bytes("\0\x03\x05\0\0\0", 10, 0), 0);
	assert_int_equal(decode_bytes("\xfe\0\0\0\x01\x07", 300, 0), 0);
	assert_int_equal(decode_bytes("\xff\0\0\0\0\0\x01\x07", 300, 0), 0);
}

TEST_CASE(a_cut_table_is_an_error)
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

TEST_CASE(pctab_linear_an_invalid_table_is_not_encoded)
{
	struct pctab_runs r = RUNS({4, 1}, {6, 2});
	_pctab_buffer_ struct pctab_buffer b = {};

	assert_int_equal(pctab_linear__encode(&b, &r, 2), -EINVAL);
	r.n = 0;
	assert_int_equal(pctab_linear__encode(&b, &r, 0), -EINVAL);
	assert_int_equal(b.size, 0);
}

TEST_CASE(the_longest_function_has_as_many_chunks)
{
	struct pctab_runs r = RUNS({UINT32_MAX, 1});
	struct pctab_linear_stats stats;

	assert_int_equal(pctab_linear__chunks(UINT32_MAX, 0), 1 << 24);
	assert_int_equal(pctab_linear__chunks(0, 0), 0);
	assert_comes_back(&r, 0, &stats);
	assert_int_equal(stats.chunks, 1 << 24);
}

/* ---- Linear lookup --------------------------------------------------------------------------- */

/* Compares the look-up with the decoded table. */

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

TEST_CASE(any_table_is_looked_up)
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

TEST_CASE(any_number_of_pcs_in_a_chunk_is_looked_up)
{
	_pctab_runs_ struct pctab_runs r = {};
	struct rng rng = rng_new();

	for (uint32_t quanta = 1; quanta <= 258; quanta++) {
		pctabs_random(&rng, &r, quanta, 1, 0);
		assert_looked_up(&r, 0);
	}
}

TEST_CASE(wide_indices_are_looked_up)
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
static void look_up_in(const uint8_t *bytes, size_t size, uint32_t length, unsigned int shift)
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

TEST_CASE(pctab_linear_lookup_cut_and_flipped_tables_do_no_harm)
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
			look_up_in(b.data, size, length, 0);
		for (size_t bit = 0; bit < 8 * b.size; bit++) {
			b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			look_up_in(b.data, b.size, length, 0);
			b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		look_up_in(b.data, b.size, length + 1, 0);
		look_up_in(b.data, b.size, UINT32_MAX, 0);
		look_up_in(b.data, b.size, 1, 0);
	}
}

TEST_CASE(random_bytes_do_no_harm)
{
	struct rng rng = rng_new();

	for (int i = 0; i < 3000; i++) {
		uint8_t bytes[400];
		size_t size = rng_below(&rng, sizeof(bytes) + 1);

		for (size_t k = 0; k < size; k++)
			bytes[k] = (uint8_t)rng_any_size(&rng);
		if (size && !rng_below(&rng, 3))
			bytes[0] = (uint8_t)(0xfe + rng_below(&rng, 2));
		look_up_in(bytes, size, 1 + (uint32_t)rng_any_size(&rng) % UINT32_MAX,
			   (unsigned int)rng_below(&rng, 3));
	}
}

TEST_MAIN(NULL, NULL)
