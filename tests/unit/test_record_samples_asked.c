// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/filter_asked.h"

#include "test.h"
#include "../fixtures/rows.h"

static struct sampling_options asked(const struct cli_record_options *o, const char *events)
{
	_filter_ struct filter *f = NULL;

	assert_int_equal(filter__new(&events, events ? 1 : 0, &f), 0);
	return samples_asked(o, f);
}

/* Nobody asked for those without which only times would be missing. */
TEST_CASE(times_are_sampled_where_some_query_has_no_probe)
{
	static const struct {
		const char *events;
		struct cli_record_options o;
		uint32_t hz;
		bool implied;
	} cases[] = {
		{NULL, {}, 251, true},
		{"passes", {}, 251, true},
		{"none,counts", {}, 251, true},
		{"none", {}, 251, false},
		{NULL, {.sample_hz = 99}, 99, false},
		{NULL, {.fault_period = 7}, 251, false},
		{NULL, {.off_cpu_stacks = true}, 251, false},
		{"default,query-provider", {}, 0, false},
		{"typeck", {}, 251, true},
		{"default,typeck", {}, 251, true},
		{"query-provider,-typeck", {}, 251, true},
		{"query-provider", {.sample_hz = 99}, 99, false},
		{"default,query-provider", {.exact = true}, 251, true},
		{"default,query-provider", {.exact = true, .fault_period = 7}, 251, false},
		{"default,query-provider", {.exact = true, .no_sample = true}, 0, false},
		{NULL, {.no_sample = true}, 0, false},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct sampling_options s = asked(&cases[i].o, cases[i].events);

		char row[32];

		snprintf(row, sizeof(row), "%zu, %s", i, cases[i].events ?: "");
		row_equal(row, s.hz, cases[i].hz);
		row_equal(row, s.implied, cases[i].implied);
		row_equal(row, s.fault_period, cases[i].o.fault_period);
		row_equal(row, s.light, WIRE_LIGHT_NOT);
		row_equal(row, sampling_options__any(&s), cases[i].hz != 0);
	}
}

/* Only then do the probes know the query of a page fault. */
TEST_CASE(no_stack_is_walked_if_every_query_has_a_probe)
{
	const struct cli_record_options light = {.light_period = 9};
	struct sampling_options s = asked(&light, "query-provider");

	assert_int_equal(s.fault_period, 9);
	assert_int_equal(s.light, WIRE_LIGHT_HERE);
	assert_int_equal(asked(&light, "default,query-provider").light, WIRE_LIGHT_HERE);
	assert_int_equal(asked(&light, NULL).light, WIRE_LIGHT_NEAR);
	assert_int_equal(asked(&light, "none").light, WIRE_LIGHT_NEAR);
	assert_int_equal(asked(&light, "query-provider,-type_of").light, WIRE_LIGHT_NEAR);
}

TEST_MAIN(NULL, NULL)
