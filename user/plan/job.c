// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file_writer.h"
#include "plan/codec.h"

#define READ_BYTES 65536 /* what a pipe holds */

struct plan_job {
	pid_t pid; /* 0 once it was waited for */
	int fd;
	char *path;
	uint8_t *bytes;
	size_t len;
	size_t capacity;
	bool ended; /* the child has closed its end */
};

/*
 * A probe's link is there for as long as anybody holds it: one that the parent closes while a plan
 * is made would stay, and fire beside the one that replaces it.
 */
static void close_all_but(unsigned int fd)
{
	if (fd > STDERR_FILENO + 1)
		syscall(SYS_close_range, STDERR_FILENO + 1, fd - 1, 0);
	syscall(SYS_close_range, (fd > STDERR_FILENO ? fd : STDERR_FILENO) + 1, ~0u, 0);
}

/* The exit status is the errno. Signals are the parent's to handle, but the one for its death. */
static __attribute__((noreturn)) void run(const char *path, int nice, int fd, pid_t parent)
{
	struct file_writer w = {.fd = fd};
	_plan_ struct plan *plan = NULL;
	_free_ uint8_t *bytes = NULL;
	size_t len = 0;
	int err;

	/* Not the recording thread's: a build goes on beside it. */
	setpriority(PRIO_PROCESS, 0, nice);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	close_all_but((unsigned int)fd);
	err = plan__load(path, &plan);
	if (!err)
		err = plan_encode(plan, &bytes, &len);
	if (!err)
		err = file_writer__write(&w, bytes, len);
	_exit(-err);
}

int plan_job__start(const char *path, int nice, struct plan_job **out)
{
	_plan_job_ struct plan_job *j = calloc(1, sizeof(*j));
	pid_t parent = getpid();
	_close_ int theirs = -1;
	int pair[2];

	if (!j)
		return -ENOMEM;
	j->fd = -1;
	j->path = strdup(path);
	if (!j->path)
		return -ENOMEM;
	if (pipe2(pair, O_CLOEXEC))
		return -errno;
	j->fd = pair[0];
	theirs = pair[1];
	fcntl(j->fd, F_SETFL, O_NONBLOCK);
	fflush(NULL);
	j->pid = fork();
	if (j->pid < 0) {
		j->pid = 0;
		return -errno;
	}
	if (!j->pid)
		run(path, nice, theirs, parent);
	*out = take_ptr(j);
	return 0;
}

int plan_job__fd(const struct plan_job *j)
{
	return j->fd;
}

static int make_room(struct plan_job *j)
{
	size_t capacity = j->capacity ? j->capacity * 2 : 4 * READ_BYTES;
	uint8_t *bytes;

	if (j->capacity - j->len >= READ_BYTES)
		return 0;
	bytes = realloc(j->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	j->bytes = bytes;
	j->capacity = capacity;
	return 0;
}

int plan_job__read(struct plan_job *j)
{
	while (!j->ended) {
		int err = make_room(j);
		ssize_t n = err ? -1 : read(j->fd, j->bytes + j->len, READ_BYTES);

		if (err)
			return err;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		j->ended = n == 0;
		j->len += (size_t)n;
	}
	return 1;
}

static int wait_for_child(struct plan_job *j, int *status)
{
	while (waitpid(j->pid, status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	j->pid = 0;
	return 0;
}

int plan_job__finish(struct plan_job *j, struct plan **out)
{
	struct pollfd pfd = {.fd = j->fd, .events = POLLIN};
	int err, status;

	while ((err = plan_job__read(j)) == 0)
		poll(&pfd, 1, -1);
	if (err > 0)
		err = wait_for_child(j, &status);
	if (err)
		return diag_error_r(err, "cannot read %s: %s", j->path, strerror(-err));
	if (WIFSIGNALED(status))
		return diag_error_r(-EIO,
				    "cannot read %s: reading it ended with signal %d; see whether "
				    "the file is being replaced",
				    j->path, WTERMSIG(status));
	return WEXITSTATUS(status) ? -WEXITSTATUS(status) : plan_decode(j->bytes, j->len, out);
}

void plan_job__free(struct plan_job *j)
{
	int status;

	if (!j)
		return;
	cleanup_close_p(&j->fd);
	if (j->pid) {
		kill(j->pid, SIGKILL);
		wait_for_child(j, &status);
	}
	free(j->path);
	free(j->bytes);
	free(j);
}
