// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/demangle.h"

#include "test.h"

#define HASH "17h0123456789abcdefE"

static void assert_text(const char *symbol, const char *expected)
{
	struct demangled d;

	assert_true(demangle(symbol, strlen(symbol), &d));
	assert_int_equal(d.len, strlen(expected));
	assert_memory_equal(d.text, expected, d.len);
}

static void assert_none(const char *symbol)
{
	struct demangled d;

	assert_false(demangle(symbol, strlen(symbol), &d));
}

static void legacy_names_are_words(void **state)
{
	assert_text("_ZN4core3fmt5write" HASH, "core::fmt::write");
	assert_text("_ZN1a" HASH, "a");
	assert_text("_ZN10aaaaaaaaaa1.1:" HASH, "aaaaaaaaaa::.:::");
}

static void escapes_are_what_they_stand_for(void **state)
{
	assert_text("_ZN28_$u7b$$u7b$closure$u7d$$u7d$" HASH, "{{closure}}");
	assert_text("_ZN35_$LT$a..B$u20$as$u20$c..D$GT$$RF$.x" HASH, "<a::B as c::D>&.x");
	assert_text("_ZN30$C$$SP$$BP$$RF$$LP$$RP$$GT$..." HASH, ",@*&()>::.");
	/* An unknown escape and the text after it stay as they are. */
	assert_text("_ZN14a$XX$b$LT$c$GT" HASH, "a$XX$b$LT$c$GT");
	assert_text("_ZN5$u19$" HASH, "$u19$");
	assert_text("_ZN5$u80$" HASH, "$u80$");
	assert_text("_ZN5$u2A$" HASH, "$u2A$");
	assert_text("_ZN1$" HASH, "$");
	assert_text("_ZN2_$" HASH, "$");
}

static void a_symbol_not_mangled_by_rust_is_refused(void **state)
{
	static const char *const symbols[] = {
		"",
		"_",
		"_Z",
		"_ZN",
		"_ZNE",
		"main",
		"_R",
		"_Rgarbage",
		"_R1a",
		"_RNvC1a1b.cold",
		"_ZN3foo3barE",		      /* C++ */
		"_ZN" HASH,		      /* only a hash */
		"_ZN1a17h00000000000000000E", /* an unlikely hash */
		"_ZN1a17h0123456789abcdeFE",
		"_ZN1a17h0123456789abcdef",
		"_ZN01a" HASH,
		"_ZN1-" HASH,
		"_ZN9a" HASH "E",
		"_ZN99999999999999999999999a" HASH,
		"_ZN1a17h0123456789abcdefE1b17x0123456789abcdefE",
	};

	for (size_t i = 0; i < N_OF(symbols); i++)
		assert_none(symbols[i]);
}

static void a_text_is_bounded(void **state)
{
	enum { PREFIX = sizeof("_ZN4096") - 1 };
	static char symbol[PREFIX + DEMANGLED_MAX + sizeof("1b" HASH)];
	struct demangled d;

	memset(symbol, 'x', sizeof(symbol) - 1);
	memcpy(symbol, "_ZN4096", PREFIX);
	strcpy(symbol + PREFIX + DEMANGLED_MAX, HASH);
	assert_true(demangle(symbol, strlen(symbol), &d));
	assert_int_equal(d.len, DEMANGLED_MAX);
	strcpy(symbol + PREFIX + DEMANGLED_MAX, "1b" HASH);
	assert_none(symbol);
}

/* The demangler reads no byte beyond the length. */
static void a_length_is_kept(void **state)
{
	static const char symbol[] = "_RNvC1a1bZZ";
	struct demangled d;

	assert_true(demangle(symbol, strlen("_RNvC1a1b"), &d));
	assert_memory_equal(d.text, "a::b", d.len);
	for (size_t len = 0; len < strlen("_RNvC1a1b"); len++) {
		char *exact = len ? malloc(len) : NULL;

		if (len)
			memcpy(exact, symbol, len);
		assert_false(demangle(exact, len, &d));
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(legacy_names_are_words),
		cmocka_unit_test(escapes_are_what_they_stand_for),
		cmocka_unit_test(a_symbol_not_mangled_by_rust_is_refused),
		cmocka_unit_test(a_text_is_bounded),
		cmocka_unit_test(a_length_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
