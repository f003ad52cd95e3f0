// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * `qprof-bpf top`: shows a growing trace on the terminal. Another process records, started by us or
 * not: a failure of the view never affects the recording, and the view shows what the trace will
 * hold.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/signals.h"
#include "capture/recordings.h"
#include "cli/cmd.h"
#include "options/exit_code.h"
#include "record/background.h"
#include "record/follow.h"
#include "record/follow_items.h"
#include "record/launch.h"
#include "record/trace_output.h"
#include "view/top_terminal.h"

#define START_MS 20 /* between looks at whether the recording has begun */
/* Items are read for so long at a time, as keys wait meanwhile. */
#define ITEMS_NS 100000000ull

struct watch {
	struct background background; /* the recording that we started */
	struct follow follow;
	struct follow_items items;
	bool has_items; /* somebody looked at them */
	struct top *top;
	struct top_nows now;
	char *title;
	int writer_fd; /* readable once the other process that writes the trace is gone; or -1 */
	bool has_grown;
	uint64_t interval_ns;
	uint64_t next_ns;
	int signal_fd;
	int signal; /* the signal that ended the view, or 0 */
	bool left;
};

static void watch__destroy(struct watch *w)
{
	top__free(w->top);
	follow_items__destroy(&w->items);
	follow__destroy(&w->follow);
	background__destroy(&w->background);
	free(w->title);
	cleanup_close_p(&w->writer_fd);
	cleanup_close_p(&w->signal_fd);
}

