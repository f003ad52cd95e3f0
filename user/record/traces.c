// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/verdict.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/map.h"
#include "proc/processes.h"
#include "record/cost_shares.h"
#include "record/history_mark.h"
#include "record/announcements.h"
#include "record/sealer.h"
#include "record/trace_dir.h"
#include "trace/chunk_sink.h"

#define SECOND_NS UINT64_C(1000000000)
/* The threads of a process report from several CPUs: some come after its exit. */
#define LATE_NS (2 * SECOND_NS)
/* A build that runs, and whose compilers do not: it may be a server, or one that tests now. */
#define IDLE_NS (60 * SECOND_NS)
#define KEEP_NS (10 * SECOND_NS)
/* Files that are removed at a time: no records are read meanwhile. */
#define REMOVED_MOST 100
/* Traces that are open at a time. Each takes some MiB of memory; the rest of a user share one. */
#define OPEN_PER_USER 8
#define OPEN_MOST     64
/* Exited processes whose trace is remembered. */
#define PIDS_KEPT  1024
#define NAMES_MOST 1000
#define USER_ANY   PROCESS_USER_UNKNOWN

/* One trace that is written. */
struct build_trace {
	uint32_t serial;
	struct build_of build;
	struct recorder *recorder; /* NULL: it could not be created, and what is for it is lost */
	char *path;
	uint64_t begun_ns;
	uint64_t idle_ns; /* no process runs since then */
	uint32_t n_running;
	bool retired;	/* new processes go to another */
	uint32_t part;	/* which of the traces that its build has had one after another; from 1 */
	bool continued; /* by a further one */
	bool cut;
	uint64_t before[WIRE_COUNTER_MAX]; /* the session's, when it began */
	struct cost_share cost;
};

struct traces {
	struct recorder_options recorder;
	struct retention_limits rotate, keep;
	struct trace_dir dir;
	struct announcements past;
	struct code_symbols *symbols;
	struct sealer *sealer;
	struct history_queue *history; /* or NULL */
	struct probe_costs costs;
	bool has_costs;
	struct cost_shares shares;
	struct build_trace **open;
	uint32_t n, capacity;
	struct u64_map of; /* pid -> serial of its trace, twice, and 1 if it has exited */
	/* Processes without an exit record that were gone when that was last looked at. */
	struct u64_map gone;
	uint32_t last_serial;
	uint32_t exited[PIDS_KEPT];
	uint64_t n_exited;
	uint64_t counters[WIRE_COUNTER_MAX]; /* the last ones known */
	/* Of traces that have ended: their processes, and how many lost most of what is theirs. */
	uint32_t n_processes, n_ended, n_lost;
	uint64_t next_keep_ns;
	int err;
};

/* ---- One trace ------------------------------------------------------------------------------- */

static void build_trace__free(struct build_trace *o)
{
	if (!o)
		return;
	recorder__free(o->recorder);
	free(o->path);
	free(o);
}

