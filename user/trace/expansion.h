/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A limit for what a reader makes from the bytes of a trace. Compression, strings within strings
 * and mappings of virtual ids let a few bytes of a trace stand for very many. The rule is in
 * docs/trace-format.md, "Expansion".
 */
#ifndef QPROF_TRACE_EXPANSION_H
#define QPROF_TRACE_EXPANSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qprof/trace_format.h"

/* All zeroes: nothing was read yet. */
struct expansion {
	uint64_t read;	  /* bytes of the file */
	uint64_t made;	  /* bytes that were made of them so far */
	uint64_t size;	  /* of the file, when it was opened */
	uint64_t results; /* items of RESULTS so far */
	bool unlimited;
	bool refused; /* for good: some of the trace was not made */
};

static inline void expansion__read(struct expansion *e, uint64_t bytes)
{
	if (e)
		e->read += bytes;
}

/* Count `bytes` that are about to be made. False if they exceed the limit; NULL has none. */
static inline bool expansion__make(struct expansion *e, uint64_t bytes)
{
	if (!e)
		return true;
	if (!e->unlimited && e->made + bytes > QPT_EXPANSION_FREE + QPT_EXPANSION_FACTOR * e->read)
		e->refused = true;
	if (!e->refused)
		e->made += bytes;
	return !e->refused;
}

/* Count `n` items of RESULTS: all readers that sum them up have a sum for each, at most. */
static inline bool expansion__results(struct expansion *e, uint64_t n)
{
	if (!e)
		return true;
	e->results += n;
	if (!e->unlimited &&
	    e->results > QPT_RESULTS_FREE + (e->size > e->read ? e->size : e->read))
		e->refused = true;
	return !e->refused;
}

/*
 * Count a text of `bytes` that one more record or span repeats, as the command line of a process. A
 * byte that is copied takes less time than one that is decoded: a part is counted.
 */
static inline bool expansion__repeat(struct expansion *e, uint64_t bytes)
{
	return expansion__make(e, bytes / QPT_EXPANSION_TEXT);
}

/*
 * Count a text of `bytes` that is kept in memory, of which *kept may be `most`. A text that is
 * refused would look like a name that is not known.
 */
static inline bool expansion__keep(struct expansion *e, size_t *kept, size_t bytes, size_t most)
{
	if (!(e && e->unlimited) && (*kept > most || bytes > most - *kept)) {
		if (e)
			e->refused = true;
		return false;
	}
	if (!expansion__make(e, bytes))
		return false;
	*kept += bytes;
	return true;
}

#endif /* QPROF_TRACE_EXPANSION_H */
