/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The CPU time of the compilers, and what recording added, part by part. All outputs have them from
 * here. Times are CPU times in ns, but that which compilers waited.
 */
#ifndef QPROF_ANALYZE_COST_H
#define QPROF_ANALYZE_COST_H

#include "analyze/model.h"

enum cost_part {
	COST_PROBES,	  /* of the compilers: hits of probes */
	COST_BREAKPOINTS, /* of the compilers: written into each new one */
	COST_SAMPLES,	  /* of the compilers: samples of their stacks */
	COST_NAMES,	  /* of the compilers: copies of their names */
	COST_OWN,	  /* of qprof-bpf itself and its helpers; those above are the compilers' */
	COST_PARTS,
};

struct cost {
	uint64_t ns[COST_PARTS];
	uint64_t added_ns;	  /* the sum of these */
	uint64_t in_compilers_ns; /* without COST_OWN; 0 if not all parts are known */
	uint64_t set_up_ns;	  /* of COST_OWN, what comes once; 0: unknown */
	uint64_t read_ns; /* our own, in no sum: the toolchain's files, for the first time */
	bool whole;	  /* false: not all parts are known */
	bool is_part;	  /* the model has not all processes of the recording */
	/* The compilers' CPU time, with in_compilers_ns and without it. 0: unknown. */
	uint64_t spent_ns;
	uint64_t compilers_ns;
	uint64_t hits;
	uint64_t breakpoints;
	uint64_t waited_ns; /* wall time in which compilers waited, summed; in no other time */
	uint64_t n_waited;  /* these compilers */
	/* Other recordings seen at the same time, whose probes make compilers slower; 0: none. */
	uint64_t n_beside;
	/* CPU time of the command that no reading from outside has seen, in no other time. */
	uint64_t unseen_ns;
};

/*
 * Of a model that was read to its end. `recorded` is the number of processes that the trace has. If
 * the model has fewer, the cost is a part of that of the recording: of the hits, and of what all
 * compilers pay alike. With samples no part is known then, as the number of those that the others
 * had is unknown. Nor is it of a trace of an earlier version, which has only the hits.
 */
struct cost cost_of(const struct model *m, uint64_t recorded);

/* The cost, in millionths of the CPU time that the compilers used without it; 0: unknown. */
uint64_t cost__share_ppm(const struct cost *c);

/*
 * What one of the compilers has of ns[part], which is not COST_OWN: hits by its intervals, samples
 * by its CPU time, the rest as all others.
 */
uint64_t cost__of_compiler(const struct cost *c, enum cost_part part, const struct build *b,
			   const struct samples *samples, const struct build_process *p);

/*
 * The CPU time of a compiler, or, if `p` is NULL, of all of the build, without what recording added
 * to it. `c` and `samples` may be NULL. False, and *ns is 0: it is unknown.
 */
bool cost__cpu_ns(const struct cost *c, const struct build *b, const struct samples *samples,
		  const struct build_process *p, uint64_t *ns);

#endif /* QPROF_ANALYZE_COST_H */
