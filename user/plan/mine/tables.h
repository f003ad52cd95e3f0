/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where a compiler keeps the results of queries and its active jobs. The function that makes the
 * vtables of all queries is run (code/straight.h): the empty tables that it leaves in memory show
 * what belongs to each query. The code of wrappers shows where the vtables are in the GlobalCtxt,
 * that of bodies what the words of a table mean. Nothing of this needs symbols.
 */
#ifndef QPROF_PLAN_MINE_TABLES_H
#define QPROF_PLAN_MINE_TABLES_H

#include "plan/mine/layout.h"
#include "plan/plan.h"

/*
 * Find the tables of the plan's queries. `functions` has the wrappers and bodies. 0, or -ENOMEM.
 * A library where they cannot be found is no error: plan->tables.problem, or that of a query, says
 * why.
 */
int tables__mine(struct elf_image *img, struct code_decoder *decoder,
		 const struct layout_function *functions, size_t n, struct plan *plan);

#endif /* QPROF_PLAN_MINE_TABLES_H */
