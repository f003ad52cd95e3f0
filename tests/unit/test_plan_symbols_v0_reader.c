// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/v0_reader.h"

#include "test.h"

static struct v0_reader reader_of(const char *s, struct demangled *d)
{
	d->len = 0;
	return (struct v0_reader){.s = s, .len = strlen(s), .out = d};
}

static void numbers(void **state)
{
	static const struct {
		const char *s;
		uint64_t value;
	} numbers[] = {{"_", 0}, {"0_", 1}, {"a_", 11}, {"Z_", 62}, {"10_", 63}, {"_x", 0}};
	struct demangled d;

	for (size_t i = 0; i < N_OF(numbers); i++) {
		struct v0_reader r = reader_of(numbers[i].s, &d);

		assert_true(v0__read_base62(&r) == numbers[i].value);
		assert_false(r.bad);
		assert_int_equal(r.at, strchr(numbers[i].s, '_') + 1 - numbers[i].s);
	}
}

static void wrong_numbers(void **state)
{
	static const char *const wrong[] = {"", "0", "0-_", "zzzzzzzzzzzzzzz_"};
	struct demangled d;

	for (size_t i = 0; i < N_OF(wrong); i++) {
		struct v0_reader r = reader_of(wrong[i], &d);

		v0__read_base62(&r);
		assert_true(r.bad);
	}
}

/* Back references cannot repeat a text for ever. */
static void steps_are_bounded(void **state)
{
	struct demangled d;
	struct v0_reader r = reader_of("aa", &d);
	size_t steps = 0;

	for (; v0__next(&r) && steps < 1000000; steps++)
		r.at = 0;
	assert_true(r.bad);
	assert_in_range(steps, 50000, 100000);
}

static void depth_is_bounded(void **state)
{
	struct demangled d;
	struct v0_reader r = reader_of("", &d);
	size_t depth = 0;

	while (v0__enter(&r) && depth < 10000)
		depth++;
	assert_true(r.bad);
	assert_in_range(depth, 400, 1000);
}

static void text_is_bounded(void **state)
{
	struct demangled d;
	struct v0_reader r = reader_of("", &d);

	for (size_t i = 0; i < DEMANGLED_MAX; i++)
		v0__put(&r, "x");
	assert_false(r.bad);
	v0__put(&r, "x");
	assert_true(r.bad);
	assert_int_equal(d.len, DEMANGLED_MAX);
}

static void a_silent_one_writes_nothing_and_goes_nowhere(void **state)
{
	struct demangled d;
	struct v0_reader r = reader_of("abcB0_", &d);

	r.silent = true;
	r.at = 4;
	v0__put(&r, "x");
	assert_int_equal(v0__go_back(&r), 0);
	assert_int_equal(r.at, 6);
	assert_false(r.bad);
	r.silent = false;
	r.at = 4;
	assert_int_equal(v0__go_back(&r), 6);
	assert_int_equal(r.at, 1);
	assert_int_equal(d.len, 0);
}

/* "Gzzzzzz_" stands for 56 billion lifetimes. */
static void lifetimes_are_not_counted_one_by_one(void **state)
{
	struct demangled d;
	struct v0_reader r = reader_of("Gzzzzzz_", &d);

	v0__read_binder(&r);
	assert_true(r.bad);
	r = reader_of("Gzzzzzz_", &d);
	r.silent = true;
	v0__read_binder(&r);
	assert_false(r.bad);
	assert_int_equal(d.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(wrong_numbers),
		cmocka_unit_test(steps_are_bounded),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(text_is_bounded),
		cmocka_unit_test(a_silent_one_writes_nothing_and_goes_nowhere),
		cmocka_unit_test(lifetimes_are_not_counted_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
