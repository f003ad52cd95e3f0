/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The units of a target directory: each directory "<profile>/.fingerprint/<package>-<hash>", also
 * below the name of a platform, with what cargo noted in it. Only regular files and real
 * directories are read, and no more of them than there is room and time for. Units whose notes are
 * of another form than that of cargo/fingerprint.h are left out.
 */
#ifndef QPROF_CARGO_UNITS_H
#define QPROF_CARGO_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cargo/fingerprint.h"

struct unit {
	char *name;	  /* "debug/.fingerprint/serde-0123456789abcdef/lib-serde" */
	uint32_t package; /* where "serde" begins in it, */
	uint32_t hash;	  /* where its hash begins, */
	uint32_t file;	  /* and where "lib-serde" begins */
	void *json;	  /* the text of: */
	struct fingerprint print;
	void *inputs; /* the list of files and variables; NULL: a build script that was run has none
		       */
	size_t inputs_size;
	/* Times of files; 0: there is no such file. */
	uint64_t noted_ns;    /* when it ended well the last time */
	uint64_t begun_ns;    /* when it was begun the last time */
	uint64_t as_of_ns;    /* a file that is newer than this was changed since */
	uint64_t fingerprint; /* by which dependents know it; 0: it did not end well */
};

/* Sorted by name. All zeroes is empty. */
struct units {
	struct unit *at;
	uint32_t n, capacity;
	size_t bytes; /* of all that was read */
};

/*
 * Read the units below the directory `target`: those that are not in `before`, or that cargo began
 * or ended again since; NULL: all. -E2BIG: there are too many, or it takes too long; other negative
 * errno. What could be read is in *out in any case.
 */
int units__read(struct units *out, int target, const struct units *before);

/* The unit of this name, or NULL. */
const struct unit *units__find(const struct units *units, const char *name);

/* The index of the first unit that is not before `name` in their order. */
uint32_t units__from(const struct units *units, const char *name, size_t len);

void units__clear(struct units *units);

#endif /* QPROF_CARGO_UNITS_H */
