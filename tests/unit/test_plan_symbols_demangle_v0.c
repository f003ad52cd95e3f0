// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/demangle_v0.h"

#include "test.h"

static void assert_text(const char *symbol, const char *expected)
{
	struct demangled d = {0};

	assert_true(demangle_v0(symbol, strlen(symbol), V0_FULL, &d));
	assert_int_equal(d.len, strlen(expected));
	assert_memory_equal(d.text, expected, d.len);
}

static void assert_none(const char *symbol)
{
	struct demangled d = {0};

	assert_false(demangle_v0(symbol, strlen(symbol), V0_FULL, &d));
}

static void paths(void **state)
{
	assert_text("C1a", "a");
	assert_text("Cs1xDGV85I1S7_1a", "a");
	assert_text("NvNtC1a1b1c", "a::b::c");
	assert_text("NvC1a2__1", "a::_1");
	assert_text("NvC1a0", "a");
	assert_text("NCNvC1a1b0", "a::b::{closure#0}");
	assert_text("NCNvC1a1bs_0", "a::b::{closure#1}");
	assert_text("NCNvC1a1bs0_0", "a::b::{closure#2}");
	assert_text("NSNvC1a1b6vtable", "a::b::{shim:vtable#0}");
	assert_text("NAC1a1b", "a::{A:b#0}");
	assert_text("NvMs_NtC1a1bNtB4_1T1f", "<a::b::T>::f");
	assert_text("NvXC1aNtB2_1TNtC1b1U1f", "<a::T as b::U>::f");
	assert_text("NvYNtC1a1TNtC1b1U1f", "<a::T as b::U>::f");
	/* Arguments follow "::" in values, but not in types. */
	assert_text("INvC1a1fINtC1b1ThEE", "a::f::<b::T<u8>>");
	assert_text("NvC1au8gdel_5qa", "a::g\303\266del");
	/* The crate that instantiated it is left out. */
	assert_text("INvC1a1fuEC1b", "a::f::<()>");
	assert_text("C1aIC1bDGzzzzzz_C1cEL_E", "a");
}

static void types(void **state)
{
	assert_text("INvC1a1fabcdefhijlmnopstuvxyzE",
		    "a::f::<i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128, "
		    "_, i16, u16, (), ..., i64, u64, !>");
	assert_text("INvC1a1fRhQhPhOhShAhj8_E",
		    "a::f::<&u8, &mut u8, *const u8, *mut u8, [u8], [u8; 8]>");
	assert_text("INvC1a1fRL_hTEThEThhEE", "a::f::<&u8, (), (u8,), (u8, u8)>");
	assert_text("INvC1a1fFEuFhhEhFUEuFKCEuFUK11C_cmse_callEzE",
		    "a::f::<fn(), fn(u8, u8) -> u8, unsafe fn(), extern \"C\" fn(), "
		    "unsafe extern \"C-cmse-call\" fn() -> !>");
	assert_text("INvC1a1fDNtC1b1TEL_DNtC1b1TNtC1b1UEL_DEL_E",
		    "a::f::<dyn b::T, dyn b::T + b::U, dyn >");
	assert_text("INvC1a1fDNtC1b1Tp1XhEL_DINtC1b1ThEp1Xhp1YbEL_E",
		    "a::f::<dyn b::T<X = u8>, dyn b::T<u8, X = u8, Y = bool>>");
}

static void lifetimes(void **state)
{
	assert_text("INvC1a1fL_E", "a::f::<'_>");
	assert_text("INvC1a1fFG_RL0_hEuE", "a::f::<for<'a> fn(&'a u8)>");
	assert_text("INvC1a1fFG0_RL0_RL1_hEuE", "a::f::<for<'a, 'b> fn(&'b &'a u8)>");
	assert_text("INvC1a1fDG_INtC1b1TL0_EEL_E", "a::f::<dyn for<'a> b::T<'a>>");
	assert_text("INvC1a1fFG_FG_RL0_RL1_hEuEuE", "a::f::<for<'a> fn(for<'b> fn(&'b &'a u8))>");
	assert_text(
		"INvC1a1fFGp_EuE",
		"a::f::<for<'a, 'b, 'c, 'd, 'e, 'f, 'g, 'h, 'i, 'j, 'k, 'l, 'm, 'n, 'o, 'p, 'q, "
		"'r, 's, 't, 'u, 'v, 'w, 'x, 'y, 'z, '_26> fn()>");
	/* Unbound lifetimes. */
	assert_none("INvC1a1fL0_E");
	assert_none("INvC1a1fFG_EuRL0_hE");
}

static void constants(void **state)
{
	assert_text("INvC1a1fKh0_Kjff_Kln5_Kb0_Kb1_KpE", "a::f::<0, 255, -5, false, true, _>");
	assert_text("INvC1a1fKyffffffffffffffff_E", "a::f::<18446744073709551615>");
	assert_text("INvC1a1fKo10000000000000000_E", "a::f::<0x10000000000000000>");
	assert_text("INvC1a1fKnn80000000000000000000000000000000_E",
		    "a::f::<-0x80000000000000000000000000000000>");
	assert_text("INvC1a1fKc41_Kca_Kcd_Kc9_Kc1f600_Kc20_Kc0_E",
		    "a::f::<'A', '\\n', '\\r', '\\t', '\\u{1f600}', '\\u{20}', '\\u{0}'>");
	assert_none("INvC1a1fKb2_E");
	assert_none("INvC1a1fKb00_E");
	assert_none("INvC1a1fKh_E");
	assert_none("INvC1a1fKhg_E");
	assert_none("INvC1a1fKc110000_E");
	assert_none("INvC1a1fKe1_E");
}

static void back_references(void **state)
{
	assert_text("INvC1a1fINtC1b1ThEB7_E", "a::f::<b::T<u8>, b::T<u8>>");
	assert_text("INvC1a1fRB6_E", "a::f::<&f32>");
	assert_text("INvC1a1fKj8_KB8_E", "a::f::<8, 8>");
	assert_text("INvC1a1fDINtC1b1ThEEL_DB8_p1XhEL_E",
		    "a::f::<dyn b::T<u8>, dyn b::T<u8, X = u8>>");
	/* To itself, forward, or outside the symbol. */
	assert_none("INvC1a1fB7_E");
	assert_none("INvC1a1fB8_hE");
	assert_none("NvB0_1a");
	assert_none("INvC1a1fBzzzzzzzzzz_E");
	assert_none("INvC1a1fBzzzzzzzzzzzzzzzzzz_E");
}

static void a_malformed_symbol_is_refused(void **state)
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
		assert_none(symbols[i]);
}

/* Truncate the symbol everywhere, and replace the last byte by each letter. */
static void nothing_is_read_behind_the_end(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(types),
		cmocka_unit_test(lifetimes),
		cmocka_unit_test(constants),
		cmocka_unit_test(back_references),
		cmocka_unit_test(a_malformed_symbol_is_refused),
		cmocka_unit_test(nothing_is_read_behind_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
