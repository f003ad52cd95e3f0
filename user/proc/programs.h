/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Recognizes executables of a Rust toolchain by their file names. */
#ifndef QPROF_PROC_PROGRAMS_H
#define QPROF_PROC_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

/* A name that a toolchain's compiler has, without a directory. */
bool is_compiler_name(const char *name, size_t len);

/* A program that may run queries itself: its name begins with a compiler's. */
bool is_compiler_program(const char *exe);

/* A compiler, cargo, or rustup's stand-in for one of them. */
bool is_toolchain_program(const char *exe);

/*
 * The library beside an executable of a toolchain, to be freed. -ENOENT for any other program: some
 * in /usr/bin are next to a librustc_driver that they do not use.
 */
int library_beside(const char *exe, char **path);

#endif /* QPROF_PROC_PROGRAMS_H */
