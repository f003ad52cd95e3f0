// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/symbols/cxx_name.h"

#include "test.h"
#include "base/cleanup.h"

static void check(const char *symbol, const char *want)
{
	_free_ char *got = cxx_name(symbol);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

static void paths_are_known(void **state)
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

static void an_invalid_cxx_symbol_has_no_name(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_known),
		cmocka_unit_test(an_invalid_cxx_symbol_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
