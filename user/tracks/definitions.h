/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of one compiler's definitions, as the kernel half copied them from its memory, and the
 * strings of a trace that they become: `regex_syntax::ast::{{impl}}[3]::fmt`, each the parent's
 * string and one segment. Everything that was copied may be wrong: whatever does not fit is a
 * definition without a name.
 */
#ifndef QPROF_TRACKS_DEFINITIONS_H
#define QPROF_TRACKS_DEFINITIONS_H

#include <stdbool.h>

#include "base/map.h"
#include "plan/definition.h"
#include "trace/bytes.h"
#include "tracks/paths.h"
#include "tracks/sink.h"

/* Bytes that may be missing between two pieces of a table. */
#define DEFINITIONS_GAP_MAX (1u << 26)

/* Bytes of texts that are kept of one compiler, which may drop any number of contexts. */
#define DEFINITIONS_TEXTS_MAX (1u << 26)

/* All zeroes is empty. */
struct definitions {
	struct byte_buffer table; /* as it was in the compiler; unknown pieces are 0xff */
	struct u64_map text_of;	  /* symbol -> offset in texts */
	struct byte_buffer texts; /* NUL-terminated, one behind the other */
	uint32_t *strings;	  /* of each definition: string id + 1, or 0 */
	uint32_t n_strings;
};

/*
 * Take records. -EBADMSG if one is malformed: of a piece nothing is kept, of symbols those before
 * the fault. -ENOMEM.
 */
int definitions__add(struct definitions *d, const struct wire_piece *r);
int definitions__add_symbols(struct definitions *d, const struct wire_symbols *r);

/* The text of a symbol, or NULL. */
const char *definitions__text(const struct definitions *d, uint32_t symbol);

/* The parent of a definition, as paths.h has it. Only a root has none. */
static inline uint32_t definition_parent(const struct plan_layout *l, const struct definition *of)
{
	bool root = of->tag == l->root;

	if (root && of->parent == l->no_parent)
		return PATHS_ROOT;
	return root || of->parent == PATHS_ROOT ? PATHS_ROOT - 1 : of->parent;
}

/* The text that rustc prints behind the path of a definition's parent, in `buf`; NULL: unknown. */
const char *definitions__segment(const struct definitions *d, const struct plan_layout *l,
				 const struct definition *of, char buf[PATHS_SEGMENT_MAX]);

/*
 * Set *id to the string of the path of definition `index`, or to TRACE_NO_STRING if it has no name.
 * `crate` is the name of the crate. 0, or the sink's error.
 */
int definitions__string(struct definitions *d, const struct plan_layout *layout, const char *crate,
			uint32_t index, const struct tracks_sink *sink, uint32_t *id);

void definitions__clear(struct definitions *d);

#endif /* QPROF_TRACKS_DEFINITIONS_H */
