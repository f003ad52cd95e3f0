/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The usual rates of compilers of crates, for a budget that remembers nothing of a toolchain:
 * measured once with rustc 1.95.0, as docs/budget.md says.
 */
#ifndef QPROF_BUDGET_USUAL_H
#define QPROF_BUDGET_USUAL_H

#include <stdbool.h>

/* Executions of a query per second of CPU time, rounded up; of an unknown name, some thousand. */
double usual_rate(const char *query);

/* Whether compilers usually have activities of this label, which may be NULL. */
bool usual_has_activity(const char *label);

#endif /* QPROF_BUDGET_USUAL_H */
