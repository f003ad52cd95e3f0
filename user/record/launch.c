// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/launch.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/first_environ.h"
#include "base/invoker.h"

#define EXIT_NOT_RUN 127

struct launch {
	pid_t pid;
	int sock; /* the child's end is closed by its exec; -1 once launch__go() is done */
	bool reaped;
	int status;
	struct rusage usage; /* of it and its children, once it is reaped */
};

static struct {
	sigset_t mask;
	sigset_t ignored;
} inherited;

void launch__save_signals(void)
{
	struct sigaction sa;

	sigprocmask(SIG_SETMASK, NULL, &inherited.mask);
	sigemptyset(&inherited.ignored);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN)
			sigaddset(&inherited.ignored, sig);
}

void launch__restore_signals(void)
{
	/* Our handlers must not run in the child, not even before its exec resets them. */
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		signal(sig, sigismember(&inherited.ignored, sig) == 1 ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
}

static ssize_t read_retry(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static void run_child(int sock, const struct invoker *inv, char *const argv[], char **env)
{
	int err;
	char go;

	launch__restore_signals();
	err = -invoker__become(inv);
	if (!err) {
		if (read_retry(sock, &go, 1) != 1)
			_exit(EXIT_NOT_RUN);
		environ = env; /* its PATH, not ours, finds the command */
		execvp(argv[0], argv);
		err = errno;
	}
	send(sock, &err, sizeof(err), MSG_NOSIGNAL);
	_exit(EXIT_NOT_RUN);
}

int launch__prepare(char *const argv[], struct launch **out)
{
	_invoker_ struct invoker inv = {};
	_environ_ char **env = NULL;
	_launch_ struct launch *l = NULL;
	_close_ int theirs = -1;
	sigset_t all, mask;
	int err, pair[2];

	err = invoker__get(&inv) ?: invoker__environ(&inv, environ_before_sudo(), &env);
	if (err)
		return err;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->sock = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	l->sock = pair[0];
	theirs = pair[1];

	/* Not all streams: another thread may be reading one, and would hold its lock. */
	fflush(stdout);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	l->pid = fork();
	if (l->pid == 0) {
		close(l->sock);
		run_child(theirs, &inv, argv, env);
	}
	err = l->pid < 0 ? -errno : 0;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (err)
		return err;
	*out = take_ptr(l);
	return 0;
}

pid_t launch__pid(const struct launch *l)
{
	return l->pid;
}

int launch__go(struct launch *l)
{
	ssize_t n;
	int err = 0;

	/* An error means that the child is gone: the read below finds out why. */
	send(l->sock, "", 1, MSG_NOSIGNAL);
	n = read_retry(l->sock, &err, sizeof(err));
	close(take_fd(l->sock));
	if (n != sizeof(err))
		return 0;
	while (launch__reap(l, true, &l->status) == -EINTR)
		;
	return -err;
}

int launch__signal(const struct launch *l, int sig)
{
	if (l->reaped)
		return -ESRCH;
	return kill(l->pid, sig) ? -errno : 0;
}

/*
 * 1: the child has ended; 0: not yet; or a negative errno. A wait would also consume the stops of a
 * child that another thread of ours traces (ptrace_stop.h).
 */
static int has_ended(pid_t pid, bool block)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG)))
			return -errno;
		if (!info.si_pid)
			return 0;
		if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			return 1;
		if (!block)
			return 0;
		nanosleep(&pause, NULL);
	}
}

int launch__reap(struct launch *l, bool block, int *status)
{
	int err;

	if (!l->reaped) {
		err = has_ended(l->pid, block);
		if (err <= 0)
			return err;
		if (wait4(l->pid, &l->status, 0, &l->usage) < 0)
			return -errno;
		l->reaped = true;
	}
	*status = l->status;
	return 1;
}

uint64_t launch__cpu_ns(const struct launch *l)
{
	return clock_of_usage(&l->usage);
}

void launch__exit_like(int status)
{
	const struct rlimit no_core = {0, 0};
	sigset_t one;
	int sig;

	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	sig = WTERMSIG(status);
	fflush(NULL);
	/* Only the child's core dump is useful. A core pattern that is a pipe ignores the limit. */
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(sig);
	_exit(128 + sig);
}

void launch__free(struct launch *l)
{
	if (!l)
		return;
	if (l->sock >= 0) {
		close(l->sock);
		while (l->pid > 0 && launch__reap(l, true, &l->status) == -EINTR)
			;
	}
	free(l);
}
