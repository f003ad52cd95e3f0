/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts and times per thread, process and crate. Takes the same items as the summary; knows no
 * output format.
 */
#ifndef QPROF_ANALYZE_GROUPS_H
#define QPROF_ANALYZE_GROUPS_H

#include "trace/trace.h"

struct groups;

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
	uint64_t cpu_ns;  /* its part on the CPU: analyze/on_cpu.h */
	uint64_t wall_ns; /* from first start to last end; for a crate, summed over processes */
	uint64_t max_ns;  /* without probe time, as self_ns */
	/* Off-CPU time: within the measured self_ns; and, by cause, within wall_ns of a thread. */
	uint64_t self_off_ns;
	uint64_t preempted_ns;
	uint64_t waiting_ns;
	uint64_t peak_bytes; /* of memory, the largest of its processes; 0: unknown, or a thread */
};

/* 0, or -ENOMEM. */
int groups__new(struct groups **out);

/*
 * Add or update a process, or the name of a thread. Texts are not copied and must outlive the
 * groups, as a reader's do: many processes of a trace share one text. Errors as summary__process().
 */
int groups__process(struct groups *g, const struct trace_process *p);
int groups__thread(struct groups *g, const struct trace_thread *t);

/* Add a tally of TRACE_KIND_RESULTS. 0 or -ENOMEM. */
int groups__results(struct groups *g, const struct trace_tally *t);

/* Count a span. -ENOMEM; -EINVAL if its process is unknown. */
int groups__span(struct groups *g, const struct trace_span *span, const struct trace_times *times);

/* Count a span of TRACE_KIND_OFF_CPU. Errors as groups__span(). */
int groups__off_cpu(struct groups *g, const struct trace_span *span, bool preempted);

/*
 * The rows, in no particular order; without processes that only answered a question about the
 * compiler, where these are crates. Free with group_rows__free(). -ENOMEM.
 */
int groups__rows(const struct groups *g, enum group_by by, struct group_row **rows, size_t *n);
void group_rows__free(struct group_row *rows, size_t n);

void groups__free(struct groups *g);
DEFINE_CLEANUP(struct groups, groups__free)
#define _groups_ __cleanup(groups__free_p)

#endif /* QPROF_ANALYZE_GROUPS_H */
