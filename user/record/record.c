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
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/first_environ.h"
#include "capture/recordings.h"
#include "capture/privilege.h"
#include "capture/session.h"
#include "cargo/rebuilt.h"
#include "options/exit_code.h"
#include "plan/file_job.h"
#include "plan/library/find.h"
#include "proc/processes.h"
#include "proc/programs.h"
#include "record/control.h"
#include "record/filter_asked.h"
#include "record/history_queue.h"
#include "record/launch.h"
#include "record/toolchain_guess.h"
#include "record/recorder.h"
#include "record/trace_output.h"
#include "record/traces.h"

/*
 * At the end, what is not in the history stays out of it after this time: of one trace, for which
 * its user waits, and of those of a service that is being stopped.
 */
#define HISTORY_SECONDS 600
#define SERVICE_SECONDS 30
/* The time in which a rustc says where its library is. */
#define LIKELY_MS 3000
/* The interval of drains when few records wait: it limits the delay of the live view. */
#define DRAIN_MS 50

struct capture {
	const struct cli_record_options *opt;
	recorder_report_fn report;
	struct filter *filter;
	bool shows_now; /* what compilers are in, somewhere */
	bool outside;	/* without the kernel half */
	struct recorder *recorder;
	struct traces *traces;	       /* in its place, with a trace for each build */
	struct history_queue *history; /* or NULL */
	char *output;		       /* the path of the one trace */
	struct session *session;
	struct open_at_start begun;
	struct control control;
	struct toolchain_guess likely;
	struct rebuilt *rebuilt; /* what the command may build again; or NULL */
	int *pidfds;		 /* -1 once that process has exited */
	size_t n_pidfds;
	uint64_t next_tick_ns;
	bool woken;	    /* by records */
	uint64_t set_up_ns; /* CPU time of this process until the recording began, without: */
	uint64_t read_ns;   /* children that read files, which later recordings need not */
	uint64_t looked_ns; /* for other recordings */
	uint32_t beside;    /* of these at the last look */
	int mark;	    /* for their looks */
};

