/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files whose code compilers have mapped, by numbers from 1 on, and their unwind tables. A
 * table is made in the background, once for each file. A file without one can be placed at most:
 * stacks end in it.
 *
 * A file that no process holds any more stays, as the next compile maps the same ones, until its
 * number or its bytes are needed: then the one that was mapped least recently makes room, of the
 * user who has the most where foreign users compete.
 *
 * A *foreign* user is neither root nor the invoker. Limits keep room for the files of others. A
 * file is foreign if its owner is, or the user whose process has mapped it; it is not any more when
 * somebody else maps it whose own it could be. One foreign user may have SAMPLED_PER_USER files,
 * and sampled_user_bytes of tables, which is enough for a rustc. All together leave half of the
 * tables' memory, and half of the numbers, to others; of the rest, others' files take only what no
 * foreign one needs. Tables of others are made first, and those of foreign files one at a time;
 * these are not stored, as a store has room for few files.
 */
#ifndef QPROF_CAPTURE_SAMPLED_FILES_H
#define QPROF_CAPTURE_SAMPLED_FILES_H

#include "capture/sample_tables.h"
#include "capture/session_sink.h"

#define SAMPLED_PER_USER 128

/*
 * Limits, which tests make smaller. sampled_kept_bytes: the tables' memory that foreign users leave
 * to root and the invoker; 0: half of it.
 */
extern uint64_t sampled_user_bytes, sampled_kept_bytes;

struct sampled_files;

/*
 * The first two outlive the result; sink->file may be NULL. Tables are made at this nice value. 0
 * or a negative errno; prints nothing.
 */
int sampled_files__new(struct sample_tables *tables, const struct session_sink *sink, int nice,
		       struct sampled_files **out);

/* The user is neither root nor the invoker. */
bool sampled_files__is_foreign(const struct sampled_files *f, uid_t user);

/* The number of a file that a process of `user` has mapped, or 0: it is to be added. */
uint32_t sampled_files__find(struct sampled_files *f, const struct library_identity *id,
			     uid_t user);

/* False: a limit is reached. Prints one line when that happens for the first time. */
bool sampled_files__may_add(struct sampled_files *f, const struct library_identity *id, uid_t user);

/*
 * Add a file that a process of `user` has mapped, pass it to the sink, and begin its table.
 * -EDQUOT: a limit; -EAGAIN: all numbers are used now, but not after sampled_files__settle();
 * -ENOMEM; or an error of the sink.
 */
int sampled_files__add(struct sampled_files *f, struct library_file *file, uid_t user,
		       uint32_t *number);

/* The same of the vdso, once it is mapped anywhere; sampled_files__find() finds it by no inode. */
int sampled_files__add_vdso(struct sampled_files *f, uint32_t *number);

/*
 * A process holds a file that it has mapped, as often as this is called, until it releases it as
 * often. A file that is held is not removed.
 */
void sampled_files__hold(struct sampled_files *f, uint32_t number);
void sampled_files__release(struct sampled_files *f, uint32_t number);

/*
 * The number that is subtracted from an address of a mapping, which begins at `start` and at
 * `offset` in the file, to have the ELF virtual address. -EAGAIN: the table is being made; -ENOENT:
 * the file cannot be read, or has no code there.
 */
int sampled_files__bias(const struct sampled_files *f, uint32_t number, uint64_t start,
			uint64_t offset, uint64_t *bias);

/*
 * Why samples do not show what LLVM does in a process that has mapped these files: text for a line,
 * until the next call that is not const. NULL: they do, or no file says so.
 */
const char *sampled_files__no_llvm(const struct sampled_files *f, const uint16_t *numbers,
				   uint32_t n);

/* Polls readable when sampled_files__settle() has something to do. */
int sampled_files__fd(const struct sampled_files *f);

/*
 * Take tables that are ready, and numbers of removed files. Between two calls, all records that the
 * kernel half had sent are read. True if sampled_files__bias()
 * has more to say than before.
 */
bool sampled_files__settle(struct sampled_files *f);

/*
 * Wait for the tables of files that are not foreign, for at most so long. For before the first
 * record, which a table that comes later is too late for.
 */
void sampled_files__await_own(struct sampled_files *f, uint64_t most_ns);

/* Files that have no tables: a limit, or an error. */
uint64_t sampled_files__lost(const struct sampled_files *f);

/*
 * Tables that are being made are stored first, but for those of foreign files: this may take 1 s.
 */
void sampled_files__free(struct sampled_files *f);
DEFINE_CLEANUP(struct sampled_files, sampled_files__free)
#define _sampled_files_ __cleanup(sampled_files__free_p)

#endif /* QPROF_CAPTURE_SAMPLED_FILES_H */
