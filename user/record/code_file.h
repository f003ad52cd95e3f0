/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One file with code, and the functions in it that occurred. */
#ifndef QPROF_RECORD_CODE_FILE_H
#define QPROF_RECORD_CODE_FILE_H

#include "base/cleanup.h"
#include "plan/library/file.h"
#include "trace/writer.h"
#include "tracks/caller_index.h"

struct code_file;

/*
 * `file` is NULL for the vdso; a reference is taken. Symbols are read when they are first needed,
 * unless the sum of what was read is above `most` by then. `*bytes` is that sum. 0 or -ENOMEM.
 *
 * A foreign file belongs to a user who is neither root nor the invoker. Its line tables are not
 * read, as this process may have more rights than that user; nor are its symbols where another
 * mount namespace has put a file system over a file.
 */
int code_file__new(struct library_file *file, uint32_t number, bool foreign, size_t *bytes,
		   size_t most, struct code_file **out);

/* True if it is this very inode, unchanged. */
bool code_file__is(const struct code_file *c, const struct library_file *file);

/* Valid as long as the file. */
const struct tracks_functions *code_file__functions(const struct code_file *c);

/* As code_names__note(). */
int code_file__note(struct code_file *c, const struct trace_function *f);

/* As code_names__write_lines(). */
int code_file__write_lines(struct code_file *c, struct trace_writer *w);

void code_file__free(struct code_file *c);
DEFINE_CLEANUP(struct code_file, code_file__free)
#define _code_file_ __cleanup(code_file__free_p)

#endif /* QPROF_RECORD_CODE_FILE_H */
