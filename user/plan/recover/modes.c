// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/recover/modes.h"

#include "plan/mine/owners.h"

static bool runs(const struct plan *plan, uint32_t query_body, uint32_t body)
{
	return query_body == body || plan__outlined(plan, query_body) == body;
}

/* Where a query has one wrapper, that and its body serve both modes. */
static bool serve_both(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (!plan->queries[i].wrapper_incr ||
		    plan->queries[i].wrapper_incr != plan->queries[i].wrapper_non_incr)
			return false;
	return true;
}

int modes__check(struct elf_image *img, const struct known_symbols *known, const struct plan *plan,
		 const char **problem)
{
	_owners_ struct owners owners = {0};
	bool incremental = false, other = false;
	int err;

	*problem = NULL;
	if (serve_both(plan))
		return 0;
	err = callers__of_cold(img, known, NAME_COLD_LOAD, NAME_COLD_HASHING, &owners);
	for (size_t i = 0; i < owners.n && !err; i++) {
		uint32_t body = plan__body_at(plan, owners.items[i].entry);

		for (uint32_t q = 0; q < plan->n_queries && body != PLAN_NONE; q++) {
			other |= runs(plan, plan->queries[q].body_non_incr, body);
			incremental |= runs(plan, plan->queries[q].body_incr, body);
		}
	}
	if (!incremental || other)
		*problem = "the functions that load or hash results are not those which its table "
			   "of queries has for incremental compiles";
	return err;
}
