/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compare two builds, each recorded once or several times: which query of which crate takes longer
 * or is executed more often. Takes the summaries of traces; knows no output format.
 */
#ifndef QPROF_ANALYZE_COMPARE_H
#define QPROF_ANALYZE_COMPARE_H

#include "analyze/build.h"
#include "analyze/compare_rows.h"
#include "analyze/cost.h"
#include "analyze/items.h"
#include "analyze/llvm.h"
#include "analyze/samples.h"
#include "analyze/summary.h"

struct compare;

/* `n_base` and `n_new` are the numbers of traces of the sides; both at least one. */
int compare__new(uint32_t n_base, uint32_t n_new, struct compare **out);

/*
 * Add the next trace of a side; `s` is not kept. -ENOMEM; -EINVAL for a trace too many; -E2BIG if
 * the names of queries are more, or longer, than one trace may hold.
 */
int compare__trace(struct compare *c, enum compare_side side, const struct summary *s,
		   const struct trace_texts *names);

/*
 * The items of the trace that is added next, paired by path. Items are rows only if all traces have
 * them. Errors as of compare__trace().
 */
int compare__items(struct compare *c, enum compare_side side, struct items *items,
		   const struct trace_texts *names);

/*
 * LLVM's time in the trace that is added next: passes are paired by name, functions by path. It has
 * rows only if all traces know what LLVM did. Errors as of compare__trace().
 */
int compare__llvm(struct compare *c, enum compare_side side, struct llvm *l);

/*
 * The times of the build whose trace was added last; `samples` (or NULL) have the CPU times
 * that the kernel does not. If the cost of recording is known of all traces, it is taken out of CPU
 * times, as cost__cpu_ns() does.
 */
void compare__costs(struct compare *c, enum compare_side side, const struct build *b,
		    const struct samples *samples, const struct cost *cost);

/*
 * Call after the last trace. Texts belong to `c`. Clear with compare_result__clear(), even after a
 * failure. -ENOMEM.
 */
int compare__result(struct compare *c, const struct compare_rules *rules,
		    struct compare_result *out);

/*
 * Sum the rows for which `pick` returns true: rows of a kind, rows of whole units, or the row of
 * the whole build. Returns the number of rows, or -ENOMEM.
 */
typedef bool compare_pick(const void *ctx, const struct compare_unit *unit, const char *query);
int compare__sum(const struct compare *c, const struct compare_result *r, enum compare_of of,
		 compare_pick *pick, const void *ctx, struct compare_row *out);

void compare__free(struct compare *c);
DEFINE_CLEANUP(struct compare, compare__free)
#define _compare_ __cleanup(compare__free_p)

#endif /* QPROF_ANALYZE_COMPARE_H */
