/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The trace that a recording writes: created with the rights of who asked for it, in its place once
 * the recording has begun, and given up at the first error while all else goes on.
 */
#ifndef QPROF_CLI_TRACE_OUTPUT_H
#define QPROF_CLI_TRACE_OUTPUT_H

#include "cli/output_file.h"
#include "trace/writer.h"

struct trace_output {
	char *path; /* as the user named it; owned */
	bool force; /* overwrite it */
	struct output_file file;
	struct trace_writer *writer;
	int err;       /* the first one; nothing is written after it */
	int place_err; /* it could not be put where it belongs; it is whole elsewhere */
};

/* Create the file, owned by the invoking user. Prints one line on failure. */
int trace_output__create(struct trace_output *o, const struct trace_info *info);

/* Give it the name it was asked for, once; if that fails, the name is told, and kept. */
void trace_output__commit(struct trace_output *o);

/* Remove it again, unless it was committed. */
void trace_output__discard(struct trace_output *o);

/*
 * What a write came to: 0, or the negative errno of the first that fails, which is told. Write
 * nothing more to one that has an `err`.
 */
void trace_output__wrote(struct trace_output *o, int err);

/* Where it is. */
const char *trace_output__place(const struct trace_output *o);

/* All zeroes is one that there is nothing of. */
void trace_output__destroy(struct trace_output *o);
#define _trace_output_ __cleanup(trace_output__destroy)

#endif /* QPROF_CLI_TRACE_OUTPUT_H */
