/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CPU time of a build by what it was for: a split that needs no intervals. Knows no output format.
 */
#ifndef QPROF_ANALYZE_SAMPLE_SHARES_H
#define QPROF_ANALYZE_SAMPLE_SHARES_H

#include "analyze/stack_sums.h"

enum sample_share {
	SAMPLE_FRONT_END, /* everything else */
	SAMPLE_CODEGEN,	  /* below a function of rustc_codegen_*: LLVM's code is made, or files */
	SAMPLE_LLVM,	  /* below a function of LLVM */
	SAMPLE_NO_STACK,  /* nothing is known */
	SAMPLE_SHARES,
};

/* The texts and the source of `sums` must outlive the call. 0 or -ENOMEM. */
int sample_shares_of(const struct stack_sums *sums, const struct trace_texts *texts,
		     struct sample_sum shares[SAMPLE_SHARES]);

#endif /* QPROF_ANALYZE_SAMPLE_SHARES_H */
