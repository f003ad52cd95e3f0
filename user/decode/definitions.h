/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The names of one compiler's definitions, as the kernel half copied them from its memory, and the
 * strings of a trace that they become: `regex_syntax::ast::{{impl}}[3]::fmt`, each the parent's
 * string and one segment. Everything that was copied may be wrong: whatever does not fit is a
 * definition without a name.
 */
#ifndef QPROF_DECODE_DEFINITIONS_H
#define QPROF_DECODE_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "plan/plan.h"
#include "trace/bytes.h"
#include "decode/sink.h"
#include "base/table.h"

/*
 * The strings of a trace that paths of definitions become: `regex_syntax::ast::{{impl}}[3]::fmt`,
 * each the parent's string and one segment. Where the definitions come from, the caller says; all
 * of it may be wrong.
 */

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
		  const struct decoder_sink *sink, uint32_t *id);

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

/* The parent of a definition, as paths.h has it. Only a root has none. */
static inline uint32_t definition_parent(const struct plan_layout *l, const struct definition *of)
{
	bool root = of->tag == l->root;

	if (root && of->parent == l->no_parent)
		return PATHS_ROOT;
	return root || of->parent == PATHS_ROOT ? PATHS_ROOT - 1 : of->parent;
}

/*
 * Set *id to the string of the path of definition `index`, or to TRACE_NO_STRING if it has no name.
 * `crate` is the name of the crate. 0, or the sink's error.
 */
int definitions__string(struct definitions *d, const struct plan_layout *layout, const char *crate,
			uint32_t index, const struct decoder_sink *sink, uint32_t *id);

void definitions__clear(struct definitions *d);

/*
 * The definitions of crates that other crates of the recording depend on, by StableCrateId: all of
 * a crate that was compiled in the recording, and of others those that some compiler has cached.
 * They are what a compiler's own tables do not name of other crates.
 */

/* Bytes that are kept at most; definitions beyond have no name in other crates. */
#define DEPENDENCIES_BYTES_MAX (64u << 20)

struct dependency_row {
	uint32_t parent;  /* as path_step has it */
	uint32_t segment; /* where it begins in `texts`; 0: unknown */
};

struct dependency {
	struct dependency_row *all; /* by index, if it was compiled in the recording */
	uint32_t n_all;
	TABLE(struct dependency_row) some; /* by index */
};

/* All zeroes is empty. */
struct dependencies {
	TABLE(struct dependency) crates; /* by StableCrateId */
	struct byte_buffer texts;	 /* segments, NUL-terminated, one behind the other */
	struct u64_map text_of;		 /* hash of a segment -> where it begins */
	size_t row_bytes;
};

/* Keep all definitions of a crate that was compiled. 0 or -ENOMEM. */
int dependencies__add_all(struct dependencies *d, uint64_t stable_id,
			  const struct definitions *definitions, const struct plan_layout *l);

/* Keep one definition of a crate. 0 or -ENOMEM. */
int dependencies__add(struct dependencies *d, uint64_t stable_id, uint32_t index, uint32_t parent,
		      const char *segment);

/* As paths__string(). */
int dependencies__string(struct dependencies *d, uint64_t stable_id, uint32_t root, uint32_t index,
			 const struct decoder_sink *sink, uint32_t *id);

/* Bytes in use, which DEPENDENCIES_BYTES_MAX limits. */
size_t dependencies__bytes(const struct dependencies *d);

void dependencies__destroy(struct dependencies *d);

/*
 * The crates that one compiler refers to by number, as the kernel half copied them from its memory,
 * and the strings of their definitions. All of it may be wrong, as definitions.h says.
 */

/* Of one compiler, which may drop any number of contexts. */
#define CRATES_MAX	  (1u << 14)
#define CRATES_CACHED_MAX (1u << 20)

struct crate {
	uint64_t stable_id;
	uint32_t name; /* a symbol */
	uint32_t root; /* the string id + 1 of its name, or 0 */
};

/* A definition whose path the compiler has asked for. */
struct cached_definition {
	struct definition of;
	uint32_t crate, index;
	uint32_t string; /* string id + 1, or 0 */
};

/* All zeroes is empty. */
struct crates {
	TABLE(struct crate) all;		/* by number */
	TABLE(struct cached_definition) cached; /* by number << 32 | index */
	bool has_own_id;
	uint64_t own_id; /* of the crate that is compiled */
};

/* Take pieces of WIRE_TABLE_CRATES and WIRE_TABLE_KEYS. -EBADMSG if one is malformed; -ENOMEM. */
int crates__add(struct crates *c, const struct wire_piece *r);
int crates__add_keys(struct crates *c, const struct plan_layout *l, const struct wire_piece *r);

struct crates_naming {
	const struct decoder_sink *sink;
	const struct definitions *definitions; /* for their texts */
	const struct plan_layout *layout;
	struct dependencies *dependencies;
};

/*
 * Set *id to the string of a definition of another crate: its path, or `crate[index]` without one,
 * and then *numbered is set, unless `numbered` is NULL; or else TRACE_NO_STRING. 0, -ENOMEM, or the
 * sink's error.
 */
int crates__string(struct crates *c, const struct crates_naming *how, uint32_t crate,
		   uint32_t index, uint32_t *id, bool *numbered);

/* Give what this compiler knows to those that will ask for it. 0 or -ENOMEM. */
int crates__share(struct crates *c, const struct crates_naming *how);

void crates__clear(struct crates *c);

#endif /* QPROF_DECODE_DEFINITIONS_H */
