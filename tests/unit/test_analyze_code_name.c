// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/code_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "test.h"

static void names_are_without_arguments(void **state)
{
	static const char *const names[][3] = {
		/* name, plain, short */
		{"main", "main", "main"},
		{"rustc_middle::ty::fold::fold_regions::<A<B>, F>",
		 "rustc_middle::ty::fold::fold_regions", "fold::fold_regions"},
		{"<alloc::vec::Vec<u8> as core::clone::Clone>::clone",
		 "<alloc::vec::Vec as core::clone::Clone>::clone", "Vec::clone"},
		{"<rustc_infer::infer::InferCtxt>::probe::<R, <X as Y>::Z>",
		 "<rustc_infer::infer::InferCtxt>::probe", "InferCtxt::probe"},
		{"<&mut rustc_ast::token::Token as core::fmt::Debug>::fmt",
		 "<&mut rustc_ast::token::Token as core::fmt::Debug>::fmt", "Token::fmt"},
		{"<T as core::convert::Into<U>>::into", "<T as core::convert::Into>::into",
		 "Into::into"},
		{"rustc_hir_typeck::typeck_with_fallback::{closure#0}::{closure#1}",
		 "rustc_hir_typeck::typeck_with_fallback::{closure#0}::{closure#1}",
		 "rustc_hir_typeck::typeck_with_fallback::{closure#0}::{closure#1}"},
		{"<fn(u8) -> u32 as core::ops::function::FnOnce<(u8,)>>::call_once",
		 "<fn(u8) -> u32 as core::ops::function::FnOnce>::call_once",
		 "fn(u8) -> u32::call_once"},
		{"core::ptr::drop_in_place<alloc::vec::Vec<(u8, u8)>>", "core::ptr::drop_in_place",
		 "ptr::drop_in_place"},
		{"<[u8] as core::slice::Join<&str>>::join", "<[u8] as core::slice::Join>::join",
		 "[u8]::join"},
		{"llvm::DenseMapBase<K, V>::grow(unsigned int)", "llvm::DenseMapBase::grow",
		 "DenseMapBase::grow"},
		{"(anonymous namespace)::Verifier::visit(llvm::Value const&) const",
		 "(anonymous namespace)::Verifier::visit", "Verifier::visit"},
		{"llvm::operator<<(llvm::raw_ostream&, int)", "llvm::operator<<",
		 "llvm::operator<<"},
		{"llvm::Twine::operator()(int)", "llvm::Twine::operator()", "Twine::operator()"},
		{"a::b<c", "a::b", "a::b"},
		{"sem_wait_forever.cold", "sem_wait_forever", "sem_wait_forever"},
		{"a::b::<c>.warm.3", "a::b", "a::b"},
		{"a.cold::b", "a.cold::b", "a.cold::b"},
		{"a>::b", "a>::b", "a>::b"},
		{"", "", ""},
	};

	for (size_t i = 0; i < N_OF(names); i++) {
		_free_ char *plain = code_name_plain(names[i][0]);
		_free_ char *name = code_name_short(plain);

		assert_string_equal(plain, names[i][1]);
		assert_string_equal(name, names[i][2]);
	}
}

static void functions_are_in_parts_of_the_compiler(void **state)
{
	static const char *const driver = "/lib/librustc_driver-0123456789abcdef.so";
	const char *const parts[][3] = {
		/* name, file, part */
		{"rustc_middle::ty::fold::fold_regions", driver, "rustc_middle"},
		{"<rustc_infer::infer::InferCtxt>::probe", driver, "rustc_infer"},
		{"<&mut rustc_ast::token::Token as core::fmt::Debug>::fmt", driver, "rustc_ast"},
		{"<dyn rustc_x::Y as core::fmt::Debug>::fmt", driver, "rustc_x"},
		{"<u32 as core::fmt::Debug>::fmt", driver, "core"},
		{"<(u8, rustc_a::B) as rustc_c::D>::e", driver, "rustc_c"},
		{"<<rustc_a::B as rustc_c::D>::E as core::f>::g", driver, "rustc_a"},
		{"alloc::vec::from_elem", driver, "alloc"},
		{"__rust_alloc_zeroed", driver, "allocator"},
		{"malloc", "/lib/libc.so.6", "allocator"},
		{"operator new(unsigned long)", "/lib/libLLVM.so.22", "allocator"},
		{"arena_bin_malloc_hard", "/usr/bin/rustc", "allocator"},
		{"", "/usr/bin/rustc", "allocator"},
		{"main", "/usr/bin/rustc", "rustc"},
		{"rustc_main::main", "/usr/bin/rustc", "rustc_main"},
		{"memcpy", "/lib/libc-2.31.so", "libc"},
		{"_dl_relocate_object", "/lib64/ld-linux-x86-64.so.2", "libc"},
		{"llvm::Value::use", "/lib/libLLVM.so.22", "LLVM"},
		{"", "/lib/libLLVM.so.22", "LLVM"},
		{"llvm::Value::use", driver, "LLVM"},
		{"LLVMRustWriteOutputFile", driver, "rustc_llvm"},
		{"ZSTD_compress", driver, "librustc_driver"},
		{"deflate", "/lib/libz.so.1.2.13", "libz"},
		{"derive_it", "/t/libmacros-0123456789abcdef.so", "libmacros"},
		{"clock_gettime", "[vdso]", "[vdso]"},
		{"", NULL, "(unknown)"},
		{"<<<<", NULL, "(unknown)"},
	};

	for (size_t i = 0; i < N_OF(parts); i++) {
		_free_ char *part = code_part(parts[i][0], parts[i][1]);

		if (strcmp(part, parts[i][2]))
			fail_msg("%s in %s: %s", parts[i][0], parts[i][1] ?: "no file", part);
	}
	assert_true(code_part_is_general("alloc"));
	assert_true(code_part_is_general("libc"));
	assert_false(code_part_is_general("rustc_middle"));
	assert_false(code_part_is_general("LLVM"));
}

/* Time must not grow with the square of a name's length. */
static void a_hostile_name_is_a_name(void **state)
{
	enum { SIZE = 1 << 18 };
	static const char *const pieces[] = {"<", "{a}::", "<a as b::", "a::<", "&", "((", "a<b>"};
	_free_ char *name = malloc(SIZE + 16);

	for (size_t i = 0; i < N_OF(pieces); i++) {
		size_t n = strlen(pieces[i]);
		_free_ char *plain = NULL, *text = NULL, *part = NULL;

		for (size_t at = 0; at < SIZE; at += n)
			strcpy(name + at, pieces[i]);
		plain = code_name_plain(name);
		text = code_name_short(plain);
		part = code_part(name, NULL);
		assert_true(strlen(plain) <= strlen(name));
		assert_true(strlen(text) <= strlen(plain) + 2);
		assert_non_null(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_without_arguments),
		cmocka_unit_test(functions_are_in_parts_of_the_compiler),
		cmocka_unit_test(a_hostile_name_is_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
