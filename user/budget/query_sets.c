// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "budget/query_sets.h"

#include <errno.h>

#include "base/cleanup.h"

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

static void join(uint32_t *parent, const struct plan *plan, uint32_t query, uint32_t body)
{
	if (body != PLAN_NONE)
		parent[root_of(parent, query)] =
			root_of(parent, plan->n_queries + plan->bodies[body].group);
}

static uint32_t count_groups(const struct plan *plan)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < plan->n_bodies; i++)
		if (plan->bodies[i].group > most)
			most = plan->bodies[i].group;
	return most + 1;
}

int query_sets_find(const struct plan *plan, uint32_t *set_of)
{
	/* A forest of the queries, then of the groups of bodies. */
	uint32_t n = plan->n_queries + count_groups(plan), n_sets = 0;
	_free_ uint32_t *parent = calloc(n, sizeof(*parent));
	_free_ uint32_t *number = calloc(n, sizeof(*number)); /* of a root's set, from 1 */

	if (!parent || !number)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		join(parent, plan, i, plan->queries[i].body_incr);
		join(parent, plan, i, plan->queries[i].body_non_incr);
	}
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		uint32_t root = root_of(parent, i);

		if (!number[root])
			number[root] = ++n_sets;
		set_of[i] = number[root] - 1;
	}
	return (int)n_sets;
}
