// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/code_name.h"
#include "analyze/hot_functions.h"
#include "base/cleanup.h"
#include "test.h"
#include "../fixtures/sampled_build.h"
#include "analyze/generic_name.h"

#define _code_functions_ __cleanup(code_functions__destroy)

TEST_CASE(names_are_without_arguments)
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

TEST_CASE(functions_are_in_parts_of_the_compiler)
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
TEST_CASE(a_hostile_name_is_a_name)
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

/* ---- Code functions -------------------------------------------------------------------------- */

/* Functions of 9 bytes each, from locindex 1 on; the names of the last two are long. */
static char long_name[100000];
static struct trace_function functions[] = {
	{.name = "a::f::<u8>", .file = "/d/librustc_driver-1.so"},
	{.name = "a::f::<u16>", .file = "/d/librustc_driver-1.so"},
	{.name = "a::g", .file = "/d/librustc_driver-1.so"},
	{.name = "", .file = "/d/libLLVM.so.22"},
	{.name = "", .file = NULL},
	{.name = long_name, .file = NULL},
	{.name = "typeck", .file = NULL},
};

static bool locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	if (!locindex || locindex > 10 * N_OF(functions))
		return false;
	*out = (struct trace_location){.function = &functions[(locindex - 1) / 10]};
	return true;
}

static const char *text(const void *ctx, uint32_t id)
{
	return "typeck";
}

static struct code_functions start(void)
{
	memset(long_name, 'x', sizeof(long_name) - 1);
	for (uint32_t i = 0; i < N_OF(functions); i++) {
		functions[i].first = 1 + 10 * i;
		functions[i].size = 9;
	}
	return (struct code_functions){.source = {.locate = locate}, .texts = {.text = text}};
}

static uint32_t find(struct code_functions *f, uint8_t kind, uint32_t place)
{
	const struct trace_stack entry = {.kind = kind, .place = place};
	uint32_t number;

	assert_int_equal(code_functions__find(f, &entry, &number), 0);
	return number;
}

static uint32_t location(struct code_functions *f, uint32_t locindex)
{
	return find(f, TRACE_STACK_LOCATION, locindex);
}

TEST_CASE(equal_functions_have_one_number)
{
	_code_functions_ struct code_functions f = start();
	uint32_t first = location(&f, 1), other;

	/* Of any place in it, its end too, and of each instance. */
	assert_int_equal(location(&f, 10), first);
	assert_int_equal(location(&f, 15), first);
	assert_int_equal(location(&f, 3), first);
	assert_struct(f, at[first].name, "a::f", parts[f.at[first].part], "a", at[first].file,
		      "/d/librustc_driver-1.so");
	other = location(&f, 21);
	assert_int_not_equal(other, first);
	assert_int_equal(f.at[other].part, f.at[first].part);
}

TEST_CASE(what_has_no_name_is_named_by_its_file)
{
	_code_functions_ struct code_functions f = start();
	uint32_t unknown = location(&f, 41), nameless = location(&f, 31);

	assert_string_equal(f.at[nameless].name, "[libLLVM.so.22]");
	assert_struct(f.at[unknown], name, "(unknown)", is_general, true);
	assert_int_equal(location(&f, TRACE_NO_LOCATION), unknown);
	assert_int_equal(location(&f, 1000), unknown);
	f.source.locate = NULL;
	assert_int_equal(location(&f, 31), unknown);
}

TEST_CASE(intervals_are_no_functions)
{
	_code_functions_ struct code_functions f = start();
	uint32_t query = find(&f, TRACE_STACK_QUERY, 5);
	uint32_t unknown = find(&f, TRACE_STACK_UNKNOWN, 0);

	assert_struct(f.at[query], part, CODE_NO_PART, kind, TRACE_KIND_QUERY);
	/* By its name, as an imported trace may have two strings of one text. */
	assert_int_equal(find(&f, TRACE_STACK_QUERY, 6), query);
	assert_int_not_equal(find(&f, TRACE_STACK_ACTIVITY, 5), query);
	assert_int_not_equal(location(&f, 61), query);
	assert_true(f.at[unknown].is_unknown);
}

/* Or each function of a hostile trace could take a megabyte. */
TEST_CASE(names_are_cut)
{
	_code_functions_ struct code_functions f = start();
	uint32_t number = location(&f, 51);

	assert_true(strlen(f.at[number].name) < 4096);
}

/* ---- Hot functions --------------------------------------------------------------------------- */

