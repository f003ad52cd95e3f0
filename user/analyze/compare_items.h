/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The time of queries for items in the traces of a comparison. It is kept by query until all traces
 * are there: only then it is known which queries had probes in all of them.
 */
#ifndef QPROF_ANALYZE_COMPARE_ITEMS_H
#define QPROF_ANALYZE_COMPARE_ITEMS_H

#include "analyze/compare_labels.h"
#include "analyze/compare_rows.h"
#include "analyze/items.h"
#include "base/map.h"

/* A query and an item in one trace. */
struct compare_item {
	uint32_t item, query; /* labels */
	uint32_t trace;
	uint64_t executions;
	uint64_t self_ns;
	uint64_t own_cpu_ns; /* on the CPU, without what queries without probes took within it */
	uint64_t probes_ns;  /* that were subtracted from self_ns */
	uint64_t error_ns;   /* of own_cpu_ns */
};

/* All zeroes: none. */
struct compare_items {
	struct compare_item *all;
	uint32_t n, capacity;
	struct u64_map charged; /* item << 32 | query */
	/* By label of an item: where it begins. */
	struct {
		uint32_t file, line; /* the label of a name; line 0: unknown */
		enum compare_side side;
	} * places;
	uint32_t n_places;
};

/* Add those of a trace. Errors as of compare_labels__id(). */
int compare_items__add(struct compare_items *all, struct compare_labels *labels, uint32_t trace,
		       enum compare_side side, struct items *items,
		       const struct trace_texts *names);

/* Whether executions of the query that were not about the item are charged to it in any trace. */
bool compare_items__is_charged(const struct compare_items *all, const struct compare_item *item);

/* The file where an item begins, and its line; or NULL. Belongs to the labels. */
const char *compare_items__file(const struct compare_items *all,
				const struct compare_labels *labels, uint32_t item, uint32_t *line);

/*
 * Add the variance of the sum of some items, `picked` by label, to that of each trace (ns^2).
 * Samples show one share of a query for all items, so its errors are added up before they are
 * squared. 0 or -ENOMEM.
 */
int compare_items__variance(const struct compare_items *all, const bool *picked, double *variance);

void compare_items__clear(struct compare_items *all);

#endif /* QPROF_ANALYZE_COMPARE_ITEMS_H */
