/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The probes of one library by uprobe_multi links. Sites that are attached and detached together
 * are a batch. Each batch has a link of its own for each program.
 *
 * Without a budget, the sites of one role are a batch. With a budget, the starts of a query are a
 * batch, and the ends of a set of queries (query_sets.h) are another, with the sites that only make
 * sense beside them: these two kinds can be attached and detached while compilers run. A group of
 * guards (guard_groups.h) is a batch that may be attached late, but stays. The remaining sites
 * (unwinding, timers, the sites that identify the query of a shared body) stay batches by role.
 */
#ifndef QPROF_CAPTURE_LINKS_H
#define QPROF_CAPTURE_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/attach_set.h"

struct bpf_program;

/* A function that takes NULL, for a library that was detached, does nothing and returns 0. */
struct links;

/* True if a site is in a batch that a budget governs. */
bool links_govern(const struct plan_site *site);

/*
 * Prepare the sites of a set whose roles have a program; `progs` is indexed by role. No site is
 * attached yet. The library's file stays open, whatever becomes of its path. -ENOMEM.
 */
int links__new(struct bpf_program *const progs[ATTACH_ROLES], const struct attach_set *set,
	       bool governed, struct links **out);

/*
 * Attach all sites that no budget governs. The programs must be loaded with
 * uprobe_multi_attach_type(). Negative errno without printing: -ESTALE if the library was changed
 * since it was opened.
 */
int links__attach_fixed(struct links *l);

/* Attach `prog` to where queries hit their caches in the library of `set`. Negative errno. */
int links__attach_hits(struct links *l, const struct bpf_program *prog,
		       const struct attach_set *set, const struct plan_hits *hits);

/* True if a budget governs some of the batches. The functions below need that. */
bool links__are_governed(const struct links *l);

/*
 * Attach the governed batches whose entries are true, ends first: by the number of a query, of a
 * set, or of a group. NULL stands for all. Batches that are attached stay so. Negative errno.
 */
int links__attach(struct links *l, const bool *starts, const bool *ends, const bool *groups);

/* Attach a group of guards, ends first: the number of sites attached, or a negative errno. */
int links__add_group(struct links *l, uint32_t group);

/*
 * Attach or detach the starts of a query, or the ends of a set. Detached probes stop to fire at
 * once, but a thread waits for the kernel's grace periods; until it is done, attaching again is
 * refused with -EAGAIN. Also refused is a library that was written to. Returns the number of sites.
 */
int links__set_starts(struct links *l, uint32_t query, bool attached);
int links__set_ends(struct links *l, uint32_t set, bool attached);

/* True if a query has any starts to attach. */
bool links__has_starts(const struct links *l, uint32_t query);

/* Sites that are attached now, except for cache hits. */
uint32_t links__sites(const struct links *l);

/*
 * Begin to detach, in the background; links__free() waits for the end. Libraries that begin before
 * the first is waited for take no longer than one.
 */
void links__begin_free(struct links *l);
void links__free(struct links *l);

#endif /* QPROF_CAPTURE_LINKS_H */
