// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file_writer.h"
#include "cli/commands.h"

/*
 * SIGTERM when the other end of `fd` is closed, by whatever end its owner finds. (The signal of
 * PR_SET_PDEATHSIG would be forgotten when file rights change hands.)
 */
static int end_with(int fd)
{
	if (fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETSIG, SIGTERM) ||
	    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK))
		return -errno;
	return 0;
}

/* `lifeline` ends us, `begun` is to be told. */
static _Noreturn void be_recorder(const struct cli_record_options *given, int lifeline, int begun,
				  int log)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct cli_record_options o = *given;

	/* A command that opened the terminal itself would write over the view. */
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	if (!o.command && end_with(lifeline))
		diag_warn("if qprof-bpf top is killed, this recording must be ended by hand");
	o.begun_fd = begun;
	exit(cmd_record(&o));
}

static int start(struct background *b, const struct cli_record_options *o)
{
	int life[2] = {-1, -1}, begun[2] = {-1, -1}, err = 0;

	b->log = memfd_create("qprof-bpf log", MFD_CLOEXEC);
	if (b->log < 0 || pipe2(life, O_CLOEXEC) || pipe2(begun, O_CLOEXEC))
		err = -errno;
	b->lifeline = life[1];
	b->begun_fd = begun[0];
	if (!err) {
		b->pid = fork();
		err = b->pid < 0 ? -errno : 0;
	}
	if (!err && !b->pid) {
		close(b->lifeline);
		close(b->begun_fd);
		be_recorder(o, life[0], begun[1], b->log);
	}
	cleanup_close_p(&life[0]);
	cleanup_close_p(&begun[1]);
	if (err)
		return err;
	b->ended_fd = (int)syscall(SYS_pidfd_open, b->pid, 0);
	return b->ended_fd < 0 ? -errno : 0;
}

int background__start(struct background *b, const struct cli_record_options *o)
{
	int err = start(b, o);

	return err ? diag_error_r(err, "cannot start recording: %s", strerror(-err)) : 0;
}

bool background__begun(const struct background *b)
{
	struct pollfd fd = {.fd = b->begun_fd, .events = POLLIN};

	return poll(&fd, 1, 0) > 0 && fd.revents & POLLIN;
}

bool background__ended(struct background *b)
{
	if (!b->has_ended && b->pid > 0)
		b->has_ended = waitpid(b->pid, &b->status, WNOHANG) == b->pid;
	return b->has_ended || b->pid <= 0;
}

void background__tell(struct background *b)
{
	struct file_writer to = {.fd = STDERR_FILENO};
	char bytes[4096];
	ssize_t n;

	fflush(stderr);
	while ((n = pread(b->log, bytes, sizeof(bytes), b->told)) > 0) {
		b->told += n;
		/* If nobody reads it, it cannot be told. */
		file_writer__write(&to, bytes, (size_t)n);
	}
}

void background__stop(struct background *b, int sig)
{
	cleanup_close_p(&b->lifeline);
	b->lifeline = -1;
	if (b->pid > 0 && !b->has_ended && sig)
		kill(b->pid, sig);
}

void background__destroy(struct background *b)
{
	cleanup_close_p(&b->lifeline);
	cleanup_close_p(&b->ended_fd);
	cleanup_close_p(&b->begun_fd);
	cleanup_close_p(&b->log);
	*b = (struct background)BACKGROUND_NONE;
}
