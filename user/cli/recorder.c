// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "analyze/decisions.h"
#include "analyze/summary.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/version.h"
#include "cli/closing_report.h"
#include "cli/code_names.h"
#include "cli/trace_output.h"
#include "cli/unrecorded.h"
#include "tracks/tracks.h"
#include "view/format.h"
#include "view/screen.h"
#include "view/slow.h"

struct recorder {
	struct recorder_options opt;
	/* The build goes on and so does the live view when it fails, as on a full disk; it keeps
	 * its "unfinished" mark then, and the error decides our exit status. */
	struct trace_output trace;
	struct tracks *tracks;
	struct code_names *code_names; /* NULL without callers */
	struct summary *summary;
	struct build *build; /* NULL: nothing is printed of it */
	struct build_texts texts;
	struct live_view *live;
	struct trace_costs costs;
	bool has_costs;
	char **names; /* by string id */
	uint32_t n_names;
	uint64_t start_ns;
	uint64_t realtime_start_ns; /* the same moment */
	uint64_t bad_records;
	uint64_t n_queries;
	uint64_t n_hits; /* of caches */
	struct unrecorded unrecorded;
	struct decisions decisions; /* what was decided to keep the budget */
	int view_err;		    /* the live view's; it is not drawn any more */
};

static int on_process(void *ctx, const struct trace_process *p)
{
	struct recorder *r = ctx;

	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__process(r->trace.writer, p));
	return summary__process(r->summary, p) ?: r->build ? build__process(r->build, p) : 0;
}

static const char *name_of(const void *ctx, uint32_t id)
{
	const struct recorder *r = ctx;

	return id < r->n_names && r->names[id] ? r->names[id] : "<unknown>";
}

/* That nobody reads it is no reason to end a recording. */
static void tell_slow(const struct recorder *r, const struct trace_span *s,
		      const struct trace_off *off)
{
	const struct trace_process *p = summary__process_at(r->summary, s->process);

	if (p)
		slow_print(stderr, s, off, p, name_of(r, s->label));
}

static int on_span(void *ctx, const struct trace_span *s, const struct trace_off *off)
{
	struct recorder *r = ctx;

	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__span(r->trace.writer, s));
	r->n_queries += s->kind == TRACE_KIND_QUERY;
	r->n_hits += s->kind == TRACE_KIND_HIT;
	if (r->opt.slow_ns && slow_is(s, r->opt.slow_ns))
		tell_slow(r, s, off);
	return summary__span(r->summary, s, off) ?: r->build ? build__span(r->build, s) : 0;
}

static int on_unrecorded(void *ctx, const struct trace_tally *more)
{
	struct recorder *r = ctx;

	return unrecorded__add(&r->unrecorded, more);
}

static int on_function(void *ctx, uint8_t lib, const struct trace_function *f)
{
	struct recorder *r = ctx;

	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__function(r->trace.writer, f));
	return code_names__note(r->code_names, lib, f);
}

static int on_thread(void *ctx, const struct trace_thread *t)
{
	struct recorder *r = ctx;

	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__thread(r->trace.writer, t));
	return r->build ? build__thread(r->build, t) : 0;
}

static int remember_name(struct recorder *r, uint32_t id, const char *name)
{
	if (id >= r->n_names) {
		uint32_t n = id + 1;
		char **names = reallocarray(r->names, n, sizeof(*names));

		if (!names)
			return -ENOMEM;
		memset(names + r->n_names, 0, (n - r->n_names) * sizeof(*names));
		r->names = names;
		r->n_names = n;
	}
	if (!r->names[id])
		r->names[id] = strdup(name);
	return r->names[id] ? 0 : -ENOMEM;
}

static void hex_of(const struct plan *plan, char hex[2 * PLAN_BUILD_ID_MAX + 1])
{
	hex[0] = '\0';
	for (uint32_t i = 0; i < plan->build_id_len; i++)
		sprintf(hex + 2 * i, "%02x", plan->build_id[i]);
}

/* Names for the live view and the summary alone, once the file has failed. */
static uint32_t id_without_file(const struct recorder *r, const char *name)
{
	uint32_t id = 0;

	while (id < r->n_names && (!r->names[id] || strcmp(r->names[id], name)))
		id++;
	return id;
}

static int label_of(struct recorder *r, const char *name, uint32_t *id)
{
	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__intern(r->trace.writer, name, id));
	if (r->trace.err)
		*id = id_without_file(r, name);
	return remember_name(r, *id, name);
}

