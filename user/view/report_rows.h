/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of a report: which rows it shows, in which order. */
#ifndef QPROF_VIEW_REPORT_ROWS_H
#define QPROF_VIEW_REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/format.h"
#include "view/columns.h"
#include "view/view.h"
#include "analyze/summary.h"

/* Values of a query that a report shows only if the trace has any of them. */

enum report_extra_id {
	REPORT_SAMPLES,
	REPORT_SAMPLED_SELF,
	REPORT_SAMPLED_ERROR,
	REPORT_SAMPLED_TOTAL,
	REPORT_SAMPLED_TOTAL_ERROR,
	REPORT_SAMPLED_MAX,
	REPORT_SAMPLED_OFF,
	REPORT_MEMORY,
	REPORT_MEMORY_TOTAL,
	REPORT_OFF_CPU,
	REPORT_TOTAL_OFF_CPU,
	REPORT_HITS,
	REPORT_BLOCKED,
	REPORT_LOAD,
	REPORT_HASHING,
	REPORT_LOADED,
	REPORT_LOADS,
	REPORT_N_EXTRAS,
};

struct report_extra {
	const char *key;   /* JSON member */
	const char *title; /* table title; NULL: not in the table */
	const char *page;  /* on the page of an export; NULL: the same */
	enum column_unit unit;
	size_t offset;	  /* of the value in struct summary_row */
	const char *text; /* for a person */
};

extern const struct report_extra report_extras[REPORT_N_EXTRAS];

/* In the unit of report_extras[extra]; `extra` is below REPORT_N_EXTRAS. */
uint64_t report_extra_of(const struct summary_row *row, enum report_extra_id extra);

/* The row of what no item is around: phases of the compiler, queries about types. */
#define REPORT_NO_ITEM "(no item)"

struct report_row {
	const char *name;
	uint64_t count;
	/* Of queries that are not recorded: as struct summary_row. */
	uint64_t results;
	uint64_t results_unsure;
	bool results_missing;
	uint64_t known_count; /* executions in all compilers; 0: not known, or none */
	uint64_t unwound;
	uint64_t begun;	   /* intervals that began before the recording */
	uint64_t total_ns; /* wall time in rows that are not queries */
	uint64_t self_ns;  /* the best that is known */
	/*
	 * The part of self_ns on the CPU, which rows are ranked by; in a list of all queries, of a
	 * thread whose off-CPU times are known, all time on the CPU.
	 */
	uint64_t cpu_ns;
	uint64_t self_error_ns; /* its standard error */
	uint64_t exact_self_ns; /* of intervals */
	uint64_t exact_cpu_ns;	/* its part on the CPU */
	uint8_t self_by;	/* enum summary_self */
	uint64_t raw_total_ns;	/* for queries: with probe time */
	uint64_t raw_self_ns;
	uint64_t mean_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t extra[REPORT_N_EXTRAS];
	uint64_t preempted_ns; /* preempted_ns and waiting_ns: for groups only */
	uint64_t waiting_ns;
	uint64_t peak_bytes; /* for groups only; 0: unknown */
	uint32_t processes;
	const char *kind;		 /* for queries: summary_row__kind() */
	const char *instead;		 /* for queries: summary_row__instead() */
	uint64_t activities;		 /* in a query's row: of count */
	const struct item_row *item;	 /* NULL unless the row is an item or a module */
	uint32_t items;			 /* of a module */
	const struct caller_row *caller; /* NULL unless the row is a caller */
};

/* The total time, by samples where no interval was recorded. */
static inline uint64_t report_row__total_ns(const struct report_row *row)
{
	if (!row->raw_total_ns && row->self_by == SUMMARY_SELF_SAMPLES)
		return row->extra[REPORT_SAMPLED_TOTAL];
	return row->total_ns;
}

struct report_rows {
	struct report_row *rows;
	size_t n;
	size_t left_out; /* rows that the options left out */
	/* Sums over all rows, including those left out. */
	uint64_t count;
	uint64_t activities;
	uint64_t unwound;
	uint64_t self_ns;
	uint64_t cpu_ns;
	uint64_t clamped;		       /* for queries: summary_row.clamped */
	uint64_t by[SUMMARY_SELF_SAMPLES + 1]; /* number of rows, by self_by */
	uint64_t off_ns;		       /* preempted plus waiting */
	uint64_t peak_bytes;		       /* of memory, added up: whether any is known */
	uint64_t extra[REPORT_N_EXTRAS];
	struct group_row *groups; /* owns the names, or NULL */
	size_t n_groups;
	struct item_row *items;	    /* or NULL */
	struct module_row *modules; /* owns the names, or NULL */
	size_t n_modules;
	struct caller_row *callers; /* owns the data of callers, or NULL */
};

/* Whether any of a self time is known to be off the CPU. */
static inline bool report_rows__know_off_cpu(const struct report_rows *r)
{
	return r->extra[REPORT_OFF_CPU];
}

/* Titles of columns: of self time, which is in two parts where off-CPU times are known. */
#define REPORT_SELF "self"
#define REPORT_OFF  "off-cpu"
/* Of waits that samples have. */
#define REPORT_WAITING "waiting"

static inline const char *report_title_cpu(bool off_cpu)
{
	return off_cpu ? "on-cpu" : REPORT_SELF;
}

static inline const char *report_title_share(bool off_cpu)
{
	return off_cpu ? "cpu %" : "self %";
}

/* Whether only samples show what queries cost. */
static inline bool report_rows__are_sampled(const struct report_rows *r)
{
	return r->by[SUMMARY_SELF_SAMPLES] && !r->by[SUMMARY_SELF_SPANS];
}

/* Marks rows that include executions without an exact end. */
#define CALLERS_TEXT_MARK "*"

/* Marks numbers that include an estimate. */
#define REPORT_ESTIMATE "~"
/* Marks lower limits. */
#define REPORT_LEAST ">="

/*
 * Executions; "20 results", if it is not known which of these are executions of this build; "-":
 * nothing is known.
 */
char *report_count(char buf[FORMAT_MAX * 2], const struct summary_row *row);

/* The executions of an item: "27", ">= 27", or "-". */
void item_executions_column(struct columns *c, const char *title, const struct item_row *item);

/* In JSON, how a self time is known (enum summary_self). */
const char *report_self_by(uint8_t self_by);
/* The mark of a self time that is not exact, or an empty text. */
const char *report_self_mark(uint8_t self_by);

/* Rows of a process, or of SUMMARY_ALL. Names belong to `names`. 0 or a negative errno. */
int report_rows__queries(struct report_rows *r, const struct summary *s, uint32_t process,
			 const struct trace_texts *names, const struct report_options *opt);

/* The rows of opt->groups, by opt->by, or of opt->callers. Errors as report_rows__queries(). */
int report_rows__groups(struct report_rows *r, const struct report_options *opt);
int report_rows__callers(struct report_rows *r, const struct report_options *opt);

/*
 * The rows of opt->items, by module if opt->modules is set, which may be asked for once. Names of
 * items belong to `names`.
 */
int report_rows__items(struct report_rows *r, const struct trace_texts *names,
		       const struct report_options *opt);

void report_rows__clear(struct report_rows *r);
#define _report_rows_ __cleanup(report_rows__clear)

#endif /* QPROF_VIEW_REPORT_ROWS_H */
