// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "tracks/tracks.h"

/* Each counter is mapped to its cause, and to no other. */
static void losses_are_mapped_cause_by_cause(void **state)
{
	static const struct {
		enum wire_counter counter;
		enum trace_loss cause;
	} causes[] = {
		{WIRE_LOST_RING_FULL, TRACE_LOST_RING_FULL},
		{WIRE_LOST_STACK_FULL, TRACE_LOST_STACK_FULL},
		{WIRE_LOST_NO_STORAGE, TRACE_LOST_NO_STORAGE},
		{WIRE_LOST_RECURSION, TRACE_LOST_RECURSION},
		{WIRE_LOST_PROCESS_RECORD, TRACE_LOST_PROCESS_RECORD},
		{WIRE_LOST_TARGETS_FULL, TRACE_LOST_TARGETS_FULL},
		{WIRE_LOST_MAPPINGS, TRACE_LOST_MAPPINGS},
		{WIRE_LOST_COMPILERS, TRACE_LOST_COMPILERS},
		{WIRE_DROP_END_WITHOUT_START, TRACE_DROP_END_WITHOUT_START},
		{WIRE_DROP_UNKNOWN_PROVIDER, TRACE_LOST_UNKNOWN_PROVIDER},
		{WIRE_COUNT_UNWOUND, TRACE_COUNT_UNWOUND},
		{WIRE_COUNT_LEFT, TRACE_COUNT_LEFT},
		{WIRE_COUNT_OPEN, TRACE_COUNT_OPEN},
		{WIRE_COUNT_HITS, TRACE_COUNT_HITS},
		{WIRE_COUNT_HITS_OTHER, TRACE_COUNT_HITS_OTHER},
		{WIRE_COUNT_NO_LABEL, TRACE_COUNT_NO_LABEL},
		{WIRE_COUNT_NO_CALLER, TRACE_COUNT_NO_CALLER},
		{WIRE_LOST_SAMPLES_RING, TRACE_COUNT_NO_SAMPLE},
		{WIRE_LOST_SAMPLES_NESTED, TRACE_COUNT_NO_SAMPLE},
		{WIRE_LOST_SAMPLES_CPU, TRACE_COUNT_NO_SAMPLE},
		{WIRE_LOST_JOBS, TRACE_COUNT_NO_JOB},
		{WIRE_LOST_LLVM, TRACE_COUNT_NO_LLVM},
	};
	const struct tracks_sink sink = {0};
	struct tracks *t = NULL;

	assert_int_equal(tracks__new(&sink, &t), 0);
	for (size_t i = 0; i < N_OF(causes); i++) {
		uint64_t counters[WIRE_COUNTER_MAX] = {0};
		struct trace_losses losses;

		counters[causes[i].counter] = 40 + i;
		losses = tracks__losses(t, counters);
		for (unsigned int cause = 0; cause < TRACE_LOSS_MAX; cause++)
			assert_int_equal(losses.count[cause],
					 cause == causes[i].cause ? 40 + i : 0);
	}
	tracks__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_mapped_cause_by_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
