/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Maps addresses of code to locindexes: asks for a function once, and finds a known caller by one
 * look-up.
 */
#ifndef QPROF_DECODE_CALLER_INDEX_H
#define QPROF_DECODE_CALLER_INDEX_H

#include <stdint.h>

#include "base/cleanup.h"
#include "trace/trace.h"
#include "qprof/wire.h"

/* The functions of a file. */
struct decoder_functions {
	const void *ctx;
	/* The function that `pc` lies in; false if in none. */
	bool (*find)(const void *ctx, uint32_t pc, uint64_t *addr, uint32_t *size);
	/* The name of the function that `pc` lies in; to be freed, NULL if out of memory. */
	char *(*name)(const void *ctx, uint32_t pc);
	/* Set `library` and `file`, which are as valid as `ctx`. */
	void (*describe)(const void *ctx, struct trace_function *f);
	/* The caller's number of the file, below 2^31, which it gives to no other one. */
	uint32_t file;
};

struct caller_index;

/* 0, or -ENOMEM. */
int caller_index__new(struct caller_index **out);

/*
 * Set *locindex to that of `addr` in a file, or to TRACE_NO_LOCATION if it lies in no known
 * function. At the first address in a function, *found is the function, and the caller frees its
 * name; at any other address the name is NULL. A return address (`is_return`) belongs to the call
 * before it, which may be the last instruction of its function. `functions` may be NULL: none are
 * known. 0 or -ENOMEM.
 */
int caller_index__find(struct caller_index *c, const struct decoder_functions *functions,
		       uint64_t addr, bool is_return, uint32_t *locindex,
		       struct trace_function *found);

/* The same of a return address, remembering each. */
int caller_index__get(struct caller_index *c, const struct decoder_functions *functions,
		      uint32_t caller, uint32_t *locindex, struct trace_function *found);

/* Functions for which no locindex was left. */
uint64_t caller_index__refused(const struct caller_index *c);
/* Callers that lay in one of those, or in no function. */
uint64_t caller_index__unplaced(const struct caller_index *c);

void caller_index__free(struct caller_index *c);
DEFINE_CLEANUP(struct caller_index, caller_index__free)
#define _caller_index_ __cleanup(caller_index__free_p)

/*
 * The query that each invocation id of one process executed; cache hits refer to it. rustc numbers
 * the ids from 0, so this is an array.
 */

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

#endif /* QPROF_DECODE_CALLER_INDEX_H */
