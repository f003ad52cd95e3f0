/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What becomes of a capture's records: tracks, then the trace file, the summary and the live view.
 * Needs no kernel: a test can feed it records of its own.
 */
#ifndef QPROF_CLI_RECORDER_H
#define QPROF_CLI_RECORDER_H

#include <stdio.h>

#include "capture/session.h"
#include "view/view.h"

struct recorder;

struct recorder_options {
	const char *output; /* path of the trace */
	bool force;	    /* overwrite it */
	FILE *live;	    /* where the live view and the summary go */
	enum live_mode mode;
	bool summary;	     /* print one at the end: closing_report() */
	bool callers;	     /* name them: the capture tells them */
	uint64_t slow_ns;    /* print intervals that take so long to stderr; 0: none */
	uint64_t budget_ppm; /* of CPU time, for the probes; 0: none */
	const struct filter
		*filter; /* what is asked for; NULL: everything. Outlives the recorder */
};

/* What `opt` points to outlives it. 0, or a negative errno after one line. */
int recorder__open(const struct recorder_options *opt, struct recorder **out);

/*
 * Create the trace, owned by the invoking user. Before any library; after what is likelier to
 * fail, so that a capture that cannot start leaves no file. Prints one line on failure.
 */
int recorder__create_file(struct recorder *r);

/*
 * The recording has begun: from now on the trace has the name it was asked for, and what had that
 * name is gone. Early, so that it is there if we are killed; the next interval does it otherwise.
 */
void recorder__commit_file(struct recorder *r);

/* Remove the trace again, unless it was committed: the capture could not start. */
void recorder__discard_file(struct recorder *r);

/*
 * What the probes cost (session__costs()): written into the trace, and taken off the times that are
 * shown. After the file was created, before the first record.
 */
void recorder__set_costs(struct recorder *r, const struct probe_costs *costs);

/* The sink to give to session__open(); the recorder outlives the session. */
struct session_sink recorder__sink(struct recorder *r);

/*
 * Draw one interval of the live view; `counters` as session__counters() gives them. If it cannot
 * be drawn, that is told once (not at all if its reader went away), and the recording goes on.
 */
int recorder__tick(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX]);

/* Give the terminal back as it was, until the next interval: we are about to be stopped. */
void recorder__leave_terminal(struct recorder *r);

/* Compilers seen. */
uint32_t recorder__processes(const struct recorder *r);

/*
 * Write the rest, mark the trace finished, print the summary and the closing line. The first
 * error of the trace file, in the capture or now, is returned (and was printed once); else that of
 * the live view or the summary, unless their reader went away.
 */
int recorder__finish(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX]);

void recorder__free(struct recorder *r);
DEFINE_CLEANUP(struct recorder, recorder__free)
#define _recorder_ __cleanup(recorder__free_p)

#endif /* QPROF_CLI_RECORDER_H */
