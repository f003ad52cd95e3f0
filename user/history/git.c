// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/own_path.h"

#define ARGS_MOST     32
#define GIT_DIRECTORY "gitdir: "

/* ---- The repository -------------------------------------------------------------------------- */

/* Real paths: without links. */
struct repository {
	char *top;    /* the directory with .git */
	char *own;    /* of this worktree: HEAD, index, logs */
	char *common; /* of all worktrees: objects, refs */
};

static void repository__clear(struct repository *r)
{
	free(r->top);
	free(r->own);
	free(r->common);
}

/* A path in a file of `directory` may be relative to that. */
static char *real_path(const char *directory, const char *path)
{
	_free_ char *joined = NULL;

	if (asprintf(&joined, "%s/%s", *path == '/' ? "" : directory, path) < 0)
		return NULL;
	return realpath(joined, NULL);
}

/* Like git, not beyond the file system. */
static char *find_top(const char *directory)
{
	_free_ char *at = realpath(directory, NULL);
	struct stat st, first;

	if (!at || stat(at, &first))
		return NULL;
	while (!stat(at, &st) && st.st_dev == first.st_dev) {
		_free_ char *dot_git = real_path(at, ".git");
		char *slash = strrchr(at, '/');

		if (dot_git)
			return take_ptr(at);
		if (!at[1])
			return NULL;
		slash[slash == at] = 0;
	}
	return NULL;
}

/* .git is a file in a linked worktree and in a submodule. */
static char *find_own(const char *top)
{
	_free_ char *dot_git = real_path(top, ".git");
	_free_ char *line = NULL;
	struct stat st;

	if (!dot_git || stat(dot_git, &st))
		return NULL;
	if (S_ISDIR(st.st_mode))
		return take_ptr(dot_git);
	line = regular_file__line(AT_FDCWD, dot_git);
	if (!line || strncmp(line, GIT_DIRECTORY, strlen(GIT_DIRECTORY)))
		return NULL;
	return real_path(top, line + strlen(GIT_DIRECTORY));
}

static char *find_common(const char *own)
{
	_free_ char *name = NULL;
	_free_ char *line = NULL;

	if (asprintf(&name, "%s/commondir", own) < 0)
		return NULL;
	line = regular_file__line(AT_FDCWD, name);
	if (!line)
		return errno == ENOENT ? strdup(own) : NULL;
	return real_path(own, line);
}

/*
 * Like git, a user only asks about own repositories. root asks about those that nobody else can
 * change or replace: below a sticky directory, such as /tmp, only root can replace root's.
 */
static bool is_ours(const char *real)
{
	_free_ char *at = strdup(real);
	mode_t allowed = 0;
	struct stat st;

	if (!at || lstat(at, &st) || st.st_uid != geteuid())
		return false;
	while (!geteuid()) {
		char *slash = strrchr(at, '/');

		if (st.st_uid || (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & allowed)))
			return false;
		if (!at[1])
			break;
		slash[slash == at] = 0;
		allowed = S_ISVTX;
		if (lstat(at, &st))
			return false;
	}
	return true;
}

static int find_repository(struct repository *r, const char *directory)
{
	r->top = find_top(directory);
	r->own = r->top ? find_own(r->top) : NULL;
	r->common = r->own ? find_common(r->own) : NULL;
	if (!r->common)
		return -ENOENT;
	return is_ours(r->top) && is_ours(r->own) && is_ours(r->common) ? 0 : -EPERM;
}

/* ---- A directory of our own ------------------------------------------------------------------ */

static const char *const of_worktree[] = {"index", "logs"};
static const char *const of_all[] = {"objects", "refs", "packed-refs", "info"};

static int link_names(const char *from, int to, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_free_ char *target = NULL;

		if (asprintf(&target, "%s/%s", from, names[i]) < 0)
			return -ENOMEM;
		if (symlinkat(target, to, names[i]))
			return -errno;
	}
	return 0;
}

static int write_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "a");

	return !f || fprintf(f, "%s\n", text) < 0 || fflush(f) ? -errno : 0;
}

/* git takes a HEAD that is a link for a branch's name, so it is copied. */
static int fill_directory(const struct repository *r, int dir)
{
	_free_ char *name = NULL;
	_free_ char *head = NULL;
	int err;

	if (asprintf(&name, "%s/HEAD", r->own) < 0)
		return -ENOMEM;
	head = regular_file__line(AT_FDCWD, name);
	err = head ? write_file(dir, "HEAD", head) : -errno;
	err = err ?: link_names(r->own, dir, of_worktree, N_OF(of_worktree));
	err = err ?: link_names(r->common, dir, of_all, N_OF(of_all));
	return err
		       ?: write_file(dir, "config",
				     "[core]\nbare = false\nrepositoryFormatVersion = 1");
}

/* Settings without which git would misread the repository; they name no program. */
static const struct {
	const char *key, *value, *section, *line;
} kept[] = {
	{"core.fileMode", "false", "[core]", "fileMode = false"},
	{"core.symlinks", "false", "[core]", "symlinks = false"},
	{"extensions.objectFormat", "sha256", "[extensions]", "objectFormat = sha256"},
};

