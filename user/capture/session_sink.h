/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Receives the records of a session: an interface for the session's owner. */
#ifndef QPROF_CAPTURE_SESSION_SINK_H
#define QPROF_CAPTURE_SESSION_SINK_H

#include "capture/broker.h"
#include "capture/record.h"

struct session_sink {
	void *ctx;
	record_fn take;
	/* No RECORD_RUNNING or RECORD_CWD: to read the arguments of a process may take long. */
	bool unnamed;
};

static inline int session_sink__take(const struct session_sink *sink, const struct record *r)
{
	return sink->take(sink->ctx, r);
}

/*
 * Pass on the record of an exec, with all arguments of a compiler: a record of the kernel half has
 * only the first ones, and no argument files. Where they cannot be read, it is truncated.
 */
int session_sink__exec(const struct session_sink *sink, struct broker *broker,
		       const struct wire_exec *e);

/* Pass on the working directory of a process that the sink knows. */
int session_sink__cwd(const struct session_sink *sink, pid_t pid);

#endif /* QPROF_CAPTURE_SESSION_SINK_H */
