/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables of a file's code, kept between runs in one file beside plans, by the same rules
 * (plan/cache.h): its unwind table (codec.h), and its functions (plan/symbols/functions.h). In
 * front of them is the number of bytes of the first one (u64, little endian).
 */
#ifndef QPROF_UNWIND_LOAD_H
#define QPROF_UNWIND_LOAD_H

#include "plan/library/file.h"
#include "plan/symbols/functions.h"
#include "unwind/table.h"

/* In front of the unwind table. */
#define UNWIND_LOAD_HEADER 8

/* The unwind table that a store holds of this file, or -ENOENT. Prints nothing. */
int unwind_load__stored(const struct library_file *file, struct unwind_table **out);

/* The same of its functions. */
int unwind_load__functions(const struct library_file *file, struct functions **out);

/*
 * Find the two in the bytes of a stored file. The functions may have none. -EBADMSG: there are no
 * two parts.
 */
struct unwind_parts {
	const uint8_t *table, *functions;
	size_t table_len, functions_len;
};

int unwind_load__split(const uint8_t *bytes, size_t len, struct unwind_parts *out);

/* Keep both of this file, in such bytes. A store that cannot be used is no error. */
void unwind_load__store(const struct library_file *file, const uint8_t *bytes, size_t len);

#endif /* QPROF_UNWIND_LOAD_H */
