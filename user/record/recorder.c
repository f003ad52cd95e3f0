// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/cost.h"
#include "analyze/model.h"
#include "analyze/sample_counts.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/format.h"
#include "cargo/rebuilt.h"
#include "record/code_names.h"
#include "record/item_output.h"
#include "record/live_output.h"
#include "record/query_keys.h"
#include "record/sample_output.h"
#include "record/slow_sampled.h"
#include "record/trace_output.h"
#include "decode/decoder.h"
#include "view/screen.h"
#include "view/verdict_text.h"

/* Rows of a table of queries, which is printed if one crate was compiled. */
#define CLOSING_ROWS 20

struct recorder {
	struct recorder_options opt;
	/*
	 * If the trace fails, as on a full disk, the build and the live view continue. The trace
	 * keeps its "unfinished" mark, and the error decides our exit status.
	 */
	struct trace_output trace;
	char *names_problem; /* why executions of a library have no names, or NULL */
	struct decoder *decoder;
	struct code_names *code_names; /* NULL without callers and samples */
	struct model model;	       /* keeps only sums of processes that have ended */
	struct live_output live;
	struct label_names labels;
	struct item_output items;
	struct sample_output samples;
	struct sample_counts counts; /* for the live view, if `by_samples` */
	struct now_sampled now_sampled;
	struct recent_jobs jobs;	  /* of the samples, if `by_samples` */
	struct slow_sampled slow_sampled; /* with --slow, likewise */
	bool by_samples;
	struct live_results results; /* likewise */
	uint64_t start_ns;
	uint64_t realtime_start_ns; /* the same moment as start_ns, CLOCK_REALTIME */
	uint64_t bad_records, n_queries, n_hits;
	struct breakpoints breakpoints;
	uint32_t beside; /* most other recordings that were seen at once */
	struct now now;
	struct top_nows answer; /* what compilers are in, as it was last asked for */
	uint32_t n_adopted;	/* processes that were running when they were first followed */
	bool lost_most, settled;
	int err;      /* of records that waited: as if recorder__take() returned it */
	bool sampled; /* samples are taken */
};

static int on_process(void *ctx, const struct trace_process *p)
{
	struct recorder *r = ctx;

	trace_output__write(&r->trace, trace_writer__process, p);
	return model__item(&r->model,
			   &(struct trace_item){.kind = TRACE_ITEM_PROCESS, .process = p})
		       ?: slow_sampled__process(&r->slow_sampled, p);
}

static const char *name_of(const void *ctx, uint32_t id)
{
	const struct recorder *r = ctx;

	return label_names__get(&r->labels, id);
}

static int on_span(void *ctx, const struct trace_span *s, const struct trace_times *times)
{
	struct recorder *r = ctx;

	trace_output__write(&r->trace, trace_writer__span, s);
	r->n_queries += s->kind == TRACE_KIND_QUERY;
	r->n_hits += s->kind == TRACE_KIND_HIT;
	if (r->live.slow.to)
		slow_lines__see(&r->live.slow, s, times, name_of(r, s->label));
	return slow_sampled__span(&r->slow_sampled, s) ?: model__span(&r->model, s, times);
}

/*
 * A build may start any number of compilers: drop the details of those that have ended; the trace
 * has them.
 */
static int on_over(void *ctx, uint32_t process)
{
	struct recorder *r = ctx;

	slow_lines__over(&r->live.slow, process);
	return summary__fold(r->model.summary, process);
}

static int on_function(void *ctx, uint32_t file, const struct trace_function *f)
{
	struct recorder *r = ctx;

	trace_output__write(&r->trace, trace_writer__function, f);
	return (r->by_samples ? now_sampled__function(&r->now_sampled, f) : 0)
		       ?: code_names__note(r->code_names, file, f);
}

static int on_stack(void *ctx, const struct trace_stack *entry, uint32_t *id)
{
	struct recorder *r = ctx;

	sample_output__stack(&r->samples, entry, id);
	if (r->by_samples) {
		sample_counts__entry(&r->counts, entry);
		now_sampled__entry(&r->now_sampled, entry);
	}
	return 0;
}

