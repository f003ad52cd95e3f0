// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cargo/target_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/own_path.h"

#define LINES_MAX 10000

/* The value of a variable; NULL: it is not set, or empty. */
static const char *variable(char *const env[], const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++)
		if (!strncmp(*env, name, len) && (*env)[len] == '=' && (*env)[len + 1])
			return *env + len + 1;
	return NULL;
}

const char *cargo_option(char *const argv[], const char *name)
{
	size_t len = strlen(name);

	for (; *argv && strcmp(*argv, "--"); argv++) {
		if (strncmp(*argv, name, len) != 0)
			continue;
		if ((*argv)[len] == '=')
			return *argv + len + 1;
		if (!(*argv)[len])
			return argv[1];
	}
	return NULL;
}

static bool is_cargo(const char *command, char *const env[])
{
	const char *cargo = variable(env, "CARGO");

	return !strcmp(basename(command), "cargo") || (cargo && !strcmp(command, cargo));
}

/* `path` below `dir`, unless it is absolute. */
static char *joined(const char *dir, const char *path)
{
	char *all;

	if (*path == '/')
		return strdup(path);
	return asprintf(&all, "%s/%s", dir, path) < 0 ? NULL : all;
}

/* Cut the last component of an absolute path; false at the root. */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

/*
 * The nearest directory with a Cargo.lock, which cargo writes in the root of a workspace. -EPERM:
 * another user has put it there.
 */
static int find_workspace(const char *from, char **workspace)
{
	_free_ char *dir = strdup(from);

	if (!dir)
		return -ENOMEM;
	do {
		_free_ char *lock = joined(dir, "Cargo.lock");
		struct stat st;

		if (!lock)
			return -ENOMEM;
		if (!lstat(lock, &st)) {
			if (own_path_is_theirs(&st))
				return -EPERM;
			*workspace = take_ptr(dir);
			return 0;
		}
	} while (to_parent(dir));
	return -ENOENT;
}

/*
 * The text of a line `key = "text"` of a file of TOML, within [build] or as build.key; to be freed.
 * No line of the form that people write is missed, and others are of no use.
 */
static char *configured(FILE *f, const char *key)
{
	bool in_build = false;
	char line[4096];

	for (int n = 0; n < LINES_MAX && fgets(line, sizeof(line), f); n++) {
		char *at = line + strspn(line, " \t"), quote, *end;

		if (*at == '[') {
			in_build = !strncmp(at, "[build]", strlen("[build]"));
			continue;
		}
		if (!in_build && strncmp(at, "build.", strlen("build.")) != 0)
			continue;
		at += in_build ? 0 : strlen("build.");
		if (strncmp(at, key, strlen(key)) != 0)
			continue;
		at += strlen(key);
		at += strspn(at, " \t");
		if (*at++ != '=')
			continue;
		at += strspn(at, " \t");
		quote = *at++;
		end = quote == '"' || quote == '\'' ? strchr(at, quote) : NULL;
		if (end)
			return strndup(at, (size_t)(end - at));
	}
	return NULL;
}

/* The directory that the configuration in `dir` gives, relative to `dir`; or NULL. */
static char *configured_in(const char *dir)
{
	static const char *const keys[] = {"build-dir", "target-dir"};

	for (size_t i = 0; i < 2; i++) {
		_free_ char *path = joined(dir, ".cargo/config.toml"), *value = NULL;
		_fclose_ FILE *f = path ? regular_file__stream(AT_FDCWD, path, 0) : NULL;

		value = f ? configured(f, keys[i]) : NULL;
		if (value)
			return joined(dir, value);
	}
	return NULL;
}

/* The nearest configuration counts, and last that of the user. */
static char *find_configured(const char *from, char *const env[])
{
	const char *home = variable(env, "HOME");
	_free_ char *dir = strdup(from);
	char *found = dir ? configured_in(dir) : NULL;

	while (dir && !found && to_parent(dir))
		found = configured_in(dir);
	return found || !home ? found : configured_in(home);
}

int target_dir__find(char *const argv[], char *const env[], char **workspace, char **target)
{
	const char *manifest, *given;
	_free_ char *cwd = NULL, *from = NULL, *found = NULL, *root = NULL;
	int err;

	if (!argv || !argv[0] || !is_cargo(argv[0], env))
		return -ENOENT;
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return -errno;
	manifest = cargo_option(argv, "--manifest-path");
	from = manifest ? joined(cwd, manifest) : strdup(cwd);
	if (!from)
		return -ENOMEM;
	if (manifest)
		to_parent(from);
	err = find_workspace(from, &root);
	if (err)
		return err;
	given = variable(env, "CARGO_BUILD_BUILD_DIR")
			?: cargo_option(argv, "--target-dir")
			?: variable(env, "CARGO_TARGET_DIR")
			?: variable(env, "CARGO_BUILD_TARGET_DIR");
	found = given ? joined(cwd, given) : find_configured(cwd, env) ?: joined(root, "target");
	if (!found)
		return -ENOMEM;
	/* A template, such as {workspace-path-hash}. */
	if (strchr(found, '{'))
		return -ENOENT;
	*workspace = take_ptr(root);
	*target = take_ptr(found);
	return 0;
}