/* Take a pending signal; 0: none. */
static int next_signal(const struct watch *w)
{
	struct signalfd_siginfo info;

	return read(w->signal_fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

static bool ends_view(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}

/* ---- The source of the trace ----------------------------------------------------------------- */

static int follow_file(struct watch *w, const char *path, const char *title, pid_t writer)
{
	struct trace_reader *reader = NULL;
	int err;

	w->title = strdup(title);
	if (!w->title)
		return diag_error_r(-ENOMEM, "out of memory");
	if (writer)
		w->writer_fd = (int)syscall(SYS_pidfd_open, writer, 0);
	err = cmd_open_trace(path, &reader);
	if (err)
		return err;
	err = follow__init(&w->follow, reader);
	return err ? diag_error_r(err, "cannot read %s: %s", path, strerror(-err)) : 0;
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

/* Reads other processes' descriptors, which needs rights to them. */
static int find_running(struct recordings *r)
{
	int err = find_recordings(r);

	if (err || r->n == 1)
		return err;
	if (!r->n && r->hidden)
		return diag_error_r(-EPERM, "a recording runs here, but we may not look for its "
					    "trace: use sudo, or name the trace");
	if (!r->n)
		return diag_error_r(-ENOENT, "no recording runs here; name a trace, or record: "
					     "\"qprof-bpf top -p PID\" or \"qprof-bpf top -- "
					     "COMMAND\"");
	diag_error("%zu recordings run here; name the trace of one:", r->n);
	for (size_t i = 0; i < r->n; i++)
		diag_error("  qprof-bpf top %s (process %d)", r->at[i].file, (int)r->at[i].pid);
	return -EEXIST;
}

/* Pass on the recording's messages meanwhile, because a first plan takes seconds. */
static int wait_for_beginning(struct watch *w)
{
	struct pollfd fds[] = {
		{.fd = w->background.begun_fd, .events = POLLIN},
		{.fd = w->signal_fd, .events = POLLIN},
	};

	while (!background__begun(&w->background)) {
		int sig = next_signal(w);

		background__pass_on(&w->background);
		if (ends_view(sig))
			background__stop(&w->background, sig);
		/* The recording has printed the reason. */
		if (background__ended(&w->background))
			return -ECHILD;
		if (poll(fds, 2, START_MS) < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* ---- The view -------------------------------------------------------------------------------- */

/* A trace whose writer is unknown counts as being written once it has grown. */
static enum top_source source_of(struct watch *w)
{
	struct pollfd writer = {.fd = w->writer_fd, .events = POLLIN};
	bool writes;

	if (w->follow.over)
		return trace_reader__ended(w->follow.reader) ? TOP_FINISHED : TOP_UNFINISHED;
	if (w->background.pid > 0)
		writes = !background__ended(&w->background);
	else if (w->writer_fd >= 0)
		writes = poll(&writer, 1, 0) <= 0;
	else
		writes = w->has_grown;
	return writes ? TOP_RECORDING : TOP_UNFINISHED;
}

static int refresh_data(struct watch *w, bool first)
{
	const struct trace_info *info = trace_reader__info(w->follow.reader);
	/* Before the read, so that the read gets the last records of a writer that has ended. */
	enum top_source source = source_of(w);
	struct top_data data = {
		.summary = w->follow.model.summary,
		.threads = w->follow.model.threads,
		.names = &w->follow.model.options.texts,
		.hot = w->follow.model.hot,
		.llvm = w->follow.model.llvm,
		.title = w->title,
		.start_ns = info->clock_start_ns,
		.now = &w->now,
		.reader = w->follow.reader,
		.items = w->has_items ? &w->items.list : NULL,
		.items_left = w->items.n_left,
	};
	bool more;
	int err = follow__read(&w->follow, &more);

	if (!err && more && w->follow.model.samples)
		err = model__show_samples(&w->follow.model);
	if (err)
		return err;
	background__now(&w->background, &w->now);
	w->has_grown |= more && !first;
	data.samples = w->follow.model.samples;
	data.losses = w->follow.model.has_losses ? &w->follow.model.losses : NULL;
	data.source = w->follow.over ? source_of(w) : source;
	data.now_ns = summary__end_ns(w->follow.model.summary);
	if (data.source == TOP_RECORDING && info->clock == TRACE_CLOCK_MONOTONIC)
		data.now_ns = clock_ns(CLOCK_MONOTONIC);
	if (data.source != TOP_RECORDING)
		top_data__span_build(&data);
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

static int wait_for_something(struct watch *w)
{
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = w->signal_fd, .events = POLLIN},
	};
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool reads_items = w->items.n_left && top__wants_items(w->top);
	int ms = w->next_ns > now && !reads_items ? (int)((w->next_ns - now) / 1000000) + 1 : 0;
	int key, err = 0;

	if (poll(fds, 2, ms) < 0 && errno != EINTR)
		return -errno;
	on_signals(w);
	/* Keys first: typed input stays readable after the terminal is gone. */
	if (fds[0].revents & POLLIN) {
		while (!err && !w->left && (key = top_terminal__key()) >= 0)
			err = top__key(w->top, key, &w->left);
		return err;
	}
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
		if (!err && clock_ns(CLOCK_MONOTONIC) >= w->next_ns) {
			if (!top__paused(w->top))
				err = refresh_data(w, false);
			w->next_ns = clock_ns(CLOCK_MONOTONIC) + w->interval_ns;
		}
		if (err || !top__wants_items(w->top))
			continue;
		err = follow_items__read(&w->items, &w->follow,
					 clock_ns(CLOCK_MONOTONIC) + ITEMS_NS);
		w->has_items = true;
		err = err ?: top__set_items(w->top, &w->items.list, w->items.n_left);
	}
	return err;
}

static int view(struct watch *w)
{
	int err = top__new(&w->top) ?: top_terminal__open() ?: show(w);

	top_terminal__close();
	return err ? diag_error_r(err, "the view of %s ends: %s", w->title, strerror(-err)) : 0;
}

/* ---- The end --------------------------------------------------------------------------------- */

/* Exit with the recording's status. */
static _Noreturn void end_recording(struct watch *w, bool is_command)
{
	struct pollfd fds[] = {
		{.fd = w->background.ended_fd, .events = POLLIN},
		{.fd = w->signal_fd, .events = POLLIN},
	};
	int sig;

	if (w->signal || !is_command)
		background__stop(&w->background, is_command ? w->signal : SIGTERM);
	else if (!background__ended(&w->background))
		diag_info("the command continues, and is still recorded; Ctrl-C interrupts it");
	/* The command continues to its end; from here on its output is printed. */
	while (!background__ended(&w->background)) {
		background__pass_on(&w->background);
		poll(fds, 2, START_MS);
		while ((sig = next_signal(w))) {
			if (sig == SIGTSTP)
				raise(SIGSTOP);
			else if (ends_view(sig))
				background__stop(&w->background, sig);
		}
	}
	background__pass_on(&w->background);
	launch__exit_like(w->background.status);
}

static int not_shown(const char *missing)
{
	return diag_error_r(-ENOTTY,
			    "top needs a terminal: %s. \"qprof-bpf record\" prints blocks of lines "
			    "anywhere, and \"qprof-bpf report\" shows a trace",
			    missing);
}

/*
 * Start the recording process, or look for a running one, while we have the rights for that. Then
 * drop the rights, before a trace or a description of the terminal is read.
 */
static int open_trace(struct watch *w, const struct cli_top_options *o)
{
	const sigset_t set =
		signals_of((const int[]){SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0});
	bool records = cli_ways_to_record(&o->record);
	_recordings_ struct recordings running = {};
	const struct recording *one;
	const char *unfit;
	int err;

	/* Before our signals are blocked, so that the command gets its usual signal mask. */
	err = records ? background__prepare(&w->background, &o->record) : 0;
	if (!err) {
		sigprocmask(SIG_BLOCK, &set, NULL);
		w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
		if (w->signal_fd < 0)
			err = diag_error_r(-errno, "signalfd: %s", strerror(errno));
	}
	if (!err && !records && !o->file)
		err = find_running(&running);
	err = err ?: cmd_drop_rights();
	unfit = err ? NULL : top_terminal__unfit();
	if (unfit)
		err = not_shown(unfit);
	if (err) {
		background__destroy(&w->background);
		return err;
	}

	if (records) {
		background__go(&w->background);
		return wait_for_beginning(w)
			       ?: follow_file(w, o->record.output, o->record.output, 0);
	}
	if (o->file)
		return follow_given(w, o->file);
	/*
	 * Open the trace by its name if the user may read it, because the recording's descriptor
	 * may no longer be accessible.
	 */
	one = running.at;
	return follow_file(w, access(one->path, R_OK) ? one->file : one->path, one->file, one->pid);
}

/* The recording's status, or the view's. */
static int end(struct watch *w, bool is_command, int err)
{
	if (w->background.pid > 0)
		end_recording(w, is_command);
	if (err)
		return EXIT_CODE_FAILURE;
	return w->signal && w->signal != SIGINT ? EXIT_CODE_SIGNAL + w->signal : EXIT_CODE_OK;
}

int cmd_top(const struct cli_top_options *given)
{
	__cleanup(watch__destroy) struct watch w = {
		.background = BACKGROUND_NONE,
		.interval_ns = cli_interval_ns(&given->record),
		.writer_fd = -1,
		.signal_fd = -1,
	};
	struct cli_top_options o = *given;
	const char *missing = top_terminal__missing();
	char name[TRACE_OUTPUT_NAME_MAX];
	int err;

	if (!o.record.output) {
		trace_output__default_name(name);
		o.record.output = name;
	}
	err = (missing ? not_shown(missing) : open_trace(&w, &o)) ?: view(&w);
	return end(&w, o.record.command, err);
}
