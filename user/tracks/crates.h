/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The crates that one compiler refers to by number, as the kernel half copied them from its memory,
 * and the strings of their definitions. All of it may be wrong, as definitions.h says.
 */
#ifndef QPROF_TRACKS_CRATES_H
#define QPROF_TRACKS_CRATES_H

#include "tracks/dependencies.h"

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
	const struct tracks_sink *sink;
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

#endif /* QPROF_TRACKS_CRATES_H */
