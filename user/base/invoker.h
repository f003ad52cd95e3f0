/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Who asked: under sudo the person who ran it, otherwise whoever we are. What we start runs as
 * them, and what we write belongs to them.
 */
#ifndef QPROF_BASE_INVOKER_H
#define QPROF_BASE_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct invoker {
	bool sudo; /* we are root because of sudo */
	uid_t uid;
	gid_t gid;
	char *name; /* NULL if the user database does not know the uid */
	char *home; /* never NULL */
};

/* From our own uid and environment. Negative errno. */
int invoker__get(struct invoker *inv);

/*
 * The same from given values. `sudo_uid` and `sudo_gid` are the texts of sudo's variables, or
 * NULL; they count only for root, and are ignored unless both are numbers.
 */
int invoker__from(struct invoker *inv, uid_t euid, gid_t egid, const char *sudo_uid,
		  const char *sudo_gid);

/* Take on their user and groups for good. For a child about to exec. Negative errno. */
int invoker__become(const struct invoker *inv);

/*
 * Open, create and remove files with their rights, in the calling thread only, until the rights
 * are returned: what is made belongs to them, and root follows no link of theirs. -EPERM if the
 * kernel refuses; the thread then has its own rights.
 */
int invoker__take_file_rights(const struct invoker *inv);
void invoker__return_file_rights(const struct invoker *inv);

/*
 * The environment they would have without sudo, as far as it can be told from `base`: their HOME,
 * USER and LOGNAME, no SUDO_ variables, and cargo's directory at the end of the PATH, which sudo
 * replaces. A plain copy when not under sudo. The result is one allocation per string.
 */
int invoker__environ(const struct invoker *inv, char *const base[], char ***env);
void invoker__free_environ(char **env);

void invoker__clear(struct invoker *inv);
#define _invoker_ __cleanup(invoker__clear)

DEFINE_CLEANUP(char *, invoker__free_environ)
#define _environ_ __cleanup(invoker__free_environ_p)

#endif /* QPROF_BASE_INVOKER_H */