static int on_sample(void *ctx, const struct trace_sample *sample)
{
	struct recorder *r = ctx;
	int err = summary__sample(r->model.summary, sample);

	sample_output__sample(&r->samples, sample);
	if (err || !r->by_samples)
		return err;
	return sample_counts__sample(&r->counts, sample)
		       ?: now_sampled__sample(&r->now_sampled, sample)
		       ?: slow_sampled__sample(&r->slow_sampled, sample);
}

static int on_job(void *ctx, const struct trace_job *job, uint64_t key, uint32_t *id)
{
	struct recorder *r = ctx;
	int err = sample_output__job(&r->samples, job, id);

	return err ?: (r->by_samples ? recent_jobs__add(&r->jobs, *id, job, key) : 0);
}

static int on_llvm(void *ctx, const struct trace_llvm *entry, uint32_t *id)
{
	struct recorder *r = ctx;

	return sample_output__llvm(&r->samples, entry, id)
		       ?: (r->by_samples ? now_sampled__llvm(&r->now_sampled, *id, entry) : 0);
}

static int on_thread(void *ctx, const struct trace_thread *t)
{
	struct recorder *r = ctx;

	trace_output__write(&r->trace, trace_writer__thread, t);
	return 0;
}

static int label_of(void *recorder, const char *name, uint32_t *id)
{
	struct recorder *r = recorder;

	return label_names__id(&r->labels, &r->trace, name, id);
}

static int set_guards(struct recorder *r, struct library *lib, const struct plan *plan)
{
	_free_ uint32_t *labels = calloc(plan->n_guards + 1UL, sizeof(*labels));
	int err = labels ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < plan->n_guards && !err; i++) {
		labels[i] = DECODER_NO_LABEL;
		if (plan->guards[i].label)
			err = label_of(r, plan->guards[i].label, &labels[i]);
	}
	return err ?: library__set_guards(lib, labels, plan->n_guards);
}

static int on_map(void *ctx, const struct trace_mapping *m)
{
	struct recorder *r = ctx;
	int err = slow_sampled__over(&r->slow_sampled, m->process);

	slow_lines__named(&r->live.slow, m, &r->items);
	item_output__map(&r->items, m);
	return err;
}

static int on_tally(void *ctx, const struct trace_tally *t)
{
	struct recorder *r = ctx;

	trace_output__write(&r->trace, trace_writer__tally, t);
	return summary__tally(r->model.summary, t);
}

static int on_results(void *ctx, const struct trace_results *results)
{
	struct recorder *r = ctx;

	trace_output__write(&r->trace, trace_writer__results, results);
	return 0;
}

static int on_symbol(void *ctx, const struct trace_symbol *symbol)
{
	struct recorder *r = ctx;

	trace_output__write(&r->trace, trace_writer__symbol, symbol);
	return 0;
}

static bool wants_label(void *ctx, const struct wire_label_key *label)
{
	const struct recorder *r = ctx;

	/* From outside there is one, of samples. */
	return r->opt.outside || filter__passes_dynamic(r->opt.filter, label);
}

static int name_callers(struct recorder *r, uint8_t lib, const struct plan *plan)
{
	const struct decoder_functions *functions;
	struct trace_writer *writer = r->trace.err ? NULL : r->trace.writer;
	int err;

	if (!r->code_names)
		return 0;
	trace_output__wrote(&r->trace, code_names__retire(r->code_names, lib, writer));
	err = code_names__add_library(r->code_names, lib, plan, &functions);
	if (!err)
		decoder__set_functions(r->decoder, lib, functions);
	return err;
}

static struct answers *answers_of(const struct recorder *r)
{
	return r->opt.begun ? r->opt.begun->answers : NULL;
}

