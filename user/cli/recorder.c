// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cli/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#include "analyze/budget.h"
#include "analyze/summary.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/invoker.h"
#include "base/version.h"
#include "cli/code_names.h"
#include "cli/output_file.h"
#include "cli/unrecorded.h"
#include "trace/writer.h"
#include "tracks/tracks.h"
#include "view/format.h"
#include "view/slow.h"

struct recorder {
	struct recorder_options opt;
	char *path; /* as the user named it */
	struct output_file file;
	struct trace_writer *writer;
	struct tracks *tracks;
	struct code_names *code_names; /* NULL without callers */
	struct summary *summary;
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
	struct budget watched; /* what was decided to keep the budget */
	int file_err;	       /* the trace's first error; recording to it has stopped */
	int place_err; /* the trace could not be put where it belongs; it is whole elsewhere */
	int view_err;  /* the live view's; it is not drawn any more */
};

/*
 * The build goes on and so does the live view when the disk is full; the file keeps its
 * "unfinished" mark and the error decides our exit status.
 */
static void file_failed(struct recorder *r, int err)
{
	if (r->file_err)
		return;
	r->file_err = err;
	diag_error("cannot write %s: %s; %s. What was written up to here can be read", r->path,
		   strerror(-err),
		   err == -ENOSPC || err == -EDQUOT || err == -EFBIG
			   ? "free some space or choose another place with -o"
			   : "choose another place with -o");
}

static int on_process(void *ctx, const struct trace_process *p)
{
	struct recorder *r = ctx;
	int err = r->file_err ? 0 : trace_writer__process(r->writer, p);

	if (err)
		file_failed(r, err);
	return summary__process(r->summary, p);
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
	int err = r->file_err ? 0 : trace_writer__span(r->writer, s);

	if (err)
		file_failed(r, err);
	r->n_queries += s->kind == TRACE_KIND_QUERY;
	r->n_hits += s->kind == TRACE_KIND_HIT;
	if (r->opt.slow_ns && slow_is(s, r->opt.slow_ns))
		tell_slow(r, s, off);
	return summary__span(r->summary, s, off);
}

static int on_unrecorded(void *ctx, const struct trace_tally *more)
{
	struct recorder *r = ctx;

	return unrecorded__add(&r->unrecorded, more);
}

static int on_function(void *ctx, uint8_t lib, const struct trace_function *f)
{
	struct recorder *r = ctx;
	int err = r->file_err ? 0 : trace_writer__function(r->writer, f);

	if (err)
		file_failed(r, err);
	return code_names__note(r->code_names, lib, f);
}