static void capture_fini(struct capture *c)
{
	toolchain_guess__clear(&c->likely);
	rebuilt__free(c->rebuilt);
	open_at_start__clear(&c->begun);
	session__free(c->session);
	recorder__free(c->recorder);
	traces__free(c->traces);
	history_queue__free(c->history);
	free(c->output);
	filter__free(c->filter);
	for (size_t i = 0; i < c->n_pidfds; i++)
		cleanup_close_p(&c->pidfds[i]);
	free(c->pidfds);
	cleanup_close_p(&c->mark);
	diag_wait_with(-1, NULL, NULL);
	control__destroy(&c->control);
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

/* A compiler that waits for its probes must not wait until the user types "fg". */
static void suspend(void *capture)
{
	struct capture *c = capture;
	int err = c->session ? session__suspend(c->session) : 0;

	if (err)
		diag_warn("some of what was recorded is lost: %s", strerror(-err));
	if (c->recorder)
		recorder__leave_terminal(c->recorder);
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
		.store = o->store,
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
		.outside = c->outside,
		.keys = !o->no_keys,
		.sampling = samples_asked(c->opt, c->filter),
		.slow_ns = o->slow_ns,
		.name = o->no_keys ? NULL : name_of_key,
		.name_ctx = c,
		.begun = &c->begun,
		.wait = control__wait_for_reader,
		.wait_ctx = &c->control,
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
	const struct session_sink sink =
		c->traces ? (struct session_sink){.ctx = c->traces, .take = traces__take}
			  : (struct session_sink){.ctx = c->recorder, .take = recorder__take};
	static const enum kernel_attach attach[] = {
		[CLI_ATTACH_AUTO] = KERNEL_ATTACH_AUTO,
		[CLI_ATTACH_MULTI] = KERNEL_ATTACH_MULTI,
		[CLI_ATTACH_PERF] = KERNEL_ATTACH_PERF,
		[CLI_ATTACH_READ] = KERNEL_ATTACH_AUTO,
	};
	/* Without a probe, there are no callers to read, and no thread to watch. */
	bool probes = !filter__is_empty(c->filter);
	const struct sampling_options sampling = samples_asked(c->opt, c->filter);
	struct kernel_options ko = {
		.filter = c->filter,
		.off_cpu = filter__selects_any(c->filter) && filter__wants_off_cpu(c->filter),
		.attach = attach[c->opt->attach],
		.ring_bytes = c->opt->ring_bytes,
		.callers = probes && c->opt->callers,
		.keys = (probes || sampling.hz) && !c->opt->no_keys,
		.sampling = sampling,
		.one_build = c->opt->command,
		.parts = toolchain_guess_parts(c->opt->command),
		.show_open = c->shows_now || (!c->opt->command && !c->traces),
		.outside = c->outside,
	};

	int err = session__open(&ko, &sink, &c->session);

	if (!err && probes && !c->outside && !c->opt->command && !c->traces)
		err = open_at_start__open(&c->begun, c->session);
	return err;
}

/* Without an answer of the likely compiler, each compiler is found when it is executed. */
static int wait_for_likely(struct capture *c, const char **path)
{
	int err = control__wait(&c->control, toolchain_guess__done_fd(&c->likely), LIKELY_MS);

	/* A toolchain that is half there would be of no use to the command. */
	if (err == -ETIME && toolchain_guess__may_download(&c->likely)) {
		diag_info("waiting for rustup, as it may be downloading a toolchain; Ctrl-C ends "
			  "it");
		err = control__wait(&c->control, toolchain_guess__done_fd(&c->likely), -1);
	}
	if (err == -ETIME)
		toolchain_guess__give_up(&c->likely);
	return err == -EINTR ? err : toolchain_guess__finish(&c->likely, path);
}

/*
 * Attach to the most likely toolchain. Another toolchain is found when it is first executed, a
 * little later than its first instruction.
 */
static int attach_likely(struct capture *c)
{
	const char *path;
	int err = wait_for_likely(c, &path);

	if (err == -EINTR)
		return err;
	/* Why rustc fails, its own users see when they run it. */
	if (err == -EIO) {
		diag_verbose("%s", plan_find__toolchain_error(err));
		return 0;
	}
	if (err) {
		diag_warn("%s. Waiting for a compiler to be started",
			  plan_find__toolchain_error(err));
		return 0;
	}
	err = session__add_library(c->session, path);
	/* Only a guess for a build script or make, which may use another toolchain or none. */
	if (err && !(c->control.launch && is_toolchain_program(c->opt->command[0]))) {
		diag_warn("going on without that compiler");
		return 0;
	}
	return err;
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
	toolchain_guess__start(&c->likely, NULL);
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
	if (c->control.launch)
		return attach_likely(c)
			       ?: session__follow_new(c->session, launch__pid(c->control.launch));
	return c->opt->system || c->opt->cgroup ? follow_all(c) : follow_pids(c);
}

static int begin(struct capture *c)
{
	char why[PRIVILEGE_NAMES_MAX];
	enum privilege_refusal refusal = privilege_refused(why);
	int err = filter_asked(c->opt, &c->filter);

	c->outside = outside_asked(c->opt);
	if (!err && c->outside && refusal != PRIVILEGE_GRANTED)
		diag_info("recording from outside, as %s: without stacks, passes of LLVM and "
			  "waits. %s records these, too",
			  why, refusal == PRIVILEGE_MISSING ? "sudo" : "root of the host");

	err = err ?: control__open(&c->control, c->opt->command);
	if (err)
		return err;
	/* Fork early: the child then inherits no descriptor that is opened later. */
	if (c->opt->command) {
		err = launch__prepare(c->opt->command, &c->control.launch);
		if (err)
			return diag_error_r(err, "cannot start %s: %s%s", c->opt->command[0],
					    strerror(-err), diag_step(err, ""));
		toolchain_guess__start(&c->likely, c->opt->command);
		if (!c->opt->traces &&
		    rebuilt__remember(c->opt->command, environ_before_sudo(), &c->rebuilt))
			return diag_error_r(-ENOMEM, "out of memory");
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
	uint64_t command_ns = c->control.launch ? launch__cpu_ns(c->control.launch) : 0;

	return overhead_own_ns(command_ns + c->read_ns);
}

static int set_up(struct capture *c)
{
	int err = begin(c);

	c->read_ns = file_job_ended_ns();
	c->set_up_ns = own_ns(c);

	/* No command was launched, and none will be. */
	if (!err || err == -EINTR)
		control__take(&c->control);
	if (err)
		return err;
	return c->control.signal ? -EINTR : 0;
}

/* ---- Watching -------------------------------------------------------------------------------- */

/* An answer that the view has not read is older; if there is no room, the view is paused. */
static int ask_now(struct capture *c)
{
	struct now_asked asked = recorder__now(c->recorder);
	int err = now_asked__answer(&asked, c->session, !c->opt->no_keys);

	if (err)
		return err == -EAGAIN ? 0 : err;
	if (c->opt->now_fd)
		send(c->opt->now_fd, asked.answer, sizeof(*asked.answer),
		     MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

/* One that began and ended between two looks is not seen. */
#define BESIDE_NS UINT64_C(10000000000)

static void look_beside(struct capture *c)
{
	uint32_t n;

	if (!recordings__beside("", &n))
		c->beside = n;
	c->looked_ns = clock_ns(CLOCK_MONOTONIC);
}

static void set_overhead(struct capture *c, const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct overhead_input in = {
		.counters = counters,
		.costs = session__costs(c->session),
		.own_ns = own_ns(c),
		/* A program of cargo run is no part of the recording. */
		.command_ns = c->control.launch && !c->control.runs_on
				      ? launch__cpu_ns(c->control.launch)
				      : 0,
		.set_up_ns = c->set_up_ns,
		.read_ns = c->read_ns,
		.beside = c->beside,
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

	/* The numbers of a live view of queries without probes. */
	if (!err && c->recorder && recorder__counts(c->recorder)) {
		err = session__count(c->session);
		if (err > 0) {
			recorder__counted(c->recorder);
			err = 0;
		}
	}
	err = err ?: session__counters(c->session, counters);
	if (err)
		return err;
	if (clock_ns(CLOCK_MONOTONIC) - c->looked_ns >= BESIDE_NS)
		look_beside(c);
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

static int wait_for_something(struct capture *c, struct pollfd *fds)
{
	size_t n = 2 + c->n_pidfds;
	uint64_t now, ms;

	fds[0] = (struct pollfd){.fd = c->control.fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = session__fd(c->session), .events = POLLIN};
	for (size_t i = 0; i < c->n_pidfds; i++)
		fds[2 + i] = (struct pollfd){.fd = c->pidfds[i], .events = POLLIN};
	if (c->woken)
		session__rest(c->session, c->control.fd);
	now = clock_ns(CLOCK_MONOTONIC);
	ms = c->next_tick_ns > now ? (c->next_tick_ns - now) / 1000000 + 1 : 0;
	if (poll(fds, n, (int)(ms < DRAIN_MS ? ms : DRAIN_MS)) < 0)
		return errno == EINTR ? 0 : -errno;
	c->woken = fds[1].revents;
	for (size_t i = 0; i < c->n_pidfds; i++)
		if (fds[2 + i].revents & POLLIN)
			close(take_fd(c->pidfds[i]));
	control__take(&c->control);
	return 0;
}

static int watch(struct capture *c)
{
	_free_ struct pollfd *fds = calloc(2 + c->n_pidfds, sizeof(*fds));
	int err = fds ? 0 : -ENOMEM;

	look_beside(c);
	c->next_tick_ns = clock_ns(CLOCK_MONOTONIC) + cli_interval_ns(c->opt);
	while (!err && !c->control.stop) {
		err = wait_for_something(c, fds) ?: session__drain(c->session);
		if (!err && clock_ns(CLOCK_MONOTONIC) >= c->next_tick_ns) {
			c->next_tick_ns += cli_interval_ns(c->opt);
			err = tick(c);
		}
		if (all_gone(c) || (c->opt->until_run && control__runs_on(&c->control)))
			c->control.stop = true;
	}
	if (err)
		diag_error("the recording ends early: %s%s", strerror(-err), diag_step(err, ""));
	return err;
}

/* ---- The end --------------------------------------------------------------------------------- */

static int finish(struct capture *c)
{
	uint64_t counters[WIRE_COUNTER_MAX] = {0};
	int err = session__stop(c->session), err2;

	/*
	 * Every compiler of a library hits its probes, also those of other builds. So begin to
	 * detach before anything waits for a disk, or for a reader of our output.
	 */
	session__leave(c->session);
	/* Unless a signal has come, lines now wait for their reader until one comes. */
	if (!c->control.signal) {
		diag_drop_blocked(false);
		diag_wait_with(c->control.fd, control__waits_for_stderr, &c->control);
	}
	if (err)
		diag_error("the last records are missing: %s%s", strerror(-err),
			   diag_step(err, ""));
	err2 = session__counters(c->session, counters);
	if (err2) {
		diag_error("cannot read what was lost: %s; the trace keeps its \"unfinished\" mark",
			   strerror(-err2));
	} else {
		if (c->recorder)
			recorder__settle(c->recorder);
		/* It takes up to two seconds, and whoever interrupts a build does not wait. */
		if (c->recorder && c->rebuilt && !c->control.signal)
			recorder__rebuilt(c->recorder, c->rebuilt);
		look_beside(c);
		set_overhead(c, counters);
		err2 = c->traces ? traces__finish(c->traces, counters)
				 : recorder__finish(c->recorder, counters);
	}
	session__report_outsiders(c->session);
	session__free(take_ptr(c->session));
	return err ?: err2;
}

static int start(struct capture *c)
{
	int err;

	/* Stopped compilers and signals must not wait for a terminal. */
	diag_drop_blocked(true);
	open_at_start__prepare(&c->begun);
	err = session__start(c->session) ?: session__drain(c->session);
	if (!err && c->traces)
		err = traces__begin(c->traces, session__begun_ns(c->session));
	if (err || !c->begun.watch)
		return err;
	err = recorder__begin(c->recorder, session__begun_ns(c->session));
	return err ?: open_at_start__take(&c->begun, c->session, c->opt->quiet ? NULL : stderr);
}

static int record(struct capture *c)
{
	int err, err2;

	if (c->control.launch) {
		err = launch__go(c->control.launch);
		if (err) {
			diag_error(
				"cannot run %s: %s%s", c->opt->command[0], strerror(-err),
				err == -ENOENT && !strchr(c->opt->command[0], '/')
					? "; no directory of your PATH has it: name its path, or "
					  "add its directory"
					: "");
			recorder__discard_file(c->recorder);
			return exit_code_of_exec(err);
		}
	}
	if (c->recorder)
		recorder__commit_file(c->recorder);
	privilege_limit(c->opt->attach == CLI_ATTACH_PERF);
	/* An error is ignored: the reader may be gone. */
	if (c->opt->begun_fd && write(c->opt->begun_fd, "", 1) < 0)
		diag_verbose("the program that shows this recording is gone");
	err = watch(c);
	err2 = finish(c);
	if (!(c->traces ? traces__processes(c->traces) : recorder__processes(c->recorder)) &&
	    !err && !err2)
		diag_warn("no Rust compiler ran while recording%s",
			  c->control.child_status
				  ? ", and the command failed"
				  : "; cargo compiles again what it finds up to date after "
				    "touch src/lib.rs, or cargo clean");
	if (err || err2)
		return EXIT_CODE_FAILURE;
	return (c->traces ? traces__lost_most(c->traces) : recorder__lost_most(c->recorder))
		       ? EXIT_CODE_LOST
		       : EXIT_CODE_OK;
}

/* The last step: nothing waits for it but the end of this process. */
static void add_to_history(struct capture *c, bool recorded)
{
	if (!c->history || !recorded)
		return;
	/* The signals that end a recording end the waiting; the exit status stays. */
	control__block_interrupts();
	if (c->recorder)
		history_queue__put(c->history, c->output);
	history_queue__finish(c->history, c->traces ? SERVICE_SECONDS : HISTORY_SECONDS,
			      control__is_interrupted, &c->control);
}

int record_run(const struct cli_record_options *o, recorder_report_fn report)
{
	struct capture c = {
		.opt = o, .report = report, .control.fd = -1, .mark = recordings__mark()};
	int code, status;
	bool launched;

	c.control.suspend = suspend;
	c.control.suspend_ctx = &c;
	if (set_up(&c) || start(&c)) {
		if (c.recorder)
			recorder__discard_file(c.recorder);
		capture_fini(&c);
		return c.control.signal ? EXIT_CODE_SIGNAL + c.control.signal : EXIT_CODE_FAILURE;
	}
	code = record(&c);
	launched = c.control.launch && code != EXIT_CODE_NOT_FOUND && code != EXIT_CODE_CANNOT_RUN;
	if (launched)
		control__wait_for_command(&c.control);
	status = c.control.child_status;
	add_to_history(&c, launched || !c.control.launch);
	capture_fini(&c);
	/* Our own failure sets the exit status only if it does not hide the command's. */
	if (launched && (status || code == EXIT_CODE_OK))
		launch__exit_like(status);
	return code;
}
