// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * `qprof-bpf top`: a trace that grows, on the terminal. Whoever records is another process, ours or
 * not: what goes wrong with a screen never touches a recording, and what is seen is what the trace
 * will hold.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/diag.h"
#include "capture/launch.h"
#include "capture/recordings.h"
#include "cli/background.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/feed.h"
#include "view/top_terminal.h"

#define START_MS 20 /* between looks at whether the recording has begun */

struct watch {
	struct background background; /* the recording that we started */
	struct feed feed;
	struct top *top;
	struct view_names names;
	char *title;
	int writer_fd; /* readable once the other process that writes the trace is gone; or -1 */
	bool has_grown;
	uint64_t interval_ns;
	uint64_t next_ns;
	int signal_fd;
	int signal; /* that ended the view, or 0 */
	bool left;
};

static void watch__destroy(struct watch *w)
{
	top__free(w->top);
	feed__destroy(&w->feed);
	background__destroy(&w->background);
	free(w->title);
	cleanup_close_p(&w->writer_fd);
	cleanup_close_p(&w->signal_fd);
}

static int block_signals(struct watch *w)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signal_fd < 0 ? diag_error_r(-errno, "signalfd: %s", strerror(errno)) : 0;
}

/* A signal that came; 0: none. */
static int next_signal(const struct watch *w)
{
	struct signalfd_siginfo info;

	return read(w->signal_fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

static bool ends_view(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}

/* ---- Where the trace comes from -------------------------------------------------------------- */

static int follow_file(struct watch *w, const char *path, const char *title, pid_t writer)
{
	w->title = strdup(title);
	if (!w->title)
		return diag_error_r(-ENOMEM, "out of memory");
	if (writer)
		w->writer_fd = (int)syscall(SYS_pidfd_open, writer, 0);
	return feed__open(&w->feed, path);
}

static int find_recordings(struct recordings *r)
{
	int err = recordings__find("", r);

	return err ? diag_error_r(err, "cannot look for recordings: %s", strerror(-err)) : 0;
}

static int follow_given(struct watch *w, const char *path)
{
	_recordings_ struct recordings r = {};
	int err = find_recordings(&r);

	return err ?: follow_file(w, path, path, recordings__writer_of(&r, path));
}

static int follow_running(struct watch *w)
{
	_recordings_ struct recordings r = {};
	int err = find_recordings(&r);

	if (err)
		return err;
	if (r.n == 1)
		return follow_file(w, r.at[0].path, r.at[0].file, r.at[0].pid);
	if (!r.n && r.hidden)
		return diag_error_r(-EPERM,
				    "a recording runs here, but its trace may not be looked "
				    "for: use sudo, or name the trace");
	if (!r.n)
		return diag_error_r(-ENOENT, "no recording runs here; name a trace, or record: "
					     "\"qprof-bpf top -p PID\" or \"qprof-bpf top -- "
					     "COMMAND\"");
	diag_error("%zu recordings run here; name the trace of one:", r.n);
	for (size_t i = 0; i < r.n; i++)
		diag_error("  qprof-bpf top %s (process %d)", r.at[i].file, (int)r.at[i].pid);
	return -EEXIST;
}

/* What it says meanwhile (a first plan takes seconds) is passed on. */
static int wait_for_beginning(struct watch *w)
{
	struct pollfd fds[] = {
		{.fd = w->background.begun_fd, .events = POLLIN},
		{.fd = w->signal_fd, .events = POLLIN},
	};

	while (!background__begun(&w->background)) {
		int sig = next_signal(w);

		background__tell(&w->background);
		if (ends_view(sig))
			background__stop(&w->background, sig);
		/* It has told why. */
		if (background__ended(&w->background))
			return -ECHILD;
		if (poll(fds, 2, START_MS) < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

static int record_and_follow(struct watch *w, const struct cli_record_options *given)
{
	struct cli_record_options o = *given;
	char name[CMD_TRACE_NAME_MAX];
	int err;

	if (!o.output) {
		cmd_default_trace_name(name);
		o.output = name;
	}
	/* Before our signals are blocked: the command gets what it would without us. */
	err = background__start(&w->background, &o);
	if (!err)
		err = block_signals(w);
	if (!err)
		err = wait_for_beginning(w);
	return err ?: follow_file(w, o.output, o.output, 0);
}

/* ---- The view -------------------------------------------------------------------------------- */

static const char *string_of(const void *ctx, uint32_t id)
{
	return trace_reader__string(ctx, id);
}

static bool is_gone(int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

/* Whose writer cannot be seen is believed to be written as long as nothing says otherwise. */
static enum top_source source_of(struct watch *w)
{
	bool writes;

	if (w->feed.over)
		return trace_reader__ended(w->feed.reader) ? TOP_FINISHED : TOP_UNFINISHED;
	if (w->background.pid > 0)
		writes = !background__ended(&w->background);
	else if (w->writer_fd >= 0)
		writes = !is_gone(w->writer_fd);
	else
		writes = w->has_grown;
	return writes ? TOP_RECORDING : TOP_UNFINISHED;
}

static int refresh_data(struct watch *w, bool first)
{
	const struct trace_info *info = trace_reader__info(w->feed.reader);
	/* Asked first: what it writes as its last is read then. */
	enum top_source source = source_of(w);
	struct top_data data = {
		.summary = w->feed.summary,
		.threads = w->feed.threads,
		.names = &w->names,
		.title = w->title,
		.start_ns = info->clock_start_ns,
	};
	bool more;
	int err = feed__read(&w->feed, &more);

	if (err)
		return err;
	w->has_grown |= more && !first;
	data.losses = w->feed.has_losses ? &w->feed.losses : NULL;
	data.source = w->feed.over ? source_of(w) : source;
	data.now_ns = summary__end_ns(w->feed.summary);
	if (data.source == TOP_RECORDING && info->clock == TRACE_CLOCK_MONOTONIC)
		data.now_ns = clock_ns(CLOCK_MONOTONIC);
	if (data.now_ns < data.start_ns)
		data.now_ns = data.start_ns;
	return top__update(w->top, &data);
}

static void on_signals(struct watch *w)
{
	int sig;

	while ((sig = next_signal(w))) {
		switch (sig) {
		case SIGWINCH:
			break;
		case SIGTSTP:
			top_terminal__suspend();
			raise(SIGSTOP);
			break;
		default:
			w->signal = sig;
			w->left = true;
		}
	}
}

static int on_keys(struct watch *w)
{
	int key, err = 0;

	while (!err && !w->left && (key = top_terminal__key()) >= 0)
		err = top__key(w->top, key, &w->left);
	return err;
}

static int wait_ms(const struct watch *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return w->next_ns > now ? (int)((w->next_ns - now) / 1000000) + 1 : 0;
}

static int wait_for_something(struct watch *w)
{
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = w->signal_fd, .events = POLLIN},
	};

	if (poll(fds, 2, wait_ms(w)) < 0 && errno != EINTR)
		return -errno;
	on_signals(w);
	/* Keys first: the terminal may be gone, and what was typed still there. */
	if (fds[0].revents & POLLIN)
		return on_keys(w);
	if (fds[0].revents)
		w->left = true;
	return 0;
}

static int show(struct watch *w)
{
	int err = refresh_data(w, true);

	w->next_ns = clock_ns(CLOCK_MONOTONIC) + w->interval_ns;
	while (!err && !w->left) {
		err = top_terminal__draw(w->top) ?: wait_for_something(w);
		if (err || clock_ns(CLOCK_MONOTONIC) < w->next_ns)
			continue;
		if (!top__paused(w->top))
			err = refresh_data(w, false);
		w->next_ns = clock_ns(CLOCK_MONOTONIC) + w->interval_ns;
	}
	return err;
}

static int view(struct watch *w)
{
	int err = top__new(&w->top) ?: top_terminal__open();

	if (!err)
		err = show(w);
	top_terminal__close();
	return err ? diag_error_r(err, "the view of %s ends: %s", w->title, strerror(-err)) : 0;
}

/* ---- The end --------------------------------------------------------------------------------- */

/* The command goes on to its end, and what it prints is seen from here on. */
static void wait_for_recording(struct watch *w)
{
	struct pollfd fds[] = {
		{.fd = w->background.ended_fd, .events = POLLIN},
		{.fd = w->signal_fd, .events = POLLIN},
	};
	int sig;

	while (!background__ended(&w->background)) {
		background__tell(&w->background);
		poll(fds, 2, START_MS);
		while ((sig = next_signal(w))) {
			if (sig == SIGTSTP)
				raise(SIGSTOP);
			else if (ends_view(sig))
				background__stop(&w->background, sig);
		}
	}
	background__tell(&w->background);
}

/* The recording's status is ours. */
static _Noreturn void end_recording(struct watch *w, bool is_command)
{
	if (w->signal || !is_command)
		background__stop(&w->background, is_command ? w->signal : 0);
	else if (!background__ended(&w->background))
		diag_info("the command goes on, and is still recorded; Ctrl-C interrupts it");
	wait_for_recording(w);
	launch__exit_like(w->background.status);
}

static int open_trace(struct watch *w, const struct cli_top_options *o,
		      const struct cli_record_options *record)
{
	int err;

	if (cli_ways_to_record(record))
		return record_and_follow(w, record);
	err = block_signals(w);
	if (err)
		return err;
	return o->file ? follow_given(w, o->file) : follow_running(w);
}

int cmd_top(const struct cli_top_options *o, const struct cli_record_options *record)
{
	__cleanup(watch__destroy) struct watch w = {
		.background = BACKGROUND_NONE,
		.names = {.text = string_of},
		.interval_ns = record->interval_ns,
		.writer_fd = -1,
		.signal_fd = -1,
	};
	const char *missing = top_terminal__missing();
	int err;

	if (missing) {
		diag_error("top needs a terminal: %s. \"qprof-bpf record\" prints blocks of lines "
			   "anywhere, and \"qprof-bpf report\" shows a trace",
			   missing);
		return EXIT_CODE_FAILURE;
	}
	err = open_trace(&w, o, record);
	w.names.ctx = w.feed.reader;
	if (!err)
		err = view(&w);
	if (w.background.pid > 0)
		end_recording(&w, record->command);
	if (err)
		return EXIT_CODE_FAILURE;
	return w.signal && w.signal != SIGINT ? EXIT_CODE_SIGNAL + w.signal : EXIT_CODE_OK;
}
