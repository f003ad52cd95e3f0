/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Recognizes executables of a Rust toolchain by their file names. */
#ifndef QPROF_PROC_PROGRAMS_H
#define QPROF_PROC_PROGRAMS_H

#include <stdbool.h>

/* A program that runs queries itself. */
bool is_compiler_program(const char *exe);

/* A compiler, cargo, or rustup's stand-in for one of them. */
bool is_toolchain_program(const char *exe);

/*
 * The library beside an executable of a toolchain, to be freed. -ENOENT for any other program: some
 * in /usr/bin are next to a librustc_driver that they do not use.
 */
int library_beside(const char *exe, char **path);

#endif /* QPROF_PROC_PROGRAMS_H */
