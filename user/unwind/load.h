/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Unwind tables kept between runs, beside plans and by the same rules (plan/cache.h). */
#ifndef QPROF_UNWIND_LOAD_H
#define QPROF_UNWIND_LOAD_H

#include "plan/library/file.h"
#include "unwind/table.h"

/* The table that a store holds of this file, or -ENOENT. Prints nothing. */
int unwind_load__stored(const struct library_file *file, struct unwind_table **out);

/* Keep the bytes of a table (codec.h) of this file. A store that cannot be used is no error. */
void unwind_load__store(const struct library_file *file, const uint8_t *bytes, size_t len);

#endif /* QPROF_UNWIND_LOAD_H */
