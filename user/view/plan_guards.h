/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The part of `qprof-bpf plan` about guards. Both functions print and return 0 or -ENOMEM. */
#ifndef QPROF_VIEW_PLAN_GUARDS_H
#define QPROF_VIEW_PLAN_GUARDS_H

#include <stdio.h>

#include "plan/plan.h"

/* The number of guards of each kind, and how many of them are exact or have a label. */
int plan_guards_summary(FILE *out, const struct plan *plan);

/* Every guard: its label, its location, and whether it is exact, or why not. */
int plan_guards_list(FILE *out, const struct plan *plan);

#endif /* QPROF_VIEW_PLAN_GUARDS_H */
