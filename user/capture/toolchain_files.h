/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The files that rustc will map, as far as their names are known before it runs: its program, its
 * library and LLVM's, the C library and the dynamic loader.
 */
#ifndef QPROF_CAPTURE_TOOLCHAIN_FILES_H
#define QPROF_CAPTURE_TOOLCHAIN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/library/file.h"

#define TOOLCHAIN_FILES_MAX 8

struct toolchain_file {
	struct library_file *file;
	bool is_program; /* what runs it is a compiler */
};

/* Initialise with zeroes. */
struct toolchain_files {
	struct toolchain_file items[TOOLCHAIN_FILES_MAX];
	uint32_t n;
};

/*
 * Open those that exist beside rustc's library at `library`, which is among them, with the file
 * rights of this thread. Others are left out; prints nothing.
 */
void toolchain_files__add_toolchain(struct toolchain_files *f, const char *library);

/* Open the C library and the dynamic loader that this process has mapped. */
void toolchain_files__add_own(struct toolchain_files *f);

void toolchain_files__clear(struct toolchain_files *f);
#define _toolchain_files_ __cleanup(toolchain_files__clear)

#endif /* QPROF_CAPTURE_TOOLCHAIN_FILES_H */
