/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sets of queries that share end probes: the queries of a set run in the same bodies of
 * try_execute_query, so their ends are attached and detached together.
 */
#ifndef QPROF_BUDGET_QUERY_SETS_H
#define QPROF_BUDGET_QUERY_SETS_H

#include <stdint.h>

#include "plan/plan.h"

/* `set_of[query]` is the number of its set, from 0. Returns the number of sets, or -ENOMEM. */
int query_sets_find(const struct plan *plan, uint32_t *set_of);

#endif /* QPROF_BUDGET_QUERY_SETS_H */
