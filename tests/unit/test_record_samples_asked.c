// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/samples_asked.h"

#include "test.h"

static struct sampling_options asked(const struct cli_record_options *o, uint64_t ppm, bool queries,
				     const char *events)
{
	const struct budget_limit limit = {.ppm = ppm, .only_queries = queries};
	_filter_ struct filter *f = NULL;

	assert_int_equal(filter__new(&events, events ? 1 : 0, &f), 0);
	return samples_asked(o, limit, f);
}

static void a_budget_samples_the_cpu(void **state)
{
	const struct cli_record_options none = {}, memory = {.fault_period = 7};
	struct sampling_options s = asked(&none, 250000, true, NULL);

	assert_int_equal(s.hz, 499);
	assert_true(s.on_demand);
	s = asked(&memory, 250000, true, NULL);
	assert_int_equal(s.hz, 499);
	assert_int_equal(s.fault_period, 7);
	assert_int_equal(s.light, WIRE_LIGHT_NOT);
	assert_false(s.on_demand);
	assert_false(sampling_options__any(&(struct sampling_options){0}));
	s = asked(&none, 0, false, "none");
	assert_false(sampling_options__any(&s));
}

/* Only then do the probes know the query of a page fault. */
static void no_stack_is_walked_if_every_query_has_a_probe(void **state)
{
	const struct cli_record_options light = {.light_period = 9};
	struct sampling_options s = asked(&light, 0, false, "query-provider");

	assert_int_equal(s.fault_period, 9);
	assert_int_equal(s.light, WIRE_LIGHT_HERE);
	assert_int_equal(asked(&light, 0, false, NULL).light, WIRE_LIGHT_HERE);
	assert_int_equal(asked(&light, 250000, true, NULL).light, WIRE_LIGHT_NEAR);
	assert_int_equal(asked(&light, 0, false, "none").light, WIRE_LIGHT_NEAR);
	assert_int_equal(asked(&light, 0, false, "-type_of").light, WIRE_LIGHT_NEAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_budget_samples_the_cpu),
		cmocka_unit_test(no_stack_is_walked_if_every_query_has_a_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