TEST_CASE(each_thread_has_one)
{
	_sampled_build_ struct sampled_build b;
	struct hot_function hot;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	assert_true(hot_functions__of(b.model.hot, 0, 100, &hot));
	assert_string_equal(hot.part, "rustc_hir_typeck");
	/* With its instances, and the general code that it calls. */
	assert_string_equal(hot.name, "FnCtxt::check_expr");
	assert_true(hot_functions__of(b.model.hot, 0, 101, &hot));
	assert_string_equal(hot.part, CODE_LLVM);
	assert_true(hot_functions__of(b.model.hot, 1, 200, &hot));
	assert_string_equal(hot.part, "rustc_interface");
	/* It has no sample of the CPU. */
	assert_false(hot_functions__of(b.model.hot, 0, 102, &hot));
	assert_false(hot_functions__of(b.model.hot, 7, 100, &hot));
}

TEST_CASE(cpu_time_is_that_of_samples_of_the_cpu)
{
	_sampled_build_ struct sampled_build b;

	sampled_build__make(&b, MODEL_THREADS | MODEL_HOT, 0);
	assert_int_equal(hot_functions__cpu_ns(b.model.hot, 0, 100), 16 * SAMPLED_PERIOD);
	assert_int_equal(hot_functions__cpu_ns(b.model.hot, 0, 102), 0);
	assert_int_equal(hot_functions__cpu_ns(b.model.hot, 7, 100), 0);
}

/* ---- Made-up stacks: entry i is in function i ------------------------------------------------ */

#define N_FUNCTIONS 200u

static char names[N_FUNCTIONS + 1][16];
static struct trace_function hot_functions_functions[N_FUNCTIONS + 1];
static struct trace_stack entries[N_FUNCTIONS + 1];

static const struct trace_stack *entry_of(const void *ctx, uint32_t id)
{
	return id && id <= N_FUNCTIONS ? &entries[id] : NULL;
}

static bool hot_functions_locate(const void *ctx, uint32_t locindex, struct trace_location *out)
{
	*out = (struct trace_location){.function = &hot_functions_functions[locindex]};
	return locindex && locindex <= N_FUNCTIONS;
}

static struct hot_functions *hot_functions_start(void)
{
	const struct stack_source source = {.entry = entry_of, .locate = hot_functions_locate};
	struct hot_functions *h;

	for (uint32_t i = 1; i <= N_FUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "c::f%u", i);
		hot_functions_functions[i] = (struct trace_function){.name = names[i], .first = i};
		entries[i] =
			(struct trace_stack){.place = i, .depth = 1, .kind = TRACE_STACK_LOCATION};
	}
	assert_int_equal(hot_functions__new(&source, &(struct trace_texts){}, &h), 0);
	return h;
}

static void add(struct hot_functions *h, uint32_t stack, uint64_t ns)
{
	const struct trace_sample s = {
		.time_ns = 5, .value = ns, .tid = 1, .stack = stack, .cause = TRACE_SAMPLE_CPU};

	assert_int_equal(hot_functions__add(h, &s), 0);
}

static const char *hottest(const struct hot_functions *h)
{
	struct hot_function hot;

	return hot_functions__of(h, 0, 1, &hot) ? hot.name : NULL;
}

TEST_CASE(old_samples_count_less)
{
	_hot_functions_ struct hot_functions *h = hot_functions_start();

	for (int i = 0; i < 10; i++)
		add(h, 1, HOT_HALF_NS);
	assert_string_equal(hottest(h), "c::f1");
	for (int i = 0; i < 2; i++)
		add(h, 2, HOT_HALF_NS);
	assert_string_equal(hottest(h), "c::f2");
	assert_int_equal(hot_functions__cpu_ns(h, 0, 1), 12 * HOT_HALF_NS);
}

TEST_CASE(a_sample_without_a_stack_has_no_function)
{
	_hot_functions_ struct hot_functions *h = hot_functions_start();

	add(h, TRACE_NO_STACK, 10);
	add(h, N_FUNCTIONS + 1, 10);
	assert_null(hottest(h));
	assert_int_equal(hot_functions__cpu_ns(h, 0, 1), 20);
}

TEST_CASE(many_functions_need_no_more_memory)
{
	_hot_functions_ struct hot_functions *h = hot_functions_start();

	for (uint32_t i = 1; i <= N_FUNCTIONS; i++)
		add(h, i, 100);
	for (int i = 0; i < 50; i++)
		add(h, 7, 100);
	assert_string_equal(hottest(h), "c::f7");
}

/* ---- Generic name ---------------------------------------------------------------------------- */

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
	assert_struct(name, path, symbol, crate, NULL);
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
		 "GT$17hb60666b1258c12dcE",
		 true},
		{"_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE", false},
		{"_ZN4core3fmt49_$LT$impl$u20$core..fmt..Debug$u20$for$u20$u8$GT$3fmt"
		 "17h0123456789abcdefE",
		 false},
		{"_ZN47_$LT$app..Foo$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
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
