/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The perf events that take samples: for each CPU a clock, and a count of page faults. They count
 * all processes, as a process that is forked later could not be added in time; the kernel half
 * leaves out those that are not followed.
 */
#ifndef QPROF_CAPTURE_SAMPLE_EVENTS_H
#define QPROF_CAPTURE_SAMPLE_EVENTS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "capture/sampling_options.h"

struct bpf_program;
struct sample_events;

/*
 * Begin to run `cpu` opt->hz times a second on each CPU that is on, and `fault` every
 * opt->fault_period page faults. A negative errno without printing: see perf_refusal.h.
 */
int sample_events__open(const struct sampling_options *opt, const struct bpf_program *cpu,
			const struct bpf_program *fault, struct sample_events **out);

/*
 * Do the same on CPUs that were switched on meanwhile; the kernel has stopped the events of those
 * that were switched off. Looks at most once a second.
 */
void sample_events__refresh(struct sample_events *e, uint64_t now_ns);

/*
 * The ticks of CPUs that were switched on, from when a CPU was last seen without or with its clock
 * to its new clock: no fewer than there were. `e` may be NULL.
 */
uint64_t sample_events__missed(const struct sample_events *e);

void sample_events__free(struct sample_events *e);
DEFINE_CLEANUP(struct sample_events, sample_events__free)
#define _sample_events_ __cleanup(sample_events__free_p)

/*
 * The CPUs in text as "0-3,8": sets on[i] for each below `n`, and clears the others. 0, or -EINVAL,
 * which changes nothing.
 */
int sample_events_parse_cpus(const char *text, bool *on, unsigned int n);

#endif /* QPROF_CAPTURE_SAMPLE_EVENTS_H */
