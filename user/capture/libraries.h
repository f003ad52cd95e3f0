/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The compilers' libraries of a session. Each is planned and attached to once. A library is one
 * inode, as the kernel probes inodes. It may have several paths: by a hard link, a bind mount, the
 * root of another process, an overlay. Probed twice, it would count double.
 *
 * A library that is written to is detached, and planned anew when a compiler next maps it.
 *
 * A library is foreign if the process that brought it, or else its owner, is neither root nor the
 * invoking user. A quota bounds what such a user can make us spend. Libraries that no compiler uses
 * make room for others.
 */
#ifndef QPROF_CAPTURE_LIBRARIES_H
#define QPROF_CAPTURE_LIBRARIES_H

#include "capture/kernel.h"
#include "capture/library_table.h"
#include "plan/library/file.h"

/*
 * A followed process uses this file; `pid` is 0 if the process waits and has not run any code of
 * it. `file` is NULL if the process cannot be read, so that it may use any library.
 */
typedef void (*libraries_user_fn)(void *arg, pid_t pid, const struct library_file *file);

struct libraries_ops {
	/* Attach to a library by its plan; *lib is its number. 0 or a negative errno, after an
	 * error line. -ESTALE, without a line: the file is not what was planned. After an error a
	 * *lib that was set is taken, and must be detached and released. */
	int (*attach)(void *ctx, const struct plan *plan, bool foreign, uint8_t *lib);
	/* Attach another part of it. 0 or a negative errno, after an error line but for -ESTALE. */
	int (*attach_part)(void *ctx, uint8_t lib, const struct plan *plan, enum plan_part part);
	/* Take its probes away, without waiting for that. Its number stays taken. */
	void (*detach)(void *ctx, uint8_t lib);
	/* No record or stack has this number any more. */
	void (*release)(void *ctx, uint8_t lib);
	/* Call `fn` for all processes that use a library and are followed, or soon will be. */
	int (*each_user)(void *ctx, libraries_user_fn fn, void *arg);
	bool (*follows)(void *ctx, pid_t pid);
	/* The inode that the kernel probes for an open file (kernel__inode_of()); 0: unknown.
	 * May be NULL: device and inode number identify a file then. */
	uint64_t (*inode)(void *ctx, int fd);
	/* The plans that are attached come with the library's cache hits (plan->hits). */
	bool hits;
	/* PLAN_PART_BITs: the parts that are attached with the rest. */
	uint32_t parts;
};

struct libraries;

/*
 * `ops` are copied; plans are made in the background, at this nice value. 0 or a negative errno;
 * prints nothing.
 */
int libraries__new(const struct libraries_ops *ops, void *ctx, int nice, struct libraries **out);

/*
 * Plan and attach to a library, unless that was done before. Prints on failure. A library that
 * failed is not tried again until it changes: the same error is returned, and nothing is printed. A
 * process of `user` brought the library.
 */
int libraries__add(struct libraries *l, const struct library_file *file, uid_t user);

/*
 * Begin the same, in the background. -EDQUOT: its user has LIBRARIES_PER_USER in use already.
 * -EAGAIN: that is unknown at the moment; call again. -ENOMEM.
 */
int libraries__expect(struct libraries *l, const struct library_file *file, uid_t user);

/*
 * The state of a library. -ENOENT: it was not added, or has changed since. A library that has
 * changed is detached, which is printed.
 */
int libraries__look(struct libraries *l, const struct library_file *file,
		    struct library_state *state);

/*
 * A compiler that needs these parts (PLAN_PART_BITs) uses this library: if it is attached, attach
 * them too, unless that was done. They stay. 0 or a negative errno, which later calls return again;
 * prints on the first failure.
 */
int libraries__need(struct libraries *l, const struct library_file *file, uint32_t parts);

/* True if a library that is attached lacks one of these parts. */
bool libraries__lack(const struct libraries *l, uint32_t parts);

/*
 * As libraries__look(), by the inode's numbers as the kernel recorded them. -ENOENT also where
 * these differ from those of stat(2), as on Btrfs.
 */
int libraries__look_inode(const struct libraries *l, dev_t dev, ino_t ino,
			  struct library_state *state);

/* Polls readable when libraries__settle() has something to do. */
int libraries__fd(const struct libraries *l);

/*
 * Attach to libraries whose plan is made, detach libraries that were written to, and begin other
 * plans. Errors are printed and kept with the library. To be called often, after each drain.
 */
void libraries__settle(struct libraries *l);

/* The number of libraries that are attached to. */
unsigned int libraries__attached(const struct libraries *l);

/* Compilers whose library was written to while they ran: the rest of each is missing. */
uint64_t libraries__cut_off(const struct libraries *l);

void libraries__free(struct libraries *l);
DEFINE_CLEANUP(struct libraries, libraries__free)
#define _libraries_ __cleanup(libraries__free_p)

#endif /* QPROF_CAPTURE_LIBRARIES_H */
