/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Follow a trace: sum it up as it grows. */
#ifndef QPROF_RECORD_FOLLOW_H
#define QPROF_RECORD_FOLLOW_H

#include "analyze/model.h"
#include "base/table.h"
#include "trace/reader.h"

/* Samples of the CPU of one process: one for all that have the same label and job. */
struct kept_samples {
	TABLE(struct trace_sample) by; /* job << 32 | label; values are added up */
	uint64_t n;		       /* samples so far */
};

struct follow {
	struct trace_reader *reader;
	struct model model; /* with MODEL_THREADS, MODEL_HOT and MODEL_LLVM */
	/* By process index; only where times of queries are those of samples (by_samples). */
	struct kept_samples *samples;
	uint32_t n_samples; /* processes in it */
	bool over;	    /* the trace cannot grow any more */
};

/* Takes the reader over. 0 or -ENOMEM; `*f` needs destroying in any case. */
int follow__init(struct follow *f, struct trace_reader *reader);

/*
 * Take what has been written by now; *more is true if there was something new. Negative errno if
 * the file cannot be read (-EIO) or there is no memory; nothing is printed.
 */
int follow__read(struct follow *f, bool *more);

void follow__destroy(struct follow *f);
#define _follow_ __cleanup(follow__destroy)

#endif /* QPROF_RECORD_FOLLOW_H */
