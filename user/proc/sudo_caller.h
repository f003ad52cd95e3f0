/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The process that ran sudo, where it is this program too: `cargo qprof --sudo` waits for the
 * recording, and has the environment that the recorded command is to have. sudo passes neither that
 * nor descriptors on, and values on a command line could be read by every user.
 */
#ifndef QPROF_PROC_SUDO_CALLER_H
#define QPROF_PROC_SUDO_CALLER_H

#include <sys/types.h>

/*
 * The environment that our nearest ancestor which belongs to `caller` was executed with, without
 * sudo's variables: one allocation for the pointers, and one for the texts, neither to be freed.
 * NULL: there is no such process, or it runs another file than we do; or, with an errno of EPERM,
 * it runs ours and may not be looked into, as it has rights beyond its user's.
 */
char **sudo_caller__environ(uid_t caller);

#endif /* QPROF_PROC_SUDO_CALLER_H */
