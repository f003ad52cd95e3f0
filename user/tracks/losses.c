// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The kernel half's counters, as a trace numbers the causes. */
#include "tracks/caller_index.h"
#include "tracks/tracks_state.h"

struct trace_losses tracks__losses(const struct tracks *t,
				   const uint64_t counters[WIRE_COUNTER_MAX])
{
	static const enum wire_counter from[TRACE_LOSS_MAX] = {
		[TRACE_LOST_RING_FULL] = WIRE_LOST_RING_FULL,
		[TRACE_LOST_STACK_FULL] = WIRE_LOST_STACK_FULL,
		[TRACE_LOST_NO_STORAGE] = WIRE_LOST_NO_STORAGE,
		[TRACE_LOST_RECURSION] = WIRE_LOST_RECURSION,
		[TRACE_LOST_PROCESS_RECORD] = WIRE_LOST_PROCESS_RECORD,
		[TRACE_LOST_TARGETS_FULL] = WIRE_LOST_TARGETS_FULL,
		[TRACE_DROP_END_WITHOUT_START] = WIRE_DROP_END_WITHOUT_START,
		[TRACE_COUNT_UNWOUND] = WIRE_COUNT_UNWOUND,
		[TRACE_COUNT_LEFT] = WIRE_COUNT_LEFT,
		[TRACE_COUNT_OPEN] = WIRE_COUNT_OPEN,
		[TRACE_LOST_UNKNOWN_PROVIDER] = WIRE_DROP_UNKNOWN_PROVIDER,
		[TRACE_COUNT_HITS] = WIRE_COUNT_HITS,
		[TRACE_COUNT_HITS_OTHER] = WIRE_COUNT_HITS_OTHER,
		[TRACE_COUNT_NO_LABEL] = WIRE_COUNT_NO_LABEL,
		[TRACE_COUNT_NO_CALLER] = WIRE_COUNT_NO_CALLER,
		[TRACE_LOST_MAPPINGS] = WIRE_LOST_MAPPINGS,
		[TRACE_LOST_COMPILERS] = WIRE_LOST_COMPILERS,
	};
	_Static_assert(TRACE_LOST_COMPILERS == TRACE_LOSS_MAX - 1, "a cause without a counter");
	struct trace_losses losses;

	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		losses.count[i] = counters[from[i]];
	losses.count[TRACE_LOST_BAD_RECORD] = 0;
	losses.count[TRACE_COUNT_NO_CALLER] += caller_index__unplaced(t->callers);
	return losses;
}
