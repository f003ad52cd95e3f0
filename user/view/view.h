/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The room that prints: text, Markdown, JSON and the screen of `top`. It gets sums, mostly from
 * user/analyze/, writes them to a given FILE, and does not know where the numbers come from.
 * A newcomer reads these first, in this order:
 *
 * - columns.h: a function describes a table, with a row for each column. Text, Markdown, JSON,
 *   --schema and the tables of the page are made by calling that function.
 * - report_rows.h: the rows of `report`. report_columns.c has their columns; report_text.c and
 *   report_json.c print the whole document.
 * - build_rows.h: the same for the report of a build, with build_columns.c, build_text.c and
 *   build_markdown.c.
 * - diff_rows.h: the same for a comparison, with diff_text.c and diff_json.c.
 * - table.h: text in columns. The table computes widths and leaves columns out of a narrow line.
 * - top_rows.h: the rows of the interactive view. top.c takes its keys, top_draw.c makes its lines,
 *   and only top_terminal.c uses a terminal.
 *
 * Most other files print one report each, and are made in the same way: llvm_text.c, memory.c,
 * waits.c, functions.c, plan_text.c, stuck_text.c, why_view.c, trend_view.c. This header declares
 * the live view, the report and the lines of `dump`.
 */
#ifndef QPROF_VIEW_VIEW_H
#define QPROF_VIEW_VIEW_H

#include <stdio.h>

#include "analyze/pivot.h"
#include "analyze/items.h"
#include "analyze/llvm.h"
#include "analyze/subjects.h"
#include "analyze/modules.h"
#include "analyze/sampled_intervals.h"
#include "analyze/samples.h"
#include "analyze/summary.h"
#include "trace/trace.h"

struct build_view; /* view/build.h */

struct live_view;

enum live_mode {
	LIVE_TERMINAL, /* a table redrawn in place */
	LIVE_BLOCKS,   /* one block of lines per interval */
	LIVE_JSON,     /* one NDJSON object per interval, schema "qprof-live/2" */
	LIVE_NONE,
};

/* Results of queries, of compilers of which `summary` has none yet; each has its own. */
struct live_results {
	struct trace_tally *at;
	uint32_t n, capacity;
	uint64_t rounds; /* of readings of all of them */
};

struct live_state {
	uint64_t now_ns;    /* CLOCK_MONOTONIC */
	uint64_t start_ns;  /* start of the capture */
	uint32_t processes; /* compilers seen so far */
	uint32_t running;
	bool last; /* draw in any case: see live_view__write_by() */
	const struct trace_losses *losses;
	const struct summary *summary;
	const struct trace_texts *names;
	const struct top_nows *now; /* what compilers are in; NULL: not known */
	/* Nothing but samples is recorded, so that the rows are by these; NULL: by intervals. */
	const struct sample_counts *samples;
	const struct live_results *results; /* with `samples`; NULL: none */
};

/* `out` must outlive the view, and is not closed. 0 or -ENOMEM. */
int live_view__new(FILE *out, enum live_mode mode, struct live_view **v);
/*
 * Let this thread write from now on, so that no call waits for a reader. While earlier frames are
 * unwritten, new frames are left out and counted. The thread must outlive the view.
 */
struct writer_thread;
void live_view__write_by(struct live_view *v, struct writer_thread *writer);
/* Number of frames that were left out. */
uint64_t live_view__left_out(const struct live_view *v);
/* Draw one interval; rates are since the last draw. */
int live_view__draw(struct live_view *v, const struct live_state *state);
/* Restore the terminal. May be called twice; live_view__free() calls it too. */
void live_view__restore(struct live_view *v);
void live_view__free(struct live_view *v);
DEFINE_CLEANUP(struct live_view, live_view__free)
#define _live_view_ __cleanup(live_view__free_p)

/* The sort key of rows, the largest first. */
enum report_sort {
	REPORT_SORT_CPU, /* on-CPU part of self time; of a thread, all its time on the CPU */
	REPORT_SORT_SELF,
	REPORT_SORT_TOTAL, /* wall time in rows that are not queries */
	REPORT_SORT_COUNT,
	REPORT_SORT_MAX,
	REPORT_SORT_NAME,
	REPORT_SORT_OFF,  /* off-CPU part of self time */
	REPORT_SORT_HITS, /* for queries */
	REPORT_SORT_INSTANCES,
	REPORT_SORTS,
};

/* Rows of LLVM. */
enum report_llvm {
	REPORT_LLVM_NONE,
	REPORT_LLVM_PASS,
	REPORT_LLVM_GENERIC,
	REPORT_LLVM_FUNCTION, /* passes of those that llvm_wants */
};

