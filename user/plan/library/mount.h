/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The mount that a file was opened through. A FUSE server answers for the files of its mount, so a
 * read of such a file can wait for ever, and the server chooses the results of stat(2).
 */
#ifndef QPROF_PLAN_LIBRARY_MOUNT_H
#define QPROF_PLAN_LIBRARY_MOUNT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

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

#endif /* QPROF_PLAN_LIBRARY_MOUNT_H */
