/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files that rustc will map, as far as their names are known before it runs: its program, its
 * library and LLVM's, the C library and the dynamic loader.
 */
#ifndef QPROF_CAPTURE_FORESEEN_FILES_H
#define QPROF_CAPTURE_FORESEEN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/library/file.h"

#define FORESEEN_MAX 8

struct foreseen_file {
	struct library_file *file;
	bool is_program; /* what runs it is a compiler */
};

/* Initialise with zeroes. */
struct foreseen_files {
	struct foreseen_file items[FORESEEN_MAX];
	uint32_t n;
};

/*
 * Open those that exist beside rustc's library at `library`, which is among them, with the file
 * rights of this thread. Others are left out; prints nothing.
 */
void foreseen_files__add_toolchain(struct foreseen_files *f, const char *library);

/* Open the C library and the dynamic loader that this process has mapped. */
void foreseen_files__add_own(struct foreseen_files *f);

void foreseen_files__clear(struct foreseen_files *f);
#define _foreseen_files_ __cleanup(foreseen_files__clear)

#endif /* QPROF_CAPTURE_FORESEEN_FILES_H */
