// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/file_writer.h"
#include "base/rights.h"
#include "base/signals.h"
#include "options/exit_code.h"
#include "record/record.h"

/* The first byte through the lifeline; the numbers of signals follow. */
#define GO 0

struct relay {
	int lifeline;
	bool ends_with_it;
};

/* The view reads untrusted traces: it may only end or suspend the recording. */
static bool may_relay(uint8_t sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT || sig == SIGTSTP;
}

/*
 * The view has given up the rights that a signal to us may take, so we send ours to ourselves. The
 * thread needs no capability for this. (The kernel clears PR_SET_PDEATHSIG when file rights
 * change.)
 */
static void *relay_signals(void *ctx)
{
	struct relay *r = ctx;
	uint8_t sig;

	rights__limit(0);
	while (read(r->lifeline, &sig, 1) == 1)
		if (may_relay(sig))
			kill(getpid(), sig);
	if (r->ends_with_it)
		kill(getpid(), SIGTERM);
	return NULL;
}

/* `lifeline` starts and ends the recording, which writes to `begun` once it has begun. */
static _Noreturn void be_recorder(const struct cli_record_options *given, int lifeline, int begun,
				  int now, int log)
{
	static struct relay relay;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct cli_record_options o = *given;
	pthread_t thread;
	uint8_t go;

	if (read(lifeline, &go, 1) != 1)
		_exit(EXIT_CODE_FAILURE);
	/* A command that opened the terminal itself would write over the view. */
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	/* The other thread takes every signal. */
	relay = (struct relay){lifeline, !o.command};
	if (signals_start_thread(&thread, NULL, relay_signals, &relay))
		diag_warn("if qprof-bpf top is killed, this recording must be ended by hand");
	o.begun_fd = begun;
	o.now_fd = now;
	exit(record_run(&o, NULL));
}

static int start(struct background *b, const struct cli_record_options *o)
{
	_close_ int its_life = -1, its_begun = -1, its_now = -1;
	int life[2], begun[2], now[2];

	b->log = memfd_create("qprof-bpf log", MFD_CLOEXEC);
	if (b->log < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life))
		return -errno;
	its_life = life[0];
	b->lifeline = life[1];
	if (pipe2(begun, O_CLOEXEC))
		return -errno;
	b->begun_fd = begun[0];
	its_begun = begun[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, now))
		return -errno;
	its_now = now[0];
	b->now_fd = now[1];
	b->pid = fork();
	if (b->pid < 0)
		return -errno;
	if (!b->pid) {
		close(b->lifeline);
		close(b->begun_fd);
		close(b->now_fd);
		be_recorder(o, its_life, its_begun, its_now, b->log);
	}
	b->ended_fd = (int)syscall(SYS_pidfd_open, b->pid, 0);
	return b->ended_fd < 0 ? -errno : 0;
}

int background__prepare(struct background *b, const struct cli_record_options *o)
{
	int err = start(b, o);

	return err ? diag_error_r(err, "cannot start recording: %s%s", strerror(-err),
				  diag_step(err, ""))
		   : 0;
}

/* An error is ignored: background__ended() notices a recording that is gone. */
static void send_byte(const struct background *b, uint8_t byte)
{
	send(b->lifeline, &byte, 1, MSG_NOSIGNAL);
}

void background__go(struct background *b)
{
	send_byte(b, GO);
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

void background__pass_on(struct background *b)
{
	struct file_writer to = {.fd = STDERR_FILENO};
	char bytes[4096];
	ssize_t n;

	fflush(stderr);
	while ((n = pread(b->log, bytes, sizeof(bytes), b->passed_on)) > 0) {
		b->passed_on += n;
		/* An error of stderr cannot be reported. */
		file_writer__write(&to, bytes, (size_t)n);
	}
}

void background__now(const struct background *b, struct top_nows *out)
{
	struct top_nows got;

	while (b->now_fd >= 0 && recv(b->now_fd, &got, sizeof(got), MSG_DONTWAIT) == sizeof(got)) {
		*out = got;
		if (out->n > TOP_NOW_MAX)
			out->n = TOP_NOW_MAX;
		for (uint32_t i = 0; i < out->n; i++) {
			out->at[i].name[sizeof(out->at[i].name) - 1] = '\0';
			out->at[i].item[sizeof(out->at[i].item) - 1] = '\0';
		}
	}
}

void background__stop(struct background *b, int sig)
{
	if (b->pid > 0 && !b->has_ended)
		send_byte(b, (uint8_t)sig);
}

void background__destroy(struct background *b)
{
	cleanup_close_p(&b->lifeline);
	cleanup_close_p(&b->ended_fd);
	cleanup_close_p(&b->begun_fd);
	cleanup_close_p(&b->now_fd);
	cleanup_close_p(&b->log);
	*b = (struct background)BACKGROUND_NONE;
}
