// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/function_name.h"

#include "test.h"
#include "base/cleanup.h"

static void assert_name(const char *symbol, const char *expected)
{
	_free_ char *name = function_name(symbol);

	assert_string_equal(name, expected);
}

static void assert_path(const char *symbol, const char *expected)
{
	_free_ char *path = function_path(symbol);

	assert_string_equal(path, expected);
}

static void names_are_as_rust_writes_them(void **state)
{
	assert_name("_RNvMNtCs1234_12rustc_middle2tyNtB2_8FieldDef2ty",
		    "<rustc_middle::ty::FieldDef>::ty");
	assert_name("_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.cold",
		    "rustc_ty_utils::abi::fn_abi_of_instance.cold");
	assert_name("_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.llvm.123",
		    "rustc_ty_utils::abi::fn_abi_of_instance");
	assert_name("_RNvNtCs1234_14rustc_ty_utils3abi18fn_abi_of_instance.llvm.123.warm.0",
		    "rustc_ty_utils::abi::fn_abi_of_instance.warm.0");
	assert_name("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	assert_name("_ZN4core3fmt5write17h0123456789abcdefE.cold", "core::fmt::write.cold");
	assert_name("LLVMFoo", "LLVMFoo");
	assert_name("_Rgarbage", "_Rgarbage");
	assert_name("", "");
}

/* 40 tuples, each with the previous one twice: 2^40 pieces. */
static void a_name_that_never_ends_is_left_as_it_is(void **state)
{
	char symbol[1024] = "_RINvC1a1fTuuE";
	size_t last = strlen("INvC1a1f");

	for (int i = 0; i < 40; i++) {
		size_t at = strlen(symbol) - 2;
		char back[16];
		int n = 0;

		/* Back references are base-62 numbers: "_" is 0, "0_" is 1. */
		if (last > 62)
			back[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[(last - 1) / 62];
		if (last)
			back[n++] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				[(last - 1) % 62];
		back[n] = '\0';
		sprintf(symbol + strlen(symbol), "TB%s_B%s_E", back, back);
		last = at;
	}
	strcat(symbol, "E");
	assert_name(symbol, symbol);
}

/* Symbols from the librustc_driver of stable 1.95.0. */
static void paths_are_spelled_out(void **state)
{
	assert_path("_RNvNtNtCslKGqiwnqz1t_17rustc_codegen_ssa9debuginfo10type_names17push_generic_"
		    "args",
		    "rustc_codegen_ssa::debuginfo::type_names::push_generic_args");
	assert_path("_RNvMs6_NtNtCsdadwybgsbvk_12rustc_middle9dep_graph5graphNtB5_8DepGraph21exec_"
		    "cache_promotions",
		    "rustc_middle::dep_graph::graph::DepGraph::exec_cache_promotions");
	assert_path("_RNvXs0_NtCsairCCGeQF1y_12rustc_expand10proc_macroNtB5_15DeriveProcMacroNtNtB7"
		    "_4base17MultiItemModifier6expand",
		    "rustc_expand::proc_macro::DeriveProcMacro::expand");
	assert_path("_RNCNCNvNtCs5wPqZkVjkEZ_18rustc_monomorphize12partitioning32collect_and_"
		    "partition_mono_items00B7_",
		    "rustc_monomorphize::partitioning::collect_and_partition_mono_items::{closure}"
		    "::{closure}");
}

/* These counts print nothing and are skipped; counting would take days. */
static void a_count_that_never_ends_is_not_begun(void **state)
{
	static const struct {
		const char *symbol, *name, *path;
	} symbols[] = {
		{"_RNvMINtC1a1fDGzzzzzz_NtC1a1TEL_Eu1x", "<()>::x", "()::x"},
		{"_RNvMINtC1a1fFGzzzzzz_EuEu1x", "<()>::x", "()::x"},
		{"_RNvXs_INtC1a1fFGzzzzzz_EuEuC1b1x", "<() as b>::x", "()::x"},
		/* This count is printed. */
		{"_RINvC1a1fFGzzzzzz_EuE", NULL, NULL},
		/* A malformed symbol: the error comes after the count. */
		{"_RNvMINtC1a1fDGINtC1a_1f", NULL, NULL},
	};

	for (size_t i = 0; i < N_OF(symbols); i++) {
		const char *symbol = symbols[i].symbol;

		assert_name(symbol, symbols[i].name ? symbols[i].name : symbol);
		assert_path(symbol, symbols[i].path ? symbols[i].path : symbol);
	}
}

static void an_identifier_that_looks_like_a_count_is_read(void **state)
{
	char symbol[2064] = "", name[2064];

	assert_name("_RNvMs_NtCs1234_1a3cfgNtB4_3CFG11push_assign", "<a::cfg::CFG>::push_assign");
	assert_name("_RNvMNtCs1xDGV85I1S7_1a1bu1x", "<()>::x");
	assert_name("_RNvMINtC1a1fDG0_NtC1a1TEL_Eu1x", "<()>::x");
	assert_name("_RINvC1a1fuECs1xDGV85I1S7_1b", "a::f::<()>");
	/* The count follows the path, and would never end. */
	assert_name("_RC1aIC1bDGzzzzzz_C1cEL_E", "a");
	/* A long identifier. */
	memset(symbol, 'x', sizeof(symbol) - 2);
	memcpy(symbol, "_RNvC3DGx2050", strlen("_RNvC3DGx2050"));
	symbol[sizeof(symbol) - 2] = '_';
	sprintf(name, "DGx::%s", symbol + strlen("_RNvC3DGx2050"));
	assert_name(symbol, name);
}

static void a_method_is_its_type_s(void **state)
{
	/* The module of the impl is not the module of the type. */
	assert_path("_RNvMNtNtC1a1b1cNtNtC1d1e1F1g", "d::e::F::g");
	assert_path("_RNvXC1aINtC1d1FNvYuNtC1d1H1mENtC1d1H1g", "d::F::g");
	assert_path("_RNvXC1aFEuNtC1d1H1g", "fn()::g");
	assert_path("_RNvXC1aFhEhNtC1d1H1g", "fn(u8) -> u8::g");
	assert_path("_ZN3foo28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "foo::{closure}");
	assert_path("_ZN4$GT$17h0123456789abcdefE", ">");
}

static void types_are_left_out(void **state)
{
	assert_path("_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_queryINtNtNtCs"
		    "dadwybgsbvk_12rustc_middle5query6caches10DefIdCacheINtNtB18_5erase10ErasedData"
		    "Ahj8_EEKb0_EB4_.cold",
		    "rustc_query_impl::execution::try_execute_query");
	assert_path("_RINvCs1_1a1fRL_eDNtB2_1TEL_FUKCjEuThhEE", "a::f");
}

static void legacy_names_are_known_too(void **state)
{
	assert_path("_ZN16rustc_query_impl9execution17try_execute_query17h0123456789abcdefE.llvm.1",
		    "rustc_query_impl::execution::try_execute_query");
}

static void a_symbol_of_no_known_scheme_is_left_unchanged(void **state)
{
	static const char *const symbols[] = {
		"main",
		"",
		"_R",
		"_RNv",
		"_RNvC9abc",
		"_ZN",
		"_ZN5abcde",
		"_RNvCs1_3abc999999999x",
		"_RINvCs1_1a1fRR",
	};

	for (size_t i = 0; i < N_OF(symbols); i++)
		assert_path(symbols[i], symbols[i]);
}

static void depth_is_bounded(void **state)
{
	enum { N = 100000 };
	_free_ char *symbol = malloc(N + 8);

	strcpy(symbol, "_RINvC1a1f");
	memset(symbol + 10, 'R', N - 10);
	symbol[N] = '\0';
	assert_path(symbol, symbol);
	memset(symbol + 2, 'N', N - 2);
	assert_path(symbol, symbol);
}

static void random_text_is_survived(void **state)
{
	static const char letters[] = "NvCIMXYBRTKEs_0123abufhDLAp";
	unsigned int seed = 1;

	for (int round = 0; round < 50000; round++) {
		char symbol[64] = "_R";

		for (int i = 2, n = rand_r(&seed) % 60; i < 2 + n; i++)
			symbol[i] = letters[rand_r(&seed) % (sizeof(letters) - 1)];
		free(function_path(symbol));
		free(function_name(symbol));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_as_rust_writes_them),
		cmocka_unit_test(a_name_that_never_ends_is_left_as_it_is),
		cmocka_unit_test(a_count_that_never_ends_is_not_begun),
		cmocka_unit_test(an_identifier_that_looks_like_a_count_is_read),
		cmocka_unit_test(paths_are_spelled_out),
		cmocka_unit_test(a_method_is_its_type_s),
		cmocka_unit_test(types_are_left_out),
		cmocka_unit_test(legacy_names_are_known_too),
		cmocka_unit_test(a_symbol_of_no_known_scheme_is_left_unchanged),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(random_text_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
