/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The strings of a .mm_profdata file. They may refer to each other in any way: what cannot be
 * expanded reads as measureme's readers have it, "<unknown>" or "<invalid>".
 */
#ifndef QPROF_IMPORT_MM_STRINGS_H
#define QPROF_IMPORT_MM_STRINGS_H

#include <stdbool.h>

#include "base/id_table.h"
#include "import/mm_file.h"
#include "trace/bytes.h"

#define MM_NO_ADDRESS UINT32_MAX

struct mm_strings {
	uint8_t *data; /* the stream of strings, with its header */
	uint32_t size;
	uint32_t id_size;      /* bytes of an id or address on disk */
	struct id_table index; /* virtual id -> address */
	uint32_t virtual_end;  /* one more than the highest virtual id that stands for an event */
};

/* A piece of a string. */
struct mm_component {
	const uint8_t *text; /* NULL: a reference */
	uint32_t size;	     /* of the text, bytes */
	uint64_t id;	     /* of the string that is referred to */
};

/*
 * Read all strings of a file; `*s` needs destroying in any case. -ENOMEM, -EIO, or -EFBIG if there
 * are more than 4 GiB.
 */
int mm_strings__load(struct mm_strings *s, struct mm_file *f);

/* The address of a string, or MM_NO_ADDRESS; strings with one address are the same. */
uint32_t mm_strings__address(const struct mm_strings *s, uint64_t id);

/*
 * Take the component at `*address`, and move that on: true. False at the end of the string, and
 * with `*bad` set where it is malformed.
 */
bool mm_strings__component(const struct mm_strings *s, uint32_t *address, struct mm_component *c,
			   bool *bad);

/*
 * Replace what is in `out` by the text of a string and a NUL: all of it, or what is before its
 * first MM_SEPARATOR. At most QPT_TEXT_MAX bytes. 0 or -ENOMEM.
 */
int mm_strings__text(const struct mm_strings *s, uint64_t id, struct byte_buffer *out);
int mm_strings__label(const struct mm_strings *s, uint64_t id, struct byte_buffer *out);

void mm_strings__destroy(struct mm_strings *s);

#endif /* QPROF_IMPORT_MM_STRINGS_H */
