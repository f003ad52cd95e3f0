/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The counters of the kernel half as losses of a trace, by cause. */
#ifndef QPROF_TRACKS_KERNEL_LOSSES_H
#define QPROF_TRACKS_KERNEL_LOSSES_H

#include "qprof/wire.h"
#include "trace/trace.h"

/* TRACE_LOST_BAD_RECORD and _COUNT_NO_NAMES are 0: the caller, which reads the records, counts
 * them.
 */
struct trace_losses kernel_losses(const uint64_t counters[WIRE_COUNTER_MAX]);

#endif /* QPROF_TRACKS_KERNEL_LOSSES_H */