static int take_library(struct recorder *r, const struct record *record)
{
	const struct plan *plan = record->library.plan;
	struct library *set = &r->decoder->libraries[record->lib];
	uint8_t lib = record->lib;
	_free_ uint32_t *labels = calloc(plan->n_queries + 1, sizeof(*labels));
	char hex[2 * PLAN_BUILD_ID_MAX + 1];
	int err = labels ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < plan->n_queries && !err; i++)
		err = label_of(r, plan->queries[i].name, &labels[i]);
	format_hex(hex, plan->build_id, plan->build_id_len);
	err = err ?: decoder__set_library(r->decoder, lib, labels, plan->n_queries, hex,
					 plan->rustc_version)
		  ?: set_guards(r, set, plan);
	if (!err && r->opt.keys) {
		err = query_keys__set(set, plan);
		if (!err && filter__wants_readings(r->opt.filter))
			err = library__set_results(set, plan, record->library.guards,
						   filter__passes(r->opt.filter, FILTER_LOAD, NULL),
						   r->by_samples);
		set->no_feeds = set->no_keys = r->opt.outside;
		query_keys__write_types(&r->trace, plan, labels);
		query_keys__note_problem(&r->names_problem, plan);
	}
	if (!err && sampling_options__any(&r->opt.sampling))
		err = decoder__set_frames(r->decoder, lib, plan);
	err = err ?: name_callers(r, lib, plan) ?: answers__take(answers_of(r), record);
	if (err)
		return diag_error_r(err, "cannot record %s: %s%s", plan->path, strerror(-err),
				    diag_step(err, ""));
	return 0;
}

int recorder__take(void *recorder, const struct record *record)
{
	struct recorder *r = recorder;
	const struct decoder_functions *functions;
	int err;

	switch (record->kind) {
	case RECORD_LIBRARY:
		return take_library(r, record);
	case RECORD_FILE:
		if (!r->code_names)
			return 0;
		err = code_names__add_file(r->code_names, record->file.file, &functions);
		return err ?: decoder__set_file(r->decoder, record->file.number, functions);
	case RECORD_RUNNING:
		r->n_adopted++;
		if (r->opt.begun && open_at_start__add(r->opt.begun, (pid_t)record->pid))
			return -ENOMEM;
		break;
	case RECORD_WAITED:
		return 0;
	case WIRE_NAMES_END:
		/* The compiler is over: its samples get their names. */
		if (r->slow_sampled.jobs)
			recorder__release_samples(r);
		break;
	default:
		break;
	}
	if (answers__take(answers_of(r), record))
		return -ENOMEM;
	if (now__take(&r->now, record))
		return 0;
	r->live.slow.key = record->kind == WIRE_SPAN ? record->span->key : 0;
	err = decoder__take(r->decoder, record);
	/* An invalid record counts as lost; it does not end the recording. */
	if (err != -EBADMSG || record->kind >= RECORD_LIBRARY)
		return err;
	r->bad_records++;
	return 0;
}

int recorder__create_file(struct recorder *r)
{
	_trace_head_ struct trace_head head;
	struct trace_info info;
	int err = trace_head__init(&head, r->opt.command, &info);

	if (err)
		return diag_error_r(err, "out of memory");
	info.clock_start_ns = r->start_ns;
	info.realtime_start_ns = r->realtime_start_ns;
	info.events = (char *)filter__text(r->opt.filter);
	info.source = r->opt.outside ? (char *)TRACE_SOURCE_OUTSIDE : NULL;
	err = trace_output__create(&r->trace, &info);
	if (!err)
		sample_output__begin(&r->samples, &r->opt.sampling, r->by_samples);
	r->sampled = !err && sampling_options__any(&r->opt.sampling);
	return err;
}

void recorder__set_costs(struct recorder *r, const struct probe_costs *costs)
{
	const struct trace_item item = {.kind = TRACE_ITEM_COSTS, .costs = overhead_costs(costs)};

	if (!costs->emulated.hit_ps)
		return;
	model__item(&r->model, &item);
	self_time__set_costs(r->decoder->self_time, &item.costs);
	trace_output__write(&r->trace, trace_writer__costs, &item.costs);
}

void recorder__set_overhead(struct recorder *r, const struct overhead_input *in)
{
	struct trace_item item = {.kind = TRACE_ITEM_OVERHEAD};
	struct overhead_input known = *in;

	r->beside = in->beside > r->beside ? in->beside : r->beside;
	known.beside = r->beside;
	known.breakpoints = breakpoints__count(&r->breakpoints, r->decoder->images.n_processes,
					       in->session.breakpoints);
	if (r->code_names && !r->opt.symbols)
		known.set_up_ns += code_names__cpu_ns(r->code_names);
	item.overhead = overhead_of(&known);
	model__item(&r->model, &item);
	trace_output__write(&r->trace, trace_writer__overhead, &item.overhead);
}

