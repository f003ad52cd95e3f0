// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/likely.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/parts_needed.h"

/* The number of SIGTERMs that rustc gets before SIGKILL. */
#define PATIENCE 50
#define RETRY_MS 10

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

/* The library of the compiler that a command will most likely run, judged by its arguments. */
static int find_library_of_command(char *const argv[], struct plan_find_asked *asked, char **path)
{
	const char *toolchain = argv[1] && argv[1][0] == '+' ? argv[1] + 1 : NULL;
	_free_ char *beside = rustc_beside(argv[0]);

	if (strchr(argv[0], '/') && !plan_find__of_exe(argv[0], path))
		return 0;
	return plan_find__of_toolchain(beside ?: "rustc", toolchain, asked, path);
}

static void *run(void *ctx)
{
	struct likely *l = ctx;

	l->err = find_library_of_command(l->argv, &l->asked, &l->path);
	if (l->done_fd >= 0)
		eventfd_write(l->done_fd, 1);
	return NULL;
}

void likely__start(struct likely *l, char *const argv[])
{
	static char *const nothing[] = {(char *)"", NULL};

	l->argv = argv ? argv : nothing;
	pthread_mutex_init(&l->asked.lock, NULL);
	l->asked.given_up = false;
	l->done_fd = eventfd(0, EFD_CLOEXEC);
	l->running = l->done_fd >= 0 && !pthread_create(&l->thread, NULL, run, l);
	if (!l->running)
		run(l);
}

int likely__done_fd(const struct likely *l)
{
	return l->running ? l->done_fd : -1;
}

int likely__finish(struct likely *l, const char **path)
{
	if (l->running) {
		pthread_join(l->thread, NULL);
		close(l->done_fd);
	}
	l->running = false;
	*path = l->path;
	return l->err;
}

uint32_t likely_parts(char *const argv[])
{
	static const char *const variables[] = {"RUSTFLAGS", "RUSTDOCFLAGS",
						"CARGO_BUILD_RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"};
	uint32_t parts = 0;

	for (size_t i = 0; i < N_OF(variables); i++)
		parts |= parts_asked_for(getenv(variables[i]) ?: "");
	for (size_t i = 0; argv && argv[i]; i++)
		parts |= parts_asked_for(argv[i]);
	return parts;
}

static void stop(struct likely *l)
{
	struct pollfd done = {.fd = l->done_fd, .events = POLLIN};

	for (int i = 0; !done.revents; i++) {
		plan_find__give_up(&l->asked, i < PATIENCE ? SIGTERM : SIGKILL);
		poll(&done, 1, RETRY_MS);
	}
}

void likely__clear(struct likely *l)
{
	const char *path;

	if (l->running)
		stop(l);
	likely__finish(l, &path);
	free(l->path);
	*l = (struct likely){0};
}
