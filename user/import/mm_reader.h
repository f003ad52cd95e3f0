/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a .mm_profdata file. Never trusts a byte, and takes all it can: a file that is cut short,
 * or whose names or metadata are missing. Memory: its strings and 4 bytes per virtual id.
 */
#ifndef QPROF_IMPORT_MM_READER_H
#define QPROF_IMPORT_MM_READER_H

#include "import/mm_metadata.h"
#include "import/mm_strings.h"

struct mm_reader;

enum mm_event_type {
	MM_INTERVAL_EVENT,
	MM_INSTANT_EVENT,
	MM_INTEGER_EVENT,
};

struct mm_event {
	uint64_t kind;	 /* string id */
	uint64_t id;	 /* string id of label and arguments */
	uint64_t start;	 /* ns since the start of the process; or the value of an integer */
	uint64_t end;	 /* of an interval; may be before the start */
	uint32_t thread; /* rustc's number, no tid */
	enum mm_event_type type;
};

/* Errors as mm_file__open(), and -ENOMEM and -EFBIG; always with a text in `*why`. */
int mm_reader__open(const char *path, struct mm_reader **out, const char **why);

/*
 * Without metadata in the file, `found` is false, and the start is when the file was last changed.
 */
const struct mm_metadata *mm_reader__metadata(const struct mm_reader *r);

uint64_t mm_reader__n_events(const struct mm_reader *r);

/* Read events, in file order, into `events`; first + n <= mm_reader__n_events(). Or -EIO. */
int mm_reader__events(struct mm_reader *r, uint64_t first, uint32_t n, struct mm_event *events);

/*
 * The text of a kind, or the label of an event id. It is the reader's until the next call. Labels
 * that measureme does not take are "<parse error>". NULL without memory.
 */
const char *mm_reader__kind(struct mm_reader *r, uint64_t kind);
const char *mm_reader__label(struct mm_reader *r, uint64_t id);

/* Strings with one address are the same; UINT32_MAX for one that is not in the file. */
uint32_t mm_reader__address(const struct mm_reader *r, uint64_t id);

/* All strings of the file; the reader's. */
const struct mm_strings *mm_reader__strings(const struct mm_reader *r);

/* What is wrong with the file ("cut short at byte N"), or NULL. */
const char *mm_reader__problem(const struct mm_reader *r);

void mm_reader__free(struct mm_reader *r);
DEFINE_CLEANUP(struct mm_reader, mm_reader__free)
#define _mm_reader_ __cleanup(mm_reader__free_p)

#endif /* QPROF_IMPORT_MM_READER_H */
