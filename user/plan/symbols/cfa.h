/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs the program of a function in .eh_frame: from each pc on, which rule holds. After DWARF 5,
 * 6.4.2.
 *
 * Rules contain only three registers: the CFA, rbp and the return address. Known expressions are
 * those that compilers, linkers and libc write for realigned stacks, PLTs and signal handlers.
 */
#ifndef QPROF_PLAN_SYMBOLS_CFA_H
#define QPROF_PLAN_SYMBOLS_CFA_H

#include <stdint.h>

#include "qprof/wire_unwind.h"
#include "plan/symbols/eh_frame.h"

/* More states than this are not remembered at once: such a function cannot be read. */
#define CFA_STATES_MAX 32

/* `rule` holds from `start` up to `end`, which is above it. 0, or a negative errno. */
typedef int cfa_run_fn(void *ctx, uint64_t start, uint64_t end, struct wire_unwind_rule rule);

/*
 * Call `run` for all runs of the function, in rising order and without gaps. Neighbouring ones may
 * have equal rules. Takes time in proportion to the bytes of both programs.
 *
 * 0; the first error of `run`, or -EBADMSG if the program is damaged: the runs up to there were
 * given.
 */
int cfa__run(const struct eh_frame *frame, const struct eh_fde *fde, cfa_run_fn *run, void *ctx);

#endif /* QPROF_PLAN_SYMBOLS_CFA_H */
