// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/function_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void assert_name(const char *symbol, const char *expected)
{
	char *name = function_path(symbol);

	assert_string_equal(name, expected);
	free(name);
}

/* As they are in the librustc_driver of stable 1.95.0. */
static void paths_are_spelled_out(void **state)
{
	(void)state;
	assert_name("_RNvNtNtCslKGqiwnqz1t_17rustc_codegen_ssa9debuginfo10type_names17push_generic_"
		    "args",
		    "rustc_codegen_ssa::debuginfo::type_names::push_generic_args");
	assert_name("_RNvMs6_NtNtCsdadwybgsbvk_12rustc_middle9dep_graph5graphNtB5_8DepGraph21exec_"
		    "cache_promotions",
		    "rustc_middle::dep_graph::graph::DepGraph::exec_cache_promotions");
	assert_name("_RNvXs0_NtCsairCCGeQF1y_12rustc_expand10proc_macroNtB5_15DeriveProcMacroNtNtB7"
		    "_4base17MultiItemModifier6expand",
		    "rustc_expand::proc_macro::DeriveProcMacro::expand");
	assert_name("_RNCNCNvNtCs5wPqZkVjkEZ_18rustc_monomorphize12partitioning32collect_and_"
		    "partition_mono_items00B7_",
		    "rustc_monomorphize::partitioning::collect_and_partition_mono_items::{closure}"
		    "::{closure}");
}

static void types_are_left_out(void **state)
{
	(void)state;
	assert_name("_RINvNtCsfhTr2ijyTAe_16rustc_query_impl9execution17try_execute_queryINtNtNtCs"
		    "dadwybgsbvk_12rustc_middle5query6caches10DefIdCacheINtNtB18_5erase10ErasedData"
		    "Ahj8_EEKb0_EB4_.cold",
		    "rustc_query_impl::execution::try_execute_query");
	assert_name("_RINvCs1_1a1fRL_eDNtB4_1TEL_FUKCjEuThhEE", "a::f");
}

static void legacy_names_are_known_too(void **state)
{
	(void)state;
	assert_name("_ZN16rustc_query_impl9execution17try_execute_query17h0123456789abcdefE.llvm.1",
		    "rustc_query_impl::execution::try_execute_query");
}

static void what_is_neither_stays(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		assert_name(symbols[i], symbols[i]);
}

static void depth_is_bounded(void **state)
{
	enum { N = 100000 };
	char *symbol = malloc(N + 8);

	(void)state;
	strcpy(symbol, "_RINvC1a1f");
	memset(symbol + 10, 'R', N - 10);
	symbol[N] = '\0';
	assert_name(symbol, symbol);
	memset(symbol + 2, 'N', N - 2);
	assert_name(symbol, symbol);
	free(symbol);
}

static void random_text_is_survived(void **state)
{
	static const char letters[] = "NvCIMXYBRTKEs_0123abufhDLAp";
	unsigned int seed = (unsigned int)time(NULL);

	(void)state;
	print_message("seed %u\n", seed);
	for (int round = 0; round < 50000; round++) {
		char symbol[64] = "_R";

		for (int i = 2, n = rand_r(&seed) % 60; i < 2 + n; i++)
			symbol[i] = letters[rand_r(&seed) % (sizeof(letters) - 1)];
		free(function_path(symbol));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_spelled_out),
		cmocka_unit_test(types_are_left_out),
		cmocka_unit_test(legacy_names_are_known_too),
		cmocka_unit_test(what_is_neither_stays),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(random_text_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
