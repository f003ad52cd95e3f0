// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/generic_name.h"

#include "test.h"
#include "base/array.h"

struct expected {
	const char *symbol, *path, *any_path, *definition, *crate;
};

static void assert_names(const struct expected *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct expected *e = &rows[i];
		_generic_name_ struct generic_name name = {};

		assert_int_equal(generic_name__of(e->symbol, &name), 0);
		assert_string_equal(name.path, e->path);
		assert_string_equal(name.any_path ?: "", e->any_path ?: "");
		assert_string_equal(name.definition, e->definition ?: e->path);
		assert_string_equal(name.crate ?: "", e->crate ?: "");
	}
}

/* rustc 1.95.0 -O -C symbol-mangling-version=v0 */
TEST_CASE(names_of_v0_symbols)
{
	static const struct expected rows[] = {
		{"_RNvCs30x0kSY1adC_1s5main2", "s::main2", .crate = "s"},
		/* Instances of a method, and the closures that were passed to it. */
		{"_RINvMCs30x0kSY1adC_1sINtB3_6ParserNtNtCslNYArtu3iFV_5alloc6string6StringE4with"
		 "NCNvB3_5main2s0_0EB3_",
		 "s::Parser::with", NULL, "s::{impl#0}::with", "s"},
		{"_RINvMCs30x0kSY1adC_1sINtB3_6ParserhE4withNCNvB3_5main2s_0EB3_",
		 "s::Parser::with", NULL, "s::{impl#0}::with", "s"},
		{"_RNCNvCs30x0kSY1adC_1s5main20B3_", "s::main2::{closure#0}", .crate = "s"},
		/* Methods of one name and type, in two impls. */
		{"_RNvMs5_Cs30x0kSY1adC_1sINtB5_4WraphE4only", "s::Wrap::only", NULL,
		 "s::{impl#7}::only", "s"},
		{"_RNvMs6_Cs30x0kSY1adC_1sINtB5_4WraptE6only16", "s::Wrap::only16", NULL,
		 "s::{impl#8}::only16", "s"},
		/* The trait's own method, of two types. */
		{"_RNvYINtNtCslNYArtu3iFV_5alloc3vec3VecmENtCs30x0kSY1adC_1s5Shape5twiceBD_",
		 "s::Shape::twice", .crate = "s"},
		{"_RNvYmNtCs30x0kSY1adC_1s5Shape5twiceB5_", "s::Shape::twice", .crate = "s"},
		/* An impl for a type of another crate, for slices, and for all types. */
		{"_RNvXs0_Cs30x0kSY1adC_1sINtNtCslNYArtu3iFV_5alloc3vec3VecmENtB5_5Shape4areaB5_",
		 "<alloc::vec::Vec as s::Shape>::area", "<_ as s::Shape>::area",
		 "s::{impl#2}::area", "s"},
		{"_RNvXs1_Cs30x0kSY1adC_1sSmNtB5_5Shape4areaB5_", "<[u32] as s::Shape>::area",
		 "<[_] as s::Shape>::area", "s::{impl#3}::area", "s"},
		{"_RNvXs4_Cs30x0kSY1adC_1scNtB5_4Name4nameB5_", "<char as s::Name>::name",
		 "<_ as s::Name>::name", "s::{impl#6}::name", "s"},
		{"_RNvXs4_Cs30x0kSY1adC_1shNtB5_4Name4nameB5_", "<u8 as s::Name>::name",
		 "<_ as s::Name>::name", "s::{impl#6}::name", "s"},
		{"_RNvXs1g_NtCsgEmfK2I1SDS_4core3fmtRReNtB6_5Debug3fmtCs30x0kSY1adC_1s",
		 "<&&str as core::fmt::Debug>::fmt", "<&_ as core::fmt::Debug>::fmt",
		 "core::fmt::{impl#80}::fmt", "core"},
		/* Instances in another crate; a function in a method. */
		{"_RINvNvMs2_NtCslNYArtu3iFV_5alloc7raw_vecINtB8_11RawVecInnerpE7reserve21do_"
		 "reserve_and_handleNtNtBa_5alloc6GlobalECs30x0kSY1adC_1s",
		 "alloc::raw_vec::RawVecInner::reserve::do_reserve_and_handle", NULL,
		 "alloc::raw_vec::{impl#4}::reserve::do_reserve_and_handle", "alloc"},
		{"_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placeINtNtCslNYArtu3iFV_5alloc5boxed3Box"
		 "DINtNtNtB4_3ops8function2FnThEEp6OutputhEL_EECs30x0kSY1adC_1s",
		 "core::ptr::drop_in_place", .crate = "core"},
		{"_RINvNtNtNtNtCsgEmfK2I1SDS_4core5slice4sort6stable9quicksort9quicksortyNvYyNtNt"
		 "Ba_3cmp10PartialOrd2ltECs30x0kSY1adC_1s",
		 "core::slice::sort::stable::quicksort::quicksort", .crate = "core"},
		{"_RNSNvYNCNvCs30x0kSY1adC_1s5main20INtNtNtCsgEmfK2I1SDS_4core3ops8function6Fn"
		 "OnceThEE9call_once6vtableB8_",
		 "core::ops::function::FnOnce::call_once::{shim:vtable#0}", .crate = "core"},
		/* Not ASCII; a number as the argument. */
		{"_RINvNtCs30x0kSY1adC_1s3genu9gre_6ka8iKj12c_EB4_",
		 "s::gen::gr\xc3\xb6\xc3\x9f"
		 "e",
		 .crate = "s"},
	};

	assert_names(rows, N_OF(rows));
}

