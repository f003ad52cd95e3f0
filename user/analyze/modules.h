/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Items added up by the innermost module or impl that each is in. Paths do not show which of their
 * segments are modules; the queries that rustc runs of each module do. If none was recorded, as in
 * an unchanged incremental build, only crates and impls are known.
 */
#ifndef QPROF_ANALYZE_MODULES_H
#define QPROF_ANALYZE_MODULES_H

#include "analyze/items.h"

struct module_row {
	char *path;	      /* NULL: no item is around */
	uint32_t items;	      /* that are added up */
	struct item_row sums; /* of these; its item is TRACE_NO_STRING if there is no path, or 0 */
};

/*
 * One row per module and impl with items, in no particular order. Free with module_rows__free().
 * -ENOMEM; -E2BIG if their paths are more than a trace may hold.
 */
int modules__rows(struct items *items, const struct trace_texts *texts, struct module_row **rows,
		  size_t *n);
void module_rows__free(struct module_row *rows, size_t n);

/*
 * The items of many compiles, one by one: of each the sums only, as those of a whole build must fit
 * the memory of a program that shows it while it runs. The most expensive come first.
 */

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

#endif /* QPROF_ANALYZE_MODULES_H */
