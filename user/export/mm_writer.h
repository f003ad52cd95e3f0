/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes one .mm_profdata file (qprof/measureme_format.h), streaming, through a page buffer per
 * stream. The file has a temporary name until it is whole. After an error every later call returns
 * the same error.
 */
#ifndef QPROF_EXPORT_MM_WRITER_H
#define QPROF_EXPORT_MM_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct mm_writer;

/* Create a temporary file in the directory `dir_fd`, which stays the caller's. Negative errno. */
int mm_writer__open(int dir_fd, struct mm_writer **out);

/*
 * Add a string and store its id in *id. `text` must be UTF-8 (not checked), because the format's
 * two marks are bytes that UTF-8 never uses.
 */
int mm_writer__string(struct mm_writer *w, const char *text, uint64_t *id);

/*
 * Add the string of an event, made of its label and its arguments, which are strings. Its id goes
 * to *id.
 */
int mm_writer__event(struct mm_writer *w, uint64_t label, uint64_t arguments, uint64_t *id);

/* Map a virtual id (up to MM_METADATA_ID) to the string `id`. */
int mm_writer__map(struct mm_writer *w, uint32_t virtual_id, uint64_t id);

/*
 * Add an interval, ns since the start of the process, with start_ns <= end_ns <= MM_TIME_MAX; else
 * -EINVAL. Intervals of a thread must be nested and come in the order of their ends.
 */
int mm_writer__interval(struct mm_writer *w, uint64_t kind, uint64_t id, uint32_t thread,
			uint64_t start_ns, uint64_t end_ns);

/* Add an instant, ns since the start of the process; at most MM_TIME_MAX: else -EINVAL. */
int mm_writer__instant(struct mm_writer *w, uint64_t kind, uint64_t id, uint32_t thread,
		       uint64_t at_ns);

/* Add a value without a time; at most MM_VALUE_MAX: else -EINVAL. */
int mm_writer__integer(struct mm_writer *w, uint64_t kind, uint64_t id, uint32_t thread,
		       uint64_t value);

/*
 * Write the buffered data and give the file its name, atomically. If a file of this name exists:
 * -EEXIST, unless `force`. The writer must still be freed.
 */
int mm_writer__finish(struct mm_writer *w, const char *name, bool force);

/* Bytes of the file so far. */
uint64_t mm_writer__bytes(const struct mm_writer *w);

/* Removes a file that was not finished. */
void mm_writer__free(struct mm_writer *w);
DEFINE_CLEANUP(struct mm_writer, mm_writer__free)
#define _mm_writer_ __cleanup(mm_writer__free_p)

#endif /* QPROF_EXPORT_MM_WRITER_H */
