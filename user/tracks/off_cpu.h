/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts a record of a thread that was off the CPU. */
#ifndef QPROF_TRACKS_OFF_CPU_H
#define QPROF_TRACKS_OFF_CPU_H

#include "qprof/wire.h"
#include "trace/trace.h"

/* The reason: one of TRACE_OFF_*. NULL if the record is malformed. */
const char *off_cpu__text(const struct wire_off_cpu *r);

/* The span without its process and label, of a record that is not malformed. */
struct trace_span off_cpu__span(const struct wire_off_cpu *r);

#endif /* QPROF_TRACKS_OFF_CPU_H */
