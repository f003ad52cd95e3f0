/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of several builds, paired by the names of crates and queries. */
#ifndef QPROF_HISTORY_COMMIT_ROWS_H
#define QPROF_HISTORY_COMMIT_ROWS_H

#include "analyze/compare_rows.h"
#include "history/questions.h"

/*
 * A pair: a query of a crate, a crate, (the first one) the build, or a pass or function of LLVM in
 * all crates. Of LLVM there are pairs if all builds have rows of it. A function that is not among
 * the HISTORY_FUNCTIONS of a crate in some build, and is so in another, is no pair: its time there
 * is not known.
 */
struct commit_rows;

/* The values of a pair in one build. What is not known is 0. */
struct commit_cell {
	uint64_t of[COMPARE_N_METRICS]; /* CPU time of crates is without the cost of recording */
	bool in;
	uint8_t by; /* enum compare_by */
};

/* Prints an error line. */
int commit_rows__read(struct store *s, const struct history_build *const *builds, size_t n,
		      struct commit_rows **out);

/* The number of pairs. */
uint32_t commit_rows__n(const struct commit_rows *r);
/* One for each build, in the order of the builds. */
const struct commit_cell *commit_rows__cells(const struct commit_rows *r, uint32_t pair);
/* Which table the pair is of, if it has a query. */
enum compare_of commit_rows__table(const struct commit_rows *r, uint32_t pair);
/* The name of the query, pass or function; or NULL. */
const char *commit_rows__query(const struct commit_rows *r, uint32_t pair);
const struct compare_unit *commit_rows__unit(const struct commit_rows *r, uint32_t pair);
uint32_t commit_rows__kinds(const struct commit_rows *r, uint32_t pair);

/* The number of queries whose executions are not known in some build. */
size_t commit_rows__uncounted(const struct commit_rows *r);

/* Whether there are pairs of LLVM's. */
bool commit_rows__has_llvm(const struct commit_rows *r);

void commit_rows__free(struct commit_rows *r);
DEFINE_CLEANUP(struct commit_rows, commit_rows__free)
#define _commit_rows_ __cleanup(commit_rows__free_p)

#endif /* QPROF_HISTORY_COMMIT_ROWS_H */
