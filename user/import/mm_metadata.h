/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The metadata of a .mm_profdata file: JSON, or what rustc takes for it. */
#ifndef QPROF_IMPORT_MM_METADATA_H
#define QPROF_IMPORT_MM_METADATA_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct mm_metadata {
	bool found;		/* it could be read, and has all that measureme asks for */
	uint64_t start_time_ns; /* since the epoch */
	/*
	 * What it tells of the process: pid, command, and in a file that qprof-bpf exported all
	 * that a trace holds. Texts are owned.
	 */
	struct trace_process process;
	bool exported; /* by qprof-bpf */
	bool has_losses;
	struct trace_losses losses; /* of the trace it was exported from */
};

/*
 * Parse a text. rustc escapes the command line as a Rust literal, with \' and \u{e9}, which is not
 * JSON: both are taken. 0, with `found` false if it makes no sense; or -ENOMEM.
 */
int mm_metadata__parse(struct mm_metadata *m, const char *text, size_t size);

void mm_metadata__clear(struct mm_metadata *m);

#endif /* QPROF_IMPORT_MM_METADATA_H */
