// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/control.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/signals.h"
#include "proc/processes.h"

/* After a signal, the last output waits for a reader no longer than this. */
#define READER_MS  3000
#define TWINS_NS   50000000
#define TWINS_MOST 4

int control__open(struct control *c, bool has_command)
{
	static const int always[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGTSTP, 0};
	static const int command[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGCHLD, SIGTSTP,
				      SIGQUIT, SIGUSR1, SIGUSR2, 0};
	const sigset_t set = signals_of(has_command ? command : always);

	/* A reader of our output that goes away (`| head`) must not end the recording. */
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->fd < 0 ? diag_error_r(-errno, "signalfd: %s%s", strerror(errno),
					diag_step(-errno, ""))
			 : 0;
}

static void mask_interrupts(int how)
{
	const sigset_t set = signals_of((const int[]){SIGINT, 0});

	sigprocmask(how, &set, NULL);
}

/*
 * The first interrupt ends the recording in order; from then on the next one has its default
 * effect, whatever we are waiting for.
 */
static void end_recording(struct control *c)
{
	c->stop = true;
	mask_interrupts(SIG_UNBLOCK);
}

static bool ends_recording(uint32_t sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}

/*
 * timeout(1) sends its signal to its child and then to its group, and some CI services do likewise:
 * those that come at almost the same time are one, and not a person who wants no more of us.
 */
static void take_twins(uint32_t sig)
{
	const sigset_t set = signals_of((const int[]){(int)sig, 0});
	const struct timespec apart = {.tv_nsec = TWINS_NS};

	for (int i = 0; i < TWINS_MOST && sigtimedwait(&set, NULL, &apart) > 0; i++)
		;
}

static void take_one(struct control *c, const struct signalfd_siginfo *info)
{
	bool has_key = info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT;

	switch (info->ssi_signo) {
	case SIGCHLD:
		if (c->launch && launch__reap(c->launch, false, &c->child_status) == 1)
			c->child_done = c->stop = true;
		return;
	case SIGTSTP:
		if (c->suspend)
			c->suspend(c->suspend_ctx);
		raise(SIGSTOP);
		return;
	}
	/*
	 * Pass on the signals that the command would get without us. The terminal sends the signals
	 * of its keys to the command too. All other signals reach only us, and so do these if a
	 * process sent them.
	 */
	if (c->launch && (!has_key || info->ssi_code <= 0))
		launch__signal(c->launch, (int)info->ssi_signo);
	if ((c->runs_on && !c->child_done) || !ends_recording(info->ssi_signo))
		return;
	c->signal = (int)info->ssi_signo;
	c->n_signals++;
	take_twins(info->ssi_signo);
	/* From here on, drop lines instead of waiting for their reader. */
	diag_drop_blocked(true);
	end_recording(c);
}

void control__take(struct control *c)
{
	struct signalfd_siginfo info;

	while (read(c->fd, &info, sizeof(info)) == sizeof(info))
		take_one(c, &info);
}

bool control__runs_on(struct control *c)
{
	char name[PROCESS_NAME_MAX];

	if (c->child_done || c->signal)
		return false;
	process_name(launch__pid(c->launch), name, sizeof(name));
	/* rustup's cargo executes the toolchain's, and a script of another name may execute cargo.
	 */
	if (!strcmp(name, "cargo"))
		c->is_cargo = true;
	else if (strcmp(name, "?"))
		c->runs_on = c->is_cargo;
	return c->runs_on;
}

int control__wait(struct control *c, int fd, int ms)
{
	struct pollfd fds[] = {
		{.fd = c->fd, .events = POLLIN},
		{.fd = fd, .events = POLLIN},
	};
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(ms > 0 ? ms : 0) * 1000000;

	while (!c->signal && fd >= 0 && !fds[1].revents) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (ms >= 0 && now_ns >= until_ns)
			return -ETIME;
		if (poll(fds, N_OF(fds), ms < 0 ? -1 : (int)((until_ns - now_ns) / 1000000 + 1)) <
			    0 &&
		    errno != EINTR)
			break;
		control__take(c);
	}
	return c->signal ? -EINTR : 0;
}

bool control__wait_for_reader(void *control, int written_fd)
{
	struct control *c = control;
	struct pollfd fds[] = {
		{.fd = written_fd, .events = POLLIN},
		{.fd = c->fd, .events = POLLIN},
	};

	for (;;) {
		static const int patience_ms[] = {-1, READER_MS, 0};
		int n = poll(fds, 2, patience_ms[c->n_signals < 2 ? c->n_signals : 2]);

		if (!n || (n < 0 && errno != EINTR))
			return false;
		if (n > 0 && fds[0].revents)
			return true;
		control__take(c);
	}
}

bool control__waits_for_stderr(void *control)
{
	struct control *c = control;

	control__take(c);
	return !c->signal;
}

bool control__is_interrupted(void *control)
{
	struct control *c = control;
	unsigned int before = c->n_signals;

	control__take(c);
	return c->n_signals > before;
}

void control__block_interrupts(void)
{
	mask_interrupts(SIG_BLOCK);
}

void control__wait_for_command(struct control *c)
{
	struct pollfd fd = {.fd = c->fd, .events = POLLIN};

	/* The terminal sends its keys' signals to the program, which may do with them as it likes.
	 */
	if (!c->runs_on)
		end_recording(c);
	control__take(c);
	while (!c->child_done && (poll(&fd, 1, -1) >= 0 || errno == EINTR))
		control__take(c);
}

void control__destroy(struct control *c)
{
	launch__free(take_ptr(c->launch));
	cleanup_close_p(&c->fd);
}
