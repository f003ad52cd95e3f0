/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What an executable is, by its file's name. */
#ifndef QPROF_CAPTURE_PROGRAMS_H
#define QPROF_CAPTURE_PROGRAMS_H

#include <stdbool.h>

/* A program that runs queries itself. */
bool is_compiler_program(const char *exe);

/* A compiler, cargo, or rustup's stand-in for one of them. */
bool is_toolchain_program(const char *exe);

/*
 * The library beside an executable of a toolchain, to be freed. Others live in /usr/bin too, next
 * to a librustc_driver that is none of their business: -ENOENT.
 */
int library_beside(const char *exe, char **path);

#endif /* QPROF_CAPTURE_PROGRAMS_H */
