// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define ARGS_MOST 32

static const char *const always[] = {
	"git",
	"--no-optional-locks",
	"--no-pager",
	"-c",
	"core.fsmonitor=false",
	"-c",
	"core.hooksPath=/dev/null",
	"-c",
	"protocol.allow=never",
	/* git log would run the program that checks signatures. */
	"-c",
	"log.showSignature=false",
};

/* It asks nobody, fetches nothing, and takes the repository from the directory alone. */
static void set_environment(void)
{
	static const char *const without[] = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
					      "GIT_COMMON_DIR", "GIT_TRACE"};

	for (size_t i = 0; i < N_OF(without); i++)
		unsetenv(without[i]);
	setenv("GIT_TERMINAL_PROMPT", "0", 1);
	setenv("GIT_NO_LAZY_FETCH", "1", 1);
	/* Unlike protocol.allow, a repository cannot overrule it; older gits fetch lazily. */
	setenv("GIT_ALLOW_PROTOCOL", "", 1);
	setenv("GIT_SSH_COMMAND", "false", 1);
	setenv("LC_ALL", "C", 1);
}

static void __attribute__((noreturn))
exec_git(const struct git *g, const char *const *args, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *argv[ARGS_MOST];
	size_t n = 0;
	sigset_t none;

	/* A process group, so that processes which git starts end with it. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (size_t i = 0; i < N_OF(always); i++)
		argv[n++] = always[i];
	for (; *args && n + 1 < ARGS_MOST; args++)
		argv[n++] = *args;
	argv[n] = NULL;
	set_environment();
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || chdir(g->directory))
		_exit(127);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

/* Wait for output. 1, 0 if there is no time left, or a negative errno. */
static int wait_for(struct git *g, int fd)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n = poll(&p, 1, g->left_ms), err = n < 0 ? -errno : n;
	uint64_t ms = (clock_ns(CLOCK_MONOTONIC) - begun) / 1000000;

	g->left_ms = ms < (uint64_t)g->left_ms ? g->left_ms - (int)ms : 0;
	return err == -EINTR ? 1 : err;
}

/* Read until the end of the line, of the output, or of the buffer. */
static int read_line(struct git *g, int fd, char *line, size_t size)
{
	size_t len = 0;

	for (;;) {
		int err = wait_for(g, fd);
		ssize_t n = err > 0 ? read(fd, line + len, size - 1 - len) : 0;

		if (err <= 0)
			return err ?: -ETIMEDOUT;
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

/* An answer that was read to the end of its line needs no more of git. */
static int end_git(pid_t pid, bool ended, int err)
{
	int status = 0;

	if (!ended)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (err || !ended)
		return err;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ENOENT;
}

int git__ask(struct git *g, const char *const *args, char *line, size_t size)
{
	_close_ int from = -1, to = -1;
	int pipes[2], err;
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
	return end_git(pid, !err && !*line, err);
}
