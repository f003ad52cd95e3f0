/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The line that ends a recording, and one about its hits. */
#ifndef QPROF_RECORD_CLOSING_LINE_H
#define QPROF_RECORD_CLOSING_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct closing_line {
	uint64_t queries, others, hits; /* intervals that were recorded */
	bool sampled;			/* stacks were sampled */
	uint64_t samples;
	uint64_t samples_cut;  /* of these, those whose stack does not reach its thread's start */
	uint64_t samples_lost; /* that are not in the trace, or without their stack */
	/*
	 * Hits of queries that were not executed in this build: the result was loaded from the last
	 * build, or fed.
	 */
	uint64_t unknown_hits;
	uint32_t compilers;
	uint64_t lost;
	const char *place; /* of the trace */
	uint64_t bytes;
};

void closing_line__print(const struct closing_line *l);

#endif /* QPROF_RECORD_CLOSING_LINE_H */
