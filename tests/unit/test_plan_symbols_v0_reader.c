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

/* ---- Symbols punycode ------------------------------------------------------------------------ */

static void assert_decoded(const char *ascii, const char *deltas, const char *expected)
{
	char out[PUNYCODE_BYTES_MAX];
	size_t n;

	assert_true(punycode__decode(ascii, strlen(ascii), deltas, strlen(deltas), out, &n));
	assert_int_equal(n, strlen(expected));
	assert_memory_equal(out, expected, n);
}

static void assert_refused(const char *ascii, const char *deltas)
{
	char out[PUNYCODE_BYTES_MAX];
	size_t n;

	assert_false(punycode__decode(ascii, strlen(ascii), deltas, strlen(deltas), out, &n));
}

/* The first example is from the v0 mangling, others are from RFC 3492, section 7.1. */
static void letters_are_where_the_deltas_say(void **state)
{
	assert_decoded("gdel", "5qa", "g\303\266del");
	assert_decoded(
		"", "ihqwcrb4cv8a8dqg056pqjye",
		"\xe4\xbb\x96\xe4\xbb\xac\xe4\xb8\xba\xe4\xbb\x80\xe4\xb9\x88\xe4\xb8\x8d\xe8"
		"\xaf\xb4\xe4\xb8\xad\xe6\x96\x87");
	assert_decoded("Pro", "dva", "Pr\304\270o");
	assert_decoded("", "e28h", "\xf0\x9f\x98\x80");
	assert_decoded("", "0y0c", "\xee\x80\x80");
	assert_decoded("", "dn32g", "\xf4\x8f\xbf\xbf");
}

static void wrong_deltas_are_refused(void **state)
{
	assert_refused("a", "");
	assert_refused("a", "z");	    /* an unfinished number */
	assert_refused("a", "A");	    /* not a digit */
	assert_refused("a", "99999999999"); /* no such letter */
	assert_refused("", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzza");
	assert_refused("", "ib9b");  /* a surrogate */
	assert_refused("", "en32g"); /* above the last letter */
}

static void letters_are_few(void **state)
{
	char ascii[PUNYCODE_LETTERS_MAX + 1], deltas[PUNYCODE_LETTERS_MAX + 1];
	char out[PUNYCODE_BYTES_MAX];
	size_t n;

	memset(ascii, 'x', sizeof(ascii));
	memset(deltas, 'a', sizeof(deltas));
	assert_true(punycode__decode(ascii, 0, deltas, PUNYCODE_LETTERS_MAX, out, &n));
	assert_int_equal(n, 2 * PUNYCODE_LETTERS_MAX);
	assert_false(punycode__decode(ascii, 0, deltas, PUNYCODE_LETTERS_MAX + 1, out, &n));
	assert_true(punycode__decode(ascii, PUNYCODE_LETTERS_MAX - 1, deltas, 1, out, &n));
	assert_false(punycode__decode(ascii, PUNYCODE_LETTERS_MAX, deltas, 1, out, &n));
	assert_false(punycode__decode(ascii, PUNYCODE_LETTERS_MAX + 1, deltas, 1, out, &n));
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
		cmocka_unit_test(letters_are_where_the_deltas_say),
		cmocka_unit_test(wrong_deltas_are_refused),
		cmocka_unit_test(letters_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
