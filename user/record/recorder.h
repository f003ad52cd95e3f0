/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Receives the records of a capture, decodes them, and passes what they are to the trace file, the
 * summary and the live view. Needs no kernel: a test can pass it records of its own.
 */
#ifndef QPROF_RECORD_RECORDER_H
#define QPROF_RECORD_RECORDER_H

#include <stdio.h>

#include "capture/sampling_options.h"
#include "capture/session.h"
#include "record/open_at_start.h"
#include "record/code_symbols.h"
#include "record/now_asked.h"
#include "record/overhead.h"
#include "trace/reader.h"
#include "view/view.h"

struct recorder;

/*
 * Print the report of a trace that was just opened, as wide as `screen`, with at most `rows` rows
 * in a table of queries. 0, or a negative errno without an error line.
 */
typedef int (*recorder_report_fn)(const char *file, struct trace_reader *r, FILE *out, FILE *screen,
				  size_t rows);

struct recorder_options {
	const char *output; /* path of the trace */
	char **command;	    /* that is recorded, NULL-terminated; or NULL */
	bool force;	    /* overwrite it */
	bool outside;	    /* by a session without the kernel half */
	bool ours;	    /* of --traces: created with our own rights, for nobody else to read */
	FILE *live;	    /* output of the live view and the summary */
	enum live_mode mode;
	bool summary;		      /* print the report of the trace at the end */
	recorder_report_fn report;    /* prints it */
	bool keys;		      /* name what executions were about */
	struct sealer *sealer;	      /* seals the trace later; or NULL: recorder__finish() does */
	struct code_symbols *symbols; /* shared with other recorders, outlives all; or NULL */
	bool callers;		      /* name the callers of queries, which the capture reports */
	uint64_t slow_ns; /* print intervals that take at least this long to stderr; 0: none */
	/*
	 * NULL, or finds the name of what a slow execution was about: as session__name(). Called
	 * within recorder__take().
	 */
	int (*name)(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out);
	void *name_ctx;
	/*
	 * At the end: wait until output is written, which is when `fd` polls readable. False: drop
	 * the rest. NULL: wait as long as it takes.
	 */
	bool (*wait)(void *ctx, int fd);
	void *wait_ctx;
	struct sampling_options sampling; /* how stacks are sampled */
	struct open_at_start
		*begun; /* gets what the session reports, until it is cleared; or NULL */
	const struct filter *filter; /* selects the intervals; NULL: all. Outlives the recorder */
};

/* Everything that `opt` points to outlives the recorder. 0, or a negative errno after one line. */
int recorder__open(const struct recorder_options *opt, struct recorder **out);

/*
 * Create the trace, owned by the invoking user unless `ours`. Call it before any library is
 * attached, but after the steps that are more likely to fail, so that a capture that cannot start
 * leaves no file. Prints one line on failure.
 */
int recorder__create_file(struct recorder *r);

/*
 * The recording has begun: give the trace its requested name, and replace an existing file of that
 * name. Called early, so that the trace is there if we are killed; otherwise the next interval does
 * it.
 */
void recorder__commit_file(struct recorder *r);

/* Remove the trace, unless it was committed: the capture could not start. */
void recorder__discard_file(struct recorder *r);

/*
 * The costs of the probes (session__costs()): written into the trace, and subtracted from the times
 * that are shown. Call it after the file was created, before the first record.
 */
void recorder__set_costs(struct recorder *r, const struct probe_costs *costs);

/*
 * Take a record: a function of the sink to give to session__open(). The recorder outlives the
 * session.
 */
int recorder__take(void *recorder, const struct record *record);

/*
 * Draw one interval of the live view; `counters` as session__counters() gives them. If it cannot be
 * drawn, that is reported once (not at all if its reader went away), and the recording goes on. An
 * error of records that have waited until now is returned, as recorder__take() returns others.
 */
int recorder__tick(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX]);

/* The live view shows the results of compilers that run, if they are read (session__count()). */
bool recorder__counts(const struct recorder *r);
/* All of them were read since the last call: rates of results are since then. */
void recorder__counted(struct recorder *r);

/* Bytes of the trace so far. */
uint64_t recorder__bytes(const struct recorder *r);

/* Write no more to the trace, which keeps its "unfinished" mark. Prints a line. */
void recorder__cut(struct recorder *r);

/* Look up the functions of samples that wait; an error is that of the next recorder__tick(). */
void recorder__release_samples(struct recorder *r);

/* Recording begins: as images__begin(). */
int recorder__begin(struct recorder *r, uint64_t time_ns);

/* To ask what the compilers are in, which the live view then shows. Valid as long as the recorder.
 */
struct now_asked recorder__now(struct recorder *r);

/* Restore the terminal until the next interval: this process is about to be stopped. */
void recorder__leave_terminal(struct recorder *r);

/* Write the cost of recording until now into the trace: `in->compilers` is filled in here. */
void recorder__set_overhead(struct recorder *r, const struct overhead_input *in);

/* The trace has a part of its build: of this number, from 1 on. Before recorder__finish(). */
void recorder__set_part(struct recorder *r, uint32_t number);

struct rebuilt;

/* Write what cargo built again, once the command has ended. Before recorder__finish(). */
void recorder__rebuilt(struct recorder *r, struct rebuilt *rebuilt);

/* The number of compilers seen. */
uint32_t recorder__processes(const struct recorder *r);

/*
 * No more records come: make of them what is left to make. recorder__finish() does so too; called
 * earlier, its time is in what recorder__set_overhead() writes.
 */
void recorder__settle(struct recorder *r);

/*
 * Write the rest, mark the trace finished, print the summary, the closing line and, if most records
 * were lost, an error line with the cause. Returns the first error of the trace file, in the
 * capture or now, which was printed once; else the error of the live view or the summary, unless
 * their reader went away.
 */
int recorder__finish(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX]);

/*
 * After recorder__finish(): true if most records were lost (analyze/verdict.h), which was printed
 * as an error.
 */
bool recorder__lost_most(const struct recorder *r);

void recorder__free(struct recorder *r);
DEFINE_CLEANUP(struct recorder, recorder__free)
#define _recorder_ __cleanup(recorder__free_p)

#endif /* QPROF_RECORD_RECORDER_H */
