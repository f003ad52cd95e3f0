/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The names by which a plan finds the functions of a query. */
#ifndef QPROF_PLAN_RECOVER_QUERY_NAMES_H
#define QPROF_PLAN_RECOVER_QUERY_NAMES_H

#include "plan/recover/recovered.h"

/* The functions by which a query is requested: without and with incremental compilation, which may
 * be one. 0 or -ENOMEM. */
int query_names__wrappers(struct recovered *out, const char *query, uint32_t len, uint64_t non_incr,
			  uint64_t incr);
int query_names__provider(struct recovered *out, const char *query, uint32_t len, uint64_t addr);
/* The function that loads its result. */
int query_names__loader(struct recovered *out, const char *query, uint32_t len, uint64_t addr);

#endif /* QPROF_PLAN_RECOVER_QUERY_NAMES_H */