static int set_guards(struct recorder *r, uint8_t lib, const struct plan *plan)
{
	_free_ uint32_t *labels = calloc(plan->n_guards + 1UL, sizeof(*labels));
	int err = labels ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < plan->n_guards && !err; i++) {
		labels[i] = TRACKS_NO_LABEL;
		if (plan->guards[i].label)
			err = label_of(r, plan->guards[i].label, &labels[i]);
	}
	return err ?: tracks__set_guards(r->tracks, lib, labels, plan->n_guards);
}

static int on_told_label(void *ctx, const char *text, uint32_t *id)
{
	return label_of(ctx, text, id);
}

static bool wants_label(void *ctx, const struct wire_label_key *label)
{
	const struct recorder *r = ctx;

	return !r->opt.filter || filter__passes_told(r->opt.filter, label);
}

/* Printed already if it fails; then this library's callers stay unknown. */
static void name_callers(struct recorder *r, uint8_t lib, const struct plan *plan)
{
	const struct tracks_functions *functions;

	if (r->code_names && !code_names__add_library(r->code_names, lib, plan, &functions))
		tracks__set_functions(r->tracks, lib, functions);
}

static int on_library(void *ctx, uint8_t lib, const struct plan *plan)
{
	struct recorder *r = ctx;
	_free_ uint32_t *labels = calloc(plan->n_queries + 1, sizeof(*labels));
	char hex[2 * PLAN_BUILD_ID_MAX + 1];
	int err = labels ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < plan->n_queries && !err; i++)
		err = label_of(r, plan->queries[i].name, &labels[i]);
	hex_of(plan, hex);
	if (!err)
		err = tracks__set_library(r->tracks, lib, labels, plan->n_queries, hex,
					  plan->rustc_version);
	if (!err)
		err = set_guards(r, lib, plan);
	if (!err)
		name_callers(r, lib, plan);
	return err ? diag_error_r(err, "cannot record %s: %s", plan->path, strerror(-err)) : 0;
}

static int on_running(void *ctx, pid_t pid, pid_t parent, uint64_t now_ns, const char *args,
		      size_t len)
{
	struct recorder *r = ctx;

	return tracks__adopt(r->tracks, (uint32_t)pid, (uint32_t)parent, now_ns, args, len);
}

static int on_record(void *ctx, const void *record, size_t size)
{
	struct recorder *r = ctx;
	int err = tracks__record(r->tracks, record, size);

	/* One record that makes no sense is a loss, not the end of the recording. */
	if (err != -EBADMSG)
		return err;
	r->bad_records++;
	return 0;
}

static int on_late(void *ctx, pid_t pid)
{
	struct recorder *r = ctx;

	return tracks__late(r->tracks, (uint32_t)pid);
}

static int on_cwd(void *ctx, pid_t pid, const char *cwd)
{
	struct recorder *r = ctx;

	return tracks__cwd(r->tracks, (uint32_t)pid, cwd);
}

int recorder__create_file(struct recorder *r)
{
	struct utsname uts;
	struct trace_info info = {.tool = (char *)"qprof-bpf " QPROF_VERSION};

	uname(&uts);
	info.kernel = uts.release;
	info.host = uts.nodename;
	info.clock_start_ns = r->start_ns;
	info.realtime_start_ns = r->realtime_start_ns;
	info.budget_ppm = r->opt.budget_ppm;
	return trace_output__create(&r->trace, &info);
}

void recorder__set_costs(struct recorder *r, const struct probe_costs *costs)
{
	r->costs = (struct trace_costs){
		.ps[TRACE_COST_EMULATED] = costs->emulated.hit_ps,
		.ps[TRACE_COST_EMULATED_INSIDE] = costs->emulated.inside_ps,
		.ps[TRACE_COST_STEPPED] = costs->stepped.hit_ps,
		.ps[TRACE_COST_STEPPED_INSIDE] = costs->stepped.inside_ps,
	};
	r->has_costs = costs->emulated.hit_ps;
	if (!r->has_costs)
		return;
	tracks__set_costs(r->tracks, &r->costs);
	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__costs(r->trace.writer, &r->costs));
}

void recorder__commit_file(struct recorder *r)
{
	trace_output__commit(&r->trace);
}

void recorder__discard_file(struct recorder *r)
{
	trace_output__discard(&r->trace);
}

