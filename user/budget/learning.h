/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Learns from a recording, with a budget or without, how often each query and each group of guards
 * occurs per second of CPU time of compilers, for the budget of later recordings (rates.h).
 */
#ifndef QPROF_BUDGET_LEARNING_H
#define QPROF_BUDGET_LEARNING_H

#include <sys/types.h>

#include "budget/chosen.h"
#include "budget/rates.h"
#include "qprof/wire.h"

/* Libraries with a greater number are not learnt of. */
#define LEARNING_LIBS 16

struct learning;

/* -ENOMEM. */
int learning__new(struct learning **out);
/* Without costs, the CPU time of probes counts as the compilers'. */
void learning__set_costs(struct learning *l, const struct costs *costs);

/*
 * A library was attached. `queries` and `chosen` say what of it is probed; both are copied. Nothing
 * happens for a library that was added before. -ENOMEM.
 */
int learning__add_library(struct learning *l, uint8_t lib, const struct plan *plan,
			  const bool *queries, const struct chosen *chosen);

/* Take a wire record. -ENOMEM. */
int learning__record(struct learning *l, const void *record, size_t size);

/* Read the CPU time of compilers. To be called now and then, as one that has exited has none. */
void learning__tick(struct learning *l);

/* No compiler is recorded any more. */
void learning__end(struct learning *l);

/* The rates learnt of a library; NULL if it was not added. */
const struct rates *learning__of(const struct learning *l, uint8_t lib);

void learning__free(struct learning *l);
DEFINE_CLEANUP(struct learning, learning__free)
#define _learning_ __cleanup(learning__free_p)

#endif /* QPROF_BUDGET_LEARNING_H */
