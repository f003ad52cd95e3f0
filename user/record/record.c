// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * `qprof-bpf [record]`: set up, watch until the recording is over, write it down. Set-up begins
 * with the steps that are most likely to fail. The end begins with the steps that the build waits
 * for.
 */
#include "record/record.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/signals.h"
#include "capture/privilege.h"
#include "capture/session.h"
#include "options/exit_code.h"
#include "plan/library/find.h"
#include "proc/processes.h"
#include "proc/programs.h"
#include "record/filter_asked.h"
#include "record/history_queue.h"
#include "record/launch.h"
#include "record/likely.h"
#include "record/limit_asked.h"
#include "record/recorder.h"
#include "record/samples_asked.h"
#include "record/trace_output.h"
#include "record/traces.h"

/* After a signal, the last output waits for a reader no longer than this. */
#define READER_MS 3000
/*
 * At the end, what is not in the history stays out of it after this time: of one trace, for which
 * its user waits, and of those of a service that is being stopped.
 */
#define HISTORY_SECONDS 600
#define SERVICE_SECONDS 30
/* The interval of drains when few records wait: it limits the delay of the live view. */
#define DRAIN_MS 50

struct capture {
	const struct cli_record_options *opt;
	recorder_report_fn report;
	struct filter *filter;
	bool queries_only; /* the default: the kernel has only perf events */
	struct budget_limit limit;
	bool shows_now; /* what compilers are in, somewhere */
	struct recorder *recorder;
	struct traces *traces;	       /* in its place, with a trace for each build */
	struct history_queue *history; /* or NULL */
	char *output;		       /* the path of the one trace */
	struct session *session;
	struct begun begun;
	struct launch *launch; /* NULL with pids */
	struct likely likely;
	int *pidfds; /* -1 once that process has exited */
	size_t n_pidfds;
	int signal_fd;
	uint64_t next_tick_ns;
	uint64_t set_up_ns; /* CPU time of this process until the recording began */
	bool child_done;
	int child_status;
	int signal;		/* the signal that ended the recording, or 0 */
	unsigned int n_signals; /* such signals so far */
	bool stop;
};