/* rustc 1.95.0 -O, which has legacy symbols unless asked */
TEST_CASE(names_of_legacy_symbols)
{
	static const struct expected rows[] = {
		{"_ZN1s5main217hd8c70f6db0312d40E", "s::main2", .crate = "s"},
		{"_ZN1s15Parser$LT$P$GT$4with17h98aa4bdc7e2b9c84E", "s::Parser::with",
		 .crate = "s"},
		{"_ZN1s5main228_$u7b$$u7b$closure$u7d$$u7d$17h4cb510662949a56bE",
		 "s::main2::{closure}", .crate = "s"},
		{"_ZN29_$LT$T$u20$as$u20$s..Name$GT$4name17h0bb0e4e485f51693E",
		 "<T as s::Name>::name", .crate = "s"},
		{"_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0f506f47b83d433fE",
		 "<&T as core::fmt::Debug>::fmt", .crate = "core"},
		/* The standard library has no impl of this crate's trait. */
		{"_ZN53_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$s..Shape$GT$4area17h4fb6dadc8fe45"
		 "d6fE",
		 "<alloc::vec::Vec as s::Shape>::area", .crate = "s"},
		{"_ZN58_$LT$s..Wrap$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h24197edb4"
		 "4fbaddaE",
		 "<s::Wrap as core::ops::drop::Drop>::drop", .crate = "s"},
		{"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$17h38ebed3"
		 "c2e2030f1E",
		 "core::ops::function::FnOnce::call_once{vtable.shim}", .crate = "core"},
		{"_ZN4core3ptr126drop_in_place$LT$alloc..boxed..Box$LT$dyn$u20$core..ops..function"
		 "..Fn$LT$$LP$u8$C$$RP$$GT$$u2b$Output$u20$$u3d$$u20$u8$GT$$GT$17h4705392fb40d29d2"
		 "E",
		 "core::ptr::drop_in_place", .crate = "core"},
		/* The module of an impl that is in neither its type's nor its trait's. */
		{"_ZN4core3fmt3num52_$LT$impl$u20$core..fmt..Debug$u20$for$u20$usize$GT$3fmt17h0123"
		 "456789abcdefE",
		 "<usize as core::fmt::Debug>::fmt", .crate = "core"},
		{"_ZN4core3str21_$LT$impl$u20$str$GT$4trim17h0123456789abcdefE", "<str>::trim",
		 .crate = "core"},
		{"_ZN5alloc5slice29_$LT$impl$u20$$u5b$T$u5d$$GT$6to_vec17h0123456789abcdefE",
		 "<[T]>::to_vec", .crate = "alloc"},
	};

	assert_names(rows, N_OF(rows));
}