int recorder__open(const struct recorder_options *opt, struct recorder **out)
{
	_recorder_ struct recorder *r = calloc(1, sizeof(*r));
	struct tracks_sink sink = {
		.ctx = r,
		.process = on_process,
		.span = on_span,
		.thread = on_thread,
		.function = on_function,
		.label = on_told_label,
		.unrecorded = on_unrecorded,
		.wants = wants_label,
	};
	int err;

	if (!r)
		return diag_error_r(-ENOMEM, "out of memory");
	r->opt = *opt;
	r->decisions.ppm = opt->budget_ppm;
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->realtime_start_ns = clock_ns(CLOCK_REALTIME);
	r->trace.path = strdup(opt->output);
	r->trace.force = opt->force;
	r->texts = (struct build_texts){r, name_of};
	err = r->trace.path ? summary__new(&r->summary) : -ENOMEM;
	if (!err && opt->summary)
		err = build__new(&r->texts, &r->build);
	if (!err)
		err = tracks__new(&sink, &r->tracks);
	if (!err && opt->filter && filter__wants_hits(opt->filter))
		tracks__expect_hits(r->tracks);
	if (!err && opt->callers)
		err = code_names__new(&r->code_names);
	if (!err)
		err = live_view__new(opt->live, opt->mode, &r->live);
	if (err)
		return diag_error_r(err, "cannot start recording: %s", strerror(-err));
	*out = take_ptr(r);
	return 0;
}

static enum trace_watch watch_of(enum governor_watch watch)
{
	switch (watch) {
	case GOVERNOR_COUNTED:
		return TRACE_WATCH_COUNTED;
	case GOVERNOR_OFF:
		return TRACE_WATCH_OFF;
	default:
		return TRACE_WATCH_FULL;
	}
}

/* Kinds have the same numbers in both halves: see tracks.c. */
static int label_of_decision(struct recorder *r, const struct session_decision *d, uint32_t *label)
{
	if (d->query == SESSION_ALL)
		return label_of(r, TRACE_ALL_LABELS, label);
	*label = d->kind == WIRE_KIND_QUERY ? tracks__query_label(r->tracks, d->lib, d->query)
					    : tracks__guard_label(r->tracks, d->lib, d->query);
	return 0;
}

static int on_decision(void *ctx, const struct session_decision *d)
{
	struct recorder *r = ctx;
	struct trace_decision decision = {
		.time_ns = d->time_ns,
		.kind = d->kind,
		.watch = (uint8_t)watch_of(d->watch),
		.cost_ppm = d->cost_ppm,
		.budget_ppm = d->budget_ppm,
	};
	int err = label_of_decision(r, d, &decision.label);

	if (err)
		return err;
	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__decision(r->trace.writer, &decision));
	return decisions__add(&r->decisions, &decision);
}

static int on_estimated(void *ctx, pid_t pid, uint8_t lib, uint32_t query, uint64_t events,
			uint64_t sum_ns)
{
	struct recorder *r = ctx;

	return tracks__estimated(r->tracks, (uint32_t)pid, lib, query, events, sum_ns);
}

struct session_sink recorder__sink(struct recorder *r)
{
	return (struct session_sink){
		.ctx = r,
		.library = on_library,
		.running = on_running,
		.record = on_record,
		.late = on_late,
		.cwd = on_cwd,
		.decision = on_decision,
		.estimated = on_estimated,
	};
}

static struct trace_losses losses_of(const struct recorder *r,
				     const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct trace_losses losses = tracks__losses(r->tracks, counters);

	losses.count[TRACE_LOST_BAD_RECORD] = r->bad_records;
	return losses;
}

/* Nobody may be looking any more (`| head`); what we are here for is the trace. */
static void draw_live(struct recorder *r, const struct live_state *state)
{
	if (r->view_err)
		return;
	r->view_err = live_view__draw(r->live, state);
	if (r->view_err && r->view_err != -EPIPE)
		diag_error("cannot show what is recorded: %s; the recording goes on",
			   strerror(-r->view_err));
}

int recorder__tick(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct trace_losses losses = losses_of(r, counters);
	struct view_names names = {.ctx = r, .text = name_of};
	struct live_state state = {
		.now_ns = clock_ns(CLOCK_MONOTONIC),
		.start_ns = r->start_ns,
		.processes = tracks__processes(r->tracks),
		.running = tracks__running(r->tracks),
		.recorded_only = r->opt.budget_ppm,
		.losses = &losses,
		.summary = r->summary,
		.names = &names,
	};

	recorder__commit_file(r);
	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__losses(r->trace.writer, &losses)
						       ?: trace_writer__flush(r->trace.writer));
	draw_live(r, &state);
	return 0;
}