static void capture_fini(struct capture *c)
{
	likely__clear(&c->likely);
	begun__clear(&c->begun);
	session__free(c->session);
	recorder__free(c->recorder);
	traces__free(c->traces);
	history_queue__free(c->history);
	free(c->output);
	filter__free(c->filter);
	launch__free(c->launch);
	for (size_t i = 0; i < c->n_pidfds; i++)
		cleanup_close_p(&c->pidfds[i]);
	free(c->pidfds);
	diag_wait_with(-1, NULL, NULL);
	cleanup_close_p(&c->signal_fd);
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static int block_signals(struct capture *c)
{
	static const int always[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGTSTP, 0};
	static const int command[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGCHLD, SIGTSTP,
				      SIGQUIT, SIGUSR1, SIGUSR2, 0};
	const sigset_t set = signals_of(c->opt->command ? command : always);

	launch__save_signals();
	/* A reader of our output that goes away (`| head`) must not end the recording. */
	signal(SIGPIPE, SIG_IGN);
	/* A trace that exceeds RLIMIT_FSIZE is handled like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signal_fd < 0 ? diag_error_r(-errno, "signalfd: %s", strerror(errno)) : 0;
}

/*
 * The first interrupt ends the recording in order; from then on the next one has its default
 * effect, whatever we are waiting for.
 */
static void end_recording(struct capture *c)
{
	const sigset_t set = signals_of((const int[]){SIGINT, 0});

	c->stop = true;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/*
 * Pass on the signals that the command would get without us. The terminal sends the signals of its
 * keys to the command too. All other signals reach only us, and so do these if a process sent them.
 */
static void pass_on(const struct capture *c, const struct signalfd_siginfo *info)
{
	bool has_key = info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT;

	if (c->launch && (!has_key || info->ssi_code <= 0))
		launch__signal(c->launch, (int)info->ssi_signo);
}

static bool ends_recording(uint32_t sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}

/* A compiler that waits for its probes must not wait until the user types "fg". */
static void suspend(struct capture *c)
{
	int err = c->session ? session__suspend(c->session) : 0;

	if (err)
		diag_warn("some of what was recorded is lost: %s", strerror(-err));
	if (c->recorder)
		recorder__leave_terminal(c->recorder);
	raise(SIGSTOP);
}

static void on_signals(struct capture *c)
{
	struct signalfd_siginfo info;

	while (read(c->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			if (c->launch && launch__reap(c->launch, false, &c->child_status) == 1)
				c->child_done = c->stop = true;
			continue;
		}
		if (info.ssi_signo == SIGTSTP) {
			suspend(c);
			continue;
		}
		pass_on(c, &info);
		if (!ends_recording(info.ssi_signo))
			continue;
		c->signal = (int)info.ssi_signo;
		c->n_signals++;
		/* From here on, drop lines instead of waiting for their reader. */
		diag_drop_blocked(true);
		end_recording(c);
	}
}

/* Without a signal, wait as long as it takes; after one, READER_MS; after two, not at all. */
static bool wait_for_reader(void *capture, int written_fd)
{
	struct capture *c = capture;
	struct pollfd fds[] = {
		{.fd = written_fd, .events = POLLIN},
		{.fd = c->signal_fd, .events = POLLIN},
	};

	for (;;) {
		static const int patience_ms[] = {-1, READER_MS, 0};
		int n = poll(fds, 2, patience_ms[c->n_signals < 2 ? c->n_signals : 2]);

		if (!n || (n < 0 && errno != EINTR))
			return false;
		if (n > 0 && fds[0].revents)
			return true;
		on_signals(c);
	}
}

/* The end of a child wakes the wait, too. */
static bool waits_for_stderr(void *capture)
{
	struct capture *c = capture;

	on_signals(c);
	return !c->signal;
}

/*
 * The label of hashing comes from the queries around it, so all queries would have to be recorded.
 * Cache hits cost many times more than any budget allows.
 */
static int check_budget(const struct capture *c)
{
	const char *what = filter__wants_hits(c->filter) ? "query-cache-hit" : NULL;

	if (filter__may_pass(c->filter, FILTER_HASHING))
		what = "incr-result-hashing";
	if (c->opt->budget.ppm && filter__is_empty(c->filter))
		return diag_error_r(-EINVAL, "a budget is for probes, and --events leaves none: "
					     "leave out --budget");
	if (!c->opt->budget.ppm || !what)
		return 0;
	return diag_error_r(-EINVAL,
			    "no budget can be kept with %s; leave out --budget, or add "
			    "\",-%s\" to --events",
			    what, what);
}

static enum live_mode live_mode_of(const struct cli_record_options *o, FILE *out)
{
	if (o->quiet || o->begun_fd)
		return LIVE_NONE;
	if (o->json)
		return LIVE_JSON;
	if (isatty(fileno(out)))
		return LIVE_TERMINAL;
	/* The log of a CI wants the report only. */
	return o->interval_ns ? LIVE_BLOCKS : LIVE_NONE;
}

/* Records come from the session only. */
static int name_of_key(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out)
{
	const struct capture *c = ctx;

	return session__name(c->session, pid, crate, key, out);
}

static int open_traces(struct capture *c, struct recorder_options *ro)
{
	const struct cli_record_options *o = c->opt;
	const struct traces_options options = {
		.dir = o->traces,
		.recorder = ro,
		.rotate = {.age_ns = o->rotate.ns, .bytes = o->rotate.bytes},
		.keep = {.age_ns = o->keep.ns, .bytes = o->keep.bytes},
		.history = c->history,
	};

	ro->mode = LIVE_NONE;
	ro->summary = false;
	return traces__open(&options, &c->traces);
}

static int open_history(struct capture *c)
{
	const struct cli_record_options *o = c->opt;
	const struct history_options options = {
		.store = o->store,
		.label = o->label,
		.with_commands = o->with_commands,
		.quiet = o->quiet || o->traces,
		.ours = o->traces,
	};

	return o->history ? history_queue__new(&options, &c->history) : 0;
}

static int open_recorder(struct capture *c)
{
	const struct cli_record_options *o = c->opt;
	/* With a command, stdout belongs to the command: only requested JSON goes there. */
	FILE *out = o->command && !o->json ? stderr : stdout;
	char name[TRACE_OUTPUT_NAME_MAX];
	struct recorder_options ro = {
		.output = o->output,
		.command = o->with_commands ? o->command : NULL,
		.force = o->force,
		.live = out,
		.mode = live_mode_of(o, out),
		.summary = !o->quiet && !o->json && !o->begun_fd,
		.report = c->report,
		.filter = c->filter,
		.callers = o->callers,
		.keys = !o->no_keys,
		.budget_ppm = o->budget.ppm,
		.sampling = samples_asked(c->opt, c->limit, c->filter),
		.slow_ns = o->slow_ns,
		.name = o->no_keys ? NULL : name_of_key,
		.name_ctx = c,
		.begun = &c->begun,
		.wait = wait_for_reader,
		.wait_ctx = c,
	};

	if (open_history(c))
		return diag_error_r(-ENOMEM, "out of memory");
	if (o->traces)
		return open_traces(c, &ro);
	c->shows_now = o->now_fd || ro.mode != LIVE_NONE;
	if (!ro.output) {
		trace_output__default_name(name);
		ro.output = name;
	}
	c->output = strdup(ro.output);
	if (!c->output)
		return diag_error_r(-ENOMEM, "out of memory");
	return recorder__open(&ro, &c->recorder);
}

static int open_session(struct capture *c)
{
	struct session_sink sink =
		c->traces ? traces__sink(c->traces) : recorder__sink(c->recorder);
	static const enum kernel_attach attach[] = {
		[CLI_ATTACH_AUTO] = KERNEL_ATTACH_AUTO,
		[CLI_ATTACH_MULTI] = KERNEL_ATTACH_MULTI,
		[CLI_ATTACH_PERF] = KERNEL_ATTACH_PERF,
	};
	/* What goes with probes: without one, there is nothing to read and no thread to watch. */
	bool probes = !filter__is_empty(c->filter);
	struct kernel_options ko = {
		.filter = c->filter,
		.off_cpu = probes && filter__wants_off_cpu(c->filter),
		.attach = attach[c->opt->attach],
		.ring_bytes = c->opt->ring_bytes,
		.callers = probes && c->opt->callers,
		.keys = probes && !c->opt->no_keys,
		.sampling = samples_asked(c->opt, c->limit, c->filter),
		.parts = likely_parts(c->opt->command),
		.show_open = c->shows_now || (!c->opt->command && !c->traces),
	};

	int err = session__open(&ko, &sink, c->limit, &c->session);

	if (!err && probes && !c->opt->command && !c->traces)
		err = begun__open(&c->begun, c->session);
	if (!err && c->queries_only && !c->opt->quiet)
		diag_info("recording queries only, as perf events are slow to attach and to "
			  "remove; --events=default records the rest too");
	return err;
}

/* rustup may be downloading a toolchain: a signal ends that too, and is stored in `signal`. */
static void wait_for_likely(struct capture *c)
{
	struct pollfd fds[] = {
		{.fd = c->signal_fd, .events = POLLIN},
		{.fd = likely__done_fd(&c->likely), .events = POLLIN},
	};

	while (!c->signal && fds[1].fd >= 0 && !fds[1].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		on_signals(c);
	}
}

/*
 * Attach to the most likely toolchain. Another toolchain is found when it is first executed, a
 * little later than its first instruction.
 */
static int attach_likely(struct capture *c)
{
	const char *path;
	int err;

	wait_for_likely(c);
	if (c->signal)
		return -EINTR;
	err = likely__finish(&c->likely, &path);
	if (err) {
		diag_warn("%s. Waiting for a compiler to be started",
			  plan_find__toolchain_error(err));
		return 0;
	}
	err = session__add_library(c->session, path);
	/* Only a guess for a build script or make, which may use another toolchain or none. */
	if (err && !(c->launch && is_toolchain_program(c->opt->command[0]))) {
		diag_warn("going on without that compiler");
		return 0;
	}
	return err;
}

static int follow_command(struct capture *c)
{
	return attach_likely(c) ?: session__follow_new(c->session, launch__pid(c->launch));
}

static int follow_pid(struct capture *c, size_t i, unsigned int *compilers)
{
	pid_t pid = c->opt->pids.pids[i];
	int err;

	c->pidfds[i] = (int)syscall(SYS_pidfd_open, pid, 0);
	err = c->pidfds[i] < 0 ? -errno : session__follow_running(c->session, pid, compilers);
	/* For a thread's number, older kernels return -EINVAL and newer ones -ENOENT. */
	if (err == -ESRCH || (c->pidfds[i] < 0 && (err == -EINVAL || err == -ENOENT)))
		return diag_error_r(-ESRCH,
				    "there is no process %d; it has exited, or the number is a "
				    "thread's. See \"pgrep -a rustc\"",
				    (int)pid);
	return err;
}

static int follow_pids(struct capture *c)
{
	unsigned int compilers = 0;
	char name[32];
	int err = 0;

	c->n_pidfds = c->opt->pids.n;
	c->pidfds = malloc(c->n_pidfds * sizeof(*c->pidfds));
	if (!c->pidfds) {
		c->n_pidfds = 0;
		return diag_error_r(-ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < c->n_pidfds; i++)
		c->pidfds[i] = -1;
	for (size_t i = 0; i < c->n_pidfds && !err; i++)
		err = follow_pid(c, i, &compilers);
	if (err || compilers)
		return err;
	process_name(c->opt->pids.pids[0], name, sizeof(name));
	diag_warn("process %d (%s) is no Rust compiler and runs none now; waiting for it to start "
		  "one. Stop with Ctrl-C",
		  (int)c->opt->pids.pids[0], name);
	if (session__libraries(c->session))
		return 0;
	likely__start(&c->likely, NULL);
	return attach_likely(c);
}

static int follow_all(struct capture *c)
{
	unsigned int compilers;
	int err = session__follow_all(c->session, c->opt->cgroup, &compilers);

	if (!err && compilers)
		diag_info("%u compiler%s already: of the time before, only what %s in now is "
			  "recorded",
			  compilers, compilers == 1 ? " runs" : "s run",
			  compilers == 1 ? "it is" : "they are");
	return err;
}

static int follow(struct capture *c)
{
	if (c->launch)
		return follow_command(c);
	return c->opt->system || c->opt->cgroup ? follow_all(c) : follow_pids(c);
}

static int prepare_command(struct capture *c)
{
	int err = launch__prepare(c->opt->command, &c->launch);

	return err ? diag_error_r(err, "cannot start %s: %s", c->opt->command[0], strerror(-err))
		   : 0;
}

static int begin(struct capture *c)
{
	int err = filter_asked(c->opt, &c->filter, &c->queries_only);

	err = err ?: check_budget(c) ?: block_signals(c);
	if (err)
		return err;
	c->limit = limit_asked(c->opt, c->queries_only);
	/* Fork early: the child then inherits no descriptor that is opened later. */
	if (c->opt->command) {
		err = prepare_command(c);
		if (err)
			return err;
		likely__start(&c->likely, c->opt->command);
	}
	err = open_recorder(c) ?: open_session(c);
	if (!err && c->recorder)
		err = recorder__create_file(c->recorder);
	err = err ?: follow(c);
	if (err)
		return err;
	if (c->traces)
		traces__set_costs(c->traces, session__costs(c->session));
	else
		recorder__set_costs(c->recorder, session__costs(c->session));
	return 0;
}

static uint64_t own_ns(const struct capture *c)
{
	return overhead_own_ns(c->launch ? launch__cpu_ns(c->launch) : 0);
}

static int set_up(struct capture *c)
{
	int err = begin(c);

	c->set_up_ns = own_ns(c);

	/* No command was launched, and none will be. */
	if (!err || err == -EINTR)
		on_signals(c);
	if (err)
		return err;
	return c->signal ? -EINTR : 0;
}

/* ---- Watching -------------------------------------------------------------------------------- */

/* What the view has not read is older; if there is no room for it, the view is paused. */
static int ask_now(struct capture *c)
{
	struct now_asked asked = recorder__now(c->recorder);
	int err = now_asked__tell(&asked, c->session, !c->opt->no_keys);

	if (err)
		return err == -EAGAIN ? 0 : err;
	if (c->opt->now_fd)
		send(c->opt->now_fd, asked.told, sizeof(*asked.told), MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

static void set_overhead(struct capture *c, const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct overhead_input in = {
		.counters = counters,
		.costs = session__costs(c->session),
		.own_ns = own_ns(c),
		.set_up_ns = c->set_up_ns,
	};

	session__cost(c->session, &in.session);
	if (c->traces)
		traces__set_overhead(c->traces, &in);
	else
		recorder__set_overhead(c->recorder, &in);
}

static int tick(struct capture *c)
{
	uint64_t counters[WIRE_COUNTER_MAX];
	int err = c->shows_now ? ask_now(c) : 0;

	err = err ?: session__counters(c->session, counters);
	if (err)
		return err;
	set_overhead(c, counters);
	return c->traces ? traces__tick(c->traces, counters)
			 : recorder__tick(c->recorder, counters);
}

static bool all_gone(const struct capture *c)
{
	for (size_t i = 0; i < c->n_pidfds; i++)
		if (c->pidfds[i] >= 0)
			return false;
	/* A shell may exit while its background jobs still start compilers. */
	return c->n_pidfds && !session__follows_any(c->session);
}

static int wait_ms(const struct capture *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t ms = c->next_tick_ns > now ? (c->next_tick_ns - now) / 1000000 + 1 : 0;

	return (int)(ms < DRAIN_MS ? ms : DRAIN_MS);
}

static int wait_for_something(struct capture *c, struct pollfd *fds)
{
	size_t n = 2 + c->n_pidfds;

	fds[0] = (struct pollfd){.fd = c->signal_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = session__fd(c->session), .events = POLLIN};
	for (size_t i = 0; i < c->n_pidfds; i++)
		fds[2 + i] = (struct pollfd){.fd = c->pidfds[i], .events = POLLIN};
	if (poll(fds, n, wait_ms(c)) < 0)
		return errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < c->n_pidfds; i++)
		if (fds[2 + i].revents & POLLIN)
			close(take_fd(c->pidfds[i]));
	on_signals(c);
	return 0;
}

static int watch_once(struct capture *c, struct pollfd *fds)
{
	int err = wait_for_something(c, fds);

	if (err)
		return err;
	err = session__drain(c->session) ?: session__tick(c->session);
	if (err || clock_ns(CLOCK_MONOTONIC) < c->next_tick_ns)
		return err;
	c->next_tick_ns += cli_interval_ns(c->opt);
	return tick(c);
}

static int watch(struct capture *c)
{
	_free_ struct pollfd *fds = calloc(2 + c->n_pidfds, sizeof(*fds));
	int err = fds ? 0 : -ENOMEM;

	c->next_tick_ns = clock_ns(CLOCK_MONOTONIC) + cli_interval_ns(c->opt);
	while (!err && !c->stop) {
		err = watch_once(c, fds);
		if (all_gone(c))
			c->stop = true;
	}
	if (err)
		diag_error("the recording ends early: %s", strerror(-err));
	return err;
}

/* ---- The end --------------------------------------------------------------------------------- */

static int finish_traces(struct capture *c, const uint64_t counters[WIRE_COUNTER_MAX])
{
	if (c->recorder)
		recorder__settle(c->recorder);
	set_overhead(c, counters);
	return c->traces ? traces__finish(c->traces, counters)
			 : recorder__finish(c->recorder, counters);
}

/*
 * Every compiler of a library hits its probes, also those of other builds. So begin to detach
 * before anything waits for a disk, or for a reader of our output.
 */
static void begin_detaching(struct capture *c)
{
	if (c->child_done && !session__follows_any(c->session))
		session__leave(c->session);
	else
		session__begin_free(c->session);
}

static int finish(struct capture *c)
{
	uint64_t counters[WIRE_COUNTER_MAX] = {0};
	int err = session__stop(c->session), err2;

	begin_detaching(c);
	/* Unless a signal has come, lines now wait for their reader until one comes. */
	if (!c->signal) {
		diag_drop_blocked(false);
		diag_wait_with(c->signal_fd, waits_for_stderr, c);
	}
	if (err)
		diag_error("the last records are missing: %s", strerror(-err));
	err2 = session__counters(c->session, counters);
	if (err2)
		diag_error("cannot read what was lost: %s; the trace keeps its \"unfinished\" mark",
			   strerror(-err2));
	else
		err2 = finish_traces(c, counters);
	session__report_outsiders(c->session);
	session__free(take_ptr(c->session));
	return err ?: err2;
}

/*
 * All output is written. Signals to us are still passed on to the command; Ctrl-C has its default
 * effect by now.
 */
static void wait_for_command(struct capture *c)
{
	struct pollfd fd = {.fd = c->signal_fd, .events = POLLIN};

	end_recording(c);
	on_signals(c);
	while (!c->child_done && (poll(&fd, 1, -1) >= 0 || errno == EINTR))
		on_signals(c);
}

/* An error is ignored: the reader may be gone. */
static void report_begun(const struct capture *c)
{
	if (c->opt->begun_fd && write(c->opt->begun_fd, "", 1) < 0)
		diag_verbose("the program that shows this recording is gone");
}

static int start(struct capture *c)
{
	int err;

	/* Stopped compilers and signals must not wait for a terminal. */
	diag_drop_blocked(true);
	begun__prepare(&c->begun);
	err = session__start(c->session) ?: session__drain(c->session);
	if (!err && c->traces)
		err = traces__begin(c->traces, session__begun_ns(c->session));
	if (err || !c->begun.watch)
		return err;
	err = recorder__begin(c->recorder, session__begun_ns(c->session));
	return err ?: begun__take(&c->begun, c->session, c->opt->quiet ? NULL : stderr);
}

static int record(struct capture *c)
{
	int err, err2;

	if (c->launch) {
		err = launch__go(c->launch);
		if (err) {
			diag_error("cannot run %s: %s", c->opt->command[0], strerror(-err));
			recorder__discard_file(c->recorder);
			return exit_code_of_exec(err);
		}
	}
	if (c->recorder)
		recorder__commit_file(c->recorder);
	privilege_limit(c->opt->attach == CLI_ATTACH_PERF);
	report_begun(c);
	err = watch(c);
	err2 = finish(c);
	if (!(c->traces ? traces__processes(c->traces) : recorder__processes(c->recorder)) &&
	    !err && !err2)
		diag_warn("no Rust compiler ran while recording");
	if (err || err2)
		return EXIT_CODE_FAILURE;
	return c->recorder && recorder__lost_most(c->recorder) ? EXIT_CODE_LOST : EXIT_CODE_OK;
}

static bool is_interrupted(void *capture)
{
	struct capture *c = capture;
	unsigned int before = c->n_signals;

	on_signals(c);
	return c->n_signals > before;
}

/* The last step: nothing waits for it but the end of this process. */
static void add_to_history(struct capture *c, bool recorded)
{
	const sigset_t set = signals_of((const int[]){SIGINT, 0});

	if (!c->history || !recorded)
		return;
	/* The signals that end a recording end the waiting; the exit status stays. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (c->recorder)
		history_queue__put(c->history, c->output);
	history_queue__finish(c->history, c->traces ? SERVICE_SECONDS : HISTORY_SECONDS,
			      is_interrupted, c);
}

int record_run(const struct cli_record_options *o, recorder_report_fn report)
{
	struct capture c = {.opt = o, .report = report, .signal_fd = -1};
	int code, status;
	bool launched;

	if (set_up(&c) || start(&c)) {
		if (c.recorder)
			recorder__discard_file(c.recorder);
		capture_fini(&c);
		return c.signal ? EXIT_CODE_SIGNAL + c.signal : EXIT_CODE_FAILURE;
	}
	code = record(&c);
	launched = c.launch && code != EXIT_CODE_NOT_FOUND && code != EXIT_CODE_CANNOT_RUN;
	if (launched)
		wait_for_command(&c);
	status = c.child_status;
	add_to_history(&c, launched || !c.launch);
	capture_fini(&c);
	/* Our own failure sets the exit status only if it does not hide the command's. */
	if (launched && (status || code == EXIT_CODE_OK))
		launch__exit_like(status);
	return code;
}
