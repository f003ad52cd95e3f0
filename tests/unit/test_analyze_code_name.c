// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/code_name.h"
#include "analyze/hot_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "test.h"
#include "../fixtures/sampled_build.h"

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
	struct code_functions f = start();
	uint32_t first = location(&f, 1), other;

	/* Of any place in it, its end too, and of each instance. */
	assert_int_equal(location(&f, 10), first);
	assert_int_equal(location(&f, 15), first);
	assert_int_equal(location(&f, 3), first);
	assert_string_equal(f.at[first].name, "a::f");
	assert_string_equal(f.parts[f.at[first].part], "a");
	assert_string_equal(f.at[first].file, "/d/librustc_driver-1.so");
	other = location(&f, 21);
	assert_int_not_equal(other, first);
	assert_int_equal(f.at[other].part, f.at[first].part);
	code_functions__destroy(&f);
}

TEST_CASE(what_has_no_name_is_named_by_its_file)
{
	struct code_functions f = start();
	uint32_t unknown = location(&f, 41), nameless = location(&f, 31);

	assert_string_equal(f.at[nameless].name, "[libLLVM.so.22]");
	assert_string_equal(f.at[unknown].name, "(unknown)");
	assert_true(f.at[unknown].is_general);
	assert_int_equal(location(&f, TRACE_NO_LOCATION), unknown);
	assert_int_equal(location(&f, 1000), unknown);
	f.source.locate = NULL;
	assert_int_equal(location(&f, 31), unknown);
	code_functions__destroy(&f);
}

TEST_CASE(intervals_are_no_functions)
{
	struct code_functions f = start();
	uint32_t query = find(&f, TRACE_STACK_QUERY, 5);
	uint32_t unknown = find(&f, TRACE_STACK_UNKNOWN, 0);

	assert_int_equal(f.at[query].part, CODE_NO_PART);
	assert_int_equal(f.at[query].kind, TRACE_KIND_QUERY);
	/* By its name, as an imported trace may have two strings of one text. */
	assert_int_equal(find(&f, TRACE_STACK_QUERY, 6), query);
	assert_int_not_equal(find(&f, TRACE_STACK_ACTIVITY, 5), query);
	assert_int_not_equal(location(&f, 61), query);
	assert_true(f.at[unknown].is_unknown);
	code_functions__destroy(&f);
}

/* Or each function of a hostile trace could take a megabyte. */
TEST_CASE(names_are_cut)
{
	struct code_functions f = start();
	uint32_t number = location(&f, 51);

	assert_true(strlen(f.at[number].name) < 4096);
	code_functions__destroy(&f);
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

TEST_MAIN(NULL, NULL)
