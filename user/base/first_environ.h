/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The environment that this process was started with, and the part of it that this process uses.
 *
 * The dynamic linker removes variables from a program with file capabilities before main():
 * LD_LIBRARY_PATH, TMPDIR and others. While this process has rights it also hides the variables
 * that it does not know from the libraries in it. A program that we start has no such rights, and
 * gets the whole environment.
 */
#ifndef QPROF_BASE_FIRST_ENVIRON_H
#define QPROF_BASE_FIRST_ENVIRON_H

#include <stdbool.h>

/*
 * Remember it. Call it first of all, with main()'s arguments, whose order is the kernel's then.
 * Negative errno.
 */
int first_environ__save(int argc, char **argv);

/* NULL-terminated; the whole environment. */
char *const *first_environ(void);

/*
 * The environment that the invoker had before sudo changed it, or the first one if that is not
 * known. It may hold LD_PRELOAD and the like: only for programs that run as the invoker. `env` of
 * environ_before_sudo__set(), one allocation, is never freed, nor are its texts.
 */
char *const *environ_before_sudo(void);
void environ_before_sudo__set(char **env);
bool environ_is_before_sudo(char *const env[]);

/* Leave in `environ` only variables that are known to be safe in a process with rights. -ENOMEM. */
int first_environ__restrict(void);

/* Undo first_environ__restrict(). */
void first_environ__release(void);

/*
 * Make `env`, an allocation with one for each text, both `environ` and the first environment. It
 * is never freed.
 */
void first_environ__replace(char **env);

/*
 * Pointers to the texts, each ended by a NUL, from `block` up to `end`: one allocation, to be
 * freed. -ENOMEM; -EINVAL if there is no NUL before `end`.
 */
int first_environ__split(char *block, const char *end, char ***out);

#endif /* QPROF_BASE_FIRST_ENVIRON_H */
