/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A budget over what a filter asks for: it decides which of these sites are attached. */
#ifndef QPROF_CAPTURE_KERNEL_BUDGET_H
#define QPROF_CAPTURE_KERNEL_BUDGET_H

#include "base/cleanup.h"
#include "budget/budget.h"
#include "capture/filter.h"

/* The probes that are chosen for a library. All zeroes: nothing was chosen. */
struct kernel_probes {
	struct chosen *chosen;
	/* The sites that the filter asked for, as in struct budget_library. */
	bool *sites, *queries, *guards;
};

/*
 * Choose the probes of a library; `filter` may be NULL, and both must outlive the result. `callers`
 * as in struct kernel_options. -ENOMEM.
 */
int kernel_probes__choose(struct kernel_probes *p, struct budget *b, const struct plan *plan,
			  const struct filter *filter, bool callers);

/* Whether probes that the filter asked for are left out. */
bool kernel_probes__leave_out(const struct kernel_probes *p, const struct plan *plan);

/* The library was attached to, with p->chosen->sites. -ENOMEM. */
int kernel_probes__attached(const struct kernel_probes *p, struct budget *b, uint8_t lib,
			    const struct plan *plan);

/* Leave in p->queries and p->guards what is recorded: asked for, and chosen. */
void kernel_probes__keep_chosen(struct kernel_probes *p, const struct plan *plan);

void kernel_probes__clear(struct kernel_probes *p);
#define _kernel_probes_ __cleanup(kernel_probes__clear)

#endif /* QPROF_CAPTURE_KERNEL_BUDGET_H */
