/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The invoker: the user who ran sudo, or else the user of this process. The programs that we start
 * run as the invoker, and the files that we write belong to the invoker.
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
	/* Under sudo, the groups of a login, `gid` among them; never those of root's process. */
	gid_t *groups;
	int n_groups;
};

/* From our own uid and environment. Negative errno. */
int invoker__get(struct invoker *inv);

/*
 * The same from given values. `sudo_uid` and `sudo_gid` are the texts of sudo's variables, or
 * NULL; they count only for root, and are ignored unless both are numbers.
 */
int invoker__from(struct invoker *inv, uid_t euid, gid_t egid, const char *sudo_uid,
		  const char *sudo_gid);

/*
 * Change user and groups to the invoker's for good, in every thread. Without sudo it changes
 * nothing. Capabilities are a matter of rights__drop() (base/rights.h). Negative errno.
 */
int invoker__become(const struct invoker *inv);

/*
 * Open, create and remove files with the invoker's user, group and supplementary groups, in the
 * calling thread only, until the rights are returned. Calls do not nest. -EPERM if the kernel
 * refuses; the thread then has its own rights. Returning what was not taken does nothing.
 */
int invoker__take_file_rights(const struct invoker *inv);
void invoker__return_file_rights(const struct invoker *inv);

/*
 * The environment that the invoker would have without sudo, derived from `base`: the invoker's
 * HOME, USER and LOGNAME, no SUDO_ variables, and cargo's directory at the end of the PATH, which
 * sudo replaces. A plain copy when not under sudo, or if environ_is_before_sudo(base). The
 * result is one allocation per string.
 */
int invoker__environ(const struct invoker *inv, char *const base[], char ***env);
void invoker__free_environ(char **env);

void invoker__clear(struct invoker *inv);
#define _invoker_ __cleanup(invoker__clear)

DEFINE_CLEANUP(char *, invoker__free_environ)
#define _environ_ __cleanup(invoker__free_environ_p)

#endif /* QPROF_BASE_INVOKER_H */
