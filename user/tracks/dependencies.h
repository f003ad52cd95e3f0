/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The definitions of crates that other crates of the recording depend on, by StableCrateId: all of
 * a crate that was compiled in the recording, and of others those that some compiler has cached.
 * They are what a compiler's own tables do not name of other crates.
 */
#ifndef QPROF_TRACKS_DEPENDENCIES_H
#define QPROF_TRACKS_DEPENDENCIES_H

#include "base/table.h"
#include "tracks/definitions.h"

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
			 const struct tracks_sink *sink, uint32_t *id);

/* Bytes in use, which DEPENDENCIES_BYTES_MAX limits. */
size_t dependencies__bytes(const struct dependencies *d);

void dependencies__destroy(struct dependencies *d);

#endif /* QPROF_TRACKS_DEPENDENCIES_H */
