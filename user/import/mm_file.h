/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads a .mm_profdata file as three streams of bytes (qprof/measureme_format.h). The file is
 * untrusted. A file that is truncated, or continues with other data, is read up to its last
 * complete page.
 */
#ifndef QPROF_IMPORT_MM_FILE_H
#define QPROF_IMPORT_MM_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "qprof/measureme_format.h"

struct mm_page {
	uint64_t at;	  /* address of its first byte in the stream */
	uint64_t file_at; /* offset in the file */
};

struct mm_stream {
	struct mm_page *pages;
	uint32_t n;
	uint32_t capacity;
	uint64_t size; /* including its header; 0: missing or malformed */
};

struct mm_file {
	int fd;
	uint32_t version; /* MM_VERSION or MM_VERSION_OLD */
	uint64_t size;
	uint64_t mtime_ns; /* since the epoch */
	struct mm_stream streams[MM_N_STREAMS];
	char problem[120]; /* a defect of the file, or empty */
};

/*
 * Open `path` and find its pages. The caller destroys `*f` in any case. Negative errno, with a
 * message in `*why`: -EBADMSG is another format, -EPROTONOSUPPORT another version, -EINVAL not a
 * regular file; others are from the system.
 */
int mm_file__open(struct mm_file *f, const char *path, const char **why);

/* Read `size` bytes at `at`, which must be inside the stream. 0, or -EIO if the file has shrunk. */
int mm_file__read(const struct mm_file *f, enum mm_stream_tag tag, uint64_t at, void *to,
		  size_t size);

/* Record a problem, unless one is recorded already. */
void mm_file__problem(struct mm_file *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void mm_file__destroy(struct mm_file *f);

#endif /* QPROF_IMPORT_MM_FILE_H */
