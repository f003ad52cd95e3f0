// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/sample_shares.h"

#include "analyze/model.h"
#include "test.h"
#include "../fixtures/sampled_build.h"

static void time_is_split_by_what_it_was_for(void **state)
{
	_trace_reader_ struct trace_reader *r = sampled_build_open();
	struct model_options options = model_options_of(r);
	struct sample_sum shares[SAMPLE_SHARES];
	_model_ struct model m = {};

	options.stack_causes = 1u << TRACE_SAMPLE_CPU;
	assert_int_equal(model__init(&m, &options), 0);
	assert_int_equal(model__read(&m, r), 0);
	assert_int_equal(sample_shares_of(&m.stacks[TRACE_SAMPLE_CPU], &options.texts, shares), 0);
	/* Functions that LLVM calls count as LLVM. */
	assert_int_equal(shares[SAMPLE_LLVM].n, 5 + 3);
	assert_int_equal(shares[SAMPLE_CODEGEN].n, 0);
	assert_int_equal(shares[SAMPLE_FRONT_END].n, 20);
	assert_int_equal(shares[SAMPLE_NO_STACK].n, 1);
}

/* Waits of the fixture are below rustc_codegen_llvm. */
static void a_codegen_crate_is_codegen(void **state)
{
	_trace_reader_ struct trace_reader *r = sampled_build_open();
	struct model_options options = model_options_of(r);
	struct sample_sum shares[SAMPLE_SHARES];
	_model_ struct model m = {};

	options.stack_causes = 1u << TRACE_SAMPLE_OFF_CPU;
	assert_int_equal(model__init(&m, &options), 0);
	assert_int_equal(model__read(&m, r), 0);
	assert_int_equal(sample_shares_of(&m.stacks[TRACE_SAMPLE_OFF_CPU], &options.texts, shares),
			 0);
	assert_int_equal(shares[SAMPLE_CODEGEN].n, 3);
	assert_int_equal(shares[SAMPLE_FRONT_END].n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_split_by_what_it_was_for),
		cmocka_unit_test(a_codegen_crate_is_codegen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