static int on_thread(void *ctx, const struct trace_thread *t)
{
	struct recorder *r = ctx;
	int err = r->file_err ? 0 : trace_writer__thread(r->writer, t);

	if (err)
		file_failed(r, err);
	return 0;
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
	int err = r->file_err ? 0 : trace_writer__intern(r->writer, name, id);

	if (err)
		file_failed(r, err);
	if (r->file_err)
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

static int create_as_user(struct recorder *r, const struct trace_info *info)
{
	_invoker_ struct invoker inv = {0};
	int err = invoker__get(&inv);

	if (!err)
		err = invoker__take_file_rights(&inv);
	if (err)
		return err;
	err = output_file__choose(&r->file, r->path, r->opt.force);
	if (!err)
		err = trace_writer__open(r->file.path, info, &r->writer);
	r->file.created = !err;
	invoker__return_file_rights(&inv);
	return err;
}

static int cannot_create(const struct recorder *r, int err)
{
	if (err == -EEXIST)
		return diag_error_r(err,
				    "%s exists already; choose another name with -o, or "
				    "overwrite it with --force",
				    r->path);
	if (err == -EINVAL && r->opt.force)
		return diag_error_r(err,
				    "%s is no regular file, and a trace cannot go anywhere else; "
				    "choose another name with -o",
				    r->path);
	return diag_error_r(err, "cannot create %s: %s; choose another place with -o", r->path,
			    strerror(-err));
}

int recorder__create_file(struct recorder *r)
{
	struct utsname uts;
	struct trace_info info = {.tool = (char *)"qprof-bpf " QPROF_VERSION};
	int err;

	uname(&uts);
	info.kernel = uts.release;
	info.host = uts.nodename;
	info.clock_start_ns = r->start_ns;
	info.realtime_start_ns = r->realtime_start_ns;
	info.budget_ppm = r->opt.budget_ppm;
	err = create_as_user(r, &info);
	return err ? cannot_create(r, err) : 0;
}

void recorder__set_costs(struct recorder *r, const struct probe_costs *costs)
{
	int err = 0;

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
	if (!r->file_err)
		err = trace_writer__costs(r->writer, &r->costs);
	if (err)
		file_failed(r, err);
}

void recorder__commit_file(struct recorder *r)
{
	_invoker_ struct invoker inv = {0};
	int err = r->file.committed ? 0 : invoker__get(&inv);

	if (err || r->file.committed)
		return;
	err = invoker__take_file_rights(&inv);
	if (!err)
		err = output_file__commit(&r->file);
	invoker__return_file_rights(&inv);
	if (!err)
		return;
	r->file.committed = true;
	r->place_err = err;
	diag_error("cannot replace %s: %s; the trace goes to %s", r->path, strerror(-err),
		   r->file.path);
}

void recorder__discard_file(struct recorder *r)
{
	_invoker_ struct invoker inv = {0};

	if (invoker__get(&inv) || invoker__take_file_rights(&inv))
		return;
	output_file__discard(&r->file);
	invoker__return_file_rights(&inv);
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
	r->watched.ppm = opt->budget_ppm;
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->realtime_start_ns = clock_ns(CLOCK_REALTIME);
	r->path = strdup(opt->output);
	err = r->path ? summary__new(&r->summary) : -ENOMEM;
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
	err = r->file_err ? 0 : trace_writer__decision(r->writer, &decision);
	if (err)
		file_failed(r, err);
	return budget__decision(&r->watched, &decision);
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

/* The one place that knows both numberings. */
static struct trace_losses losses_of(const struct recorder *r,
				     const uint64_t counters[WIRE_COUNTER_MAX])
{
	static const enum wire_counter from[TRACE_LOSS_MAX] = {
		[TRACE_LOST_RING_FULL] = WIRE_LOST_RING_FULL,
		[TRACE_LOST_STACK_FULL] = WIRE_LOST_STACK_FULL,
		[TRACE_LOST_NO_STORAGE] = WIRE_LOST_NO_STORAGE,
		[TRACE_LOST_RECURSION] = WIRE_LOST_RECURSION,
		[TRACE_LOST_PROCESS_RECORD] = WIRE_LOST_PROCESS_RECORD,
		[TRACE_LOST_TARGETS_FULL] = WIRE_LOST_TARGETS_FULL,
		[TRACE_DROP_END_WITHOUT_START] = WIRE_DROP_END_WITHOUT_START,
		[TRACE_COUNT_UNWOUND] = WIRE_COUNT_UNWOUND,
		[TRACE_COUNT_LEFT] = WIRE_COUNT_LEFT,
		[TRACE_COUNT_OPEN] = WIRE_COUNT_OPEN,
		[TRACE_LOST_UNKNOWN_PROVIDER] = WIRE_DROP_UNKNOWN_PROVIDER,
		[TRACE_COUNT_HITS] = WIRE_COUNT_HITS,
		[TRACE_COUNT_HITS_OTHER] = WIRE_COUNT_HITS_OTHER,
		[TRACE_COUNT_NO_LABEL] = WIRE_COUNT_NO_LABEL,
		[TRACE_COUNT_NO_CALLER] = WIRE_COUNT_NO_CALLER,
		[TRACE_LOST_MAPPINGS] = WIRE_LOST_MAPPINGS,
		[TRACE_LOST_COMPILERS] = WIRE_LOST_COMPILERS,
	};
	_Static_assert(TRACE_LOST_COMPILERS == TRACE_LOSS_MAX - 1, "a cause without a counter");
	struct trace_losses losses;

	for (int i = 0; i < TRACE_LOSS_MAX; i++)
		losses.count[i] = counters[from[i]];
	losses.count[TRACE_LOST_BAD_RECORD] = r->bad_records;
	losses.count[TRACE_COUNT_NO_CALLER] += tracks__unplaced_callers(r->tracks);
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
	int err = 0;

	recorder__commit_file(r);
	if (!r->file_err)
		err = trace_writer__losses(r->writer, &losses);
	if (!err && !r->file_err)
		err = trace_writer__flush(r->writer);
	if (err)
		file_failed(r, err);
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

	format_bytes(size, trace_writer__bytes(r->writer));
	if (others)
		snprintf(intervals, sizeof(intervals), " and %" PRIu64 " other intervals", others);
	if (r->n_hits)
		snprintf(hits, sizeof(hits), " and %" PRIu64 " cache hits", r->n_hits);
	diag_info("recorded %" PRIu64 " queries%s%s of %u compiler%s, %" PRIu64
		  " lost; wrote %s (%s)",
		  r->n_queries, intervals, hits, tracks__processes(r->tracks),
		  tracks__processes(r->tracks) == 1 ? "" : "s", trace_losses__total(losses),
		  r->place_err ? r->file.path : r->path, size);
}

static int print_summary(struct recorder *r, const struct trace_losses *losses)
{
	struct view_names names = {.ctx = r, .text = name_of};
	struct report_options report = {
		.top = 20,
		.costs = r->has_costs ? &r->costs : NULL,
		.budget = r->opt.budget_ppm ? &r->watched : NULL,
	};
	int err;

	if (!r->opt.summary || r->view_err)
		return r->view_err;
	budget__end(&r->watched, summary__end_ns(r->summary));
	summary__loads_watched(r->summary, budget__watched_from(&r->watched, TRACE_KIND_LOAD));
	err = report_text(r->opt.live, r->summary, losses, &names, &report);
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
	int err;

	if (refused)
		diag_warn("%" PRIu64 " functions found no place in the trace: the callers in them "
			  "are unknown",
			  refused);
	err = r->code_names && !r->file_err ? code_names__write_lines(r->code_names, r->writer) : 0;
	if (err)
		file_failed(r, err);
}

/* What was not recorded, by process and query: once each, so not before all is known. */
static void write_unrecorded(struct recorder *r)
{
	int err = 0;

	for (uint32_t i = 0; i < r->unrecorded.n; i++) {
		const struct trace_tally *t = &r->unrecorded.tallies[i];

		if (!r->file_err)
			err = trace_writer__tally(r->writer, t);
		if (err)
			file_failed(r, err);
		if (summary__tally(r->summary, t))
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
	if (!r->file_err) {
		err = trace_writer__finish(r->writer);
		if (err)
			file_failed(r, err);
	}
	err = print_summary(r, &losses);
	if (r->file_err)
		return r->file_err;
	tell_unknown_hits(r);
	closing_line(r, &losses);
	return r->place_err ? r->place_err : err == -EPIPE ? 0 : err;
}

void recorder__free(struct recorder *r)
{
	if (!r)
		return;
	live_view__free(r->live);
	tracks__free(r->tracks);
	code_names__free(r->code_names);
	unrecorded__clear(&r->unrecorded);
	budget__destroy(&r->watched);
	summary__free(r->summary);
	trace_writer__free(r->writer);
	for (uint32_t i = 0; i < r->n_names; i++)
		free(r->names[i]);
	free(r->names);
	output_file__clear(&r->file);
	free(r->path);
	free(r);
}
