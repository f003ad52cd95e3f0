/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The strings of a .mm_profdata file. References between strings are untrusted. A string that
 * cannot be expanded reads as in measureme's readers, "<unknown>" or "<invalid>".
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

#endif /* QPROF_IMPORT_MM_STRINGS_H */
