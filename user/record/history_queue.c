// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/history_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/first_environ.h"
#include "base/invoker.h"
#include "base/rights.h"
#include "options/exit_code.h"

#define PAUSE_NS  10000000
#define SECOND_NS UINT64_C(1000000000)
/* Traces that wait at a time. More of them come from no builds that a store could keep up with. */
#define PATHS_MOST 4096

struct history_queue {
	struct history_options options;
	pthread_mutex_t lock; /* of what follows */
	char **paths;
	uint32_t n;
	uint32_t capacity;
	uint64_t dropped;
	bool failed; /* one is not in the history */
	/* Of the thread that records. */
	void (*tell)(void *ctx, const char *path); /* or NULL */
	void *tell_ctx;
	pid_t pid;   /* that adds one, or 0 */
	char *added; /* the path of that one */
};

int history_queue__new(const struct history_options *o, struct history_queue **out)
{
	struct history_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->options = *o;
	pthread_mutex_init(&q->lock, NULL);
	*out = q;
	return 0;
}

/* False for the first one that is dropped: what follows it is counted. */
static bool keep_path(struct history_queue *q, const char *path)
{
	_free_ char *copy = strdup(path);
	_unlock_ pthread_mutex_t *held = locked(&q->lock);

	if (!copy || q->n >= PATHS_MOST || array__add(&q->paths, &q->n, &q->capacity, &copy)) {
		q->failed = true;
		return q->dropped++;
	}
	take_ptr(copy);
	return true;
}

void history_queue__put(struct history_queue *q, const char *path)
{
	if (!keep_path(q, path))
		diag_warn("%s is not in the history: too many traces wait; add what is left with "
			  "\"history add\"",
			  path);
}

/* The oldest path, which the caller frees; or NULL. */
static char *take(struct history_queue *q)
{
	_unlock_ pthread_mutex_t *held = locked(&q->lock);
	char *path;

	if (!q->n)
		return NULL;
	path = q->paths[0];
	memmove(q->paths, q->paths + 1, --q->n * sizeof(*q->paths));
	return path;
}

struct child {
	char *const *argv;
	char *const *environ;
	pid_t pid;
	int err;
};

/* With the signals of a program that is started by hand. */
static int spawn(struct child *c)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int err;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	err = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
		      ?: posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO)
			      ?: posix_spawn(&c->pid, "/proc/self/exe", &files, &attributes, c->argv,
					     c->environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -err;
}

static void *spawn_without_rights(void *child)
{
	struct child *c = child;

	c->err = rights__renounce() ?: spawn(c);
	return NULL;
}

/*
 * A child of root would have the capabilities of its parent again, and has no use for them unless
 * it changes its ids. Capabilities belong to threads: one that ends at once gives them up.
 */
static int spawn_from_thread(struct child *c)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, spawn_without_rights, c);

	if (err)
		return -err;
	pthread_join(thread, NULL);
	return c->err;
}

/* Pointers to the same texts; the caller frees the array. */
static char **environ_without_sudo(char *const *from)
{
	size_t n = 0;
	char **env;

	while (from[n])
		n++;
	env = calloc(n + 1, sizeof(*env));
	for (n = 0; env && *from; from++)
		if (strncmp(*from, "SUDO_", strlen("SUDO_")))
			env[n++] = (char *)*from;
	return env;
}

/* `history add` becomes the invoker. */
static bool becomes_another(void)
{
	_invoker_ struct invoker inv = {};

	return invoker__get(&inv) || inv.sudo;
}

static int spawn_for_owner(struct history_queue *q, char *const argv[])
{
	_free_ char **env = q->options.ours ? environ_without_sudo(first_environ()) : NULL;
	struct child c = {.argv = argv, .environ = env ?: first_environ()};
	int err;

	if (q->options.ours && !env)
		return -ENOMEM;
	err = q->options.ours || !becomes_another() ? spawn_from_thread(&c) : spawn(&c);
	if (!err)
		q->pid = c.pid;
	return err;
}

static int start(struct history_queue *q, const char *path)
{
	const char *argv[12] = {"qprof-bpf", "history", "add"};
	size_t n = 3;

	if (q->options.store) {
		argv[n++] = "--store";
		argv[n++] = q->options.store;
	}
	if (q->options.label) {
		argv[n++] = "--label";
		argv[n++] = q->options.label;
	}
	if (q->options.with_commands)
		argv[n++] = "--with-commands";
	if (q->options.quiet)
		argv[n++] = "--quiet";
	argv[n++] = "--";
	argv[n] = path;
	return spawn_for_owner(q, (char *const *)argv);
}

void history_queue__tell(struct history_queue *q, void (*added)(void *ctx, const char *path),
			 void *ctx)
{
	q->tell = added;
	q->tell_ctx = ctx;
}

/* Whether there is nothing left to do: a trace that cannot be read is not tried again. */
static bool is_dealt_with(int status)
{
	return WIFEXITED(status) &&
	       (WEXITSTATUS(status) == EXIT_CODE_OK || WEXITSTATUS(status) == EXIT_CODE_DAMAGED);
}

/* One that could not be added may be added by the next recording, and so may those after it. */
static bool all_are_added(struct history_queue *q, bool added)
{
	_unlock_ pthread_mutex_t *held = locked(&q->lock);

	q->failed |= !added;
	return !q->failed;
}

/* Note the end of the process that runs, which has said what went wrong. */
static void reap(struct history_queue *q)
{
	int status;

	if (!q->pid || waitpid(q->pid, &status, WNOHANG) != q->pid)
		return;
	q->pid = 0;
	if (all_are_added(q, is_dealt_with(status)) && q->tell)
		q->tell(q->tell_ctx, q->added);
	if (WIFSIGNALED(status))
		diag_warn("%s is not in the history: signal %d ended \"history add\"", q->added,
			  WTERMSIG(status));
}

void history_queue__tick(struct history_queue *q)
{
	int err;

	reap(q);
	if (q->pid)
		return;
	free(q->added);
	q->added = take(q);
	err = q->added ? start(q, q->added) : 0;
	if (!err)
		return;
	all_are_added(q, false);
	diag_warn("%s is not in the history: cannot start \"history add\": %s", q->added,
		  strerror(-err));
}

static uint64_t left(struct history_queue *q)
{
	_unlock_ pthread_mutex_t *held = locked(&q->lock);

	return q->n;
}

void history_queue__finish(struct history_queue *q, unsigned int seconds, history_queue_ends *ends,
			   void *ctx)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + seconds * SECOND_NS, rest;

	for (;;) {
		history_queue__tick(q);
		if ((!q->pid && !left(q)) || clock_ns(CLOCK_MONOTONIC) > end_ns || ends(ctx))
			break;
		nanosleep(&pause, NULL);
	}
	rest = left(q) + q->dropped;
	if (q->pid) {
		rest++;
		kill(q->pid, SIGTERM);
		waitpid(q->pid, NULL, 0);
		q->pid = 0;
	}
	if (rest)
		diag_warn("%lu build%s not in the history yet: add %s with \"history add\"",
			  (unsigned long)rest, rest == 1 ? " is" : "s are",
			  rest == 1 ? "its trace" : "their traces");
}

void history_queue__free(struct history_queue *q)
{
	if (!q)
		return;
	for (uint32_t i = 0; i < q->n; i++)
		free(q->paths[i]);
	free(q->paths);
	free(q->added);
	pthread_mutex_destroy(&q->lock);
	free(q);
}