static char *free_name(const struct traces *t, const struct build_of *b)
{
	for (unsigned int n = 1; n < NAMES_MOST; n++) {
		char *path = trace_dir__name(&t->dir, b, time(NULL), n);

		if (!path || access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

static int begin_recorder(struct traces *t, struct build_trace *o)
{
	struct recorder_options ro = t->recorder;
	int err;

	ro.output = o->path;
	err = recorder__open(&ro, &o->recorder) ?: recorder__create_file(o->recorder);
	if (err)
		return err;
	recorder__commit_file(o->recorder);
	if (t->has_costs)
		recorder__set_costs(o->recorder, &t->costs);
	return announcements__tell(&t->past, recorder__take, o->recorder);
}

/* The trace before this one, which is full, is open until then. */
static uint32_t next_part(struct traces *t, const struct build_of *b)
{
	struct build_trace *last = NULL;

	for (uint32_t i = 0; i < t->n; i++)
		if (build_of_is_same(&t->open[i]->build, b) &&
		    (!last || t->open[i]->part > last->part))
			last = t->open[i];
	if (!last)
		return 1;
	last->continued = true;
	return last->part + 1;
}

static struct build_trace *add_build_trace(struct traces *t, const struct build_of *b)
{
	struct build_trace *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return NULL;
	o->part = next_part(t, b);
	o->serial = ++t->last_serial;
	o->build = *b;
	o->begun_ns = o->idle_ns = clock_ns(CLOCK_MONOTONIC);
	o->path = free_name(t, b);
	memcpy(o->before, t->counters, sizeof(o->before));
	if (!o->path || array__add(&t->open, &t->n, &t->capacity, &o)) {
		build_trace__free(o);
		return NULL;
	}
	/* As on a full disk: the other traces go on. */
	err = begin_recorder(t, o);
	if (err) {
		t->err = t->err ?: err;
		diag_warn("a build of user %" PRIu32 " is not recorded", b->user);
		recorder__free(take_ptr(o->recorder));
	}
	return o;
}

/* A record that was lost meanwhile may be of any build: it is in each of their traces. */
static void counters_of(const struct traces *t, const struct build_trace *o,
			uint64_t out[WIRE_COUNTER_MAX])
{
	for (int i = 0; i < WIRE_COUNTER_MAX; i++)
		out[i] = t->counters[i] - o->before[i];
	out[WIRE_COUNT_HITS] = cost_share__hits(&o->cost, &t->shares, t->counters[WIRE_COUNT_HITS]);
	out[WIRE_COUNT_SAMPLES] = o->cost.samples;
	cost_share__times(&o->cost, &t->shares, t->counters, out);
}

static void note_sealed(struct traces *t)
{
	int err = sealer__report(t->sealer);

	t->err = t->err ?: err;
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The CPU time since then was for this trace, and is no other build's. */
static void charge_since(struct traces *t, struct build_trace *o, uint64_t since_ns)
{
	cost_share__charge(&o->cost, &t->shares, cpu_ns() - since_ns);
}

static void tell_overhead(struct traces *t, struct build_trace *o)
{
	uint64_t counters[WIRE_COUNTER_MAX];
	struct overhead_input own;

	/* Nothing is known before traces__set_overhead(). */
	if (!o->recorder || !t->shares.last.costs)
		return;
	counters_of(t, o, counters);
	own = cost_share__input(&o->cost, &t->shares, counters);
	recorder__set_overhead(o->recorder, &own);
}

/* The trace has less than a build, or several. */
static bool is_part(const struct build_trace *o)
{
	return o->continued || o->part > 1 || !o->build.root;
}

static void end(struct traces *t, uint32_t i)
{
	uint64_t counters[WIRE_COUNTER_MAX];
	struct build_trace *o = t->open[i];
	uint64_t start_ns = cpu_ns();
	int err = 0;

	if (o->recorder)
		recorder__settle(o->recorder);
	charge_since(t, o, start_ns);
	tell_overhead(t, o);
	if (o->recorder && is_part(o))
		recorder__set_part(o->recorder, o->part);
	counters_of(t, o, counters);
	start_ns = cpu_ns();
	if (o->recorder)
		err = recorder__finish(o->recorder, counters);
	charge_since(t, o, start_ns);
	/* A trace that was cut on purpose is no failure. */
	if (!o->cut || err != -EDQUOT)
		t->err = t->err ?: err;
	if (o->recorder) {
		t->n_processes += recorder__processes(o->recorder);
		t->n_lost += recorder__lost_most(o->recorder);
		t->n_ended++;
	}
	build_trace__free(o);
	t->open[i] = t->open[--t->n];
}

/* ---- Which trace a process is in ------------------------------------------------------------- */

/* NULL: none that is open. */
static struct build_trace *of(const struct traces *t, uint32_t pid)
{
	uint32_t value = u64_map__get(&t->of, pid);

	for (uint32_t i = 0; i < t->n && value != U64_MAP_NONE; i++)
		if (t->open[i]->serial == value / 2)
			return t->open[i];
	return NULL;
}

static bool has_exited(const struct traces *t, uint32_t pid)
{
	return u64_map__get(&t->of, pid) & 1;
}

static struct build_trace *by_build(const struct traces *t, const struct build_of *b)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!t->open[i]->retired && build_of_is_same(&t->open[i]->build, b))
			return t->open[i];
	return NULL;
}

/* Beyond the limits, builds of one user, or of several, share one. */
static struct build_of limited(const struct traces *t, const struct build_of *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->open[i]->build.user == b->user && t->open[i]->build.root;
	if (n < OPEN_PER_USER && t->n < OPEN_MOST)
		return *b;
	return (struct build_of){.user = t->n < 2 * OPEN_MOST ? b->user : USER_ANY};
}

/*
 * The trace of processes that are gone, and in no open trace: their exec was not reported, or it
 * was read too late, or they have records that come after the trace of their build has ended.
 */
static struct build_trace *of_unknown(struct traces *t)
{
	const struct build_of unknown = {.user = USER_ANY};
	struct build_trace *o = by_build(t, &unknown);

	if (o)
		return o;
	o = add_build_trace(t, &unknown);
	if (o)
		diag_warn("%s has compilers that were gone before their build could be found",
			  o->path);
	return o;
}

static struct build_trace *choose(struct traces *t, uint32_t pid)
{
	struct build_of b = build_of((pid_t)pid), shared;
	struct build_trace *o = by_build(t, &b);

	if (o)
		return o;
	if (b.user == PROCESS_USER_UNKNOWN && !b.ticks)
		return of_unknown(t);
	shared = limited(t, &b);
	if (shared.root)
		return add_build_trace(t, &b);
	/* A full trace of the build is continued by the one that is shared. */
	next_part(t, &b);
	return by_build(t, &shared) ?: add_build_trace(t, &shared);
}

static void on_exit_of(struct traces *t, uint32_t pid)
{
	struct build_trace *o = of(t, pid);
	uint32_t *slot;

	if (!o || has_exited(t, pid))
		return;
	if (!--o->n_running)
		o->idle_ns = clock_ns(CLOCK_MONOTONIC);
	u64_map__put(&t->of, pid, 2 * o->serial + 1);
	/* The process that exited first is forgotten for it. */
	slot = &t->exited[t->n_exited++ % PIDS_KEPT];
	if (*slot && has_exited(t, *slot) && *slot != pid)
		u64_map__remove(&t->of, *slot);
	*slot = pid;
}

/* A new process. Its parent's trace is its own. */
static struct build_trace *assign(struct traces *t, uint32_t pid, uint32_t parent)
{
	struct build_trace *o = has_exited(t, parent) ? NULL : of(t, parent);

	/* Its exit was not reported. */
	on_exit_of(t, pid);
	o = o ?: choose(t, pid);
	if (!o || u64_map__put(&t->of, pid, 2 * o->serial))
		return NULL;
	o->n_running++;
	return o;
}

/*
 * Exit records may be lost, which must not keep a trace open. A process is left one more look, as
 * its last records may not have been read yet.
 */
static void check_processes(struct traces *t)
{
	_free_ uint32_t *pids = calloc(t->of.used + 1, sizeof(*pids));
	struct u64_map gone = {0};
	size_t n = 0;

	/* Removing moves others, so they are collected first. */
	for (size_t i = 0; pids && i < t->of.capacity; i++)
		if (t->of.slots[i].value != U64_MAP_NONE)
			pids[n++] = (uint32_t)t->of.slots[i].key;
	for (size_t i = 0; i < n; i++) {
		uint32_t pid = pids[i];

		if (!of(t, pid))
			u64_map__remove(&t->of, pid);
		else if (has_exited(t, pid) || process_is_running((pid_t)pid))
			continue;
		else if (u64_map__get(&t->gone, pid) != U64_MAP_NONE)
			on_exit_of(t, pid);
		else
			u64_map__put(&gone, pid, 1);
	}
	u64_map__destroy(&t->gone);
	t->gone = gone;
}

/* ---- The session's sink ---------------------------------------------------------------------- */

/*
 * The process is in no open trace, and this record would not put it into one. Forks, execs and
 * intervals do: a trace would lack them.
 */
static bool is_left_over(const struct record *r)
{
	switch (r->kind) {
	case WIRE_FORK:
	case WIRE_EXEC:
	case WIRE_SPAN:
	case WIRE_OFF_CPU:
	case WIRE_HIT:
	case WIRE_SAMPLE:
		return false;
	default:
		return !process_is_running((pid_t)r->pid);
	}
}

static int take_in_all(struct traces *t, const struct record *r)
{
	int err = announcements__take(&t->past, r);

	for (uint32_t i = 0; i < t->n && !err; i++)
		if (t->open[i]->recorder)
			err = recorder__take(t->open[i]->recorder, r);
	return err;
}

/* A record of the kernel half about a process. */
static int take_in_one(struct traces *t, const struct record *r)
{
	struct build_trace *o = of(t, r->pid);
	int err = 0;

	if (!o && is_left_over(r))
		return 0;
	if (r->kind == WIRE_FORK || (r->kind == WIRE_EXEC && has_exited(t, r->pid)) || !o)
		o = assign(t, r->pid, r->kind == WIRE_FORK ? r->fork->parent_pid : 0);
	cost_shares__record(&t->shares, o ? &o->cost : NULL, r->kind);
	if (!o)
		return -ENOMEM;
	if (o->recorder)
		err = recorder__take(o->recorder, r);
	if (r->kind == WIRE_EXIT)
		on_exit_of(t, r->pid);
	return err;
}

int traces__take(void *traces, const struct record *r)
{
	struct traces *t = traces;
	struct build_trace *o;

	switch (r->kind) {
	case RECORD_LIBRARY:
	case RECORD_FILE:
	case RECORD_LLVM:
	case WIRE_LABEL:
		return take_in_all(t, r);
	case RECORD_BAD:
		/* If it is not known of which build it is, each counts it. */
		return r->pid == RECORD_NO_PID ? take_in_all(t, r) : take_in_one(t, r);
	case RECORD_RUNNING:
		o = assign(t, r->pid, (uint32_t)r->running.parent);
		if (!o)
			return -ENOMEM;
		break;
	case RECORD_WAITED:
		o = of(t, r->pid);
		if (o) {
			o->cost.waited_ns += r->waited_ns;
			o->cost.n_waited++;
		}
		return 0;
	case RECORD_LATE:
	case RECORD_CWD:
	case RECORD_NO_LLVM:
		o = of(t, r->pid);
		break;
	default:
		return r->pid == RECORD_NO_PID ? 0 : take_in_one(t, r);
	}
	return o && o->recorder ? recorder__take(o->recorder, r) : 0;
}

/* ---- Rotating and keeping -------------------------------------------------------------------- */

static bool is_over(const struct build_trace *o, uint64_t now_ns)
{
	uint64_t idle = now_ns - o->idle_ns;

	if (o->n_running || idle < LATE_NS)
		return false;
	return o->continued || !o->build.root || idle > IDLE_NS || !build_of_runs(&o->build);
}

static bool is_full(const struct traces *t, const struct build_trace *o, uint64_t now_ns)
{
	return (t->rotate.age_ns && now_ns - o->begun_ns >= t->rotate.age_ns) ||
	       (t->rotate.bytes && o->recorder && recorder__bytes(o->recorder) >= t->rotate.bytes);
}

static struct build_trace *by_name(const struct traces *t, const char *name)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (!strcmp(strrchr(t->open[i]->path, '/') + 1, name))
			return t->open[i];
	return NULL;
}

/* False: nothing more can be done. */
static bool keep_less(struct traces *t, struct dir_traces *list, enum retention_action action,
		      size_t i)
{
	struct build_trace *o = by_name(t, list->at[i].name);
	int err;

	if (action == RETENTION_CUT) {
		if (o && o->recorder && !o->cut)
			recorder__cut(o->recorder);
		if (o)
			o->cut = true;
		return false;
	}
	err = trace_dir__remove(&t->dir, list->at[i].name);
	if (err)
		diag_warn("cannot remove %s/%s: %s", t->dir.path, list->at[i].name, strerror(-err));
	else
		diag_verbose("removed %s/%s", t->dir.path, list->at[i].name);
	free(list->at[i].name);
	list->at[i] = list->at[--list->n];
	return true;
}

static void keep(struct traces *t)
{
	_dir_traces_ struct dir_traces list = {0};
	_free_ struct kept *kept = NULL;
	size_t i;
	int err;

	if (!t->keep.age_ns && !t->keep.bytes)
		return;
	err = trace_dir__list(&t->dir, &list);
	if (err)
		diag_warn("cannot list %s: %s; its traces are kept", t->dir.path, strerror(-err));
	kept = calloc(list.n + 1UL, sizeof(*kept));
	for (i = 0; kept && i < list.n; i++) {
		const struct build_trace *o = by_name(t, list.at[i].name);

		kept[i] = list.at[i].kept;
		kept[i].open = o;
		kept[i].cut = o && o->cut;
	}
	for (int n = 0; kept && n < REMOVED_MOST; n++) {
		enum retention_action action =
			retention_decide(kept, list.n, &t->keep, clock_ns(CLOCK_REALTIME), &i);

		if (action == RETENTION_ALL || !keep_less(t, &list, action, i))
			return;
		/* As in the list, the last one is in its place. */
		kept[i] = kept[list.n];
	}
}

int traces__tick(struct traces *t, const uint64_t counters[WIRE_COUNTER_MAX])
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), own[WIRE_COUNTER_MAX];
	int err = 0;

	memcpy(t->counters, counters, sizeof(t->counters));
	note_sealed(t);
	if (t->history)
		history_queue__tick(t->history);
	for (uint32_t i = t->n; i--;) {
		struct build_trace *o = t->open[i];

		counters_of(t, o, own);
		if (o->recorder)
			err = recorder__tick(o->recorder, own) ?: err;
		o->retired = o->retired || is_full(t, o, now_ns);
		if (is_over(o, now_ns))
			end(t, i);
	}
	if (now_ns < t->next_keep_ns)
		return err;
	t->next_keep_ns = now_ns + KEEP_NS;
	check_processes(t);
	keep(t);
	return err;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Of the sealer's thread. */
