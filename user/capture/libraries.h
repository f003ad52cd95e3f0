/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The compilers' libraries that a session knows: each is planned and attached to once. A library is
 * one inode, which is what the kernel probes: it may have several paths, by a hard link, a bind
 * mount, another process's root. Probed twice, it would count double.
 */
#ifndef QPROF_CAPTURE_LIBRARIES_H
#define QPROF_CAPTURE_LIBRARIES_H

#include "capture/kernel.h"

/* What to do with a library's plan: attach to it. 0 or a negative errno, after an error line. */
typedef int (*libraries_attach_fn)(void *ctx, const struct plan *plan);

struct libraries;

/* Where one stands. */
struct library_state {
	bool planned;	      /* and attached to, or failed; else it is being planned */
	int err;	      /* why it could not be attached to, or 0 */
	uint64_t attached_ns; /* CLOCK_MONOTONIC; its probes were there from then on */
};

/*
 * `attach` is given each library that was planned, and `ctx`; what is planned in the background is
 * planned at this nice value. 0 or a negative errno; prints nothing.
 */
int libraries__new(libraries_attach_fn attach, void *ctx, int nice, struct libraries **out);

/*
 * Plan and attach to the library at `path`, unless that was done before. Prints on failure; one
 * that failed is not tried again, and the same error is returned without a word.
 */
int libraries__add(struct libraries *l, const char *path);

/* Begin the same, in the background. */
void libraries__expect(struct libraries *l, const char *path);

/* What came of it so far; -ENOENT, or another errno, if nobody asked for it. Prints nothing. */
int libraries__look(const struct libraries *l, const char *path, struct library_state *state);

/* Polls readable when libraries__settle() has something to do. */
int libraries__fd(const struct libraries *l);

/* Attach to what has been planned meanwhile; errors are printed and kept with the library. */
void libraries__settle(struct libraries *l);

/* Attached to. */
unsigned int libraries__attached(const struct libraries *l);

void libraries__free(struct libraries *l);
DEFINE_CLEANUP(struct libraries, libraries__free)
#define _libraries_ __cleanup(libraries__free_p)

#endif /* QPROF_CAPTURE_LIBRARIES_H */
