/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The cost of a recording: its parts, beside the CPU time that the compilers used without it. Times
 * are CPU times in ns, but that which compilers waited.
 */
#ifndef QPROF_ANALYZE_COST_H
#define QPROF_ANALYZE_COST_H

#include "analyze/model.h"

enum cost_part {
	COST_PROBES,	  /* of the compilers: hits of probes */
	COST_BREAKPOINTS, /* of the compilers: written into each new one */
	COST_SAMPLES,	  /* of the compilers: samples of their stacks */
	COST_NAMES,	  /* of the compilers: copies of their names */
	COST_OWN,	  /* of qprof-bpf itself and its helpers */
	COST_PARTS,
};

struct cost {
	uint64_t ns[COST_PARTS];
	uint64_t added_ns;  /* the sum of these */
	uint64_t set_up_ns; /* of COST_OWN, what comes once; 0: unknown */
	bool whole;	    /* false: a trace of an earlier version, which has only the hits */
	/* The compilers' CPU time, without what recording added to it. 0: unknown. */
	uint64_t compilers_ns;
	uint64_t budget_ppm; /* of the compilers' CPU time; 0: there was no budget */
	uint64_t hits;
	uint64_t breakpoints;
	uint64_t waited_ns; /* wall time in which compilers waited, summed; in no other time */
	uint64_t n_waited;  /* these compilers */
};

/* Of a model that was read to its end. */
struct cost cost_of(const struct model *m);

/* The cost, in millionths of the CPU time that the compilers used without it; 0: unknown. */
uint64_t cost__share_ppm(const struct cost *c);

/* The cost of each compiler, however little of it is recorded: breakpoints, copies of names. */
uint64_t cost__fixed_ns(const struct cost *c);

/* True if that alone is more than the budget. */
bool cost__fixed_exceeds_budget(const struct cost *c);

#endif /* QPROF_ANALYZE_COST_H */
