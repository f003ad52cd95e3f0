/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Whether the traces of a comparison are of the same kind of build, and recorded alike. */
#ifndef QPROF_ANALYZE_COMPARE_SIDES_H
#define QPROF_ANALYZE_COMPARE_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/cost.h"

/* How one trace was made. */
struct compare_recording {
	uint32_t compiles; /* compilers that compiled a crate; `reusing` is a part of them */
	uint32_t reusing;  /* read results of an earlier compile */
	/* What recording added in compilers, in millionths of their CPU time; 0: unknown. */
	uint64_t cost_ppm;
	uint64_t n_beside; /* other recordings that ran at the same time */
	bool probed;	   /* it has intervals of queries */
	bool sampled;
	bool off_cpu; /* it knows when threads were off the CPU */
};

/* Bits: how the sides differ. */
enum compare_difference {
	COMPARE_CLEAN_AND_INCREMENTAL = 1, /* only one side reused results */
	/* Probes, samples or off-CPU times. Recording adds other times then. */
	COMPARE_OTHER_RECORDING = 2,
};

struct compare_recording compare_recording_of(const struct model *m, const struct cost *cost);

/* The differences of `n_base` recordings from the `n_new` that follow them. */
unsigned int compare_sides_differ(const struct compare_recording *all, size_t n_base, size_t n_new);

/* Print "all probes" or "counts and samples", and the cost; `buf` is returned. */
#define COMPARE_RECORDING_TEXT 128
char *compare_recording_text(char buf[COMPARE_RECORDING_TEXT], const struct compare_recording *r);

#endif /* QPROF_ANALYZE_COMPARE_SIDES_H */
