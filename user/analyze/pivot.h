/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts and times of intervals by what they are of: threads, and the processes and crates that
 * these are in; or the functions that asked for executions. Takes the same items as the summary,
 * which refuses those of unknown processes. Memory use is about 400 bytes per thread, or per place
 * that asked and query. Knows no output format.
 *
 * Intervals are added up in cells, the finest parts that are told apart. The time of probes is
 * taken off the sum of a thread, process, or place; rows are the sums of these.
 */
#ifndef QPROF_ANALYZE_PIVOT_H
#define QPROF_ANALYZE_PIVOT_H

#include "analyze/sampled.h"

struct pivot;

/* Of what a cell has the sums: a thread of a process, or a caller of a query. */
enum pivot_cells {
	PIVOT_THREADS,
	PIVOT_CALLERS, /* a query, and the place that asked for it */
};

/* 0, or -ENOMEM. */
int pivot__new(enum pivot_cells of, struct pivot **out);

/*
 * Add or update a process, or the name of a thread. Texts are not copied and must outlive the
 * pivot, as a reader's do: many processes of a trace share one text. Errors as summary__process().
 */
int pivot__process(struct pivot *p, const struct trace_process *process);
int pivot__thread(struct pivot *p, const struct trace_thread *thread);

/* Add a tally of TRACE_KIND_RESULTS. 0 or -ENOMEM. */
int pivot__results(struct pivot *p, const struct trace_tally *t);

/* Count a span, which is not TRACE_KIND_OFF_CPU. 0 or -ENOMEM. */
int pivot__span(struct pivot *p, const struct trace_span *span, const struct trace_times *times);

/* Count a span of TRACE_KIND_OFF_CPU. 0 or -ENOMEM. */
int pivot__off_cpu(struct pivot *p, const struct trace_span *span, bool preempted);

/* Note the thread of a sample. 0 or -ENOMEM. */
int pivot__sample(struct pivot *p, const struct trace_sample *sample);

/* ---- Of threads ------------------------------------------------------------------------------ */

enum group_by {
	GROUP_BY_CRATE,
	GROUP_BY_PROCESS,
	GROUP_BY_THREAD,
};

struct group_row {
	/*
	 * Crate, or up to 500 bytes of the command; with pid, tid and thread name where needed to
	 * distinguish rows.
	 */
	char *name;
	uint32_t processes; /* for a crate: its processes */
	uint64_t count; /* executions of queries; where no probe saw them, of the compilers' tables
			 */
	uint64_t activities; /* besides, with those of kinds private to a file */
	uint64_t unwound;
	uint64_t self_ns; /* without probe time, as far as it is known */
	uint64_t cpu_ns;  /* its part on the CPU: on_cpu_ns() */
	uint64_t wall_ns; /* from first start to last end; for a crate, summed over processes */
	uint64_t max_ns;  /* without probe time, as self_ns */
	/* Off-CPU time: within the measured self_ns; and, by cause, within wall_ns of a thread. */
	uint64_t self_off_ns;
	uint64_t preempted_ns;
	uint64_t waiting_ns;
	uint64_t peak_bytes; /* of memory, the largest of its processes; 0: unknown, or a thread */
};

/*
 * The rows, in no particular order; without processes that only answered a question about the
 * compiler, where these are crates. Free with group_rows__free(). -ENOMEM.
 */
int pivot__groups(const struct pivot *p, enum group_by by, struct group_row **rows, size_t *n);
void group_rows__free(struct group_row *rows, size_t n);

/* One of the threads, in the order in which they first appeared, with its last interval. */
struct thread_row {
	uint32_t process; /* index */
	uint32_t tid;
	const char *name; /* or NULL */
	uint64_t count;	  /* intervals */
	uint64_t self_ns; /* of all intervals, without probe time, as far as it is known */
	uint64_t cpu_ns;  /* its part on the CPU: on_cpu_ns() */
	uint64_t self_off_ns;
	uint32_t last_label; /* of the last interval: string id, or TRACE_NO_STRING */
	uint32_t last_invocation;
	uint64_t last_ns; /* its end */
};

uint32_t pivot__n_threads(const struct pivot *p);
struct thread_row pivot__thread_at(const struct pivot *p, uint32_t i);

/* ---- Of callers ------------------------------------------------------------------------------ */

struct caller_row {
	const char *function; /* name of the calling function, from the locator; NULL: unknown */
	uint64_t count;
	uint64_t unwound;
	uint64_t total_ns; /* Times without probe time, as far as it is known. */
	uint64_t self_ns;
	uint64_t cpu_ns; /* of self_ns on the CPU: on_cpu_ns() */
	uint64_t max_ns;
	/* The line with the most executions, and their number; NULL: no line is known. */
	const char *file;
	uint32_t line;
	uint64_t line_count;
	uint32_t lines; /* number of different lines */
};

/*
 * One row per function name, and one for executions with an unknown caller, in no particular order.
 * Each place is resolved once, by locator->locate(); texts must outlive the rows. Free with free().
 * -ENOMEM.
 */
int pivot__callers(const struct pivot *p, const struct stack_source *locator,
		   struct caller_row **rows, size_t *n);

void pivot__free(struct pivot *p);
DEFINE_CLEANUP(struct pivot, pivot__free)
#define _pivot_ __cleanup(pivot__free_p)

#endif /* QPROF_ANALYZE_PIVOT_H */
