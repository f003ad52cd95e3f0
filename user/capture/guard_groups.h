/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which guards of a plan are watched together, if a budget leaves some out: all that tell of one
 * kind of interval, waiting or loading, whichever query it is about; all activities of one label;
 * and those that share an end.
 */
#ifndef QPROF_CAPTURE_GUARD_GROUPS_H
#define QPROF_CAPTURE_GUARD_GROUPS_H

#include "plan/plan.h"

/* `group_of[guard]` is the number of its group, from 0. Returns how many there are. */
uint32_t guard_groups_find(const struct plan *plan, uint32_t *group_of);

/* Whether two guards are of one kind, and, if it is activities, of one label or none. */
bool guards_are_alike(const struct plan_guard *a, const struct plan_guard *b);

#endif /* QPROF_CAPTURE_GUARD_GROUPS_H */
