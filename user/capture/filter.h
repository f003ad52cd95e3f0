/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which intervals are asked for: a list of rustc's names of event filters
 * (-Zself-profile-events), a name of our own, and globs on labels. Knows no sites.
 *
 *   default            passes, queries, loads, blocking, and activities but those that come
 *                      thousands of times (filter_tiny)
 *   query-provider     executions of queries
 *   generic-activity   phases and the like, passes too
 *   passes             those of them that -Ztime-passes prints
 *   query-blocked      incr-cache-load    incr-result-hashing
 *   all                every interval, whatever its kind
 *   query-cache-hit    hits of caches, and query-provider: what was hit was executed before
 *   none
 *   off-cpu            when threads are off the CPU: recorded with any list unless it is taken
 *                      away, and says nothing of what else is asked for
 *   GLOB               what has such a label
 *   -WORD              all but that
 *
 * Words are separated by commas. Of those that fit an interval the last one decides. A list that
 * only takes away takes from the default.
 */
#ifndef QPROF_CAPTURE_FILTER_H
#define QPROF_CAPTURE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "qprof/wire.h"

enum filter_class {
	FILTER_QUERY,
	FILTER_ACTIVITY, /* with a label of its own, known before it happens */
	FILTER_TOLD,	 /* with one that the compiler's memory tells when it happens */
	FILTER_TIMER,	 /* what -Ztime-passes prints; told in the same way */
	FILTER_BLOCKED,
	FILTER_LOAD,
	FILTER_HASHING,
	FILTER_HIT, /* instants; asked for by their name alone */
	FILTER_CLASSES,
};

struct filter;

/* Globs of labels that the default leaves out; ends with NULL. */
extern const char *const filter_tiny[];

/*
 * Make a filter of `n` lists, as if they were one; none is the default. -ENOMEM; -EINVAL for an
 * empty word, or a '-' alone.
 */
int filter__new(const char *const *lists, size_t n, struct filter **out);

/* Whether an interval of this class and label is asked for. A `label` of NULL fits no glob. */
bool filter__passes(const struct filter *f, enum filter_class class, const char *label);

/* Whether one with a label that is not known yet may be. */
bool filter__may_pass(const struct filter *f, enum filter_class class);

/* Whether one with a label that the compiler's memory told is. */
bool filter__passes_told(const struct filter *f, const struct wire_label_key *label);

/*
 * The `i`th event that is asked for by name and cannot be had, or NULL; why not goes to `*why`.
 */
const char *filter__missing(const struct filter *f, size_t i, const char **why);

/* Whether hits of caches are asked for, of whatever query: globs have no say in them. */
bool filter__wants_hits(const struct filter *f);

/* Whether it is asked for when threads are off the CPU. */
bool filter__wants_off_cpu(const struct filter *f);

/* No interval that can be had is asked for. */
bool filter__is_empty(const struct filter *f);

void filter__free(struct filter *f);
DEFINE_CLEANUP(struct filter, filter__free)
#define _filter_ __cleanup(filter__free_p)

#endif /* QPROF_CAPTURE_FILTER_H */
