// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/toolchain_guess.h"

#include <errno.h>
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
static void *run(void *ctx)
{
	struct toolchain_guess *l = ctx;
	char *const *argv = l->argv;
	const char *toolchain = argv[1] && argv[1][0] == '+' ? argv[1] + 1 : NULL;
	_free_ char *beside = rustc_beside(argv[0]);

	l->err = strchr(argv[0], '/') ? plan_find__of_exe(argv[0], &l->path) : -ENOENT;
	if (l->err)
		l->err = plan_find__of_toolchain(beside ?: "rustc", toolchain, &l->asked, &l->path);
	if (l->done_fd >= 0)
		eventfd_write(l->done_fd, 1);
	return NULL;
}

void toolchain_guess__start(struct toolchain_guess *l, char *const argv[])
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

int toolchain_guess__done_fd(const struct toolchain_guess *l)
{
	return l->running ? l->done_fd : -1;
}

void toolchain_guess__give_up(struct toolchain_guess *l)
{
	struct pollfd done = {.fd = l->done_fd, .events = POLLIN};

	for (int i = 0; l->running && !done.revents; i++) {
		plan_find__give_up(&l->asked, i < PATIENCE ? SIGTERM : SIGKILL);
		poll(&done, 1, RETRY_MS);
	}
}

int toolchain_guess__finish(struct toolchain_guess *l, const char **path)
{
	if (l->running) {
		pthread_join(l->thread, NULL);
		close(l->done_fd);
	}
	l->running = false;
	*path = l->path;
	return l->err && l->asked.given_up ? -ETIME : l->err;
}

static bool is_one_of(const char *word, const char *const words[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* The subcommand of cargo; NULL: there is none. */
static char *const *find_subcommand(char *const argv[])
{
	/* Options before it whose value is the next word. */
	static const char *const valued[] = {"-C", "-Z", "--color", "--config"};

	for (; *argv; argv++) {
		if (**argv != '-' && **argv != '+')
			return argv;
		if (is_one_of(*argv, valued, N_OF(valued)) && !*++argv)
			return NULL;
	}
	return NULL;
}

/* By the options of a subcommand; those of the compiler or the program come after "--". */
static bool is_dev_profile(char *const argv[])
{
	static const char *const release[] = {"--release", "-r"};
	const char *profile = NULL;

	for (; *argv && strcmp(*argv, "--"); argv++) {
		if (is_one_of(*argv, release, N_OF(release)))
			return false;
		if (!strncmp(*argv, "--profile=", 10))
			profile = *argv + 10;
		else if (!strcmp(*argv, "--profile") && argv[1])
			profile = *++argv;
	}
	return !profile || !strcmp(profile, "dev") || !strcmp(profile, "test");
}

/* Cargo compiles the crates of a workspace incrementally, unless they are to be optimized. */
static bool is_incremental(char *const argv[])
{
	static const char *const dev[] = {"build", "b", "check", "c",	   "test", "t",
					  "run",   "r", "fix",	 "clippy", "rustc"};
	const char *set = getenv("CARGO_INCREMENTAL");
	char *const *subcommand;

	if (strcmp(basename(argv[0]), "cargo"))
		return false;
	subcommand = find_subcommand(argv + 1);
	if (!subcommand || !is_one_of(*subcommand, dev, N_OF(dev)))
		return false;
	return set && *set ? strcmp(set, "0") != 0 : is_dev_profile(subcommand + 1);
}

uint32_t toolchain_guess_parts(char *const argv[])
{
	static const char *const variables[] = {"RUSTFLAGS", "RUSTDOCFLAGS",
						"CARGO_BUILD_RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"};
	uint32_t parts = 0;

	for (size_t i = 0; i < N_OF(variables); i++)
		parts |= parts_asked_for(getenv(variables[i]) ?: "");
	for (size_t i = 0; argv && argv[i]; i++)
		parts |= parts_asked_for(argv[i]);
	if (argv && argv[0] && is_incremental(argv))
		parts |= PLAN_PART_BIT(PLAN_PART_INCREMENTAL);
	return parts;
}

void toolchain_guess__clear(struct toolchain_guess *l)
{
	const char *path;

	toolchain_guess__give_up(l);
	toolchain_guess__finish(l, &path);
	free(l->path);
	*l = (struct toolchain_guess){0};
}
