/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a .mm_profdata file. The file is untrusted. A truncated file, and one without names or
 * metadata, is read as far as possible. Memory: its strings, and 4 bytes per virtual id.
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
	uint32_t thread; /* rustc's number of the thread, not a tid */
	enum mm_event_type type;
};

/* Errors as in mm_file__open(), and -ENOMEM and -EFBIG; always with a message in `*why`. */
int mm_reader__open(const char *path, struct mm_reader **out, const char **why);

/* If the file has no metadata, `found` is false, and the start is the time of its last change. */
const struct mm_metadata *mm_reader__metadata(const struct mm_reader *r);

uint64_t mm_reader__n_events(const struct mm_reader *r);

/*
 * Read `n` events from event `first` on, in file order. first + n <= mm_reader__n_events(). 0 or
 * -EIO.
 */
int mm_reader__events(struct mm_reader *r, uint64_t first, uint32_t n, struct mm_event *events);

/*
 * The text of a kind, or the label of an event id. The reader owns it, and it is valid until the
 * next call. Labels that measureme refuses are "<parse error>". NULL: no memory.
 */
const char *mm_reader__kind(struct mm_reader *r, uint64_t kind);
const char *mm_reader__label(struct mm_reader *r, uint64_t id);

/*
 * The address of a string, UINT32_MAX if it is not in the file. Equal addresses mean equal strings.
 */
uint32_t mm_reader__address(const struct mm_reader *r, uint64_t id);

/* All strings of the file; owned by the reader. */
const struct mm_strings *mm_reader__strings(const struct mm_reader *r);

/* A defect of the file ("cut short at byte N"), or NULL. */
const char *mm_reader__problem(const struct mm_reader *r);

void mm_reader__free(struct mm_reader *r);
DEFINE_CLEANUP(struct mm_reader, mm_reader__free)
#define _mm_reader_ __cleanup(mm_reader__free_p)

#endif /* QPROF_IMPORT_MM_READER_H */