void recorder__set_part(struct recorder *r, uint32_t number)
{
	trace_output__write(&r->trace, trace_writer__part, number);
}

void recorder__commit_file(struct recorder *r)
{
	trace_output__commit(&r->trace);
}

void recorder__discard_file(struct recorder *r)
{
	trace_output__discard(&r->trace);
}

static int open_live(struct recorder *r)
{
	const struct recorder_options *o = &r->opt;

	r->live.to = o->live;
	r->live.wait = o->wait;
	r->live.wait_ctx = o->wait_ctx;
	r->live.slow.processes = r->model.summary;
	r->live.slow.least_ns = o->slow_ns;
	r->live.slow.name = o->name;
	r->live.slow.name_ctx = o->name_ctx;
	return live_output__open(&r->live, o->mode, o->summary);
}

int recorder__open(const struct recorder_options *opt, struct recorder **out)
{
	_recorder_ struct recorder *r = calloc(1, sizeof(*r));
	struct decoder_sink sink = {
		.ctx = r,
		.process = on_process,
		.over = on_over,
		.span = on_span,
		.thread = on_thread,
		.function = on_function,
		.stack = on_stack,
		.sample = on_sample,
		.job = on_job,
		.llvm = on_llvm,
		.label = label_of,
		.items = &r->items,
		.text = item_output__text,
		.compose = item_output__compose,
		.foreign = item_output__foreign,
		.map = on_map,
		.place = item_output__place,
		.tally = on_tally,
		.results = on_results,
		.symbol = on_symbol,
		.wants = wants_label,
	};
	const struct model_options options = {
		.texts = {.ctx = r, .text = name_of},
	};
	int err;

	if (!r)
		return diag_error_r(-ENOMEM, "out of memory");
	r->opt = *opt;
	r->by_samples = !filter__passes_all_queries(opt->filter);
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->realtime_start_ns = clock_ns(CLOCK_REALTIME);
	r->trace.path = strdup(opt->output);
	r->trace.force = opt->force;
	r->trace.ours = opt->ours;
	r->items.trace = r->samples.trace = &r->trace;
	err = r->trace.path ? model__init(&r->model, &options) : -ENOMEM;
	if (!err && r->by_samples)
		summary__set_unwatched(r->model.summary);
	err = err ?: decoder__new(&sink, &r->decoder) ?: open_live(r);
	if (!err && r->by_samples && opt->slow_ns)
		slow_sampled__open(&r->slow_sampled, &r->live.slow, &r->jobs,
				   &r->model.options.texts);
	if (!err && (opt->callers || sampling_options__any(&opt->sampling)))
		err = code_names__new(opt->symbols, &r->code_names);
	if (err)
		return diag_error_r(err, "cannot start recording: %s%s", strerror(-err),
				    diag_step(err, ""));
	r->decoder->expects_hits = filter__wants_hits(opt->filter);
	*out = take_ptr(r);
	return 0;
}

void recorder__release_samples(struct recorder *r)
{
	r->err = decoder__release_samples(r->decoder) ?: r->err;
}

static int on_result(void *ctx, const struct trace_tally *t)
{
	struct live_results *all = ctx;

	return array__add(&all->at, &all->n, &all->capacity, t);
}

bool recorder__counts(const struct recorder *r)
{
	return r->by_samples && r->opt.mode != LIVE_NONE;
}

void recorder__counted(struct recorder *r)
{
	r->results.rounds++;
}

