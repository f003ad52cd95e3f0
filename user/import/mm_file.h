/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A .mm_profdata file as three streams of bytes (qprof/measureme_format.h). Never trusts a byte: a
 * file that is cut short, or goes on with something else, is read up to its last whole page.
 */
#ifndef QPROF_IMPORT_MM_FILE_H
#define QPROF_IMPORT_MM_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "qprof/measureme_format.h"

struct mm_page {
	uint64_t at;	  /* address of its first byte in the stream */
	uint64_t file_at; /* and in the file */
};

struct mm_stream {
	struct mm_page *pages;
	uint32_t n;
	uint32_t capacity;
	uint64_t size; /* with its header; 0: it is not there, or makes no sense */
};

struct mm_file {
	int fd;
	uint32_t version; /* MM_VERSION or MM_VERSION_OLD */
	uint64_t size;
	uint64_t mtime_ns; /* since the epoch */
	struct mm_stream streams[MM_N_STREAMS];
	char problem[120]; /* what is wrong with it, or empty */
};

/*
 * Open `path` and find its pages; `*f` needs destroying in any case. Negative errno, with a text
 * for a person in `*why`: -EBADMSG not such a file, -EPROTONOSUPPORT another version, -EINVAL not a
 * regular file, or what the system says.
 */
int mm_file__open(struct mm_file *f, const char *path, const char **why);

/* Read `size` bytes at `at` of a stream, which must be in it. 0, or -EIO if the file has shrunk. */
int mm_file__read(const struct mm_file *f, enum mm_stream_tag tag, uint64_t at, void *to,
		  size_t size);

/* Note a problem, unless there is one already. */
void mm_file__problem(struct mm_file *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void mm_file__destroy(struct mm_file *f);

#endif /* QPROF_IMPORT_MM_FILE_H */
