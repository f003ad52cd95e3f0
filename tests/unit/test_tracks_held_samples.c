// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/samples.h"

#include "test.h"

static struct held_sample numbered(uint32_t number, uint32_t n_frames)
{
	struct held_sample s = {.sample = {.tid = number}, .wire = {.n = n_frames}};

	for (uint32_t i = 0; i < n_frames; i++)
		s.wire.frames[i] = number + i;
	return s;
}

/* The memory grows, and samples of all sizes follow one another. */
static void all_come_out_as_they_went_in(void **state)
{
	enum { N = 400 };
	struct held_samples h = {0};
	struct held_sample s;
	size_t at = 0;

	assert_false(held_samples__next(&h, &at, &s));
	for (uint32_t i = 0; i < N; i++) {
		s = numbered(i, i % (WIRE_SAMPLE_FRAMES + 1));
		assert_int_equal(held_samples__add(&h, &s), 0);
	}
	for (uint32_t i = 0; i < N; i++) {
		assert_true(held_samples__next(&h, &at, &s));
		assert_int_equal(s.sample.tid, i);
		assert_int_equal(s.wire.n, i % (WIRE_SAMPLE_FRAMES + 1));
		for (uint32_t k = 0; k < s.wire.n; k++)
			assert_int_equal(s.wire.frames[k], i + k);
	}
	assert_false(held_samples__next(&h, &at, &s));
	held_samples__clear(&h);
}

static void an_emptied_one_begins_anew(void **state)
{
	struct held_sample a = numbered(1, 3), b = numbered(2, 0), out;
	struct held_samples h = {0};
	size_t at = 0;

	assert_int_equal(held_samples__add(&h, &a), 0);
	held_samples__empty(&h);
	assert_int_equal(held_samples__add(&h, &b), 0);
	assert_true(held_samples__next(&h, &at, &out));
	assert_int_equal(out.sample.tid, 2);
	assert_int_equal(out.wire.n, 0);
	assert_false(held_samples__next(&h, &at, &out));
	held_samples__clear(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_out_as_they_went_in),
		cmocka_unit_test(an_emptied_one_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
