/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The questions to a store, in SQL that both kinds of store answer; history/sql.h has what
 * differs. All functions print an error line.
 */
#ifndef QPROF_HISTORY_QUESTIONS_H
#define QPROF_HISTORY_QUESTIONS_H

#include "history/store.h"

/* Which builds are meant. NULL and 0: any. */
struct history_filter {
	const char *branch;
	const char *toolchain; /* a part of its name */
	const char *commit;    /* its beginning, or all of it: letters and digits */
	const char *workspace; /* empty: builds of which it is not known */
	const char *state;     /* "whole" */
	uint64_t before_ns;    /* builds that started before then */
	uint64_t last;	       /* so many of the newest */
};

/* Builds, the oldest first. Clear with history_builds__clear(). */
struct history_builds {
	struct history_build *at;
	size_t n;
	uint32_t capacity;
	struct history_rows texts; /* owns the texts of `at` */
};

int history_builds__ask(struct store *s, const struct history_filter *f,
			struct history_builds *out);

/* The number of builds that match, whatever f->last and f->state. */
int history_builds__count(struct store *s, const struct history_filter *f, uint64_t *n);

/*
 * The number of builds that match, whatever f->last, and are not whole, and that started at
 * `from_ns` or later.
 */
int history_builds__not_whole(struct store *s, const struct history_filter *f, uint64_t from_ns,
			      uint64_t *n);

/*
 * The workspace of the newest build that matches, for history_filter.workspace; NULL if none does.
 * The caller frees it.
 */
int history_builds__newest_workspace(struct store *s, const struct history_filter *f,
				     char **workspace);

/* Whether there are whole builds that match but for their workspace, which is another one. */
int history_builds__elsewhere(struct store *s, const struct history_filter *f, bool *any);

void history_builds__clear(struct history_builds *b);
#define _history_builds_ __cleanup(history_builds__clear)

/* Which numbers are meant. Without all of these: of whole builds. */
struct history_series {
	const char *crate;
	const char *query;
	const char *item; /* not with a query */
	const char *llvm; /* what LLVM does: a function or a pass; not with these two */
};

/* Whether they are of a part of what compilers do. */
static inline bool history_series__is_of_part(const struct history_series *of)
{
	return of->query || of->item || of->llvm;
}

/* Sums of a build over all that a series means. Unknown if a part of the sum is. */
struct history_sums {
	const char *build;
	uint64_t cpu_ns;  /* of queries and items their self time */
	uint64_t wall_ns; /* of crates: of the compile that took longest; of queries their total */
	uint64_t count;
	uint64_t peak_bytes;  /* of the compile with the most; unknown of queries and items */
	uint64_t results;     /* likewise */
	uint64_t exit_status; /* the largest of all compiles; of crates only */
	const char *how;      /* the least exact of all; NULL of crates */
};

/*
 * Sums of the builds that started from `from_ns` to `to_ns`, both included, in no order. Not of
 * whole builds, which have them in their row. Texts of `sums` are valid during the call.
 */
int history_sums__ask(struct store *s, const struct history_series *of, uint64_t from_ns,
		      uint64_t to_ns, int (*take)(void *ctx, const struct history_sums *sums),
		      void *ctx);

#endif /* QPROF_HISTORY_QUESTIONS_H */
