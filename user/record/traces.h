/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A recording with a trace for each build. Each trace has a recorder of its own, and everything
 * that a session reports goes to the recorder of the process that it is about; what is about
 * libraries goes to all, and to those that begin later.
 *
 * A process is in one trace, from its first record to its last. So a trace that is full or old is
 * not cut: its processes are recorded in it to their end, and those that start later in the next.
 * Each trace is whole, with all names, and can be read while it is written.
 */
#ifndef QPROF_RECORD_TRACES_H
#define QPROF_RECORD_TRACES_H

#include "record/history_queue.h"
#include "record/retention.h"
#include "record/recorder.h"

struct traces;

struct traces_options {
	const char *dir;
	const struct recorder_options *recorder; /* of each; without `output`. Copied */
	struct retention_limits rotate;		 /* of one trace */
	struct retention_limits keep;
	/*
	 * Gets each trace that is whole, and those that a recording before this one left in the
	 * directory without adding them; or NULL.
	 */
	struct history_queue *history;
	const char *store; /* of the history; NULL: the user's own file */
};

/* Prints on failure. */
int traces__open(const struct traces_options *o, struct traces **out);

/* Of the sink to give to session__open(), as recorder__take(). The traces outlive the session. */
int traces__take(void *traces, const struct record *r);

/* As recorder__set_costs(), of all traces. */
void traces__set_costs(struct traces *t, const struct probe_costs *costs);

/*
 * The cost of recording all of them until now: each trace gets its part (cost_shares.h). Call it
 * before traces__tick() and traces__finish(), with the same counters.
 */
void traces__set_overhead(struct traces *t, const struct overhead_input *in);

/* As recorder__begin(). */
int traces__begin(struct traces *t, uint64_t time_ns);

/*
 * To be called every second or so: ends traces of builds that are over, begins to rotate those that
 * are full or old, and removes those that are not kept. `counters` and the result as in
 * recorder__tick().
 */
int traces__tick(struct traces *t, const uint64_t counters[WIRE_COUNTER_MAX]);

/* End all traces. The first error of one. */
int traces__finish(struct traces *t, const uint64_t counters[WIRE_COUNTER_MAX]);

/* The number of compilers seen. */
uint32_t traces__processes(const struct traces *t);

/* After traces__finish(): more than half of the traces have lost most of what they should have. */
bool traces__lost_most(const struct traces *t);

void traces__free(struct traces *t);
DEFINE_CLEANUP(struct traces, traces__free)
#define _traces_ __cleanup(traces__free_p)

#endif /* QPROF_RECORD_TRACES_H */
