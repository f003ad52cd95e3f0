/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_CLI_FIND_LIBRARY_H
#define QPROF_CLI_FIND_LIBRARY_H

#include "plan/library/file.h"

/*
 * Find the librustc_driver that `target` names: a file, a compiler's executable, a pid,
 * "+toolchain", or NULL for the rustc that would run here. The library of a process is also opened;
 * else *file is NULL. A child process opens it (capture/broker.h), because the process's user can
 * make the opening block for ever. Negative errno after an error line.
 */
int find_library(const char *target, char **path, struct library_file **file);

#endif /* QPROF_CLI_FIND_LIBRARY_H */
