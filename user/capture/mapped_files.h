/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files whose code a process has mapped. All of it may be a hostile process's choice, and a
 * read may never return: the child of broker.h calls these functions.
 */
#ifndef QPROF_CAPTURE_MAPPED_FILES_H
#define QPROF_CAPTURE_MAPPED_FILES_H

#include <stdio.h>
#include <sys/types.h>

#include "plan/library/file.h"

#define MAPPED_FILES_MAX 256
/* Bytes of all paths. A mapping whose path has no room is lost. */
#define MAPPED_FILES_TEXT (32u << 10)

/* A mapping of code. */
struct mapped_file {
	uint64_t start;	 /* address */
	uint64_t end;	 /* exclusive */
	uint64_t offset; /* in the file, of `start` */
	/* Of the mapped inode; `lasting` is not set. All zeroes: the kernel's vdso, which is no
	 * file. */
	struct library_identity id;
	uint32_t path; /* in mapped_files.text; as the process sees it, for people */
	uint32_t pad;
};

struct mapped_files {
	uint32_t n;
	uint32_t n_lost; /* mappings without room, or whose file is unknown */
	uint32_t n_text;
	uint32_t pad;
	struct mapped_file items[MAPPED_FILES_MAX]; /* by rising addresses */
	char text[MAPPED_FILES_TEXT];
};

/*
 * Fill in *out. -ESRCH: the process is gone; -ETIME: too many mappings; other errors of reading its
 * mappings. Without CAP_CHECKPOINT_RESTORE a file is found by its path, which may be another one by
 * now.
 */
int mapped_files__read(pid_t pid, struct mapped_files *out);

/* The same, from text in the format of /proc/PID/maps. */
int mapped_files__parse(FILE *maps, pid_t pid, struct mapped_files *out);

/*
 * A path that opens the file of a mapping from here. `path` is the one that mapped_file has. The
 * caller frees *out.
 */
int mapped_files__path(pid_t pid, uint64_t start, uint64_t end, const char *path, char **out);

/* The path of a mapping in *m, NUL-terminated. */
static inline const char *mapped_files__text(const struct mapped_files *m,
					     const struct mapped_file *f)
{
	return f->path < m->n_text && m->n_text <= MAPPED_FILES_TEXT ? m->text + f->path : "";
}

#endif /* QPROF_CAPTURE_MAPPED_FILES_H */
