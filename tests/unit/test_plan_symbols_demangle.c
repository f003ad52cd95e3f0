// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/demangle.h"

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

TEST_CASE(legacy_symbols_are_read)
{
	/* Legacy names are words. */
	assert_text("_ZN4core3fmt5write" HASH, "core::fmt::write");
	assert_text("_ZN1a" HASH, "a");
	assert_text("_ZN10aaaaaaaaaa1.1:" HASH, "aaaaaaaaaa::.:::");
	/* Escapes are what they stand for. */
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

TEST_CASE(cxx_names_are_read)
{
	/* Paths are known. */
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
	/* An invalid cxx symbol has no name. */
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

/* Behind the "_R" of the v0 mangling. */
static void assert_v0(const char *symbol, const char *expected)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "_R%s", symbol);
	assert_text(whole, expected);
}

static void assert_no_v0(const char *symbol)
{
	struct demangled d = {0};

	assert_false(demangle_v0(symbol, strlen(symbol), V0_FULL, &d));
}

TEST_CASE(paths)
{
	assert_v0("C1a", "a");
	assert_v0("Cs1xDGV85I1S7_1a", "a");
	assert_v0("NvNtC1a1b1c", "a::b::c");
	assert_v0("NvC1a2__1", "a::_1");
	assert_v0("NvC1a0", "a");
	assert_v0("NCNvC1a1b0", "a::b::{closure#0}");
	assert_v0("NCNvC1a1bs_0", "a::b::{closure#1}");
	assert_v0("NCNvC1a1bs0_0", "a::b::{closure#2}");
	assert_v0("NSNvC1a1b6vtable", "a::b::{shim:vtable#0}");
	assert_v0("NAC1a1b", "a::{A:b#0}");
	assert_v0("NvMs_NtC1a1bNtB4_1T1f", "<a::b::T>::f");
	assert_v0("NvXC1aNtB2_1TNtC1b1U1f", "<a::T as b::U>::f");
	assert_v0("NvYNtC1a1TNtC1b1U1f", "<a::T as b::U>::f");
	/* Arguments follow "::" in values, but not in types. */
	assert_v0("INvC1a1fINtC1b1ThEE", "a::f::<b::T<u8>>");
	assert_v0("NvC1au8gdel_5qa", "a::g\303\266del");
	/* The crate that instantiated it is left out. */
	assert_v0("INvC1a1fuEC1b", "a::f::<()>");
	assert_v0("C1aIC1bDGzzzzzz_C1cEL_E", "a");
}

TEST_CASE(types)
{
	assert_v0("INvC1a1fabcdefhijlmnopstuvxyzE",
		  "a::f::<i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128, "
		  "_, i16, u16, (), ..., i64, u64, !>");
	assert_v0("INvC1a1fRhQhPhOhShAhj8_E",
		  "a::f::<&u8, &mut u8, *const u8, *mut u8, [u8], [u8; 8]>");
	assert_v0("INvC1a1fRL_hTEThEThhEE", "a::f::<&u8, (), (u8,), (u8, u8)>");
	assert_v0("INvC1a1fFEuFhhEhFUEuFKCEuFUK11C_cmse_callEzE",
		  "a::f::<fn(), fn(u8, u8) -> u8, unsafe fn(), extern \"C\" fn(), "
		  "unsafe extern \"C-cmse-call\" fn() -> !>");
	assert_v0("INvC1a1fDNtC1b1TEL_DNtC1b1TNtC1b1UEL_DEL_E",
		  "a::f::<dyn b::T, dyn b::T + b::U, dyn >");
	assert_v0("INvC1a1fDNtC1b1Tp1XhEL_DINtC1b1ThEp1Xhp1YbEL_E",
		  "a::f::<dyn b::T<X = u8>, dyn b::T<u8, X = u8, Y = bool>>");
}

