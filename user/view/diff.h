/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Print a comparison (analyze/compare.h) as text, Markdown and JSON. */
#ifndef QPROF_VIEW_DIFF_H
#define QPROF_VIEW_DIFF_H

#include <stdio.h>

#include "analyze/compare.h"
#include "analyze/compare_sides.h"
#include "analyze/summary.h"

/* One of the compared traces. */
struct diff_trace {
	const char *path;
	enum compare_side side;
	const char *problem; /* damage of the trace (trace_reader__problem()), or NULL */
	bool has_lost;	     /* `lost` is known */
	uint64_t lost;
	uint32_t compiles;     /* compilers that compiled a crate; the next two are parts of it: */
	uint32_t late;	       /* ran before their probes were attached */
	uint32_t cut;	       /* killed, or their end was not seen */
	uint32_t memory_kills; /* of these: by the kernel, as memory had run out */
	const char *compiler;  /* its version; of several, the first by name; or NULL */
	struct compare_recording recording;
};

enum diff_verdict {
	DIFF_PASSED,
	DIFF_EXCEEDED,
	DIFF_NO_VERDICT, /* it is not exceeded, but that says nothing */
};

/* A limit, the row it applies to, and whether the row exceeds it. */
struct diff_gate {
	const char *text;	    /* as the user wrote it */
	enum compare_metric metric; /* of the row: queries do not have all metrics of crates */
	uint64_t limit_ns;
	uint64_t limit_bytes;
	uint64_t limit_ppm; /* of the base value; used if the others are 0 */
	struct compare_row row;
	bool is_above; /* its change is, by chance or not */
	enum diff_verdict verdict;
	const char *why; /* there is no verdict; else NULL */
};

/* Which rows are shown below those of crates. */
enum diff_by {
	DIFF_BY_BOTH, /* all but instances, if the traces have them */
	DIFF_BY_QUERY,
	DIFF_BY_ITEM,
	DIFF_BY_PASS, /* of LLVM */
	DIFF_BY_GENERIC,
	DIFF_BY_INSTANCE,
};

/* What the rows are of. Not of DIFF_BY_BOTH. */
static inline enum compare_of diff_by_of(enum diff_by by)
{
	static const enum compare_of of[] = {
		[DIFF_BY_QUERY] = COMPARE_OF_QUERIES,	   [DIFF_BY_ITEM] = COMPARE_OF_ITEMS,
		[DIFF_BY_PASS] = COMPARE_OF_PASSES,	   [DIFF_BY_GENERIC] = COMPARE_OF_GENERICS,
		[DIFF_BY_INSTANCE] = COMPARE_OF_INSTANCES,
	};

	return of[by];
}

/* The things that are compared, for messages: "builds" or "traces". */
static inline const char *diff_noun(const struct compare_rules *rules)
{
	return rules->of_history ? "builds" : "traces";
}

struct diff_view {
	const struct compare_result *result;
	enum diff_by by;
	const struct diff_trace *traces;
	size_t n_traces;
	const struct diff_gate *gates;
	size_t n_gates;
	unsigned int differences; /* enum compare_difference, ORed */
	/* The first traces of base and new whose compilers differ, or NULL. */
	const struct diff_trace *other_compilers[COMPARE_N_SIDES];
	int status;   /* the exit status by the limits */
	size_t top;   /* rows to show of each table; 0 = all; text and Markdown only */
	size_t width; /* columns of the text; 0: unlimited */
};

int diff_text(FILE *out, const struct diff_view *v);

int diff_markdown(FILE *out, const struct diff_view *v);

/*
 * The JSON of `qprof-bpf diff --json`, schema "qprof-diff/5"; docs/diff.md has its members. Rows
 * are sorted: significant ones first, then by change.
 */
int diff_json(FILE *out, const struct diff_view *v);

/*
 * Every field that diff_json() may print, with its unit, as JSON, schema "qprof-fields/1". 0 or a
 * negative errno.
 */
int diff_schema(FILE *out);

#endif /* QPROF_VIEW_DIFF_H */
