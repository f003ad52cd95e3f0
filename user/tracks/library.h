/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What was told of a library: the labels of its queries and guards, and what it is. */
#ifndef QPROF_TRACKS_LIBRARY_H
#define QPROF_TRACKS_LIBRARY_H

#include <stdint.h>

#include "trace/trace.h"
#include "tracks/caller_index.h"

/* All zeroes is one of which nothing was told. */
struct library {
	uint32_t *labels; /* of its queries, string ids */
	uint32_t n_labels;
	uint32_t *guards; /* their labels */
	uint32_t n_guards;
	char *build_id;
	char *rustc_version;
	const struct tracks_functions *functions; /* the caller's, or NULL */
};

/* As tracks__set_library() and tracks__set_guards(). -ENOMEM, which changes nothing. */
int library__set(struct library *lib, const uint32_t *labels, uint32_t n_labels,
		 const char *build_id, const char *rustc_version);
int library__set_guards(struct library *lib, const uint32_t *labels, uint32_t n_labels);

/* Say in a process which library it uses. -ENOMEM. */
int library__tell(const struct library *lib, struct trace_process *p);

void library__clear(struct library *lib);

#endif /* QPROF_TRACKS_LIBRARY_H */
