// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/invoker.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/first_environ.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* Our own groups, while this thread has the invoker's rights to files. */
static _Thread_local struct {
	gid_t *ids;
	int n;
} own_groups;

static bool parse_id(const char *text, unsigned int *id)
{
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	/* (uid_t)-1 means "leave it" to setresuid(2). */
	if (errno || *end || value >= UINT_MAX)
		return false;
	*id = value;
	return true;
}

static int look_up_user(struct invoker *inv)
{
	char buf[16384];
	struct passwd pw, *found = NULL;

	getpwuid_r(inv->uid, &pw, buf, sizeof(buf), &found);
	inv->home = strdup(found ? found->pw_dir : "/");
	if (!inv->home)
		return -ENOMEM;
	if (!found)
		return 0;
	inv->name = strdup(found->pw_name);
	return inv->name ? 0 : -ENOMEM;
}

/* The groups of a login. A user that the database does not know has one. */
static int look_up_groups(struct invoker *inv)
{
	int found = 16, room = 0;

	while (room < found) {
		gid_t *groups = reallocarray(inv->groups, (size_t)found, sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		inv->groups = groups;
		room = found;
		groups[0] = inv->gid;
		if (!inv->name || getgrouplist(inv->name, inv->gid, groups, &found) >= 0)
			break;
	}
	inv->n_groups = inv->name ? found : 1;
	return 0;
}

int invoker__from(struct invoker *inv, uid_t euid, gid_t egid, const char *sudo_uid,
		  const char *sudo_gid)
{
	unsigned int uid, gid;
	int err;

	*inv = (struct invoker){.uid = euid, .gid = egid};
	if (euid == 0 && parse_id(sudo_uid, &uid) && parse_id(sudo_gid, &gid)) {
		inv->sudo = true;
		inv->uid = uid;
		inv->gid = gid;
	}
	err = look_up_user(inv);
	if (!err && inv->sudo)
		err = look_up_groups(inv);
	if (err)
		invoker__clear(inv);
	return err;
}

int invoker__get(struct invoker *inv)
{
	return invoker__from(inv, geteuid(), getegid(), getenv("SUDO_UID"), getenv("SUDO_GID"));
}

int invoker__become(const struct invoker *inv)
{
	if (!inv->sudo || inv->uid == geteuid())
		return 0;
	if (setgroups((size_t)inv->n_groups, inv->groups) ||
	    setresgid(inv->gid, inv->gid, inv->gid) || setresuid(inv->uid, inv->uid, inv->uid))
		return -errno;
	return 0;
}

/* glibc's setgroups() changes every thread; the system call changes the calling one. */
static int set_thread_groups(const gid_t *groups, int n)
{
	return syscall(SYS_setgroups, (size_t)n, groups) ? -errno : 0;
}

int invoker__take_file_rights(const struct invoker *inv)
{
	_free_ gid_t *own = NULL;
	int n, err;

	if (!inv->sudo)
		return 0;
	n = getgroups(0, NULL);
	if (n < 0)
		return -errno;
	own = calloc((size_t)n + 1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	n = getgroups(n, own);
	if (n < 0)
		return -errno;
	err = set_thread_groups(inv->groups, inv->n_groups);
	if (err)
		return err;
	own_groups.ids = take_ptr(own);
	own_groups.n = n;
	setfsgid(inv->gid);
	setfsuid(inv->uid);
	/* These two report no errors, only the ids in force. */
	if ((gid_t)setfsgid(-1) == inv->gid && (uid_t)setfsuid(-1) == inv->uid)
		return 0;
	invoker__return_file_rights(inv);
	return -EPERM;
}

void invoker__return_file_rights(const struct invoker *inv)
{
	if (!inv->sudo || !own_groups.ids)
		return;
	setfsuid(geteuid());
	setfsgid(getegid());
	set_thread_groups(own_groups.ids, own_groups.n);
	free(take_ptr(own_groups.ids));
}

static const char *lookup(char *const env[], const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++) {
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return *env + len + 1;
	}
	return NULL;
}

static bool path_contains(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	for (const char *at = path; at; at = strchr(at, ':')) {
		at += *at == ':';
		if (!strncmp(at, dir, len) && (at[len] == ':' || !at[len]))
			return true;
	}
	return false;
}

/* PATH=... with cargo's directory behind what sudo left of it. */
static char *path_with_cargo(const struct invoker *inv, char *const base[])
{
	const char *cargo_home = lookup(base, "CARGO_HOME");
	const char *path = lookup(base, "PATH") ?: DEFAULT_PATH;
	_free_ char *dir = NULL;
	char *entry;
	int n;

	n = cargo_home ? asprintf(&dir, "%s/bin", cargo_home)
		       : asprintf(&dir, "%s/.cargo/bin", inv->home);
	if (n < 0) {
		dir = NULL;
		return NULL;
	}
	if (path_contains(path, dir))
		n = asprintf(&entry, "PATH=%s", path);
	else
		n = asprintf(&entry, "PATH=%s:%s", path, dir);
	return n < 0 ? NULL : entry;
}

static char *entry_new(const char *name, const char *value)
{
	char *entry;

	return asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry;
}

static bool is_replaced(const struct invoker *inv, const char *entry)
{
	static const char *const always[] = {"PATH=", "HOME=", "SUDO_", "MAIL="};
	static const char *const named[] = {"USER=", "LOGNAME="};

	for (size_t i = 0; i < N_OF(always); i++) {
		if (!strncmp(entry, always[i], 5))
			return true;
	}
	for (size_t i = 0; inv->name && i < N_OF(named); i++) {
		if (!strncmp(entry, named[i], strlen(named[i])))
			return true;
	}
	return false;
}

int invoker__environ(const struct invoker *inv, char *const base[], char ***out)
{
	bool changed = inv->sudo && !environ_is_before_sudo(base);
	_environ_ char **env = NULL;
	size_t n = 0, capacity = 5; /* PATH, HOME, USER, LOGNAME, NULL */

	for (char *const *entry = base; *entry; entry++)
		capacity++;
	env = calloc(capacity, sizeof(*env));
	if (!env)
		return -ENOMEM;
	for (char *const *entry = base; *entry; entry++) {
		if (changed && is_replaced(inv, *entry))
			continue;
		env[n] = strdup(*entry);
		if (!env[n++])
			return -ENOMEM;
	}
	if (changed) {
		env[n] = path_with_cargo(inv, base);
		if (!env[n++] || !(env[n++] = entry_new("HOME", inv->home)))
			return -ENOMEM;
	}
	if (changed && inv->name) {
		if (!(env[n++] = entry_new("USER", inv->name)) ||
		    !(env[n++] = entry_new("LOGNAME", inv->name)))
			return -ENOMEM;
	}
	*out = take_ptr(env);
	return 0;
}

void invoker__free_environ(char **env)
{
	for (char **entry = env; entry && *entry; entry++)
		free(*entry);
	free(env);
}

void invoker__clear(struct invoker *inv)
{
	free(inv->name);
	free(inv->home);
	free(inv->groups);
	inv->name = inv->home = NULL;
	inv->groups = NULL;
}
