/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tables of a build report: which rows, and in which order. */
#ifndef QPROF_VIEW_BUILD_ROWS_H
#define QPROF_VIEW_BUILD_ROWS_H

#include "view/build.h"
#include "view/format.h"

struct build_crate {
	char *name; /* free of what would break a table */
	const struct build_process *process;
};

struct build_query {
	const char *crate; /* whose rows these are, or NULL: of all */
	const char *label;
	uint32_t process; /* index; SUMMARY_ALL: of all */
	struct summary_row row;
};

struct build_queries {
	struct build_query *rows;
	size_t n;
};

struct build_rows {
	struct build_crate *of;	     /* all compilers, by index */
	struct build_crate **crates; /* compiles, the longest first */
	size_t n_crates;
	/* The largest self time first. */
	struct build_queries queries; /* over all compilers */
	struct build_queries passes;  /* likewise, what is no query */
	struct build_queries pairs;   /* queries of one compiler */
	struct reuse reuse;	      /* of compiles that loaded anything, which are: */
	uint32_t n_reuse;
	bool results_known; /* of all of those */
	uint64_t self_ns;   /* of all compilers, queries and passes */
	/* Executions without a span, to keep within a budget: exactly, and about so many more. */
	uint64_t counted;
	uint64_t estimated;
};

/* 0, or -ENOMEM. To be cleared, also after a failure. */
int build_rows__init(struct build_rows *r, const struct build_view *v);
void build_rows__clear(struct build_rows *r);
#define _build_rows_ __cleanup(build_rows__clear)

/* How many of `n` rows are shown where `fit` do if nobody asks for more or fewer. */
size_t build_rows__shown(const struct build_view *v, size_t n, size_t fit);

/* "crate/query"; NULL without memory. */
char *build_query_name(const struct build_query *q);

/* How a compile ended, for `killed` and `unended` ones: "killed by SIGKILL", "end not seen". */
const char *build_ending(char buf[FORMAT_MAX * 2], int32_t status);

#endif /* QPROF_VIEW_BUILD_ROWS_H */