static struct trace_losses tick(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX],
				bool last)
{
	const struct decoder_sink results = {.ctx = &r->results, .tally = on_result};
	struct trace_losses losses;
	struct live_state state;

	/* Of samples that wait it is not known yet whether they find room. */
	recorder__release_samples(r);
	losses = decoder__losses(r->decoder, counters);
	losses.count[TRACE_LOST_BAD_RECORD] = r->bad_records;
	losses.count[TRACE_COUNT_NO_SAMPLE] += r->samples.n_no_room;
	state = (struct live_state){
		.now_ns = clock_ns(CLOCK_MONOTONIC),
		.start_ns = r->start_ns,
		.processes = r->decoder->images.n_processes,
		.running = r->decoder->images.n_running,
		.last = last,
		.losses = &losses,
		.summary = r->model.summary,
		.names = &r->model.options.texts,
		.now = r->now.asked_ns && !last ? &r->answer : NULL,
		.samples = r->by_samples ? &r->counts : NULL,
		.results = &r->results,
	};

	r->err = slow_sampled__tick(&r->slow_sampled) ?: r->err;
	/* Results that the summary does not have. */
	r->results.n = 0;
	if (recorder__counts(r))
		r->err = images__show_results(&r->decoder->images, &results) ?: r->err;
	recorder__commit_file(r);
	trace_output__write(&r->trace, trace_writer__losses, &losses);
	trace_output__write(&r->trace, trace_writer__flush);
	live_output__draw(&r->live, &state);
	return losses;
}

int recorder__tick(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX])
{
	tick(r, counters, false);
	return r->err;
}

struct now_asked recorder__now(struct recorder *r)
{
	recorder__release_samples(r);
	return (struct now_asked){
		.now = &r->now,
		.sampled = r->by_samples ? &r->now_sampled : NULL,
		.jobs = &r->jobs,
		.decoder = r->decoder,
		.summary = r->model.summary,
		.texts = &r->model.options.texts,
		.trace = &r->trace,
		.answer = &r->answer,
	};
}

void recorder__leave_terminal(struct recorder *r)
{
	live_output__leave_terminal(&r->live);
}

static int write_rebuilt(void *recorder, const struct rebuilt_crate *crate)
{
	struct trace_rebuilt row = {.detail = TRACE_NO_STRING, .reason = (uint8_t)crate->reason};
	struct recorder *r = recorder;

	trace_output__write(&r->trace, trace_writer__intern, crate->crate, &row.crate);
	if (*crate->detail)
		trace_output__write(&r->trace, trace_writer__intern, crate->detail, &row.detail);
	trace_output__write(&r->trace, trace_writer__rebuilt, &row);
	return r->trace.err;
}

void recorder__rebuilt(struct recorder *r, struct rebuilt *rebuilt)
{
	if (!r->trace.err && rebuilt__each(rebuilt, write_rebuilt, r) == -ENOMEM)
		trace_output__wrote(&r->trace, -ENOMEM);
}

uint32_t recorder__processes(const struct recorder *r)
{
	return r->decoder->images.n_processes;
}

static void closing_line(const struct recorder *r, const struct trace_losses *losses)
{
	struct summary_counts counts = {};

	/* Without memory they are missing from the line. */
	if (r->by_samples && filter__wants_counts(r->opt.filter))
		summary__counts(r->model.summary, SUMMARY_ALL, &counts);
	closing_line__print(&(struct closing_line){
		.queries = r->by_samples ? counts.queries : r->n_queries,
		.others = summary__spans(r->model.summary) - r->n_queries - r->n_hits,
		.hits = r->n_hits,
		.sampled = r->sampled,
		.samples = r->samples.n,
		.samples_cut = r->samples.n_cut,
		.samples_lost = losses->count[TRACE_COUNT_NO_SAMPLE],
		.unknown_hits = r->decoder->unknown_hits,
		.compilers = r->decoder->images.n_processes,
		.lost = trace_losses__total(losses),
		.place = trace_output__place(&r->trace),
		.bytes = trace_writer__bytes(r->trace.writer),
	});
}

struct ending {
	struct recorder *r;
	struct trace_losses losses;
};

/* If the trace failed, only sums are left of the compilers that ended. Ends the model. */
static int write_totals(struct ending *e, FILE *to)
{
	struct model *m = &e->r->model;
	const struct cost cost = cost_of(m, summary__n_processes(m->summary));
	const struct report_options report = {
		.top = CLOSING_ROWS,
		.width = screen_columns(e->r->opt.live),
		.costs = m->has_costs ? &m->costs : NULL,
		.cost = &cost,
		.totals_only = true,
	};

	return model__end(m) ?: report_text(to, m->summary, &e->losses, &m->options.texts, &report);
}

