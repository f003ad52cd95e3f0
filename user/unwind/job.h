/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The unwind table of a file: from the store, or else a child process (plan/file_job.h)
 * makes it while the caller goes on, with the functions of the file for the store. That of LLVM
 * takes 0.1 s.
 */
#ifndef QPROF_UNWIND_JOB_H
#define QPROF_UNWIND_JOB_H

#include <stdbool.h>

#include "plan/file_job.h"
#include "plan/library/file.h"
#include "plan/symbols/functions.h"
#include "unwind/table.h"

struct unwind_job;

/* Jobs that one process should have at a time. */
#define UNWIND_JOBS_MAX 2

/*
 * Set *table to the stored table of `file`, or *job to one that makes it at this nice value, which
 * keeps a reference to the file; the other one stays as it is. With `store` it makes the functions
 * of the file too, and both are kept between runs. A stored table is read here, in less time than
 * the start of a child takes. 0 or a negative errno; prints nothing.
 */
int unwind_job__begin(struct library_file *file, int nice, bool store, struct unwind_table **table,
		      struct unwind_job **job);

/* See plan/file_job.h. */
int unwind_job__fd(const struct unwind_job *j);
int unwind_job__read(struct unwind_job *j);

/*
 * Wait for the table, until its time is up, and store it if that was asked for. -ENODATA: the file
 * has no .eh_frame, or nothing in it has a rule; -EFBIG: it is far larger than a compiler's;
 * other errors as unwind_table__of() and file_job__finish(). Only -v prints a line about an error.
 */
int unwind_job__finish(struct unwind_job *j, struct unwind_table **out);

/* As file_job__free(). */
void unwind_job__free(struct unwind_job *j);
DEFINE_CLEANUP(struct unwind_job, unwind_job__free)
#define _unwind_job_ __cleanup(unwind_job__free_p)

/*
 * Make the table of a file here. Maps it: see elf_image__map(), which prints its errors. Nothing
 * else prints.
 */
int unwind_table__of(struct library_file *file, struct unwind_table **out);

/* The same with the functions of the file, as a store has them; the caller frees *bytes.
 */
int unwind_tables__encode(struct library_file *file, uint8_t **bytes, size_t *len);

/*
 * The tables of a file's code, kept between runs in one file beside plans, by the same rules
 * (plan/cache.h): its unwind table (codec.h), what it shows of LLVM (plan/mine/llvm.h), if that is
 * anything, and its functions (plan/symbols/functions.h). In front of them are the numbers of bytes
 * of the first two (u64 each, little endian).
 */

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

/*
 * The unwind table of the vDSO, code that the kernel maps into every process and that is in no
 * file. All processes have the same one, except those of another word size.
 */

/*
 * Its table, made of our own copy; addresses are relative to the start of the mapping "[vdso]". The
 * caller frees it. -ENOENT if we have none, else as unwind_table__of(). Prints nothing.
 */
int unwind_vdso__table(struct unwind_table **out);

#endif /* QPROF_UNWIND_JOB_H */
