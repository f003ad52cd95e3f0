/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rows of a report: which of them, and in which order. */
#ifndef QPROF_VIEW_REPORT_ROWS_H
#define QPROF_VIEW_REPORT_ROWS_H

#include "view/extras.h"
#include "view/view.h"

struct report_row {
	const char *name;
	uint64_t count;	   /* of queries: with those that were counted only, which no time is of */
	uint64_t recorded; /* of them */
	bool rough;	   /* as summary_row.rough */
	bool untimed;	   /* there were some, and nothing tells how long any took */
	uint64_t unwound;
	uint64_t total_ns; /* wall time in rows that are not queries */
	uint64_t self_ns;
	uint64_t raw_total_ns; /* of queries: with what the probes took */
	uint64_t raw_self_ns;
	uint64_t mean_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t extra[REPORT_N_EXTRAS];
	uint64_t preempted_ns; /* of groups, as is waiting_ns */
	uint64_t waiting_ns;
	uint32_t processes;
	const struct caller_row *caller; /* NULL in rows that are no callers */
};

/* Of self_ns, as far as it is known when its threads were off the CPU. */
static inline uint64_t report_row__cpu_ns(const struct report_row *row)
{
	uint64_t off_ns = row->extra[REPORT_OFF_CPU];

	return row->self_ns > off_ns ? row->self_ns - off_ns : 0;
}

struct report_rows {
	struct report_row *rows;
	size_t n;
	size_t left_out; /* by the options */
	/* Over all rows, those that were left out too. */
	uint64_t count;
	uint64_t unwound;
	uint64_t self_ns;
	uint64_t rough;	  /* rows */
	uint64_t untimed; /* likewise */
	uint64_t clamped; /* of queries: summary_row.clamped */
	uint64_t off_ns;  /* preempted and waiting */
	uint64_t extra[REPORT_N_EXTRAS];
	struct group_row *groups; /* what the names belong to, or NULL */
	size_t n_groups;
	struct caller_row *callers; /* what rows of callers belong to, or NULL */
};

/* Of a process, or SUMMARY_ALL. Names are those of `names`. 0 or a negative errno. */
int report_rows__queries(struct report_rows *r, const struct summary *s, uint32_t process,
			 const struct view_names *names, const struct report_options *opt);

/* The rows of opt->groups, by opt->by; of opt->callers. Errors as above. */
int report_rows__groups(struct report_rows *r, const struct report_options *opt);
int report_rows__callers(struct report_rows *r, const struct report_options *opt);

void report_rows__clear(struct report_rows *r);
#define _report_rows_ __cleanup(report_rows__clear)

#endif /* QPROF_VIEW_REPORT_ROWS_H */
