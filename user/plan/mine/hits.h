/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The places where queries find their results in the in-memory caches. There are some eight
 * thousand of them. They are not part of the plan, and are looked for only on request.
 *
 * Each look-up that finds something tests the event filter for two bits at once and, if one is
 * set, calls SelfProfilerRef::query_cache_hit::cold_call with the invocation id in esi:
 *
 *	test $0x404,%eax; jne 1f		the site is the jne
 *   1: lea mask(%rbx),%rdi; mov %r13d,%esi; call *cold_call@GOT
 *
 * The two bits are those that most of the tests that lead to such a call have. The few instructions
 * from the branch to the call are followed, and then backwards to find where the value of esi was
 * at the site: in a register, or in memory that a register points to.
 */
#ifndef QPROF_PLAN_MINE_HITS_H
#define QPROF_PLAN_MINE_HITS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "plan/library/file.h"

struct plan_hit {
	uint64_t addr;
	uint64_t offset; /* in the file */
	/* Where the invocation id is (enum wire_reg): in a register, or else in memory, `disp`
	 * bytes above what `base` holds. */
	uint8_t reg;  /* or WIRE_REG_NONE */
	uint8_t base; /* or WIRE_REG_NONE: sp */
	uint32_t disp;
};

struct debug_file;

struct plan_hits {
	struct plan_hit *items; /* by address */
	uint32_t n;
	uint32_t filter;   /* the bits that are tested; 0: none were found */
	uint32_t n_calls;  /* calls of the cold side, in code within symbols */
	uint32_t n_missed; /* calls that no site leads to: their hits are not seen */
	/* Sites that were left out (proof.h); their hits are not seen either. */
	uint32_t n_unproven;
};

/*
 * Look through a librustc_driver, which is mapped: see debug_symbols__map(). Returns 0 and hits the
 * caller frees (none, if the library has no such function), or a negative errno after one
 * diag_error line, as plan__build(). A recording has them looked for by plan_job__start_hits().
 */
int plan_hits__find(struct library_file *file, struct debug_file *debug, struct plan_hits **out);

void plan_hits__free(struct plan_hits *hits);
DEFINE_CLEANUP(struct plan_hits, plan_hits__free)
#define _plan_hits_ __cleanup(plan_hits__free_p)

#endif /* QPROF_PLAN_MINE_HITS_H */
