/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the metadata of a .mm_profdata file: JSON, or rustc's near-JSON. */
#ifndef QPROF_IMPORT_MM_METADATA_H
#define QPROF_IMPORT_MM_METADATA_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct mm_metadata {
	bool found;		/* it is readable and has all fields that measureme requires */
	uint64_t start_time_ns; /* since the epoch */
	/*
	 * Facts about the process: its pid and command, and everything that a trace holds if
	 * qprof-bpf exported the file. The texts are owned.
	 */
	struct trace_process process;
	bool exported; /* by qprof-bpf */
	bool has_losses;
	struct trace_losses losses; /* of the exported trace */
};

/*
 * Parse a text. rustc escapes the command line as a Rust literal, with \' and \u{e9}, which JSON
 * does not have; both forms are accepted. 0, with `found` false if it is malformed; or -ENOMEM.
 */
int mm_metadata__parse(struct mm_metadata *m, const char *text, size_t size);

void mm_metadata__clear(struct mm_metadata *m);

#endif /* QPROF_IMPORT_MM_METADATA_H */
