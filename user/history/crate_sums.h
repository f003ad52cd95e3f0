/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The queries and items of each crate of a trace, and LLVM's work for it, as rows of a history. A
 * crate is all compiles of one name.
 */
#ifndef QPROF_HISTORY_CRATE_SUMS_H
#define QPROF_HISTORY_CRATE_SUMS_H

#include "analyze/model.h"
#include "history/rows.h"

/* The items of each process, which are added while a trace is read. All zeroes is empty. */
struct crate_items {
	struct items **at; /* by process index; NULL: the process has none */
	uint32_t n;
};

/* Count a span, a sample or results that the model has. 0 or -ENOMEM. */
int crate_items__span(struct crate_items *c, const struct model *m, const struct trace_span *span,
		      const struct trace_times *times);
int crate_items__sample(struct crate_items *c, const struct model *m,
			const struct trace_sample *sample);
int crate_items__results(struct crate_items *c, const struct model *m,
			 const struct trace_results *results);

void crate_items__destroy(struct crate_items *c);

/*
 * Append the rows of all queries, and of the HISTORY_ITEMS most expensive items of each crate,
 * behind the numbers of the build.
 * `crates` has the name of each of the model's processes, texts of `rows`; NULL: it compiles
 * nothing. 0, -ENOMEM or -EINVAL.
 */
int crate_sums__queries(struct history_rows *rows, const struct model *m,
			const char *const *crates);
int crate_sums__items(struct history_rows *rows, const struct model *m, struct crate_items *items,
		      const char *const *crates);

/*
 * The same of LLVM's time: the HISTORY_FUNCTIONS most expensive functions of each crate, and all
 * passes. A model without MODEL_LLVM, or a trace that does not know what LLVM did, has none.
 */
int crate_sums__llvm(struct history_rows *rows, const struct model *m, const char *const *crates);

/* A text of the trace as one of the rows: printable, and no longer than HISTORY_TEXT_MAX. */
const char *crate_sums_text(struct history_rows *rows, const char *text);

/* A number of the trace: at most what a store can hold. */
static inline uint64_t crate_sums_number(uint64_t number)
{
	return number < HISTORY_NUMBER_MAX ? number : HISTORY_NUMBER_MAX - 1;
}

#endif /* QPROF_HISTORY_CRATE_SUMS_H */