void recorder__leave_terminal(struct recorder *r)
{
	live_view__restore(r->live);
}

uint32_t recorder__processes(const struct recorder *r)
{
	return tracks__processes(r->tracks);
}

static void closing_line(struct recorder *r, const struct trace_losses *losses)
{
	uint64_t others = summary__spans(r->summary) - r->n_queries - r->n_hits;
	char size[FORMAT_MAX], intervals[64] = "", hits[64] = "";

	format_bytes(size, trace_writer__bytes(r->trace.writer));
	if (others)
		snprintf(intervals, sizeof(intervals), " and %" PRIu64 " other intervals", others);
	if (r->n_hits)
		snprintf(hits, sizeof(hits), " and %" PRIu64 " cache hits", r->n_hits);
	diag_info("recorded %" PRIu64 " queries%s%s of %u compiler%s, %" PRIu64
		  " lost; wrote %s (%s)",
		  r->n_queries, intervals, hits, tracks__processes(r->tracks),
		  tracks__processes(r->tracks) == 1 ? "" : "s", trace_losses__total(losses),
		  trace_output__place(&r->trace), size);
}

static int print_summary(struct recorder *r, const struct trace_losses *losses)
{
	struct view_names names = {.ctx = r, .text = name_of};
	struct report_options report = {
		.top = 20,
		.width = screen_columns(r->opt.live),
		.costs = r->has_costs ? &r->costs : NULL,
		.decisions = r->opt.budget_ppm ? &r->decisions : NULL,
	};
	int err;

	if (!r->build || r->view_err)
		return r->view_err;
	decisions__end(&r->decisions, summary__end_ns(r->summary));
	summary__loads_watched(r->summary, decisions__watched_from(&r->decisions, TRACE_KIND_LOAD));
	err = closing_report(r->opt.live, r->build, r->summary, losses, &names, &report);
	if (fflush(r->opt.live) && !err)
		err = -errno;
	if (err && err != -EPIPE)
		diag_error("cannot print the summary: %s", strerror(-err));
	return err;
}

/* What has an invocation id but was not executed: loaded from the last build, or fed. */
static void tell_unknown_hits(const struct recorder *r)
{
	uint64_t n = tracks__unknown_hits(r->tracks);

	if (n)
		diag_info("of %" PRIu64 " cache hits the query is not known: its execution was not "
			  "recorded",
			  n);
}

static void write_lines(struct recorder *r)
{
	uint64_t refused = tracks__refused_functions(r->tracks);

	if (refused)
		diag_warn("%" PRIu64 " functions found no place in the trace: the callers in them "
			  "are unknown",
			  refused);
	if (r->code_names && !r->trace.err)
		trace_output__wrote(&r->trace,
				    code_names__write_lines(r->code_names, r->trace.writer));
}

/* What was not recorded, by process and query: once each, so not before all is known. */
static void write_unrecorded(struct recorder *r)
{
	for (uint32_t i = 0; i < r->unrecorded.n; i++) {
		const struct trace_tally *t = &r->unrecorded.tallies[i];

		if (!r->trace.err)
			trace_output__wrote(&r->trace, trace_writer__tally(r->trace.writer, t));
		if (summary__tally(r->summary, t) || (r->build && build__tally(r->build, t)))
			diag_warn("out of memory: the summary leaves out what was not recorded");
	}
}

int recorder__finish(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct trace_losses losses = losses_of(r, counters);
	int err;

	recorder__tick(r, counters);
	live_view__restore(r->live);
	write_unrecorded(r);
	write_lines(r);
	if (!r->trace.err)
		trace_output__wrote(&r->trace, trace_writer__finish(r->trace.writer));
	err = print_summary(r, &losses);
	if (r->trace.err)
		return r->trace.err;
	tell_unknown_hits(r);
	closing_line(r, &losses);
	return r->trace.place_err ? r->trace.place_err : err == -EPIPE ? 0 : err;
}

void recorder__free(struct recorder *r)
{
	if (!r)
		return;
	live_view__free(r->live);
	tracks__free(r->tracks);
	code_names__free(r->code_names);
	unrecorded__clear(&r->unrecorded);
	decisions__destroy(&r->decisions);
	summary__free(r->summary);
	build__free(r->build);
	trace_output__destroy(&r->trace);
	for (uint32_t i = 0; i < r->n_names; i++)
		free(r->names[i]);
	free(r->names);
	free(r);
}
