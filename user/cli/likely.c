// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/likely.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/find.h"

/*
 * The rustc that a command given by its path runs: rustup's cargo and rustc are the same program,
 * in a directory that need not be in the PATH. NULL for a command that is found in the PATH.
 */
static char *rustc_beside(const char *command)
{
	const char *slash = strrchr(command, '/');
	char *rustc = NULL;

	if (!slash || asprintf(&rustc, "%.*s/rustc", (int)(slash - command), command) < 0)
		return NULL;
	if (!access(rustc, X_OK))
		return rustc;
	free(rustc);
	return NULL;
}

/* The library of the compiler that a command will run, as far as its words tell. */
static int find_library_of_command(char *const argv[], char **path)
{
	const char *toolchain = argv[1] && argv[1][0] == '+' ? argv[1] + 1 : NULL;
	_free_ char *beside = rustc_beside(argv[0]);

	if (strchr(argv[0], '/') && !plan_find__of_exe(argv[0], path))
		return 0;
	return plan_find__of_toolchain(beside ?: "rustc", toolchain, path);
}

static void *run(void *ctx)
{
	struct likely *l = ctx;

	l->err = find_library_of_command(l->argv, &l->path);
	return NULL;
}

void likely__start(struct likely *l, char *const argv[])
{
	static char *const nothing[] = {(char *)"", NULL};

	l->argv = argv ? argv : nothing;
	l->running = !pthread_create(&l->thread, NULL, run, l);
	if (!l->running)
		run(l);
}

int likely__finish(struct likely *l, const char **path)
{
	if (l->running)
		pthread_join(l->thread, NULL);
	l->running = false;
	*path = l->path;
	return l->err;
}

void likely__clear(struct likely *l)
{
	const char *path;

	likely__finish(l, &path);
	free(l->path);
	*l = (struct likely){0};
}
