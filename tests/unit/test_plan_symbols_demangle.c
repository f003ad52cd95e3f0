// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/demangle.h"
#include "plan/symbols/v0_reader.h"

#include "test.h"
#include "base/cleanup.h"

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

TEST_CASE(legacy_names_are_words)
{
	assert_text("_ZN4core3fmt5write" HASH, "core::fmt::write");
	assert_text("_ZN1a" HASH, "a");
	assert_text("_ZN10aaaaaaaaaa1.1:" HASH, "aaaaaaaaaa::.:::");
}

TEST_CASE(escapes_are_what_they_stand_for)
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

TEST_CASE(a_symbol_not_mangled_by_rust_is_refused)
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

TEST_CASE(a_text_is_bounded)
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
TEST_CASE(a_length_is_kept)
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

/* ---- Symbols cxx name ------------------------------------------------------------------------ */

static void check(const char *symbol, const char *want)
{
	_free_ char *got = cxx_name(symbol);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

TEST_CASE(paths_are_known)
{
	check("_ZN4llvm12SelectionDAG8LegalizeEv", "llvm::SelectionDAG::Legalize");
	check("_ZNK4llvm5Value7getNameEv", "llvm::Value::getName");
	check("_Z4mainiPPc", "main");
	check("_ZSt4sortIPiEvT_S1_", "std::sort");
	check("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back");
	check("_ZN12_GLOBAL__N_125TwoAddressInstructionImpl3runEv",
	      "{anonymous}::TwoAddressInstructionImpl::run");
	check("_ZN4llvm12DenseMapBaseINS_8DenseMapINS_8RegisterES2_NS_12DenseMapInfoIS2_vEENS_"
	      "6detail12DenseMapPairIS2_S2_EEEES2_S2_S4_S7_E24lookupOrInsertIntoBucketIS2_JS2_"
	      "EEESt4pairIPS7_bEOT_DpOT0_",
	      "llvm::DenseMapBase::lookupOrInsertIntoBucket");
}

TEST_CASE(an_invalid_cxx_symbol_has_no_name)
{
	check("main", NULL);
	check("", NULL);
	check("_Z", NULL);
	check("_ZN", NULL);
	check("_ZNE", NULL);
	check("_ZN99999999999999999999999a", NULL);
	check("_ZN5abcE", NULL);
	check("_ZTV3Foo", NULL);
	check("_ZN3fooIIIIIIIIII", "foo");
}

/* ---- Symbols demangle v0 --------------------------------------------------------------------- */

static void demangle_v0_assert_text(const char *symbol, const char *expected)
{
	struct demangled d = {0};

	assert_true(demangle_v0(symbol, strlen(symbol), V0_FULL, &d));
	assert_int_equal(d.len, strlen(expected));
	assert_memory_equal(d.text, expected, d.len);
}

static void demangle_v0_assert_none(const char *symbol)
{
	struct demangled d = {0};

	assert_false(demangle_v0(symbol, strlen(symbol), V0_FULL, &d));
}

TEST_CASE(paths)
{
	demangle_v0_assert_text("C1a", "a");
	demangle_v0_assert_text("Cs1xDGV85I1S7_1a", "a");
	demangle_v0_assert_text("NvNtC1a1b1c", "a::b::c");
	demangle_v0_assert_text("NvC1a2__1", "a::_1");
	demangle_v0_assert_text("NvC1a0", "a");
	demangle_v0_assert_text("NCNvC1a1b0", "a::b::{closure#0}");
	demangle_v0_assert_text("NCNvC1a1bs_0", "a::b::{closure#1}");
	demangle_v0_assert_text("NCNvC1a1bs0_0", "a::b::{closure#2}");
	demangle_v0_assert_text("NSNvC1a1b6vtable", "a::b::{shim:vtable#0}");
	demangle_v0_assert_text("NAC1a1b", "a::{A:b#0}");
	demangle_v0_assert_text("NvMs_NtC1a1bNtB4_1T1f", "<a::b::T>::f");
	demangle_v0_assert_text("NvXC1aNtB2_1TNtC1b1U1f", "<a::T as b::U>::f");
	demangle_v0_assert_text("NvYNtC1a1TNtC1b1U1f", "<a::T as b::U>::f");
	/* Arguments follow "::" in values, but not in types. */
	demangle_v0_assert_text("INvC1a1fINtC1b1ThEE", "a::f::<b::T<u8>>");
	demangle_v0_assert_text("NvC1au8gdel_5qa", "a::g\303\266del");
	/* The crate that instantiated it is left out. */
	demangle_v0_assert_text("INvC1a1fuEC1b", "a::f::<()>");
	demangle_v0_assert_text("C1aIC1bDGzzzzzz_C1cEL_E", "a");
}

TEST_CASE(types)
{
	demangle_v0_assert_text(
		"INvC1a1fabcdefhijlmnopstuvxyzE",
		"a::f::<i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128, "
		"_, i16, u16, (), ..., i64, u64, !>");
	demangle_v0_assert_text("INvC1a1fRhQhPhOhShAhj8_E",
				"a::f::<&u8, &mut u8, *const u8, *mut u8, [u8], [u8; 8]>");
	demangle_v0_assert_text("INvC1a1fRL_hTEThEThhEE", "a::f::<&u8, (), (u8,), (u8, u8)>");
	demangle_v0_assert_text("INvC1a1fFEuFhhEhFUEuFKCEuFUK11C_cmse_callEzE",
				"a::f::<fn(), fn(u8, u8) -> u8, unsafe fn(), extern \"C\" fn(), "
				"unsafe extern \"C-cmse-call\" fn() -> !>");
	demangle_v0_assert_text("INvC1a1fDNtC1b1TEL_DNtC1b1TNtC1b1UEL_DEL_E",
				"a::f::<dyn b::T, dyn b::T + b::U, dyn >");
	demangle_v0_assert_text("INvC1a1fDNtC1b1Tp1XhEL_DINtC1b1ThEp1Xhp1YbEL_E",
				"a::f::<dyn b::T<X = u8>, dyn b::T<u8, X = u8, Y = bool>>");
}

TEST_CASE(lifetimes)
{
	demangle_v0_assert_text("INvC1a1fL_E", "a::f::<'_>");
	demangle_v0_assert_text("INvC1a1fFG_RL0_hEuE", "a::f::<for<'a> fn(&'a u8)>");
	demangle_v0_assert_text("INvC1a1fFG0_RL0_RL1_hEuE", "a::f::<for<'a, 'b> fn(&'b &'a u8)>");
	demangle_v0_assert_text("INvC1a1fDG_INtC1b1TL0_EEL_E", "a::f::<dyn for<'a> b::T<'a>>");
	demangle_v0_assert_text("INvC1a1fFG_FG_RL0_RL1_hEuEuE",
				"a::f::<for<'a> fn(for<'b> fn(&'b &'a u8))>");
	demangle_v0_assert_text(
		"INvC1a1fFGp_EuE",
		"a::f::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, "
		"'r, 's, 't, 'u, 'v, 'w, 'x, 'y, 'z, '_26> fn()>");
	/* Unbound lifetimes. */
	demangle_v0_assert_none("INvC1a1fL0_E");
	demangle_v0_assert_none("INvC1a1fFG_EuRL0_hE");
}

TEST_CASE(constants)
{
	demangle_v0_assert_text("INvC1a1fKh0_Kjff_Kln5_Kb0_Kb1_KpE",
				"a::f::<0, 255, -5, false, true, _>");
	demangle_v0_assert_text("INvC1a1fKyffffffffffffffff_E", "a::f::<18446744073709551615>");
	demangle_v0_assert_text("INvC1a1fKo10000000000000000_E", "a::f::<0x10000000000000000>");
	demangle_v0_assert_text("INvC1a1fKnn80000000000000000000000000000000_E",
				"a::f::<-0x80000000000000000000000000000000>");
	demangle_v0_assert_text(
		"INvC1a1fKc41_Kca_Kcd_Kc9_Kc1f600_Kc20_Kc0_E",
		"a::f::<'A', '\\n', '\\r', '\\t', '\\u{1f600}', '\\u{20}', '\\u{0}'>");
	demangle_v0_assert_none("INvC1a1fKb2_E");
	demangle_v0_assert_none("INvC1a1fKb00_E");
	demangle_v0_assert_none("INvC1a1fKh_E");
	demangle_v0_assert_none("INvC1a1fKhg_E");
	demangle_v0_assert_none("INvC1a1fKc110000_E");
	demangle_v0_assert_none("INvC1a1fKe1_E");
}

TEST_CASE(back_references)
{
	demangle_v0_assert_text("INvC1a1fINtC1b1ThEB7_E", "a::f::<b::T<u8>, b::T<u8>>");
	demangle_v0_assert_text("INvC1a1fRB6_E", "a::f::<&f32>");
	demangle_v0_assert_text("INvC1a1fKj8_KB8_E", "a::f::<8, 8>");
	demangle_v0_assert_text("INvC1a1fDINtC1b1ThEEL_DB8_p1XhEL_E",
				"a::f::<dyn b::T<u8>, dyn b::T<u8, X = u8>>");
	/* To itself, forward, or outside the symbol. */
	demangle_v0_assert_none("INvC1a1fB7_E");
	demangle_v0_assert_none("INvC1a1fB8_hE");
	demangle_v0_assert_none("NvB0_1a");
	demangle_v0_assert_none("INvC1a1fBzzzzzzzzzz_E");
	demangle_v0_assert_none("INvC1a1fBzzzzzzzzzzzzzzzzzz_E");
}

TEST_CASE(a_malformed_symbol_is_refused)
{
	static const char *const symbols[] = {
		"",
		"_",
		"0",
		"a",
		"C",
		"Cs",
		"Cs_",
		"Cs1",
		"C1",
		"C2a",
		"Z",
		"N",
		"Nv",
		"N1C1a1b",
		"INvCs1_u1a1fhuL_eB_L",
		"NvC1a2_1",
		"Nvu_C1a1b",
		"NvC1au1_",
		"NvC1au3a_A",
		"NvC1a1b0",
		"NvC1a99999999999999999999999999x",
		"INvC1a1f",
		"INvC1a1fRR",
		"INvC1a1fuEC1bC1c",
		"MC1a",
		"XC1au",
		"INvC1a1fDE",
		"INvC1a1fFK0EuE",
		"INvC1a1fA1h8_E",
		"Csa-_1a",
	};

	for (size_t i = 0; i < N_OF(symbols); i++)
		demangle_v0_assert_none(symbols[i]);
}

/* Truncate the symbol everywhere, and replace the last byte by each letter. */
TEST_CASE(nothing_is_read_behind_the_end)
{
	static const char symbol[] = "NvXs1_C1aINtC1a1TDG0_INtB5_1URL0_hKj8_Ep1XFUKCTEEuEL_E"
				     "NtCs2_1b1Vu8gdel_5qa";
	struct demangled d = {0};

	assert_true(demangle_v0(symbol, strlen(symbol), V0_FULL, &d));
	for (size_t len = 1; len < strlen(symbol); len++) {
		char *part = malloc(len);

		for (char c = '0'; c <= 'z'; c++) {
			memcpy(part, symbol, len);
			part[len - 1] = c;
			for (int style = V0_FULL; style <= V0_DEFINITION; style++) {
				d.len = 0;
				demangle_v0(part, len, style, &d);
			}
		}
		free(part);
	}
}

/* ---- Symbols v0 reader ----------------------------------------------------------------------- */

static struct v0_reader reader_of(const char *s, struct demangled *d)
{
	d->len = 0;
	return (struct v0_reader){.s = s, .len = strlen(s), .out = d};
}

TEST_CASE(numbers)
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

TEST_CASE(wrong_numbers)
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
TEST_CASE(steps_are_bounded)
{
	struct demangled d;
	struct v0_reader r = reader_of("aa", &d);
	size_t steps = 0;

	for (; v0__next(&r) && steps < 1000000; steps++)
		r.at = 0;
	assert_true(r.bad);
	assert_in_range(steps, 50000, 100000);
}

TEST_CASE(depth_is_bounded)
{
	struct demangled d;
	struct v0_reader r = reader_of("", &d);
	size_t depth = 0;

	while (v0__enter(&r) && depth < 10000)
		depth++;
	assert_true(r.bad);
	assert_in_range(depth, 400, 1000);
}

TEST_CASE(text_is_bounded)
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

TEST_CASE(a_silent_one_writes_nothing_and_goes_nowhere)
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
TEST_CASE(lifetimes_are_not_counted_one_by_one)
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
TEST_CASE(letters_are_where_the_deltas_say)
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

TEST_CASE(wrong_deltas_are_refused)
{
	assert_refused("a", "");
	assert_refused("a", "z");	    /* an unfinished number */
	assert_refused("a", "A");	    /* not a digit */
	assert_refused("a", "99999999999"); /* no such letter */
	assert_refused("", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzza");
	assert_refused("", "ib9b");  /* a surrogate */
	assert_refused("", "en32g"); /* above the last letter */
}

TEST_CASE(letters_are_few)
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

TEST_MAIN(NULL, NULL)
