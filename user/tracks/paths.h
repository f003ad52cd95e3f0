/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The strings of a trace that paths of definitions become: `regex_syntax::ast::{{impl}}[3]::fmt`,
 * each the parent's string and one segment. Where the definitions come from, the caller says; all
 * of it may be wrong.
 */
#ifndef QPROF_TRACKS_PATHS_H
#define QPROF_TRACKS_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracks/sink.h"

/* A path of more segments than this has no name. */
#define PATHS_DEPTH_MAX 200

/* Bytes of a segment: a symbol's text and a disambiguator. */
#define PATHS_SEGMENT_MAX (WIRE_SYMBOL_MAX + 32)

/* As a parent: that of a crate's root. */
#define PATHS_ROOT UINT32_MAX

struct path_step {
	uint32_t parent;  /* an index below that of the definition, or PATHS_ROOT */
	uint32_t *string; /* where the string id + 1 of its path is kept, 0: unknown; or NULL */
};

/* The definitions of one crate. */
struct path_source {
	void *ctx;
	/* False: there is no such definition. What it sets is valid until the path is made. */
	bool (*step)(void *ctx, uint32_t index, struct path_step *out);
	/* A text, perhaps in `buf`, that is valid until the next call. NULL: unknown. */
	const char *(*segment)(void *ctx, uint32_t index, char buf[PATHS_SEGMENT_MAX]);
};

/*
 * Set *id to the string of the path of definition `index`, or to TRACE_NO_STRING if it has no name.
 * `root` is the string of the crate. 0, or the sink's error.
 */
int paths__string(const struct path_source *from, uint32_t root, uint32_t index,
		  const struct tracks_sink *sink, uint32_t *id);

#endif /* QPROF_TRACKS_PATHS_H */
