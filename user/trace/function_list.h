/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Builds the FUNCTIONS and LINES chunks of a trace. Function ranges and lines are pc-value tables
 * (pctab/varint.h).
 */
#ifndef QPROF_TRACE_FUNCTION_LIST_H
#define QPROF_TRACE_FUNCTION_LIST_H

#include "pctab/pctab.h"
#include "trace/bytes.h"
#include "trace/trace.h"

struct listed_function {
	uint32_t first;
	uint32_t size;
	bool has_lines; /* stored */
};

/* All zeroes is an empty one. */
struct function_list {
	struct listed_function *all; /* in the order of `first` */
	uint32_t n;
	uint32_t capacity;
	/* Functions that are not in a payload yet. */
	uint32_t n_new;
	uint32_t base; /* `first` of the first of them */
	struct byte_buffer records;
	struct pctab_runs ranges; /* pc: locindex - base; value: number of the function, or -1 */
	uint32_t line_bytes;	  /* of all tables of lines so far */
	/* Scratch. */
	struct pctab_runs files, lines;
	struct pctab_buffer table;
};

/* The number after those of all ranges so far: callers are below it. */
uint32_t function_list__end(const struct function_list *l);

/*
 * Add a function whose library and name are these string ids. 0; -EINVAL if its range begins before
 * the end of the one before, or ends beyond what 32 bits hold; -E2BIG beyond what a trace may hold;
 * -ENOMEM.
 */
int function_list__add(struct function_list *l, const struct trace_function *f, uint32_t library,
		       uint32_t name);

/* Append the payload of a FUNCTIONS chunk of those added since the last. 0 or -ENOMEM. */
int function_list__payload(struct function_list *l, struct byte_buffer *out);

/*
 * Append the record of a LINES chunk to `out`. Errors as trace_writer__lines(), and -E2BIG if it
 * does not fit a chunk or a trace; they append nothing. Without rows nothing is appended either.
 */
int function_list__lines(struct function_list *l, uint32_t first, const struct trace_line *rows,
			 size_t n, uint32_t n_strings, struct byte_buffer *out);

void function_list__destroy(struct function_list *l);

#endif /* QPROF_TRACE_FUNCTION_LIST_H */
