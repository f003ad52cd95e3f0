/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The source files and lines of one compiler's definitions, from its spans and its own tables of
 * lines, as the kernel half copied them. Everything that was copied may be wrong: whatever does not
 * fit is a definition without a place.
 */
#ifndef QPROF_DECODE_SOURCES_H
#define QPROF_DECODE_SOURCES_H

#include <stdbool.h>

#include "base/map.h"
#include "plan/plan.h"
#include "trace/bytes.h"

#define SOURCES_BUCKETS 32
/* Of each table. */
#define SOURCES_BYTES_MAX (1u << 26)
#define SOURCES_FILES_MAX (1u << 16)

/* A source file, as the compiler has it. */
struct place_file {
	uint32_t number; /* in the compiler's list */
	uint32_t start;	 /* position of its first byte */
	uint32_t length;
	uint32_t n_lines;
	uint32_t name;	 /* offset in `names` */
	uint32_t string; /* the user's: 0 at first */
};

/* Where the lines of one file start: words of the table `lines`. */
struct place_lines {
	uint32_t at;
	uint32_t n;
};

struct place_interned {
	uint32_t position;
	uint32_t context;
};

/* All zeroes is empty. */
struct sources {
	struct byte_buffer spans[SOURCES_BUCKETS]; /* 8 bytes each; unknown ones are zeroes */
	struct u64_map interned_of;		   /* index of a span -> index in `interned` */
	struct place_interned *interned;
	uint32_t n_interned, interned_capacity;
	struct place_file *files;
	uint32_t n_files, files_capacity;
	struct byte_buffer names; /* NUL-terminated, one behind the other */
	struct u64_map lines_of;  /* number of a file -> index in `tables` */
	struct place_lines *tables;
	uint32_t n_tables, tables_capacity;
	struct byte_buffer lines; /* u32 each */
	bool sorted;		  /* `files`, by start */
	/* As the compiler has them, struct wire_layout_calls. */
	struct byte_buffer contexts, expansions;
};

/*
 * Take a piece of one of the tables WIRE_TABLE_SPANS, _INTERNED, _FILES, _LINES, _CONTEXTS and
 * _EXPANSIONS. -EBADMSG if it is malformed; what was before the fault is kept. -ENOMEM.
 */
int sources__add(struct sources *p, const struct wire_piece *r);

/* Where a definition begins. */
struct place {
	struct place_file *file;
	uint32_t line;	  /* from 1 */
	uint32_t context; /* of its span; 0: no macro made it */
};

/* Find the place of definition `index`. False if it is unknown. */
bool sources__find(struct sources *p, const struct wire_layout_places *layout, uint32_t index,
		   struct place *out);

/*
 * Find where the macro was called that made the definition at `of`: the outermost one, if a macro
 * made the call. False if none is known to have made it.
 */
bool sources__call(struct sources *p, const struct wire_layout_calls *layout,
		   const struct place *of, struct place *out);

/* A part of a file, up to the byte before its end. Lines and columns count from 1, columns bytes.
 */
struct place_range {
	struct place_file *file;
	uint32_t line, column;
	uint32_t end_line, end_column;
};

/*
 * Find the range of a packed span, of whatever. False if it is unknown: its file's lines are not at
 * hand, or it is one of those that the compiler keeps in a table.
 */
bool sources__range(struct sources *p, const struct wire_layout_places *layout, uint64_t span,
		    struct place_range *out);

static inline const char *sources__name(const struct sources *p, const struct place_file *file)
{
	return (const char *)p->names.data + file->name;
}

void sources__clear(struct sources *p);

#endif /* QPROF_DECODE_SOURCES_H */
