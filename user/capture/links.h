/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The probes of one library by uprobe_multi links: one for the sites of each role. */
#ifndef QPROF_CAPTURE_LINKS_H
#define QPROF_CAPTURE_LINKS_H

#include "capture/attach_set.h"

struct bpf_program;

struct links;

/*
 * Prepare the sites of a set whose roles have a program; `progs` is indexed by role. No site is
 * attached yet. The library's file stays open, whatever becomes of its path. -ENOMEM.
 */
int links__new(struct bpf_program *const progs[ATTACH_ROLES], const struct attach_set *set,
	       struct links **out);

/*
 * Attach the sites of a part, ends first; none twice. The programs must be loaded with
 * uprobe_multi_attach_type(). Negative errno without printing: -ESTALE if the library was changed
 * since it was opened.
 */
int links__attach(struct links *l, enum plan_part part);

/*
 * Attach `prog` to where queries hit their caches in the library of `set`; cookies begin at its
 * first. Negative errno.
 */
int links__attach_hits(struct links *l, const struct bpf_program *prog,
		       const struct attach_set *set, const struct plan_hits *hits);

/*
 * The breakpoints of the sites that are attached, and what one of them costs a process that maps
 * the library, in ns: measured by a mapping of our own, of a part. 0: not known.
 */
uint32_t links__sites(const struct links *l);
uint64_t links__breakpoint_ns(const struct links *l);

/*
 * Begin to detach, in the background; links__free() waits for the end. Libraries that begin before
 * the first is waited for take no longer than one. NULL is no error.
 */
void links__begin_free(struct links *l);
void links__free(struct links *l);

/* False while links that began to be detached are not yet. NULL is no error: true. */
bool links__are_gone(struct links *l);

/*
 * For links that were not begun to be detached: a child process does it in our place. It has no
 * thread but its own, and calls links__inherit() first; we call links__abandon() in place of
 * links__free(), which does not wait. NULL is no error.
 */
void links__inherit(struct links *l);
/* Close all descriptors from 3 on but those of these links. */
void links__close_others(const struct links *l);
void links__abandon(struct links *l);

#endif /* QPROF_CAPTURE_LINKS_H */
