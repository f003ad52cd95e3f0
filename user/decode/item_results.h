/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The keys of the results that a compiler had when it was read, by query: the numbers of its own
 * definitions, and of instances also those of other crates' definitions. They come in pieces after
 * the counts (results.h), which say how many there are. Those of a query are given away whole, or
 * not at all.
 */
#ifndef QPROF_DECODE_ITEM_RESULTS_H
#define QPROF_DECODE_ITEM_RESULTS_H

#include "decode/library.h"
#include "decode/sink.h"

/* Of one query. */
struct item_keys {
	uint32_t *at;
	uint32_t n, capacity;
	uint32_t others;   /* keys that are about no definition of the crate */
	uint64_t *foreign; /* of these, those of instances of other crates' definitions */
	uint32_t n_foreign, foreign_capacity;
	bool ready;   /* all are there */
	bool unsure;  /* some may be of no execution */
	bool unknown; /* those of an earlier reading were not whole */
};

/* All zeroes is empty. */
struct item_results {
	struct item_keys *of;
	uint32_t n;
};

/* A reading of `n` queries begins: those of the last one that were not given are unknown. */
int item_results__begin(struct item_results *r, uint32_t n);

/* Take a piece, of a query of the reading, of keys or instances. 0, -EBADMSG, or -ENOMEM. */
int item_results__add(struct item_results *r, const struct library *lib,
		      const struct wire_piece *piece);

/*
 * A query has `n` results, of which `unsure` may be no executions. False: they are not all there,
 * and so unknown.
 */
bool item_results__settle(struct item_results *r, uint32_t query, uint32_t n, uint64_t unsure);

/*
 * Leave out `n` results of a query that is ready: `at` is which, in the order in which they were
 * added, and is sorted here. False: these cannot be its results, all of which stay.
 */
bool item_results__leave_out(struct item_results *r, uint32_t query, uint32_t *at, uint32_t n);

/* Some of a query's results may be of no execution. */
void item_results__doubt(struct item_results *r, uint32_t query);

/* What they are about is unknown; of all queries that are ready. */
void item_results__miss(struct item_results *r, uint32_t query);
void item_results__miss_all(struct item_results *r);

struct item_results_naming {
	void *ctx;
	/* Set *string to the path of a definition (wire_key()), or to TRACE_NO_STRING. */
	int (*name)(void *ctx, uint64_t definition, uint32_t *string);
	const struct decoder_sink *sink;
	const struct library *lib;
	uint32_t process;
};

/*
 * Give the sink those that are ready, and forget them. Instances of other crates' definitions that
 * have a path are those of the query that has the fewest: others are asked about instances that the
 * compiler only refers to, and which code of the other crate has. *n_unnamed rises by those without
 * a name. *lost rises by queries whose keys cannot be true, or are those of too many definitions.
 * 0, -ENOMEM, or the sink's error.
 */
int item_results__give(struct item_results *r, const struct item_results_naming *how,
		       uint64_t *n_unnamed, uint64_t *lost);

/* The process is over: tell the sink of which queries they are unknown. As the sink. */
int item_results__end(struct item_results *r, const struct item_results_naming *how);

void item_results__clear(struct item_results *r);

#endif /* QPROF_DECODE_ITEM_RESULTS_H */
