/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The time of queries for items in the traces of a comparison. It is kept until all traces are
 * there, as items are compared only if all have some.
 */
#ifndef QPROF_ANALYZE_COMPARE_ITEMS_H
#define QPROF_ANALYZE_COMPARE_ITEMS_H

#include "analyze/compare_labels.h"
#include "analyze/compare_rows.h"
#include "analyze/items.h"

/* A query and an item in one trace. */
struct compare_item {
	uint32_t item, query; /* labels */
	uint32_t trace;
	uint64_t executions;
	uint64_t results; /* by the compilers' tables, of definitions of the crate itself */
	uint64_t self_ns;
	uint64_t cpu_ns;    /* of self_ns, on the CPU */
	uint64_t probes_ns; /* that were subtracted from self_ns */
	uint64_t error_ns;  /* of a time by samples */
};

/* All zeroes: none. */
struct compare_items {
	struct compare_item *all;
	uint32_t n, capacity;
	/* By label of an item: where it begins. */
	struct {
		uint32_t file, line; /* the label of a name; line 0: unknown */
		enum compare_side side;
	} * places;
	uint32_t n_places;
	/* By label of a query: not all its results are listed in some trace. */
	bool *unlisted;
	uint32_t n_unlisted;
	uint32_t n_listing; /* traces that list results */
};

/* In each trace that lists results, those of this query are complete. */
static inline bool compare_items__lists(const struct compare_items *all, uint32_t query)
{
	return query >= all->n_unlisted || !all->unlisted[query];
}

/* Add those of a trace. Errors as of compare_labels__id(). */
int compare_items__add(struct compare_items *all, struct compare_labels *labels, uint32_t trace,
		       enum compare_side side, struct items *items,
		       const struct trace_texts *names);

/* The file where an item begins, and its line; or NULL. Belongs to the labels. */
const char *compare_items__file(const struct compare_items *all,
				const struct compare_labels *labels, uint32_t item, uint32_t *line);

void compare_items__clear(struct compare_items *all);

#endif /* QPROF_ANALYZE_COMPARE_ITEMS_H */
