/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The probes that a budget governs, as the budget sees them. The capture implements this over the
 * kernel half, so the budget does not depend on the capture.
 *
 * The starts of a query can be attached and detached on their own, and so can the ends of a set
 * (query_sets.h). A group of guards (guard_groups.h) can be attached, and stays attached. Libraries
 * are known by the kernel half's numbers, queries and guards by their numbers in the plan. For a
 * library that was detached every function does nothing and returns 0.
 */
#ifndef QPROF_BUDGET_PROBE_CONTROL_H
#define QPROF_BUDGET_PROBE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct probe_control {
	void *ctx;

	/*
	 * Attach the starts, ends and groups whose entries are true, ends first. NULL stands for
	 * all. Probes that are attached already stay. Negative errno.
	 */
	int (*attach)(void *ctx, uint8_t lib, const bool *starts, const bool *ends,
		      const bool *groups);

	/*
	 * Attach or detach, and return how many sites changed, or a negative errno. -EAGAIN: a
	 * previous detach has not ended yet, or the library is being written to.
	 */
	int (*set_starts)(void *ctx, uint8_t lib, uint32_t query, bool attached);
	int (*set_ends)(void *ctx, uint8_t lib, uint32_t set, bool attached);
	int (*add_group)(void *ctx, uint8_t lib, uint32_t group);

	/* Whether a query has any starts to attach. */
	bool (*has_starts)(void *ctx, uint8_t lib, uint32_t query);

	/* Sites of a library that are attached now. */
	uint32_t (*sites)(void *ctx, uint8_t lib);

	/* Probe hits in compilers so far. */
	uint64_t (*hits)(void *ctx);

	/* From now on the starts of a query only count, or record again. */
	void (*count_only)(void *ctx, uint8_t lib, uint32_t query, bool counted);

	/*
	 * Executions of a query that were recorded as begun up to now may miss their end. If the
	 * starts were set to count before, no later execution is affected.
	 */
	void (*lapse)(void *ctx, uint8_t lib, uint32_t query);
};

#endif /* QPROF_BUDGET_PROBE_CONTROL_H */
