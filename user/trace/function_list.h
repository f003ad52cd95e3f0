/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Builds the FUNCTIONS and LINES chunks of a trace. Function ranges and lines are pc-value tables
 * (pctab/varint.h).
 */
#ifndef QPROF_TRACE_FUNCTION_LIST_H
#define QPROF_TRACE_FUNCTION_LIST_H

#include "base/cleanup.h"
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

/*
 * Assigns locindexes: a location in code as one 32-bit number, unique within a trace across all
 * libraries and processes. After Ruby's Feature #17884: the first use of a function reserves a
 * number for each of its bytes (and one more, as a return address may be its end), so that the
 * number of any pc in it is an addition. Nothing is resolved here; a reader does that.
 *
 * Beyond the original: when numbers run out, functions are refused and counted; offset 0 is a valid
 * offset; and a reader finds a range by bisection.
 */

struct locations;

/* 0, or -ENOMEM. */
int locations__new(struct locations **out);

/*
 * The locindex of `offset` in a function that the caller knows by `key` (any number that it gives
 * to no other function) and that takes `size` bytes, the same every time. *is_new: this is its
 * first use. 0; -EINVAL if offset > size; -EOVERFLOW if no numbers are left for it, now and
 * every time, though a smaller one may still fit; -ENOMEM.
 */
int locations__index(struct locations *l, uint64_t key, uint32_t size, uint32_t offset,
		     uint32_t *locindex, bool *is_new);

void locations__free(struct locations *l);
DEFINE_CLEANUP(struct locations, locations__free)
#define _locations_ __cleanup(locations__free_p)

#endif /* QPROF_TRACE_FUNCTION_LIST_H */
