/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The query that each invocation id of one process executed; cache hits refer to it. rustc numbers
 * the ids from 0, so this is an array.
 */
#ifndef QPROF_TRACKS_EXECUTIONS_H
#define QPROF_TRACKS_EXECUTIONS_H

#include <stdint.h>

#include "qprof/wire.h"

/* Ids from here on are not remembered: that limits the memory for a process to 64 MiB. */
#define EXECUTIONS_MAX (1u << 25)

/* All zeroes is empty. */
struct executions {
	uint16_t *queries; /* query + 1; 0: unknown */
	uint32_t n;
};

/* Remember that `invocation` executed `query`. 0 or -ENOMEM. */
int executions__note(struct executions *e, uint32_t invocation, uint16_t query);

/* The query, or WIRE_NO_QUERY. */
uint16_t executions__query(const struct executions *e, uint32_t invocation);

void executions__clear(struct executions *e);

#endif /* QPROF_TRACKS_EXECUTIONS_H */
