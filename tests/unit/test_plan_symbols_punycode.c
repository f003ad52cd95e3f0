// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/punycode.h"

#include "test.h"

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
		cmocka_unit_test(letters_are_where_the_deltas_say),
		cmocka_unit_test(wrong_deltas_are_refused),
		cmocka_unit_test(letters_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
