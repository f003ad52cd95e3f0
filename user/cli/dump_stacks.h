/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * For dump: prints an entry of a sampled stack once, before the first sample that has it. Apart
 * from cmd_dump.c, because a test asks for single stacks.
 */
#ifndef QPROF_CLI_DUMP_STACKS_H
#define QPROF_CLI_DUMP_STACKS_H

#include "trace/reader.h"

/* All zeroes: none was printed. */
struct dump_stacks {
	bool *printed; /* by number */
	uint32_t n;
};

struct columns;

/* Print the entries of a stack that were not printed yet, the outermost first. Negative errno. */
int dump_stacks__print(struct dump_stacks *d, const struct trace_reader *r, uint32_t stack,
		       struct columns *c);

void dump_stacks__clear(struct dump_stacks *d);

#endif /* QPROF_CLI_DUMP_STACKS_H */
