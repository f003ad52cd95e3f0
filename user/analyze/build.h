/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A build, as the compilers of a trace tell it: how long, how parallel, which crate took what and
 * in which part of its compile, what its threads waited for, and what ran where one was killed.
 * docs/report.md has the definitions. Fed as the summary is, which has the queries; memory is by
 * process and thread. Knows no output format.
 */
#ifndef QPROF_ANALYZE_BUILD_H
#define QPROF_ANALYZE_BUILD_H

#include "analyze/running.h"
#include "analyze/waits.h"
#include "trace/trace.h"

/* The texts of string ids. */
struct build_texts {
	const void *ctx;
	const char *(*text)(const void *ctx, uint32_t id);
};

/* The parts of a compile, one after the other: together its time on the clock. */
enum build_part {
	BUILD_FRONT_END, /* from the start of the process */
	BUILD_CODEGEN,	 /* from the start of codegen_crate */
	BUILD_LINK,	 /* what rustc calls so, from start to end */
	BUILD_EXIT,	 /* from there to the end of the process */
	BUILD_N_PARTS,
};

/* One compiler. Times are ns. */
struct build_process {
	const struct trace_process *process; /* valid until the next build__process() */
	bool compiles;			     /* and is not only asked something */
	bool parts_known;		     /* phases were recorded */
	uint64_t start_ns;		     /* on the trace's clock */
	uint64_t end_ns; /* of the last span, if that of the process is not known */
	uint64_t part_ns[BUILD_N_PARTS];
	uint64_t metadata_ns;  /* from its start until dependents could begin; 0: not told */
	uint64_t alone_ns;     /* while no other compiler ran */
	uint64_t cpu_ns;       /* of threads, from their first span to their last */
	uint64_t preempted_ns; /* likewise; they could have run */
	struct waits waits;    /* likewise */
	uint64_t blocked_ns;   /* in QueryBlocked */
	uint64_t executions;   /* of queries; with those that were counted only */
};

/* What had begun and not ended when the thread's process did, the innermost first. */
#define BUILD_OPEN_MOST 32u

struct build_open {
	uint32_t label;
	uint64_t ns; /* how long until then */
};

struct build_thread {
	uint32_t process; /* index */
	uint32_t tid;
	const char *name; /* or NULL */
	struct build_open open[BUILD_OPEN_MOST];
	uint32_t n_open; /* of them; */
	uint32_t more;	 /* and so many outer ones */
};

struct build_totals {
	uint32_t compiles;
	uint32_t asked;	      /* the other compilers */
	uint32_t failed;      /* of the compiles; with a status other than 0 */
	uint32_t killed;      /* of the compiles; by a signal */
	uint32_t unended;     /* of the compiles; how they ended was not seen */
	bool off_cpu_known;   /* it was recorded when threads were off the CPU, and so when on it */
	uint64_t compiler_ns; /* time on the clock of all compilers, summed */
	uint64_t cpu_ns;
	uint64_t preempted_ns;
	struct waits waits;
	uint64_t blocked_ns;
	struct running running; /* compilers */
};

struct build;

/* `texts` must outlive it. */
int build__new(const struct build_texts *texts, struct build **out);

/*
 * Add or update a process. Its texts are not copied, and not read before build__end(): from then on
 * those that it was last updated with must be there, for as long as the build is. Errors as
 * summary__process().
 */
int build__process(struct build *b, const struct trace_process *p);

/* The name of a thread, which is copied. Errors likewise. */
int build__thread(struct build *b, const struct trace_thread *t);

/* Any span; what is computed of it is not needed. -ENOMEM; -EINVAL as summary__span(). */
int build__span(struct build *b, const struct trace_span *span);

/* Executions that have no span, exactly known ones only. -EINVAL as build__span(). */
int build__tally(struct build *b, const struct trace_tally *t);

/* There is no more. Once, before what follows; 0 or -ENOMEM. */
int build__end(struct build *b);

const struct build_totals *build__totals(const struct build *b);

/* All, by index. */
const struct build_process *build__processes(const struct build *b, uint32_t *n);

/* Threads of compilers that a signal ended, or whose end was not seen, in which something ran. */
const struct build_thread *build__interrupted(const struct build *b, uint32_t *n);

void build__free(struct build *b);

#endif /* QPROF_ANALYZE_BUILD_H */
