/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A compiler's library, opened once. Planning, checking, attaching and later reads all use this
 * descriptor: the path may name another file the next time that it is resolved.
 */
#ifndef QPROF_PLAN_LIBRARY_FILE_H
#define QPROF_PLAN_LIBRARY_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* The identity of an inode, from stat(2). Times are nanoseconds since 1970. */
struct library_identity {
	uint64_t dev;
	uint64_t ino;
	uint64_t size;
	int64_t mtime_ns;
	int64_t ctime_ns;
	uid_t uid;
	/*
	 * True if no unprivileged user can make another file with the same identity, so a cache may
	 * use it as a key. False on FUSE, whose server chooses the results of stat(2), on
	 * an overlay of another mount namespace, which may lie on FUSE, and for a file that was
	 * changed less than two seconds before it was opened: the clock of ctime ticks in
	 * milliseconds, so a later change could leave the identity as it is.
	 */
	bool lasting;
};

/* The identity that stat(2) tells, without `lasting`. */
struct library_identity library_identity_of(const struct stat *st);

/* True if neither content nor rights were changed between the two, which are of one inode. */
static inline bool library_identity_is_same(const struct library_identity *a,
					    const struct library_identity *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

/* True if both are of one inode, of which neither was changed between the two. */
static inline bool library_identity_is_one(const struct library_identity *a,
					   const struct library_identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && library_identity_is_same(a, b);
}

struct library_file;

/* Since the last change of a file with a lasting identity. Tests make it 0. */
extern int64_t library_file_settled_ns;

/*
 * Open the file at `path` with the rights of this thread. The caller has one reference. Returns a
 * negative errno after one error line; -ENOEXEC if it is not a regular file.
 */
int library_file__open(const char *path, struct library_file **out);

/* As library_file__open(), but prints nothing. */
int library_file__try(const char *path, struct library_file **out);

/*
 * A descriptor for reading, the caller's, or a negative errno: -ENOEXEC if `path` is not a regular
 * file. Such a file is not opened, because that alone can have effects.
 */
int library_file__open_regular(const char *path);

/*
 * The file that another process opened as library_file__try() does, with the identity that it
 * found. Makes no call on the file. Takes `fd`, also on an error: -ENOMEM.
 */
int library_file__take(int fd, const char *path, const struct library_identity *id,
		       struct library_file **out);

/* One more reference. Any thread may take or give back one. */
struct library_file *library_file__ref(struct library_file *f);

/* Give back one reference; the last one closes the descriptor. */
void library_file__free(struct library_file *f);
DEFINE_CLEANUP(struct library_file, library_file__free)
#define _library_file_ __cleanup(library_file__free_p)

/* The descriptor, open for reading, close-on-exec. It is the file's. */
int library_file__fd(const struct library_file *f);

/* "/proc/self/fd/N": the path that the kernel attaches by. It is the file's. */
const char *library_file__fd_path(const struct library_file *f);

/* The path that it was opened by: for people only. */
const char *library_file__path(const struct library_file *f);

/* Open the same inode again, as it is now: see library_file__identity(). Negative errno. */
int library_file__reopen(const struct library_file *f, struct library_file **out);

/* The identity of the inode now, without `lasting`. Negative errno. */
int library_file__stat(const struct library_file *f, struct library_identity *now);

/*
 * True if nothing but the ctime has changed; library_file__is_same() compares with the new ctime
 * from now on. New links and rights change the ctime, but so does a write whose mtime was set back:
 * the caller has to look at the code again.
 */
bool library_file__accept_ctime(struct library_file *f);

/* As it was when it was opened. */
const struct library_identity *library_file__identity(const struct library_file *f);

/* Both are the same inode. */
bool library_file__is_inode(const struct library_file *f, dev_t dev, ino_t ino);

/* True if nothing was written to the file, and its rights were not changed, since it was opened. */
bool library_file__is_same(const struct library_file *f);

/* ---- Mounts ---------------------------------------------------------------------------------- */

/*
 * The mount that a file was opened through. A FUSE server answers for the files of its mount, so a
 * read of such a file can wait for ever, and the server chooses the results of stat(2).
 */

struct file_mount {
	bool ours;	 /* it is in our mount namespace */
	bool fuse;	 /* a FUSE server answers for the file */
	bool overlay;	 /* the file may lie on any other file system */
	bool has_server; /* the next field is known: only with `ours` and `fuse` */
	uid_t server;	 /* the user of the FUSE server, as the mount says */
};

/*
 * Fill in *m for an open file. For a file that is on neither FUSE nor an overlay, only those two
 * fields are set, and no file in /proc is read. Negative errno. A FUSE server can delay this for
 * ever.
 */
int file_mount__of(int fd, struct file_mount *m);

/* The line of mount `id` in text as /proc/self/mountinfo has it; all false if there is none. */
void file_mount__find(FILE *mountinfo, int id, struct file_mount *m);

/* The server of the file is a user other than root and `user`, or is unknown. */
bool file_mount__is_foreign(const struct file_mount *m, uid_t user);

#endif /* QPROF_PLAN_LIBRARY_FILE_H */
