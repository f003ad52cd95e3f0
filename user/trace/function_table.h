/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The functions of a trace, as its reader holds them: where locations lie, and lines. Lines stay as
 * they are stored, and are looked up when somebody asks; long ones get an index then.
 */
#ifndef QPROF_TRACE_FUNCTION_TABLE_H
#define QPROF_TRACE_FUNCTION_TABLE_H

#include "base/cleanup.h"
#include "trace/bytes.h"
#include "trace/interner.h"
#include "trace/string_table.h"
#include "trace/trace.h"
#include "pctab/pctab.h"

struct function_table;

/* `strings` and `files`, the paths of libraries, must outlive it. */
int function_table__new(struct string_table *strings, const struct string_pairs *files,
			struct function_table **out);

/* Functions in the table; they are numbered from 0. */
uint32_t function_table__n(const struct function_table *t);
/* Of these, those with lines. */
uint32_t function_table__n_with_lines(const struct function_table *t);

/* The number after those of the ranges of the first `n` functions: callers are below it. */
uint32_t function_table__end(const struct function_table *t, uint32_t n);

/*
 * Add the functions of a FUNCTIONS payload of a file with so many strings up to there. 0;
 * -EBADMSG if it is malformed, or goes beyond a limit; -ENOMEM. An error changes nothing.
 */
int function_table__take(struct function_table *t, struct byte_reader *in, uint32_t n_strings);

/* The same of a LINES payload. */
int function_table__take_lines(struct function_table *t, struct byte_reader *in,
			       uint32_t n_strings);

/* True if a locindex lies in a function. */
bool function_table__has(struct function_table *t, uint32_t locindex);

/*
 * Resolve a locindex; false if it lies in no function. out->function is valid until more
 * functions are taken, texts until the string table is freed.
 */
bool function_table__locate(struct function_table *t, uint32_t locindex,
			    struct trace_location *out);

void function_table__free(struct function_table *t);

/*
 * Builds the FUNCTIONS and LINES chunks of a trace. Function ranges and lines are pc-value tables
 * (pctab/varint.h).
 */

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

#endif /* QPROF_TRACE_FUNCTION_TABLE_H */
