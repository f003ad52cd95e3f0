/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A budget over the kernel half: gives it control of the probes, and the filter. */
#ifndef QPROF_CAPTURE_KERNEL_BUDGET_H
#define QPROF_CAPTURE_KERNEL_BUDGET_H

#include "budget/budget.h"
#include "capture/filter.h"
#include "capture/kernel.h"

/* The kernel half outlives the budget, and is governed unless `budget_ppm` is 0. -ENOMEM. */
int kernel_budget__new(struct kernel *k, uint64_t budget_ppm, const struct budget_sink *sink,
		       struct budget **out);

/*
 * budget__add_library() for a library that was attached with `filter`, which may be NULL: no rates
 * are learnt for queries that it leaves out. Prints errors.
 */
int kernel_budget__add_library(struct budget *b, uint8_t lib, const struct plan *plan,
			       const struct filter *filter);

#endif /* QPROF_CAPTURE_KERNEL_BUDGET_H */
