/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files whose code compilers have mapped, by numbers from 1 on, and their unwind tables. A
 * table is made in the background, once for each file. A file without one can be placed at most:
 * stacks end in it.
 *
 * A user who is neither root nor the invoker may have SAMPLED_PER_USER files; all of these users
 * together leave SAMPLED_KEPT bytes of the tables' memory, and half of the numbers, to others.
 */
#ifndef QPROF_CAPTURE_SAMPLED_FILES_H
#define QPROF_CAPTURE_SAMPLED_FILES_H

#include "capture/sample_tables.h"
#include "capture/session_sink.h"

#define SAMPLED_PER_USER 128
#define SAMPLED_KEPT	 (16u << 20)

struct sampled_files;

/*
 * The first two outlive the result; sink->file may be NULL. Tables are made at this nice value. 0
 * or a negative errno; prints nothing.
 */
int sampled_files__new(struct sample_tables *tables, const struct session_sink *sink, int nice,
		       struct sampled_files **out);

/* The number of a file, or 0: it was not added. */
uint32_t sampled_files__find(const struct sampled_files *f, const struct library_identity *id);

/*
 * Add a file that a process of `user` has mapped, pass it to the sink, and begin its table.
 * -EDQUOT: a limit; -ENOMEM; or an error of the sink.
 */
int sampled_files__add(struct sampled_files *f, struct library_file *file, uid_t user,
		       uint32_t *number);

/*
 * What is subtracted from an address of a mapping, which begins at `start` and at `offset` in the
 * file, to have the ELF virtual address. -EAGAIN: the table is being made; -ENOENT: the file
 * cannot be read, or has no code there.
 */
int sampled_files__bias(const struct sampled_files *f, uint32_t number, uint64_t start,
			uint64_t offset, uint64_t *bias);

/* Polls readable when sampled_files__settle() has something to do. */
int sampled_files__fd(const struct sampled_files *f);

/* Take tables that are ready. True if sampled_files__bias() has more to say than before. */
bool sampled_files__settle(struct sampled_files *f);

/* Files that have no tables: a limit, or an error. */
uint64_t sampled_files__lost(const struct sampled_files *f);

void sampled_files__free(struct sampled_files *f);
DEFINE_CLEANUP(struct sampled_files, sampled_files__free)
#define _sampled_files_ __cleanup(sampled_files__free_p)

#endif /* QPROF_CAPTURE_SAMPLED_FILES_H */
