/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The line that ends a recording, and one about its hits. */
#ifndef QPROF_RECORD_CLOSING_LINE_H
#define QPROF_RECORD_CLOSING_LINE_H

#include <stdint.h>

struct closing_line {
	uint64_t queries, others, hits; /* intervals that were recorded */
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
