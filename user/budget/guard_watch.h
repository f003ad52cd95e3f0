/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Probes of activities, waiting and loading. Few of them are ever hit, but each new compiler pays
 * for all that are attached. With a budget, the groups (guard_groups.h) that earlier recordings
 * never met are left out for the whole recording. Groups of waiting and loading are attached later
 * if the command line of a compiler asks for threads, or for incremental compilation.
 */
#ifndef QPROF_BUDGET_GUARD_WATCH_H
#define QPROF_BUDGET_GUARD_WATCH_H

#include "budget/costs.h"
#include "budget/decision.h"
#include "budget/probe_control.h"
#include "budget/rates.h"
#include "plan/plan.h"
#include "proc/command_line.h"
#include "qprof/wire.h"

struct guard_watch;

/*
 * `governed` is false without a budget: then all groups are attached, and only rates are learnt.
 * `costs` must outlive the result. -ENOMEM.
 */
int guard_watch__new(const struct probe_control *probes, bool governed, struct costs *costs,
		     const struct decision_sink *sink, struct guard_watch **out);

/*
 * Attach the groups of a library that are worth it. `wanted[guard]` is true for the guards that
 * pass the filter. The rates must outlive `w`. Negative errno.
 */
int guard_watch__add_library(struct guard_watch *w, uint8_t lib, const struct plan *plan,
			     const bool *wanted, const struct rates *known, struct rates *learnt);

/* Report each group that was left out, once, as decided at `time_ns`. */
int guard_watch__report_left_out(struct guard_watch *w, uint64_t time_ns);

/*
 * A compiler has these features. True if a group is to be attached because of that: then report
 * all earlier decisions, and call guard_watch__attach_late().
 */
bool guard_watch__note_features(struct guard_watch *w, struct command_features features);

/* Attach, and report, what the features so far call for. Negative errno. */
int guard_watch__attach_late(struct guard_watch *w);

/* An interval that is no query's was recorded. */
void guard_watch__saw(struct guard_watch *w, const struct wire_span *r);

/* Compilers of a library used CPU time while its groups were watched. */
void guard_watch__used_cpu(struct guard_watch *w, uint8_t lib, double cpu_s);

void guard_watch__free(struct guard_watch *w);

#endif /* QPROF_BUDGET_GUARD_WATCH_H */