static void add_to_history(void *history, const char *path)
{
	history_queue__put(history, path);
}

int traces__open(const struct traces_options *o, struct traces **out)
{
	_traces_ struct traces *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return diag_error_r(-ENOMEM, "out of memory");
	t->dir = TRACE_DIR_NONE;
	t->recorder = *o->recorder;
	t->recorder.begun = NULL;
	t->recorder.ours = true;
	err = code_symbols__new_default(&t->symbols) ?: sealer__new(trace_seal, &t->sealer);
	if (err)
		return diag_error_r(err, "cannot start recording: %s%s", strerror(-err),
				    diag_step(err, ""));
	t->history = o->history;
	if (t->history)
		sealer__tell(t->sealer, add_to_history, t->history);
	t->recorder.symbols = t->symbols;
	t->recorder.sealer = t->sealer;
	t->rotate = o->rotate;
	t->keep = o->keep;
	err = trace_dir__open(&t->dir, o->dir);
	if (err)
		return err;
	if (t->history)
		history_mark__catch_up(&t->dir, o->store, t->history);
	*out = take_ptr(t);
	return 0;
}

void traces__set_costs(struct traces *t, const struct probe_costs *costs)
{
	t->costs = *costs;
	t->has_costs = true;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->open[i]->recorder)
			recorder__set_costs(t->open[i]->recorder, costs);
}

