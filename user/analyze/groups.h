/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Counts and times per thread, per process and per crate. Fed as the summary is; knows no output
 * format.
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
	/* Crate, or (no more than 500 bytes of) the command; with pid, tid and thread name where
	   they tell apart. */
	char *name;
	uint32_t processes; /* of a crate */
	uint64_t count;
	uint64_t unwound;
	uint64_t self_ns; /* without what our probes took, as far as the spans say */
	uint64_t wall_ns; /* from the first start to the last end; of a crate: that of its
			     processes, summed */
	uint64_t max_ns;  /* as self_ns */
	/* Off the CPU: of self_ns as it was measured; and in all, by why, of wall_ns of a thread.
	 */
	uint64_t self_off_ns;
	uint64_t preempted_ns;
	uint64_t waiting_ns;
};

/* 0, or -ENOMEM. */
int groups__new(struct groups **out);

/*
 * Add or update a process or the name of a thread. Their texts are not copied, and must outlive the
 * groups, as those of a reader do: many processes of a trace share one text. Errors as
 * summary__process().
 */
int groups__process(struct groups *g, const struct trace_process *p);
int groups__thread(struct groups *g, const struct trace_thread *t);

/* Count a span, with what is computed filled in. -ENOMEM; -EINVAL if its process was not announced.
 */
int groups__span(struct groups *g, const struct trace_span *span, const struct trace_off *off);

/* Count one of TRACE_KIND_OFF_CPU; the errors are the same. */
int groups__off_cpu(struct groups *g, const struct trace_span *span, bool preempted);

/*
 * Count executions that have no span, exactly known ones only: with their process and its crate, as
 * no thread is known. Errors as groups__span().
 */
int groups__tally(struct groups *g, const struct trace_tally *t);

/* The rows, in no order; to be freed with group_rows__free(). -ENOMEM. */
int groups__rows(const struct groups *g, enum group_by by, struct group_row **rows, size_t *n);
void group_rows__free(struct group_row *rows, size_t n);

void groups__free(struct groups *g);
DEFINE_CLEANUP(struct groups, groups__free)
#define _groups_ __cleanup(groups__free_p)

#endif /* QPROF_ANALYZE_GROUPS_H */
