/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The cost for each of several builds that are recorded at once. Samples and waiting are counted
 * for the build whose compiler had them. The kernel half counts hits of probes for all compilers
 * together: a build has the part that its intervals are of all intervals. The CPU time of this
 * process is divided by the records that arrived meanwhile, but for what is charged to one; what it
 * takes while none arrives is no build's.
 */
#ifndef QPROF_RECORD_COST_SHARES_H
#define QPROF_RECORD_COST_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "qprof/wire.h"
#include "record/overhead.h"

/* Of one build. All zeroes at first. */
struct cost_share {
	uint64_t least_hits; /* that its intervals show */
	uint64_t samples;
	uint64_t n_new; /* records since the CPU time was divided */
	uint64_t own_ns;
	uint64_t waited_ns;
	uint32_t n_waited;
};

/* Of the recording. All zeroes at first. */
struct cost_shares {
	uint64_t least_hits; /* of all builds, also of those that are over */
	uint64_t samples;    /* likewise */
	uint64_t n_new;
	uint64_t new_ns;     /* to be divided */
	uint64_t counted_ns; /* CPU time of this process that was counted until now */
	struct overhead_input last;
};

/* A record of this kind of a compiler of this build has arrived; of no build if `one` is NULL. */
void cost_shares__record(struct cost_shares *all, struct cost_share *one, uint8_t kind);

/*
 * The cost of all until now. `in->costs` is kept; `in->counters` is not. Follow it with
 * cost_share__divide() for each build, and cost_shares__divided().
 */
void cost_shares__update(struct cost_shares *all, const struct overhead_input *in);
void cost_share__divide(struct cost_share *one, const struct cost_shares *all);
void cost_shares__divided(struct cost_shares *all);

/*
 * CPU time of this process that was for this build alone, since cost_shares__update(): no other has
 * a part of it.
 */
void cost_share__charge(struct cost_share *one, struct cost_shares *all, uint64_t ns);

/* `hits` of all builds -> of this one. */
uint64_t cost_share__hits(const struct cost_share *one, const struct cost_shares *all,
			  uint64_t hits);

/* Sets ticks and the times of samples and names, from those of all builds to those of this one. */
void cost_share__times(const struct cost_share *one, const struct cost_shares *all,
		       const uint64_t counters[WIRE_COUNTER_MAX], uint64_t own[WIRE_COUNTER_MAX]);

/*
 * The argument of recorder__set_overhead() for this build. `counters` are those of its trace, with
 * its own hits and samples.
 */
struct overhead_input cost_share__input(const struct cost_share *one, const struct cost_shares *all,
					const uint64_t *counters);

#endif /* QPROF_RECORD_COST_SHARES_H */
