/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The items of many compiles, one by one: of each the sums only, as those of a whole build must fit
 * the memory of a program that shows it while it runs. The most expensive come first.
 */
#ifndef QPROF_ANALYZE_ITEM_LIST_H
#define QPROF_ANALYZE_ITEM_LIST_H

#include "analyze/items.h"

struct listed_item {
	uint64_t self_ns; /* these as in struct item_row */
	uint64_t cpu_ns;
	uint64_t executions;
	struct item_part most; /* its most expensive query */
	uint32_t item;
	uint32_t process; /* index */
	bool sampled;	  /* not item_row__is_counted(): times are those of samples */
};

/* All zeroes is empty. */
struct item_list {
	struct listed_item *at; /* by cpu_ns, the largest first */
	uint32_t n;
	uint32_t changes; /* so far */
};

/* Replace the items of a process by those of `items`, which was filled. 0 or -ENOMEM. */
int item_list__set(struct item_list *l, uint32_t process, struct items *items);

void item_list__clear(struct item_list *l);

#endif /* QPROF_ANALYZE_ITEM_LIST_H */
