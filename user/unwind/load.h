/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tables of a file's code, kept between runs in one file beside plans, by the same rules
 * (plan/cache.h): its unwind table (codec.h), what it shows of LLVM (plan/mine/llvm.h), if that is
 * anything, and its functions (plan/symbols/functions.h). In front of them are the numbers of bytes
 * of the first two (u64 each, little endian).
 */
#ifndef QPROF_UNWIND_LOAD_H
#define QPROF_UNWIND_LOAD_H

#include "plan/library/file.h"
#include "plan/symbols/functions.h"
#include "unwind/table.h"

/* In front of the unwind table. */
#define UNWIND_LOAD_HEADER 16

/* The unwind table, with `llvm`, that a store holds of this file, or -ENOENT. Prints nothing. */
int unwind_load__stored(const struct library_file *file, struct unwind_table **out);

/* The same of its functions. */
int unwind_load__functions(const struct library_file *file, struct functions **out);

/*
 * Find the three in the bytes of a stored file. All but the first may have none. -EBADMSG: there
 * are no three parts.
 */
struct unwind_parts {
	const uint8_t *table, *llvm, *functions;
	size_t table_len, llvm_len, functions_len;
};

int unwind_load__split(const uint8_t *bytes, size_t len, struct unwind_parts *out);

/* The table of such parts, with `llvm`: as unwind_decode(). */
int unwind_load__table(const struct unwind_parts *p, struct unwind_table **out);

/* Keep all of this file, in such bytes. A store that cannot be used is no error. */
void unwind_load__store(const struct library_file *file, const uint8_t *bytes, size_t len);

#endif /* QPROF_UNWIND_LOAD_H */