/* The report of the trace, or totals. */
static int write_summary(void *ending, FILE *to)
{
	_trace_reader_ struct trace_reader *reader = NULL;
	struct ending *e = ending;
	struct recorder *r = e->r;

	if (r->trace.err)
		return write_totals(e, to);
	return trace_output__read(&r->trace, &reader)
		       ?: r->opt.report(trace_output__place(&r->trace), reader, to, r->opt.live,
					CLOSING_ROWS);
}

/* A compilation that was recorded from its start executes queries, and has passes. */
static bool expects_intervals(const struct recorder *r, const struct verdict *v)
{
	return (filter__passes(r->opt.filter, FILTER_QUERY, NULL) ||
		filter__passes(r->opt.filter, FILTER_TIMER, NULL)) &&
	       v->compiles > r->n_adopted;
}

/* Called even if nothing else is printed: a missing number must not be taken for a small one. */
static void judge(struct recorder *r, const struct trace_losses *losses)
{
	struct verdict v = verdict_of(r->model.summary, losses);
	char text[VERDICT_TEXT_MAX];

	if (v.state == VERDICT_NOTHING && !expects_intervals(r, &v))
		return;
	r->lost_most = v.state != VERDICT_SOUND;
	if (r->lost_most)
		diag_error("%s; %s", verdict_text(&v, text), verdict_fix(&v));
}

bool recorder__lost_most(const struct recorder *r)
{
	return r->lost_most;
}

uint64_t recorder__bytes(const struct recorder *r)
{
	return trace_writer__bytes(r->trace.writer);
}

void recorder__cut(struct recorder *r)
{
	if (!r->trace.err)
		diag_warn("%s is not continued: the traces of its user are too large",
			  r->trace.path);
	r->trace.err = r->trace.err ?: -EDQUOT;
}

int recorder__begin(struct recorder *r, uint64_t time_ns)
{
	return images__begin(&r->decoder->images, time_ns);
}

void recorder__settle(struct recorder *r)
{
	uint64_t refused;

	if (r->settled)
		return;
	r->settled = true;
	r->err = decoder__settle(r->decoder) ?: r->err;
	if (r->err)
		diag_error("the last records are missing: %s", strerror(-r->err));
	r->err = slow_sampled__over(&r->slow_sampled, TRACE_NO_PROCESS) ?: r->err;
	slow_lines__over(&r->live.slow, TRACE_NO_PROCESS);
	refused = caller_index__refused(r->decoder->callers);
	if (refused)
		diag_warn("%" PRIu64 " functions found no place in the trace: the callers in them "
			  "are unknown",
			  refused);
	if (r->code_names && !r->trace.err)
		trace_output__wrote(&r->trace,
				    code_names__write_lines(r->code_names, r->trace.writer));
}

int recorder__finish(struct recorder *r, const uint64_t counters[WIRE_COUNTER_MAX])
{
	struct ending ending = {.r = r};
	int err;

	recorder__settle(r);
	ending.losses = tick(r, counters, true);
	live_view__restore(r->live.view);
	trace_output__finish(&r->trace, r->opt.sealer);
	err = live_output__finish(&r->live, r->opt.summary ? write_summary : NULL, &ending);
	if (r->trace.err)
		return r->trace.err;
	query_keys__print(r->names_problem, r->decoder->images.n_unnamed);
	query_keys__print_unread(r->decoder->unread_arguments);
	closing_line(r, &ending.losses);
	judge(r, &ending.losses);
	if (r->trace.place_err || r->err)
		return r->trace.place_err ?: r->err;
	return err;
}

void recorder__free(struct recorder *r)
{
	if (!r)
		return;
	live_output__destroy(&r->live);
	free(r->names_problem);
	decoder__free(r->decoder);
	code_names__free(r->code_names);
	sample_counts__destroy(&r->counts);
	free(r->results.at);
	now_sampled__destroy(&r->now_sampled);
	slow_sampled__clear(&r->slow_sampled);
	recent_jobs__clear(&r->jobs);
	model__destroy(&r->model);
	trace_output__destroy(&r->trace);
	label_names__clear(&r->labels);
	free(r);
}