TEST_CASE(lifetimes)
{
	assert_v0("INvC1a1fL_E", "a::f::<'_>");
	assert_v0("INvC1a1fFG_RL0_hEuE", "a::f::<for<'a> fn(&'a u8)>");
	assert_v0("INvC1a1fFG0_RL0_RL1_hEuE", "a::f::<for<'a, 'b> fn(&'b &'a u8)>");
	assert_v0("INvC1a1fDG_INtC1b1TL0_EEL_E", "a::f::<dyn for<'a> b::T<'a>>");
	assert_v0("INvC1a1fFG_FG_RL0_RL1_hEuEuE", "a::f::<for<'a> fn(for<'b> fn(&'b &'a u8))>");
	assert_v0("INvC1a1fFGp_EuE",
		  "a::f::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, "
		  "'r, 's, 't, 'u, 'v, 'w, 'x, 'y, 'z, '_26> fn()>");
	/* Unbound lifetimes. */
	assert_no_v0("INvC1a1fL0_E");
	assert_no_v0("INvC1a1fFG_EuRL0_hE");
}

TEST_CASE(constants)
{
	assert_v0("INvC1a1fKh0_Kjff_Kln5_Kb0_Kb1_KpE", "a::f::<0, 255, -5, false, true, _>");
	assert_v0("INvC1a1fKyffffffffffffffff_E", "a::f::<18446744073709551615>");
	assert_v0("INvC1a1fKo10000000000000000_E", "a::f::<0x10000000000000000>");
	assert_v0("INvC1a1fKnn80000000000000000000000000000000_E",
		  "a::f::<-0x80000000000000000000000000000000>");
	assert_v0("INvC1a1fKc41_Kca_Kcd_Kc9_Kc1f600_Kc20_Kc0_E",
		  "a::f::<'A', '\\n', '\\r', '\\t', '\\u{1f600}', '\\u{20}', '\\u{0}'>");
	assert_no_v0("INvC1a1fKb2_E");
	assert_no_v0("INvC1a1fKb00_E");
	assert_no_v0("INvC1a1fKh_E");
	assert_no_v0("INvC1a1fKhg_E");
	assert_no_v0("INvC1a1fKc110000_E");
	assert_no_v0("INvC1a1fKe1_E");
}

TEST_CASE(back_references)
{
	assert_v0("INvC1a1fINtC1b1ThEB7_E", "a::f::<b::T<u8>, b::T<u8>>");
	assert_v0("INvC1a1fRB6_E", "a::f::<&f32>");
	assert_v0("INvC1a1fKj8_KB8_E", "a::f::<8, 8>");
	assert_v0("INvC1a1fDINtC1b1ThEEL_DB8_p1XhEL_E",
		  "a::f::<dyn b::T<u8>, dyn b::T<u8, X = u8>>");
	/* To itself, forward, or outside the symbol. */
	assert_no_v0("INvC1a1fB7_E");
	assert_no_v0("INvC1a1fB8_hE");
	assert_no_v0("NvB0_1a");
	assert_no_v0("INvC1a1fBzzzzzzzzzz_E");
	assert_no_v0("INvC1a1fBzzzzzzzzzzzzzzzzzz_E");
}

TEST_CASE(a_malformed_symbol_is_refused)
{
	char symbols[] =
		"_ 0 a C Cs Cs_ Cs1 C1 C2a Z N Nv N1C1a1b INvCs1_u1a1fhuL_eB_L NvC1a2_1 "
		"Nvu_C1a1b NvC1au1_ NvC1au3a_A NvC1a1b0 NvC1a99999999999999999999999999x "
		"INvC1a1f INvC1a1fRR INvC1a1fuEC1bC1c MC1a XC1au INvC1a1fDE INvC1a1fFK0EuE "
		"INvC1a1fA1h8_E Csa-_1a";

	assert_no_v0("");
	for (char *rest, *s = strtok_r(symbols, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
		assert_no_v0(s);
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

TEST_CASE(deltas_say_where_letters_are)
{
	/* Letters are where the deltas say. The first example is from the v0 mangling, others are
	 * from RFC 3492, section 7.1. */
	assert_decoded("gdel", "5qa", "g\303\266del");
	assert_decoded(
		"", "ihqwcrb4cv8a8dqg056pqjye",
		"\xe4\xbb\x96\xe4\xbb\xac\xe4\xb8\xba\xe4\xbb\x80\xe4\xb9\x88\xe4\xb8\x8d\xe8"
		"\xaf\xb4\xe4\xb8\xad\xe6\x96\x87");
	assert_decoded("Pro", "dva", "Pr\304\270o");
	assert_decoded("", "e28h", "\xf0\x9f\x98\x80");
	assert_decoded("", "0y0c", "\xee\x80\x80");
	assert_decoded("", "dn32g", "\xf4\x8f\xbf\xbf");
	/* Wrong deltas are refused. */
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