void traces__set_overhead(struct traces *t, const struct overhead_input *in)
{
	memcpy(t->counters, in->counters, sizeof(t->counters));
	cost_shares__update(&t->shares, in);
	for (uint32_t i = 0; i < t->n; i++) {
		struct build_trace *o = t->open[i];
		uint64_t start_ns = cpu_ns();

		cost_share__divide(&o->cost, &t->shares);
		if (o->recorder)
			recorder__release_samples(o->recorder);
		charge_since(t, o, start_ns);
		tell_overhead(t, o);
	}
	cost_shares__divided(&t->shares);
}

int traces__begin(struct traces *t, uint64_t time_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < t->n && !err; i++)
		if (t->open[i]->recorder)
			err = recorder__begin(t->open[i]->recorder, time_ns);
	return err;
}

int traces__finish(struct traces *t, const uint64_t counters[WIRE_COUNTER_MAX])
{
	memcpy(t->counters, counters, sizeof(t->counters));
	while (t->n)
		end(t, t->n - 1);
	sealer__wait(t->sealer);
	note_sealed(t);
	keep(t);
	return t->err;
}

uint32_t traces__processes(const struct traces *t)
{
	uint32_t n = t->n_processes;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->open[i]->recorder ? recorder__processes(t->open[i]->recorder) : 0;
	return n;
}

bool traces__lost_most(const struct traces *t)
{
	return verdict_is_most(t->n_lost, t->n_ended);
}

void traces__free(struct traces *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->n; i++)
		build_trace__free(t->open[i]);
	free(t->open);
	u64_map__destroy(&t->of);
	u64_map__destroy(&t->gone);
	sealer__free(t->sealer);
	code_symbols__free(t->symbols);
	announcements__clear(&t->past);
	trace_dir__close(&t->dir);
	free(t);
}