/* All zeroes: every query. */
struct report_options {
	size_t top;	     /* rows of queries and processes to show; 0 = all; text only */
	size_t width;	     /* columns of the text; 0: unlimited */
	bool wide;	     /* with the columns that few users need */
	const char *problem; /* damage of the trace (trace_reader__problem()), or NULL */
	enum report_sort sort;
	uint64_t min_ns;  /* rows with less self time on the CPU are left out */
	uint64_t min_ppm; /* leave out rows below this share of all such time */
	/* Queries to show; NULL = all. */
	bool (*query)(const void *ctx, const char *name);
	const void *query_ctx;
	/* Show these groups, by `by`, instead of queries; NULL = queries. Only rows to show. */
	const struct pivot *groups;
	enum group_by by;
	/* Probe costs; NULL if not in the trace. Subtracted unless `raw` is set. */
	const struct trace_costs *costs;
	bool raw;
	/* Show these callers instead of queries; NULL = queries. Only rows to show. */
	const struct pivot *callers;
	struct stack_source locator; /* of places of callers */
	/* Show these items instead of queries; NULL = queries. */
	struct items *items;
	bool modules; /* with items: by module, in place of each item */
	/* Show these macros or codegen units instead of queries; NULL = queries. */
	struct subjects *subjects;
	struct llvm *llvm; /* for the JSON, and for: */
	/* Show LLVM's passes or functions instead of queries. */
	enum report_llvm llvm_by;
	bool (*llvm_wants)(const void *ctx, const char *name); /* NULL: every function */
	const void *llvm_ctx;
	uint32_t llvm_most; /* rows of each list in the JSON; 0: all */
	/* Show queries, and below them those of items, groups and callers that are there. */
	bool details;
	const struct cost *cost;	/* NULL: not measured */
	const struct samples *samples;	/* NULL: the trace has none */
	const struct build_view *build; /* NULL: no build in the JSON */
	bool page;			/* JSON for the page of an export: COLUMNS_PAGE */
	bool totals_only;		/* print no rows per process */
	uint64_t all_cpu_ns; /* self time on the CPU of all rows; with groups, 100 percent */
};

/* Whether it has rows of something else than queries: instead of them, or with `details` below. */
static inline bool report_options__has_other_rows(const struct report_options *opt)
{
	return opt->groups || opt->subjects || opt->items || opt->callers || opt->llvm_by;
}

/* The table of `qprof-bpf report`, also printed at the end of a capture. */
int report_text(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct trace_texts *names, const struct report_options *opt);

/*
 * The JSON of `qprof-bpf report --json`, schema "qprof-report/3". The columns of view/columns.h say
 * what is in it, and report_schema() prints that.
 */
int report_json(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct trace_texts *names, const struct report_options *opt);

/*
 * Every field that report_json() may print, with its unit, as JSON, schema "qprof-fields/1". 0 or
 * -ENOMEM.
 */
int report_schema(FILE *out);

/*
 * The lines of `qprof-bpf dump`, schema "qprof-dump/2": a header, then one object per item. 0 or
 * a negative errno. `c` is of COLUMNS_JSON. `by_samples`: not all queries have probes.
 */
struct columns;
int dump_header(struct columns *c, const struct trace_info *info, bool by_samples);
int dump_process(struct columns *c, const struct trace_process *p);
int dump_thread(struct columns *c, const struct trace_thread *t, const struct trace_process *p);

struct dump_place {
	const char *file;
	uint32_t line;
	const char *call_file; /* NULL: no macro's call is known */
	uint32_t call_line;
};

/* The texts for the numbers of a span, and its times. */
struct dump_span_texts {
	const char *name;
	const char *kind;		     /* measureme's name */
	const char *event;		     /* the text of the invocation id, or NULL */
	const struct dump_place *place;	     /* of what that names; NULL: unknown */
	const char *key_type;		     /* of an execution, or NULL */
	const struct trace_location *caller; /* NULL: no caller, or it is in no function */
	const struct trace_times *times;     /* never NULL; zeroes: unknown */
	bool probes;			     /* times->probe_ns is known */
};

int dump_span(struct columns *c, const struct trace_span *span, const struct trace_process *p,
	      const struct dump_span_texts *texts);
/* Of the texts, times and caller do not matter. */
int dump_interval(struct columns *c, const struct sampled_interval *interval,
		  const struct trace_process *p, const struct dump_span_texts *texts);
/* `kind` is measureme's name. */
int dump_tally(struct columns *c, const struct trace_tally *t, const char *name, const char *kind);
int dump_results(struct columns *c, const struct trace_results *r, const struct trace_texts *names);

/* The texts for the numbers of an entry of a stack, and of a sample. */
struct dump_stack_texts {
	const char *name;		       /* of an interval; NULL: unknown */
	const char *kind;		       /* measureme's name */
	const struct trace_location *location; /* NULL: it is in no function */
};

int dump_sampling(struct columns *c, const struct trace_sampling *s);
int dump_stack(struct columns *c, uint32_t id, const struct trace_stack *s,
	       const struct dump_stack_texts *texts);
/* `event`: what it is about, or NULL. */
int dump_job(struct columns *c, uint32_t id, const struct trace_job *job, const char *query,
	     const char *event);

/* Texts and entries that a sample refers to. */
struct dump_sample_texts {
	const char *name, *kind;       /* of the interval that probes saw; NULL: none */
	const struct trace_llvm *llvm; /* NULL: not in LLVM, or not known */
	const char *pass, *function;   /* of `llvm`; NULL: not known, or none */
};

int dump_sample(struct columns *c, const struct trace_sample *s, const struct trace_process *p,
		const struct dump_sample_texts *texts);
int dump_losses(struct columns *c, const struct trace_losses *losses);
int dump_costs(struct columns *c, const struct trace_costs *costs);
int dump_overhead(struct columns *c, const struct trace_overhead *overhead);
int dump_part(struct columns *c, uint32_t number);
/* `detail`: or NULL. */
int dump_rebuilt(struct columns *c, const struct trace_rebuilt *rebuilt, const char *crate,
		 const char *detail);

/* The JSON schema (draft 2020-12) of a line. */
void dump_schema(FILE *out);

#endif /* QPROF_VIEW_VIEW_H */
