/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The environment that we were started with. A program with file capabilities finds its own without
 * what could turn them against their owner: the dynamic linker has removed LD_LIBRARY_PATH, TMPDIR
 * and others before main(). What we start in turn has no such capabilities, and must get all of it.
 */
#ifndef QPROF_BASE_FIRST_ENVIRON_H
#define QPROF_BASE_FIRST_ENVIRON_H

/*
 * Remember it. Call it first of all, with main()'s arguments, whose order is the kernel's then.
 * Negative errno.
 */
int first_environ__save(int argc, char **argv);

/* NULL-terminated; `environ` itself where nothing was removed, or nothing was saved. */
char *const *first_environ(void);

/*
 * Pointers to the texts, each ended by a NUL, from `block` up to `end`: one allocation, to be
 * freed. -ENOMEM; -EINVAL if there is no NUL before `end`.
 */
int first_environ__split(char *block, const char *end, char ***out);

#endif /* QPROF_BASE_FIRST_ENVIRON_H */
