/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A build as recorded in a trace: its duration and parallelism, the time of each crate and of the
 * parts of its compile, the waits of its threads, and the open intervals of killed compilers.
 * docs/report.md has the definitions. Takes the same items as the summary, which holds the queries.
 * Memory use is per process and thread. Knows no output format.
 */
#ifndef QPROF_ANALYZE_BUILD_H
#define QPROF_ANALYZE_BUILD_H

#include "analyze/running.h"
#include "trace/trace.h"

/* The consecutive parts of a compile; together they are its wall time. */
enum build_part {
	BUILD_FRONT_END, /* from the start of the process */
	BUILD_CODEGEN,	 /* from the start of codegen_crate */
	BUILD_LINK,	 /* rustc's own link activity, from start to end */
	BUILD_EXIT,	 /* from the end of the link to the end of the process */
	BUILD_N_PARTS,
};

/* One compiler. Times are in ns. */
struct build_process {
	const struct trace_process *process; /* valid until the next build__process() */
	/* It compiles a crate; false if it only answers a question (--print), lists the sources of
	 * a crate (compile_only_lists()), or of a doctest. */
	bool compiles;
	bool parts_known;  /* phases were recorded */
	uint64_t start_ns; /* on the trace's clock */
	uint64_t end_ns;   /* of the process; if that is unknown, of its last span or sample */
	uint64_t part_ns[BUILD_N_PARTS];
	uint64_t metadata_ns;  /* from its start until dependents could begin; 0: unknown */
	uint64_t alone_ns;     /* while no other compiler ran, of the whole build if it is known */
	uint64_t cpu_ns;       /* of its threads, each from its first span to its last */
	uint64_t preempted_ns; /* runnable but not running; same threads and spans */
	struct waits waits;    /* same threads and spans */
	uint64_t blocked_ns;   /* in QueryBlocked */
	uint64_t intervals;    /* recorded, but those off the CPU */
	uint64_t executions;   /* of queries that have probes */
	/* In the tables of its queries; where these are not known, those that rustc has numbered,
	 * up to the last one that a span has. 0: none is known. */
	uint64_t results;
};

/* The intervals that were open when the process of the thread ended, the innermost first. */
#define BUILD_OPEN_MOST 32u

struct build_open {
	uint32_t label;
	uint8_t kind; /* enum trace_kind */
	uint64_t ns;  /* from its start to the end of the process */
};

struct build_thread {
	uint32_t process; /* index */
	uint32_t tid;
	const char *name; /* or NULL */
	struct build_open open[BUILD_OPEN_MOST];
	uint32_t n_open; /* intervals in `open` */
	uint32_t more;	 /* outer intervals that did not fit */
};

struct build_totals {
	uint64_t intervals;
	uint64_t
		executions; /* of queries, that were recorded; 0: waits are in passes, or nowhere */
	uint32_t compiles;
	uint32_t doctests;     /* compiles of examples of the documentation */
	uint32_t listed;       /* compilers that listed the sources of a crate */
	uint32_t cached;       /* crates that were listed and not compiled: a cache had them */
	uint32_t asked;	       /* the other compilers: they only answered a question */
	uint32_t failed;       /* compiles with an exit status other than 0 */
	uint32_t killed;       /* compiles killed by a signal */
	uint32_t memory_kills; /* of these, by the kernel as memory had run out */
	uint32_t unended;      /* compiles whose end was not seen */
	bool off_cpu_known;    /* off-CPU times were recorded */
	uint32_t late;	       /* that ran before: of these, times off the CPU may be missing */
	uint64_t compiler_ns;  /* wall time of all compilers, summed */
	uint64_t preempted_ns;
	struct waits waits;
	uint64_t blocked_ns;
	struct running running; /* compilers */
};

struct build;
struct samples;

/* `texts` must outlive the build. */
int build__new(const struct trace_texts *texts, struct build **out);

/*
 * Add or update a process. Its texts are not copied. They are read from build__end() on, so the
 * texts of the last update must stay valid from then until the build is freed. Errors as
 * summary__process().
 */
int build__process(struct build *b, const struct trace_process *p);

/* Set the name of a thread; it is copied. Errors as build__process(). */
int build__thread(struct build *b, const struct trace_thread *t);

/* A query has so many results more, by the compiler's own table. */
void build__results(struct build *b, uint32_t process, uint64_t n);

/* Add a span of any kind. -ENOMEM; -EINVAL as summary__span(). */
int build__span(struct build *b, const struct trace_span *span);

/* The process ran when the sample was taken: no more is taken of it. -EINVAL as above. */
int build__sample(struct build *b, const struct trace_sample *sample);

/* Finish the build. Call it once, before the functions below. 0 or -ENOMEM. */
int build__end(struct build *b);

/*
 * After build__end(): this build holds some compilers of `whole`, which outlives it; NULL: the
 * whole is not known. 0 or -ENOMEM.
 */
int build__set_whole(struct build *part, const struct build *whole);

/* The build that this one is a part of, NULL if that is not known; else itself. */
const struct build *build__whole(const struct build *b);

/* False: it is a part, and process `index` of the whole is not in it. */
bool build__has(const struct build *b, uint32_t index);

const struct build_totals *build__totals(const struct build *b);

/* All compilers, by process index. */
const struct build_process *build__processes(const struct build *b, uint32_t *n);

/*
 * The CPU time of a compiler, with what recording added to it (cost__cpu_ns() is without), as the
 * kernel counted it. Of one that still runs, or had begun before the recording did, that of its
 * threads where off-CPU times were recorded, else by samples, which may be NULL; of one that had
 * begun before, the larger of both. False, and *ns is 0: none is known.
 */
bool build__cpu_ns(const struct build *b, const struct samples *samples,
		   const struct build_process *p, uint64_t *ns);

/* Threads with open intervals, of compilers that a signal killed or whose end was not seen. */
const struct build_thread *build__interrupted(const struct build *b, uint32_t *n);

void build__free(struct build *b);

#endif /* QPROF_ANALYZE_BUILD_H */
