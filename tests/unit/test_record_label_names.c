// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/trace_output.h"

#include "test.h"
#include "../fixtures/sampled_trace.h"
#include "../fixtures/temporary.h"

TEST_CASE_WITH(labels_have_the_numbers_of_the_trace, temporary_make, temporary_remove)
{
	_trace_output_ struct trace_output trace = {.writer = sampled_trace_open(temporary)};
	struct label_names l = {0};
	uint32_t id;

	assert_int_equal(label_names__id(&l, &trace, "mir_built", &id), 0);
	assert_int_equal(id, SAMPLED_MIR_BUILT);
	assert_string_equal(label_names__get(&l, SAMPLED_MIR_BUILT), "mir_built");
	/* It is a string of the trace, but no label. */
	assert_string_equal(label_names__get(&l, SAMPLED_TYPECK), "<unknown>");
	assert_string_equal(label_names__get(&l, UINT32_MAX), "<unknown>");
	label_names__clear(&l);
}

TEST_CASE(labels_go_on_without_the_trace)
{
	_trace_output_ struct trace_output trace = {.err = -ENOSPC};
	struct label_names l = {0};
	uint32_t first, second, again;

	assert_int_equal(label_names__id(&l, &trace, "typeck", &first), 0);
	assert_int_equal(label_names__id(&l, &trace, "mir_built", &second), 0);
	assert_int_equal(label_names__id(&l, &trace, "typeck", &again), 0);
	assert_int_equal(again, first);
	assert_int_not_equal(second, first);
	assert_string_equal(label_names__get(&l, second), "mir_built");
	label_names__clear(&l);
}

/* Not with gaps, whose size would double with each. */
TEST_CASE(numbers_without_the_trace_are_dense)
{
	_trace_output_ struct trace_output trace = {.err = -ENOSPC};
	struct label_names l = {0};
	char name[16];
	uint32_t id;

	for (uint32_t i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "label %u", i);
		assert_int_equal(label_names__id(&l, &trace, name, &id), 0);
		assert_int_equal(id, i);
	}
	label_names__clear(&l);
}

TEST_MAIN(NULL, NULL)
