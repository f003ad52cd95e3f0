/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The numbers of queries (rustc's DepKind), in compilers whose vtables identify a query by its
 * number alone: the provider's address is read from a table that the process fills in.
 */
#ifndef QPROF_PLAN_RECOVER_QUERY_NUMBERS_H
#define QPROF_PLAN_RECOVER_QUERY_NUMBERS_H

#include <stdint.h>

#include "base/cleanup.h"

struct query_number {
	uint64_t wrapper; /* the function that makes the query's vtable */
	uint32_t number;  /* 16 bits, not 0 */
	int64_t vtable;	  /* its place in the wrapper's frame: from sp at the entry */
};

/* All zeroes: there are none. */
struct query_numbers {
	struct query_number *items; /* by wrapper */
	uint32_t n, capacity;
	uint32_t offset; /* of the number in the vtable, bytes */
};

/* 0 or -ENOMEM. */
int query_numbers__add(struct query_numbers *q, struct query_number item);
void query_numbers__sort(struct query_numbers *q);

/* That of the query with this wrapper, or NULL. */
const struct query_number *query_numbers__of(const struct query_numbers *q, uint64_t wrapper);

void query_numbers__destroy(struct query_numbers *q);
#define _query_numbers_ __cleanup(query_numbers__destroy)

#endif /* QPROF_PLAN_RECOVER_QUERY_NUMBERS_H */
