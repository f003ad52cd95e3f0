/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Downloads the debug file of a library. Only `plan --debuginfod` does: a recording never asks a
 * server. */
#ifndef QPROF_PLAN_SYMBOLS_DEBUGINFOD_H
#define QPROF_PLAN_SYMBOLS_DEBUGINFOD_H

#include "plan/library/file.h"

/*
 * Ask the servers in DEBUGINFOD_URLS for the debug file of `lib`, by its build-id; libdebuginfod
 * keeps it in a cache of the user. 0 and the path of the file, which the caller frees, or NULL if
 * the library has symbols and needs none. A negative errno after one error line: -EINVAL no server
 * is named; -EPERM root asks for a library of another user; -ENODATA the library has no build-id;
 * -ELIBACC libdebuginfod is not installed; -ENOENT no server has the file; or an error of the
 * connection, or of elf_image__read().
 */
int debuginfod__fetch(struct library_file *lib, char **path);

#endif /* QPROF_PLAN_SYMBOLS_DEBUGINFOD_H */
