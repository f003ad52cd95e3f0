/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which samples of stacks are taken. */
#ifndef QPROF_CAPTURE_SAMPLING_OPTIONS_H
#define QPROF_CAPTURE_SAMPLING_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "qprof/wire_samples.h"

/* All zeroes: none, and no program for samples is loaded. */
struct sampling_options {
	uint32_t hz;	       /* samples a second of CPU time of each thread; 0: none */
	uint32_t fault_period; /* page faults for each sample; 0: none */
	enum wire_light light; /* how much of the stack of these is walked */
	bool off_cpu;	       /* stacks of threads that wait */
	bool implied;	       /* nobody asked for them: without them the recording goes on */
};

/* Most page faults for each sample. */
#define SAMPLING_FAULTS_MAX 1000000

static inline bool sampling_options__any(const struct sampling_options *o)
{
	return o->hz || o->fault_period || o->off_cpu;
}

#endif /* QPROF_CAPTURE_SAMPLING_OPTIONS_H */
