/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Asks a session what the compilers of a recorder are in (record/now.h). */
#ifndef QPROF_RECORD_NOW_ASKED_H
#define QPROF_RECORD_NOW_ASKED_H

#include "capture/session.h"
#include "record/now.h"
#include "record/now_sampled.h"
#include "record/trace_output.h"
#include "decode/decoder.h"

/* Parts of a recorder. */
struct now_asked {
	struct now *now;
	struct now_sampled *sampled;	/* NULL: there are probes, so the kernel half is asked */
	const struct recent_jobs *jobs; /* of the samples */
	const struct decoder *decoder;
	const struct summary *summary;
	const struct trace_texts *texts;
	const struct trace_output *trace;
	struct top_nows *answer;
};

/*
 * Find out what the compilers are in, with the names of items if `names` is set. Drains the
 * session. -EAGAIN: it was asked less than a second ago; or an error of the session.
 */
int now_asked__answer(const struct now_asked *a, struct session *s, bool names);

#endif /* QPROF_RECORD_NOW_ASKED_H */
