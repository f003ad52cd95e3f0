/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which query each invocation id of one process executed: what hits of its caches refer to. rustc
 * counts the ids up from 0, so this is an array.
 */
#ifndef QPROF_TRACKS_EXECUTIONS_H
#define QPROF_TRACKS_EXECUTIONS_H

#include <stdint.h>

#include "qprof/wire.h"

/* Ids above are not remembered: a process may make us keep 64 MiB, and no more. */
#define EXECUTIONS_MAX (1u << 25)

/* All zeros is one that knows nothing. */
struct executions {
	uint16_t *queries; /* + 1; 0: not known */
	uint32_t n;
};

/* Remember that `invocation` executed `query`. 0 or -ENOMEM. */
int executions__note(struct executions *e, uint32_t invocation, uint16_t query);

/* The query, or WIRE_NO_QUERY. */
uint16_t executions__query(const struct executions *e, uint32_t invocation);

void executions__clear(struct executions *e);

#endif /* QPROF_TRACKS_EXECUTIONS_H */
