/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Where the cargo of a command keeps what it has built, before it runs. */
#ifndef QPROF_CARGO_TARGET_DIR_H
#define QPROF_CARGO_TARGET_DIR_H

/*
 * Set *workspace and *target to the paths of the workspace of a command, and of the directory in
 * which its cargo keeps fingerprints; to be freed. By the arguments, `env` and cargo's
 * configuration files, as cargo has them in this working directory. -ENOENT: it is no cargo, or its
 * workspace was never built. -EPERM: its Cargo.lock is another user's. A guess that is wrong does
 * no harm: nothing changes in a directory that is not used.
 */
int target_dir__find(char *const argv[], char *const env[], char **workspace, char **target);

/*
 * The value of an option in a command line of cargo, as "--manifest-path"; NULL: it has none. What
 * stands behind "--" is of the program that cargo runs.
 */
const char *cargo_option(char *const argv[], const char *name);

#endif /* QPROF_CARGO_TARGET_DIR_H */
