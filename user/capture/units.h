/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * With a budget: the probes of one library in units that can be attached or not. The starts of a
 * query are one unit; the ends of all queries that share bodies (a set), with what else only makes
 * sense while they are there, are another. These two can be taken away and put back while the
 * compilers run. A group of guards (guard_groups.h) is a unit too, which may come later but stays.
 *
 * Each unit has uprobe_multi links of its own. What belongs to no unit (unwinding, timers, the
 * sites that tell which query a shared body runs) is attached for good by probes__attach().
 */
#ifndef QPROF_CAPTURE_UNITS_H
#define QPROF_CAPTURE_UNITS_H

#include "capture/choice.h"
#include "capture/probes.h"

/* NULL, where one is asked for something: a library that was detached, which has no sites. */
struct units;

/* Which queries of a plan share ends: `set_of[query]` is the number of its set. Sets, or -ENOMEM.
 */
int units_find_sets(const struct plan *plan, uint32_t *set_of);

/* True if a site is in a unit. */
bool units_have(const struct plan_site *site);

/*
 * None is attached yet. What the plan's path leads to is held on to, whatever becomes of the path.
 * -ENOMEM, or why it cannot be opened.
 */
int units__new(struct bpf_program *const progs[PROBES_ROLES], const struct choice *c,
	       struct units **out);

/*
 * Attach what is wanted, ends first: by the number of a query, of a set, or of a group; NULL: all.
 * What is attached already stays so. Negative errno.
 */
int units__attach(struct units *u, const bool *starts, const bool *ends, const bool *groups);

/* Attach a group of guards, ends first: the sites that came, or a negative errno. */
int units__add_group(struct units *u, uint32_t group);

/* Sites that are attached. */
uint32_t units__sites(const struct units *u);

/*
 * Put the starts of a query, or the ends of a set, in, or take them away. They are away at once;
 * the kernel's grace periods are waited for in the background, and until they are over, putting
 * them back is refused with -EAGAIN.
 */
int units__set_starts(struct units *u, uint32_t query, bool attached);
int units__set_ends(struct units *u, uint32_t set, bool attached);

/* Whether there are any starts of a query to attach. */
bool units__has_starts(const struct units *u, uint32_t query);

/* As probes__begin_free() and probes__free(). */
void units__begin_free(struct units *u);
void units__free(struct units *u);

#endif /* QPROF_CAPTURE_UNITS_H */
