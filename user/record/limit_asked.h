/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_RECORD_LIMIT_ASKED_H
#define QPROF_RECORD_LIMIT_ASKED_H

#include "capture/session.h"
#include "options/options.h"

/*
 * The share that the probes may take, by the options: without any, the usual share, of the
 * compilers' CPU time. `queries_only`: the kernel attaches slowly, so fewer events are recorded
 * anyway.
 */
struct budget_limit limit_asked(const struct cli_record_options *o, bool queries_only);

#endif /* QPROF_RECORD_LIMIT_ASKED_H */
