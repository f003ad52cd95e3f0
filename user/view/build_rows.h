/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tables of a build report: their rows, sorted. */
#ifndef QPROF_VIEW_BUILD_ROWS_H
#define QPROF_VIEW_BUILD_ROWS_H

#include "analyze/samples.h"
#include "view/build.h"
#include "view/columns.h"
#include "base/format.h"

struct build_crate {
	char *name; /* without characters that break a table */
	const struct build_process *process;
};

/* Before the name of such a compile. */
#define BUILD_FAILED "!"

/* It failed, was killed, or was not seen to end. */
static inline bool build_crate_failed(const struct build_crate *c)
{
	return c->process->process->exit_status;
}

struct build_query {
	const char *crate; /* the crate of these rows; NULL: all crates */
	const char *label;
	uint32_t process; /* index, or SUMMARY_ALL */
	struct summary_row row;
};

struct build_queries {
	struct build_query *rows;
	size_t n;
};

/* A definition, with the time of all queries about it. */
struct build_item {
	const char *path;
	struct item_row row;
};

struct build_rows {
	struct build_crate *of; /* all compilers, by index */
	/* The same of the whole build; with all compilers `of`, NULL if it is not known. */
	struct build_crate *of_whole;
	struct build_crate **crates; /* compiles: those that failed first, then the longest */
	size_t n_crates;
	/* The most self time on the CPU first. */
	struct build_queries queries; /* over all compilers */
	struct build_queries passes;  /* activities, over all compilers */
	struct build_queries pairs;   /* queries of one compiler */
	struct build_item *items;     /* of the user's own crates; those that are shown */
	size_t n_items;		      /* with those that are not */
	/*
	 * Summed over compiles that loaded anything; n_reuse is their number. `results` is unknown
	 * if it is for one of them.
	 */
	struct reuse reuse;
	uint32_t n_reuse;
	uint64_t cpu_ns; /* of queries and passes of all compilers; with is_sampled all CPU time */
	bool is_sampled; /* only samples show what queries cost */
	struct llvm_rows llvm;
	struct sample_sum shares[SAMPLE_SHARES]; /* of the samples of the CPU, if there are any */
};

/* 0 or -ENOMEM. Clear it after use, even after a failure. */
int build_rows__init(struct build_rows *r, const struct build_view *v);
void build_rows__clear(struct build_rows *r);
#define _build_rows_ __cleanup(build_rows__clear)

/* Print "1,234 executed, ~56 loaded". */
void build_print_reuse(FILE *out, const struct reuse *reuse);

/* As cost__cpu_ns(). */
bool build_cpu_ns(const struct build_view *v, const struct build_process *p, uint64_t *ns);

/*
 * Print the CPU time of the compilers, and when their threads were off the CPU, if that is known:
 * two lines, which begin with these texts.
 */
void build_print_threads(FILE *out, const struct build_view *v, const char *threads,
			 const char *waiting);

/* Rows of queries, passes, pairs and items in JSON, unless others are requested; text has fewer. */
#define BUILD_FIT_MOST 20

/* The number of rows to show out of `n`; `fit` is the default. */
size_t build_rows__shown(const struct build_view *v, size_t n, size_t fit);

/*
 * A name in at most so many columns (0: all of it): its beginning, marked, if it does not fit. The
 * caller frees it; NULL: no memory.
 */
char *build_cut_name(const char *name, size_t most);

/* The crate of an item: the first segment of its path. The caller frees it; NULL: no memory. */
char *build_item_crate(const struct build_item *item);

/*
 * The path of an item in at most so many columns (0: all of it), which are 8 or more: if it is
 * longer, segments in its middle are left out, "syn..visit_expr". Only a last segment that does not
 * fit is cut. The caller frees it; NULL: no memory.
 */
char *build_item_name(const struct build_item *item, size_t most);

/*
 * The name of a compile in at most so many columns (0: all of it): the crate is cut, but not its
 * target, "a_long_cra.. (build script)". The caller frees it; NULL: no memory.
 */
char *build_crate_name(const struct build_crate *crate, size_t most);

/*
 * Print "5,813: 62.0 % front end, 3.1 % codegen, 34.9 % LLVM", a line that begins with `lead`;
 * nothing without samples of the CPU.
 */
void build_print_samples(FILE *out, const char *lead, size_t width, const struct build_rows *r,
			 const struct build_view *v);

enum build_table {
	BUILD_QUERIES,
	BUILD_PAIRS,
	BUILD_PASSES,
};

/*
 * Print a table in text or Markdown, after an empty line, of at most `fit` rows unless the view
 * asks for others; nothing without rows. 0 or a negative errno.
 */
int build_crate_table(FILE *out, enum columns_to to, size_t fit, const struct build_rows *r,
		      const struct build_view *v);
int build_query_table(FILE *out, enum columns_to to, enum build_table of, size_t fit,
		      const struct build_rows *r, const struct build_view *v);
int build_item_table(FILE *out, enum columns_to to, size_t fit, const struct build_rows *r,
		     const struct build_view *v);

/*
 * The end of a killed compile, or of one with an unseen end: "killed by SIGKILL", "killed for want
 * of memory", "end not seen". In `buf`, or static.
 */
const char *build_ending(char buf[FORMAT_MAX * 2], const struct trace_process *p);

/* To follow the number of killed compiles: how many of them for want of memory. Empty: none. */
const char *build_memory_kills(char buf[FORMAT_MAX * 2], const struct build_totals *t);

#endif /* QPROF_VIEW_BUILD_ROWS_H */
