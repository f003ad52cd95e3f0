/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What a record of a thread off its CPU says, as a trace has it. */
#ifndef QPROF_TRACKS_OFF_CPU_H
#define QPROF_TRACKS_OFF_CPU_H

#include "qprof/wire.h"
#include "trace/trace.h"

/* Why: one of TRACE_OFF_*. NULL if the record makes no sense. */
const char *off_cpu__text(const struct wire_off_cpu *r);

/* All but the process and the label, of a record that does. */
struct trace_span off_cpu__span(const struct wire_off_cpu *r);

#endif /* QPROF_TRACKS_OFF_CPU_H */
