/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Follows processes that run already. */
#ifndef QPROF_CAPTURE_RUNNING_H
#define QPROF_CAPTURE_RUNNING_H

#include "capture/arrivals.h"
#include "capture/sampling.h"

/* The parts of the session that this file uses; the session owns all of them. */
struct running {
	struct kernel *kernel;
	struct libraries *libs;
	struct broker *broker;
	const struct session_sink *sink;
	struct arrivals *arrivals;	  /* counts compilers that cannot be recorded */
	struct sampling *sampling;	  /* or NULL */
	void (*before_follow)(void *ctx); /* called before the kernel half follows a process */
	void *ctx;
};

/* As session__follow_running(). */
int running__follow(const struct running *r, pid_t pid, unsigned int *compilers);

/* Follow all compilers of a scope, and add their number to *compilers. */
int running__follow_all(const struct running *r, const struct scope *scope,
			unsigned int *compilers);

/* Why a process cannot be read, and the next step, by the error; NULL: it has another cause. */
const char *running_why_closed(int err);

#endif /* QPROF_CAPTURE_RUNNING_H */
