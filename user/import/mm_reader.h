/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a .mm_profdata file. The file is untrusted. A truncated file, and one without names or
 * metadata, is read as far as possible. Memory: its strings, and 4 bytes per virtual id.
 */
#ifndef QPROF_IMPORT_MM_READER_H
#define QPROF_IMPORT_MM_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "import/mm_file.h"
#include "trace/bytes.h"
#include "trace/trace.h"

/* Reads the metadata of a .mm_profdata file: JSON, or rustc's near-JSON. */

struct mm_metadata {
	bool found;		/* it is readable and has all fields that measureme requires */
	uint64_t start_time_ns; /* since the epoch */
	/*
	 * Facts about the process: its pid and command, and everything that a trace holds if
	 * qprof-bpf exported the file. The texts are owned.
	 */
	struct trace_process process;
	bool exported; /* by qprof-bpf */
	bool has_losses;
	struct trace_losses losses; /* of the exported trace */
};

/*
 * Parse a text. rustc escapes the command line as a Rust literal, with \' and \u{e9}, which JSON
 * does not have; both forms are accepted. 0, with `found` false if it is malformed; or -ENOMEM.
 */
int mm_metadata__parse(struct mm_metadata *m, const char *text, size_t size);

void mm_metadata__clear(struct mm_metadata *m);

/*
 * The strings of a .mm_profdata file. References between strings are untrusted. A string that
 * cannot be expanded reads as in measureme's readers, "<unknown>" or "<invalid>".
 */

#define MM_NO_ADDRESS UINT32_MAX

struct mm_strings {
	uint8_t *data; /* the stream of strings, with its header */
	uint32_t size;
	uint32_t id_size;      /* bytes of an id or address on disk */
	struct id_table index; /* virtual id -> address */
	uint32_t virtual_end;  /* the highest virtual id of an event, plus one */
};

/* A piece of a string. */
struct mm_component {
	const uint8_t *text; /* NULL: the component is a reference */
	uint32_t size;	     /* of the text, bytes */
	uint64_t id;	     /* of the referenced string */
};

/*
 * Read all strings of a file. 0, -ENOMEM, -EIO, or -EFBIG for more than 4 GiB. The caller destroys
 * `*s` in any case.
 */
int mm_strings__load(struct mm_strings *s, struct mm_file *f);

/* The address of a string, or MM_NO_ADDRESS. Equal addresses mean equal strings. */
uint32_t mm_strings__address(const struct mm_strings *s, uint64_t id);

/*
 * Read the component at `*address`, and move `*address` behind it: true. False at the end of the
 * string; `*bad` is set if the string is malformed.
 */
bool mm_strings__component(const struct mm_strings *s, uint32_t *address, struct mm_component *c,
			   bool *bad);

/*
 * Replace the contents of `out` by the text of a string and a NUL: the whole text, or the part
 * before its first MM_SEPARATOR. At most QPT_TEXT_MAX bytes. 0 or -ENOMEM.
 */
int mm_strings__text(const struct mm_strings *s, uint64_t id, struct byte_buffer *out);
int mm_strings__label(const struct mm_strings *s, uint64_t id, struct byte_buffer *out);

void mm_strings__destroy(struct mm_strings *s);

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
