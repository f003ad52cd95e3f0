/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Cargo's notes of why a unit (one run of a compiler or of a build script) is up to date. Read in
 * this order:
 *
 *	fingerprint.h	one note: what it holds, and how two of them differ
 *	units.h		all notes below a target directory at one moment
 *	target_dir.h	which directory that is, of a command
 *	rebuilt.h	the reasons, from two such moments
 *
 * Cargo keeps two files for each unit: a JSON object of what was hashed, and a list of files and
 * variables that the compiler read. Both are private to cargo. The form here is that of cargo 1.85
 * to 1.99; anything else is refused, and then nothing is said of that unit. The bytes may be those
 * of another user, and this process may be privileged: texts are pieces of the file, nothing is
 * copied or allocated.
 */
#ifndef QPROF_CARGO_FINGERPRINT_H
#define QPROF_CARGO_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/command_line.h"
#include "trace/trace.h"

/* Of two words that are none, too. */
bool words_are_same(struct word a, struct word b);

/* In the order in which cargo compares them; of the last two, their parts are compared. */
enum fingerprint_field {
	FINGERPRINT_RUSTC,
	FINGERPRINT_FEATURES,
	FINGERPRINT_DECLARED_FEATURES,
	FINGERPRINT_TARGET,
	FINGERPRINT_PATH,
	FINGERPRINT_PROFILE,
	FINGERPRINT_RUSTFLAGS,
	FINGERPRINT_CONFIG,
	FINGERPRINT_COMPILE_KIND,
	FINGERPRINT_LOCAL,
	FINGERPRINT_DEPS,
	FINGERPRINT_FIELDS,
};

/* Each field as it is in the JSON text, which must outlive this. */
struct fingerprint {
	struct word field[FINGERPRINT_FIELDS];
};

/* 0; -EBADMSG: it is not of the known form. */
int fingerprint__parse(struct fingerprint *f, const char *json, size_t size);

/* The number of fields that differ, of those before FINGERPRINT_LOCAL. */
unsigned int fingerprint__distance(const struct fingerprint *a, const struct fingerprint *b);

#define FINGERPRINT_DETAIL_MAX 256

/*
 * The first difference, as cargo compares: false if there is none. *detail, of at most
 * FINGERPRINT_DETAIL_MAX bytes, names what differs ("" if there is no name for it), and never a
 * value. TRACE_REBUILT_DEPENDENCY: nothing but that a dependency has another fingerprint.
 */
bool fingerprint__differs(const struct fingerprint *before, const struct fingerprint *after,
			  enum trace_rebuilt_reason *reason, char *detail);

/*
 * Call `take` for each dependency, with its hash, until it returns true; returns whether it did.
 */
bool fingerprint__any_dep(const struct fingerprint *f, bool (*take)(void *ctx, uint64_t hash),
			  void *ctx);

/* A path of "rerun-if-changed" that a build script asked for, from *at on, 0 at first; or none. */
struct word fingerprint__watched(const struct fingerprint *f, size_t *at);

/* ---- The list of files and variables --------------------------------------------------------- */

struct dep_info_entry {
	struct word name;  /* the path of a file, or a variable */
	struct word value; /* of a variable; none: it was not set */
	bool is_variable;
	bool in_package; /* the path is relative to the package */
};

struct dep_info {
	const uint8_t *at, *end;
	uint32_t n_files, n_variables; /* left; UINT32_MAX: not known yet */
};

/* Begin to read a list. 0; -EBADMSG: it is not of the known version. */
int dep_info__begin(struct dep_info *d, const void *bytes, size_t size);

/* 1 and the next entry; 0 at the end; -EBADMSG. */
int dep_info__next(struct dep_info *d, struct dep_info_entry *entry);

#endif /* QPROF_CARGO_FINGERPRINT_H */