TEST_CASE(suffixes_are_no_part_of_a_name)
{
	static const struct expected rows[] = {
		{"_RNvCs30x0kSY1adC_1s5main2.llvm.12345", "s::main2", .crate = "s"},
		{"_ZN1s5main217hd8c70f6db0312d40E.llvm.12345", "s::main2", .crate = "s"},
		{"_ZN1s5main217hd8c70f6db0312d40E.specialized.1", "s::main2", .crate = "s"},
		{"plain.llvm.12345", "plain", NULL, NULL, NULL},
	};

	assert_names(rows, N_OF(rows));
}

TEST_CASE(what_is_no_rust_symbol_stays)
{
	static const struct expected rows[] = {
		{"plain", "plain", NULL, NULL, NULL},
		{"", "", NULL, NULL, NULL},
		{"llvm.memcpy.p0.p0.i64", "llvm.memcpy.p0.p0.i64", NULL, NULL, NULL},
		{"_ZN4llvm3FooE", "_ZN4llvm3FooE", NULL, NULL, NULL},
		{"_RNvC1a", "_RNvC1a", NULL, NULL, NULL},
		/* Brackets that do not close, or close nothing. */
		{"_ZN9_$LT$$LT$17h0123456789abcdefE", "<<", NULL, NULL, NULL},
		{"_ZN4$GT$17h0123456789abcdefE", ">", NULL, NULL, NULL},
		{"_ZN13$LT$impl$u20$17h0123456789abcdefE", "<impl ", NULL, NULL, NULL},
	};

	assert_names(rows, N_OF(rows));
}

/* The path of the impl is longer than the type: its text exceeds the limit, and that of others
 * does not. */
TEST_CASE(a_definition_that_is_too_long_is_left_as_it_is)
{
	char symbol[8192];
	_generic_name_ struct generic_name name = {};

	sprintf(symbol, "_RNvMNtC1a4090_%04090du1x", 0);
	assert_int_equal(generic_name__of(symbol, &name), 0);
	assert_string_equal(name.path, symbol);
	assert_null(name.crate);
}

/* Where it is not told, several definitions may have one name. */
TEST_CASE(a_symbol_may_tell_its_definition)
{
	static const struct {
		const char *symbol;
		bool is_one;
	} rows[] = {
		{"_RNvMs5_Cs30x0kSY1adC_1sINtB5_4WraphE4only", true},
		{"_ZN3app3Foo3new17h0123456789abcdefE", true},
		{"_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17hb60666b1258c12dcE",
		 true},
		{"_ZN4core3ptr69drop_in_place$LT$fn$LP$u8$RP$$u20$.$GT$$u20$alloc..string..String$"
		 "GT$"
		 "17hb60666b1258c12dcE",
		 true},
		{"_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE", false},
		{"_ZN4core3fmt49_$LT$impl$u20$core..fmt..Debug$u20$for$u20$u8$GT$3fmt"
		 "17h0123456789abcdefE",
		 false},
		{"_ZN47_$LT$app..Foo$u20$as$u20$core..clone..Clone$GT$5clone"
		 "17h0123456789abcdefE",
		 false},
		{"_ZN3app1f28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", false},
		{"_ZN3app1f28_$u7b$$u7b$closure$u7d$$u7d$1g17h0123456789abcdefE", false},
		{"no_mangle", true},
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		_generic_name_ struct generic_name name = {};

		assert_int_equal(generic_name__of(rows[i].symbol, &name), 0);
		if (name.is_one != rows[i].is_one)
			fail_msg("%s: %s", rows[i].symbol, name.path);
	}
}

TEST_MAIN(NULL, NULL)
