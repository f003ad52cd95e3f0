/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Groups of guards that a budget attaches together: all guards of waiting, or of loading, whichever
 * query they are about; all activities of one label; and guards that share an end.
 */
#ifndef QPROF_BUDGET_GUARD_GROUPS_H
#define QPROF_BUDGET_GUARD_GROUPS_H

#include "plan/plan.h"

/* `group_of[guard]` is the number of its group, from 0. Returns the number of groups. */
uint32_t guard_groups_find(const struct plan *plan, uint32_t *group_of);

/* Whether two guards have the same kind, and, if they are activities, the same label or none. */
bool guards_are_alike(const struct plan_guard *a, const struct plan_guard *b);

#endif /* QPROF_BUDGET_GUARD_GROUPS_H */
