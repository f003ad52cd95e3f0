// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>

#include "analyze/verdict.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/signals.h"
#include "capture/privilege.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "proc/processes.h"
#include "stuck/watch.h"
#include "base/format.h"
#include "view/screen.h"
#include "view/stuck_view.h"

/* How often to check for new compilers and signals. */
#define STEP_MS 100

struct stuck {
	const struct cli_stuck_options *opt;
	struct watch *watch;
	struct screen *screen; /* NULL: blocks of lines, or JSON */
	struct stuck_style style;
	int keys_fd; /* Ctrl-Z */
};

static volatile sig_atomic_t ended_by;

static void on_signal(int sig)
{
	ended_by = sig;
}

static void stuck__clear(struct stuck *s)
{
	screen__free(s->screen);
	watch__free(s->watch);
	cleanup_close_p(&s->keys_fd);
}

/* Without SA_RESTART: a signal ends every wait. */
static int catch_signals(struct stuck *s)
{
	const struct sigaction act = {.sa_handler = on_signal};
	const sigset_t keys = signals_of((const int[]){SIGTSTP, 0});

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &keys, NULL);
	s->keys_fd = signalfd(-1, &keys, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->keys_fd < 0 ? diag_error_r(-errno, "signalfd: %s", strerror(errno)) : 0;
}

static int follow(struct stuck *s)
{
	unsigned int compilers = 0;
	char name[32];

	for (size_t i = 0; i < s->opt->pids.n; i++) {
		int err = watch__follow(s->watch, s->opt->pids.pids[i], &compilers);

		if (err == -ESRCH)
			diag_error("there is no process %d; it has exited, or the number is a "
				   "thread's. See \"pgrep -a rustc\"",
				   (int)s->opt->pids.pids[i]);
		if (err)
			return err;
	}
	if (compilers)
		return 0;
	process_name(s->opt->pids.pids[0], name, sizeof(name));
	diag_warn("process %d (%s) is no Rust compiler and runs none now",
		  (int)s->opt->pids.pids[0], name);
	return 0;
}

/* Cut lines and their number to the size of the terminal. */
static int draw_on_screen(struct stuck *s, const char *text)
{
	size_t lines, columns, n = 0, len = 0;
	_free_ char *shown = NULL;
	FILE *to = open_memstream(&shown, &len);

	if (!to)
		return -ENOMEM;
	screen__size(s->screen, &lines, &columns);
	for (const char *at = text; *at && n < lines; n++) {
		_free_ char *line = strndup(at, strcspn(at, "\n"));

		at += strcspn(at, "\n");
		at += *at == '\n';
		if (n + 1 == lines && *at)
			fputs("...\n", to);
		else if (line)
			fprintf(to, "%.*s\n", (int)format_fit(line, columns), line);
	}
	if (fclose(to))
		return -ENOMEM;
	return screen__draw(s->screen, shown, n);
}

static int show(struct stuck *s)
{
	_snapshot_ struct snapshot p = {0};
	_free_ char *text = NULL;
	size_t len = 0;
	FILE *to;
	int err = 0;

	for (size_t i = 0; i < s->opt->pids.n && !err; i++)
		err = watch__look(s->watch, s->opt->pids.pids[i], &p);
	if (err || ended_by)
		return err;
	if (s->opt->json) {
		err = stuck_json(stdout, &p);
		return fflush(stdout) && !err ? -errno : err;
	}
	to = open_memstream(&text, &len);
	err = to ? stuck_text(to, &p, &s->style) : -ENOMEM;
	if (to && fclose(to) && !err)
		err = -ENOMEM;
	if (err)
		return err;
	if (s->screen)
		return draw_on_screen(s, text);
	fputs(text, stdout);
	fputs(s->opt->once ? "" : "\n", stdout);
	return fflush(stdout) ? -errno : 0;
}

static bool is_over(const struct stuck *s)
{
	for (size_t i = 0; i < s->opt->pids.n; i++)
		if (process_is_running(s->opt->pids.pids[i]))
			return false;
	return true;
}

/* Until the next snapshot; attaches to compilers that are started meanwhile. */
static int wait_for_next(struct stuck *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until = now + s->opt->interval_ns;
	int err = 0;

	for (; now < until && !err && !ended_by && !is_over(s); now = clock_ns(CLOCK_MONOTONIC)) {
		struct pollfd keys = {.fd = s->keys_fd, .events = POLLIN};
		uint64_t ms = (until - now) / 1000000 + 1;
		struct signalfd_siginfo info;

		poll(&keys, 1, ms < STEP_MS ? (int)ms : STEP_MS);
		while (read(s->keys_fd, &info, sizeof(info)) == sizeof(info)) {
			err = watch__suspend(s->watch);
			if (err)
				diag_warn("cannot resume a compiler that is stopped: %s",
					  strerror(-err));
			screen__restore(s->screen);
			raise(SIGSTOP);
		}
		err = watch__drain(s->watch);
	}
	return err;
}

static int run(struct stuck *s)
{
	int err = 0;

	do {
		err = wait_for_next(s);
		if (!err && !ended_by && !is_over(s))
			err = show(s);
	} while (!err && !ended_by && !s->opt->once && !is_over(s));
	/* A closed pipe is not an error: its reader has seen enough. */
	if (err == -EPIPE || err == -EINTR)
		return 0;
	if (err)
		return diag_error_r(err, "cannot show what the compilers are doing: %s",
				    strerror(-err));
	screen__restore(s->screen);
	if (!ended_by && is_over(s))
		diag_info("process %d has exited", (int)s->opt->pids.pids[0]);
	return 0;
}

int cmd_stuck(const struct cli_stuck_options *o)
{
	__cleanup(stuck__clear) struct stuck s = {
		.opt = o,
		.keys_fd = -1,
		.style = {.full = o->full, .width = o->full ? 0 : screen_columns(stdout)},
	};
	uint64_t hits, lost;
	int err = 0;

	if (catch_signals(&s) || watch__open(&s.watch) || follow(&s))
		return EXIT_CODE_FAILURE;
	if (!o->json && !o->once)
		err = screen__new(stdout, &s.screen);
	if (err && err != -ENOTTY) {
		diag_error("out of memory");
		return EXIT_CODE_FAILURE;
	}
	s.style.color = s.screen && screen_wants_color();
	watch__start(s.watch);
	privilege_limit(false);
	if (run(&s))
		return EXIT_CODE_FAILURE;
	/* Queries of lost hits come from the stacks instead, as far as possible. */
	if (watch__hits(s.watch, &hits, &lost) || !verdict_is_most(lost, hits))
		return EXIT_CODE_OK;
	diag_error("%" PRIu64 " of %" PRIu64 " probe hits were lost: what is shown may be "
		   "incomplete; see \"qprof-bpf doctor\"",
		   lost, hits);
	return EXIT_CODE_LOST;
}
