/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The compilers of one trace whose queries a comparison adds up. */
#ifndef QPROF_ANALYZE_COMPARE_COMPILERS_H
#define QPROF_ANALYZE_COMPARE_COMPILERS_H

#include "analyze/summary.h"
#include "base/cleanup.h"

struct compare_compiler {
	const struct trace_process *process;
	struct summary_row *rows;
	size_t n;
};

struct compare_compilers {
	struct compare_compiler *all;
	const struct trace_process **processes; /* of `all`, in that order */
	uint32_t n;
};

/*
 * Collect the compilers that compiled a crate, and executed anything. -ENOMEM; clear them in any
 * case.
 */
int compare_compilers__init(struct compare_compilers *cs, const struct summary *s);

void compare_compilers__clear(struct compare_compilers *cs);
#define _compare_compilers_ __cleanup(compare_compilers__clear)

/* Its run time; if its end was not seen, the time of its longest row. */
uint64_t compare_compiler__wall_ns(const struct compare_compiler *compiler);

#endif /* QPROF_ANALYZE_COMPARE_COMPILERS_H */