static int copy_settings(struct git *g, const char *common)
{
	_free_ char *file = NULL;
	char value[16];
	int err = asprintf(&file, "%s/config", common) < 0 ? -ENOMEM : 0;

	for (size_t i = 0; i < N_OF(kept) && !err; i++) {
		const char *const args[] = {"config", "--file",	   file, "--no-includes",
					    "--get",  kept[i].key, NULL};

		if (git__ask(g, args, value, sizeof(value)) || strcasecmp(value, kept[i].value))
			continue;
		err = write_file(g->fd, "config", kept[i].section)
			      ?: write_file(g->fd, "config", kept[i].line);
	}
	return err;
}

static void unlink_all(int dir, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		unlinkat(dir, names[i], 0);
}

void git__close(struct git *g)
{
	static const char *const written[] = {"HEAD", "config"};

	if (g->fd >= 0) {
		unlink_all(g->fd, written, N_OF(written));
		unlink_all(g->fd, of_worktree, N_OF(of_worktree));
		unlink_all(g->fd, of_all, N_OF(of_all));
		close(g->fd);
		rmdir(g->directory);
	}
	free(g->directory);
	free(g->work_tree);
	*g = GIT_NONE;
}

static int make_directory(struct git *g)
{
	_free_ char *state = xdg__path(XDG_STATE, "qprof-bpf");
	_free_ char *path = NULL, *real = NULL;
	int err = state ? xdg__make(state) : -ENOMEM;

	if (!err && asprintf(&path, "%s/git.XXXXXX", state) < 0)
		err = -ENOMEM;
	if (!err && !mkdtemp(path))
		err = -errno;
	real = err ? NULL : realpath(path, NULL);
	/* Who can replace it can name programs in it. */
	if (!err && (!real || !is_ours(real))) {
		rmdir(path);
		err = -EPERM;
	}
	if (err) {
		diag_warn("git is not asked, as no directory can be made in %s: %s; set "
			  "XDG_STATE_HOME to one of yours, or give --commit",
			  state ?: "the home directory", strerror(-err));
		return err;
	}
	g->directory = take_ptr(path);
	g->fd = open(g->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return g->fd < 0 ? -errno : 0;
}

int git__open(struct git *g, const char *directory)
{
	__cleanup(repository__clear) struct repository r = {};
	int err = find_repository(&r, directory);

	*g = GIT_NONE;
	if (err)
		return err;
	g->left_ms = GIT_MS;
	g->work_tree = take_ptr(r.top);
	err = make_directory(g) ?: fill_directory(&r, g->fd);
	return err ?: copy_settings(g, r.common);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void __attribute__((noreturn))
exec_git(const struct git *g, const char *const *args, int out)
{
	/* git has no settings but those in our directory: the user's own may name filters too. */
	static const char *const fixed[][2] = {
		{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GIT_ATTR_NOSYSTEM", "1"},
		{"GIT_OPTIONAL_LOCKS", "0"},
		{"GIT_TERMINAL_PROMPT", "0"},
		{"GIT_NO_LAZY_FETCH", "1"},
		{"GIT_ALLOW_PROTOCOL", ""},
		{"LC_ALL", "C"},
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *argv[ARGS_MOST] = {"git", "--no-pager"};
	char *path = strdup(getenv("PATH") ?: "/usr/bin:/bin");
	size_t n = 2;
	sigset_t none;

	/* A process group, so that processes which git starts end with it. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	for (; *args && n + 1 < ARGS_MOST; args++)
		argv[n++] = *args;
	if (!path || clearenv())
		_exit(127);
	setenv("PATH", path, 1);
	setenv("HOME", g->directory, 1);
	setenv("GIT_DIR", g->directory, 1);
	setenv("GIT_WORK_TREE", g->work_tree, 1);
	for (size_t i = 0; i < N_OF(fixed); i++)
		setenv(fixed[i][0], fixed[i][1], 1);
	/* Not in the repository: PATH may have a relative directory. */
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || chdir("/"))
		_exit(127);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

/* Read until the end of the line, of the output, or of the buffer. */
static int read_line(struct git *g, int fd, char *line, size_t size)
{
	size_t len = 0;

	for (;;) {
		uint64_t begun = clock_ns(CLOCK_MONOTONIC), ms;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int ready = poll(&p, 1, g->left_ms), err = ready < 0 ? -errno : 0;
		ssize_t n;

		ms = (clock_ns(CLOCK_MONOTONIC) - begun) / 1000000;
		g->left_ms = ms < (uint64_t)g->left_ms ? g->left_ms - (int)ms : 0;
		if (!ready)
			return -ETIMEDOUT;
		if (err && err != -EINTR)
			return err;
		n = read(fd, line + len, size - 1 - len);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
		line[len] = 0;
		if (!n || len + 1 == size || strchr(line, '\n'))
			break;
	}
	line[strcspn(line, "\n")] = 0;
	return 0;
}

int git__ask(struct git *g, const char *const *args, char *line, size_t size)
{
	_close_ int from = -1, to = -1;
	int pipes[2], status = 0, err;
	bool ended;
	pid_t pid;

	*line = 0;
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	from = pipes[0];
	to = pipes[1];
	fcntl(to, F_SETFL, 0);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		exec_git(g, args, to);
	setpgid(pid, pid);
	close(take_fd(to));
	err = read_line(g, from, line, size);
	/* An answer that was read to the end of its line needs no more of git. */
	ended = !err && !*line;
	if (!ended)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!ended)
		return err;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ENOENT;
}
