/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Selects the intervals to record, by a list of rustc's names of event filters
 * (-Zself-profile-events), a name of our own, and globs on labels. Knows no sites.
 *
 *   default            passes, loads, blocking, and activities except the labels that occur
 *                      thousands of times, or once for each query
 *   query-provider     executions of queries
 *   generic-activity   phases and similar activities, including passes
 *   passes             the activities that -Ztime-passes prints
 *   query-blocked      incr-cache-load    incr-result-hashing
 *   all                every interval of any kind
 *   query-cache-hit    cache hits, and query-provider: a query with a hit was executed before
 *   none               nothing, and of counts what is read without a site
 *   off-cpu            the times that threads are off the CPU: recorded with any list that does
 *                      not take it away; selects nothing else
 *   counts             the numbers of results in the compiler's own tables: likewise
 *   GLOB               intervals with a matching label
 *   -WORD              take away the intervals of WORD
 *
 * Words are separated by commas. The last word that matches an interval decides. A list that only
 * takes away takes from the default.
 */
#ifndef QPROF_CAPTURE_FILTER_H
#define QPROF_CAPTURE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "qprof/wire.h"

enum filter_class {
	FILTER_QUERY,
	FILTER_ACTIVITY, /* the label is static and known in advance */
	FILTER_DYNAMIC,	 /* the label is dynamic */
	FILTER_TIMER,	 /* printed by -Ztime-passes; the label is dynamic */
	FILTER_BLOCKED,
	FILTER_LOAD,
	FILTER_HASHING,
	FILTER_HIT, /* cache hits: instants, selected only by their name */
	FILTER_CLASSES,
};

/* Where a function takes a filter to ask it, NULL passes everything but cache hits. */
struct filter;

/*
 * Make a filter of `n` lists, as if they were one; with no list it is the default. -ENOMEM; -EINVAL
 * for an empty word, or a '-' alone.
 */
int filter__new(const char *const *lists, size_t n, struct filter **out);

/* Its words, separated by commas: another filter can be made of them. */
const char *filter__text(const struct filter *f);

/* True if an interval of this class and label is recorded. A `label` of NULL matches no glob. */
bool filter__passes(const struct filter *f, enum filter_class class, const char *label);

/* True if an interval whose label is unknown yet may be recorded. */
bool filter__may_pass(const struct filter *f, enum filter_class class);

/* True if some query may have probes: executions may be recorded, or what is hashed as they end. */
bool filter__may_probe_queries(const struct filter *f);

/* True if an interval with this dynamic label is recorded. */
bool filter__passes_dynamic(const struct filter *f, const struct wire_label_key *label);

/* True if every query is recorded. */
bool filter__passes_all_queries(const struct filter *f);

/* The `i`th event that was requested by name and is not available, or NULL; *why is the reason. */
const char *filter__missing(const struct filter *f, size_t i, const char **why);

/* True if cache hits are recorded, for all queries: globs do not apply to cache hits. */
bool filter__wants_hits(const struct filter *f);

/* True if the times that threads spend off the CPU are recorded. */
bool filter__wants_off_cpu(const struct filter *f);

/* True if the numbers of results in the compiler's own tables are. */
bool filter__wants_counts(const struct filter *f);

/* True if they are read at least where no site is needed for it. */
bool filter__wants_readings(const struct filter *f);

/* True if some available interval is requested. */
bool filter__selects_any(const struct filter *f);

/* True if no available interval and no counts are requested. */
bool filter__is_empty(const struct filter *f);

void filter__free(struct filter *f);
DEFINE_CLEANUP(struct filter, filter__free)
#define _filter_ __cleanup(filter__free_p)

#endif /* QPROF_CAPTURE_FILTER_H */
