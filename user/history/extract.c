// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/extract.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/compare_sides.h"
#include "analyze/compile_name.h"
#include "analyze/model.h"
#include "base/array.h"
#include "base/part.h"
#include "history/crate_sums.h"
#include "proc/command_line.h"
#include "trace/trace_id.h"

/*
 * ---- Executions ----
 *
 * Executions of queries of a build that were not recorded: those of the compilers' tables. Of some
 * queries these may have other results, too.
 */

struct counted {
	bool *unsure; /* by label: of some compile it is not known how often it was executed */
	uint32_t n;
	bool at_least; /* a compiler was not read to its end: results are lower limits */
};

static int note(void *ctx, const struct summary_row *row)
{
	struct counted *c = ctx;
	bool no_executions = !row->is_activity && !row->count;
	bool unsure = row->results_unsure || row->results_missing ||
		      (!row->results && sample_sums__any(&row->samples));

	c->at_least |= row->results && row->results_missing;
	if (!no_executions || !unsure)
		return 0;
	if (array__reserve_at(&c->unsure, row->label, &c->n, sizeof(*c->unsure)))
		return -ENOMEM;
	c->unsure[row->label] = true;
	return 0;
}

struct recorded {
	uint64_t executions;
	bool has_results;
};

static int add_recorded(void *ctx, const struct summary_row *row)
{
	struct recorded *r = ctx;

	if (!row->is_activity) {
		r->executions += row->count;
		r->has_results |= row->results != 0;
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/*
 * The names of the unsure queries, as history_build.uncounted. 0, -ENOMEM, or -E2BIG: they are too
 * many for a text.
 */
static int counted__names(const struct counted *c, const struct trace_texts *texts,
			  struct history_rows *rows, const char **names)
{
	_free_ const char **all = calloc(c->n + 1UL, sizeof(*all));
	char text[HISTORY_TEXT_MAX + 1];
	size_t n = 0, at = 0;

	*names = NULL;
	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++) {
		const char *name = c->unsure[i] ? texts->text(texts->ctx, i) : NULL;

		/* A name of rustc's has no space. */
		if (name && *name && !strchr(name, ' '))
			all[n++] = name;
	}
	if (!n)
		return 0;
	qsort(all, n, sizeof(*all), by_text);
	for (size_t i = 0; i < n; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "", all[i]);
		if (at >= sizeof(text))
			return -E2BIG;
	}
	*names = crate_sums_text(rows, text);
	return *names ? 0 : -ENOMEM;
}

struct extraction {
	struct trace_reader *reader;
	struct history_rows *rows;
	struct model model;
	struct self_time *self_time;
	struct crate_items items;
	struct counted counted;
	const char **crates; /* by process: its name, or NULL */
};

static void extraction__clear(struct extraction *e)
{
	model__destroy(&e->model);
	self_time__free(e->self_time);
	crate_items__destroy(&e->items);
	free(e->counted.unsure);
	free(e->crates);
}

static int take_item(void *ctx, const struct trace_item *item)
{
	struct extraction *e = ctx;
	const struct trace_span *span = &item->span;
	struct trace_times times;
	int err;

	/* As model__item() does; the model's times serve for the items too. */
	if (item->kind == TRACE_ITEM_SPAN) {
		if (span->process >= summary__n_processes(e->model.summary) ||
		    span->end_ns < span->start_ns)
			return -EINVAL;
		err = self_time__span(e->self_time, span, &times);
		return err	   ?: model__span(&e->model, span, &times)
			       ?: crate_items__span(&e->items, &e->model, span, &times);
	}
	if (item->kind == TRACE_ITEM_COSTS)
		self_time__set_costs(e->self_time, &item->costs);
	err = model__item(&e->model, item);
	if (err)
		return err;
	if (item->kind == TRACE_ITEM_SAMPLE)
		return crate_items__sample(&e->items, &e->model, &item->sample);
	if (item->kind == TRACE_ITEM_RESULTS)
		return crate_items__results(&e->items, &e->model, &item->results);
	return 0;
}

static int name_crates(struct extraction *e)
{
	uint32_t n;
	const struct build_process *all = build__processes(e->model.build, &n);

	e->crates = calloc(n + 1UL, sizeof(char *));
	if (!e->crates)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		_free_ char *name = all[i].compiles ? compile_name(all[i].process) : NULL;

		if (!all[i].compiles)
			continue;
		e->crates[i] = name ? crate_sums_text(e->rows, name) : NULL;
		if (!e->crates[i])
			return -ENOMEM;
	}
	return 0;
}

/* HISTORY_UNKNOWN if it is not known. */
static uint64_t known(bool is_known, uint64_t number)
{
	return is_known ? crate_sums_number(number) : HISTORY_UNKNOWN;
}

static const char *text_of_word(struct history_rows *rows, struct word word)
{
	_free_ char *text = word.at ? strndup(word.at, word.len) : NULL;

	return text && *text ? crate_sums_text(rows, text) : NULL;
}

/* Whether executions of all queries were counted. */
static bool all_counted(const struct model *m)
{
	return summary__spans(m->summary) && !m->by_samples;
}

/* The executions in a process. 0 or -ENOMEM. */
static int executions_of(const struct extraction *e, uint32_t process, uint64_t *executions)
{
	const struct counted *c = &e->counted;
	_free_ struct summary_row *rows = NULL;
	struct recorded r = {};
	uint64_t sum = 0;
	size_t n;

	*executions = HISTORY_UNKNOWN;
	if (all_counted(&e->model)) {
		/*
		 * None, though the compiler's tables have results: probes came too late; some of
		 * these may be no executions, and no names tell which.
		 */
		summary__each(e->model.summary, process, add_recorded, &r);
		if (r.executions || !r.has_results)
			*executions = crate_sums_number(r.executions);
		return 0;
	}
	/* By the compilers' tables: of all queries but the unsure ones. */
	if (e->rows->build.executions == HISTORY_UNKNOWN)
		return 0;
	if (summary__rows(e->model.summary, process, &rows, &n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!rows[i].is_activity && !(rows[i].label < c->n && c->unsure[rows[i].label]))
			sum += summary_row__executions(&rows[i]);
	*executions = crate_sums_number(sum);
	return 0;
}

static int add_compile(struct extraction *e, const struct build_process *p, const char *crate)
{
	const struct trace_process *process = p->process;
	const struct model *m = &e->model;
	struct history_build *b = &e->rows->build;
	size_t number = history_rows__n(e->rows, HISTORY_COMPILE);
	struct history_compile *row = history_rows__append(e->rows, HISTORY_COMPILE);
	struct command_line command = command_line_joined(process->command);
	const char *target = compile_is_build_script(process)	    ? "build script"
			     : command_line__has(command, "--test") ? "test"
								    : process->crate_type;
	bool off_cpu = build__totals(m->build)->off_cpu_known;
	int status = process->exit_status;
	uint64_t cpu_ns = 0;
	bool has_cpu = build__cpu_ns(m->build, m->samples, p, &cpu_ns);

	if (!row || executions_of(e, process->index, &row->executions))
		return -ENOMEM;
	row->build = b->build;
	row->start_ns = b->start_ns;
	row->number = number;
	row->crate = crate;
	row->target = target ? crate_sums_text(e->rows, target) : NULL;
	row->tool = text_of_word(e->rows, word__last_component(command_line__next(&command)));
	row->wall_ns = crate_sums_number(p->end_ns - p->start_ns);
	row->cpu_ns = known(has_cpu, cpu_ns);
	row->off_cpu_ns = known(off_cpu, p->preempted_ns + p->waits.in_queries +
						 p->waits.in_passes + p->waits.in_neither);
	row->front_end_ns = known(p->parts_known, p->part_ns[BUILD_FRONT_END]);
	row->codegen_ns = known(p->parts_known, p->part_ns[BUILD_CODEGEN]);
	row->link_ns = known(p->parts_known, p->part_ns[BUILD_LINK]);
	row->peak_bytes = known(process->peak_bytes, process->peak_bytes);
	row->results = known(p->results, p->results);
	if (status != TRACE_EXIT_UNKNOWN)
		row->exit_status = WIFSIGNALED(status) ? 128u + WTERMSIG(status)
						       : (unsigned int)WEXITSTATUS(status);
	/* A sum without some compile's would be a change that none was. */
	if (b->executions != HISTORY_UNKNOWN)
		b->executions = row->executions == HISTORY_UNKNOWN
					? HISTORY_UNKNOWN
					: crate_sums_number(b->executions + row->executions);
	return target && !row->target ? -ENOMEM : 0;
}

static int add_compiles(struct extraction *e)
{
	uint32_t n;
	const struct build_process *all = build__processes(e->model.build, &n);
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++)
		if (e->crates[i])
			err = add_compile(e, &all[i], e->crates[i]);
	return err;
}

/*
 * The directory that cargo has for the profile: target/debug/deps is of "debug". The first compile
 * of the user's own crates that has a cargo's directory says it.
 */
static struct word profile_of(const struct extraction *e)
{
	for (uint32_t i = 0; i < summary__n_processes(e->model.summary); i++) {
		const struct trace_process *p = summary__process_at(e->model.summary, i);
		struct word out = {};

		if (e->crates[i] && compile_is_own(p))
			out = command_line__value(command_line_joined(p->command), "--out-dir");
		if (!word__is(word__last_component(out), "deps"))
			continue;
		out = word__last_component(word__directory(out));
		if (out.len)
			return out;
	}
	return (struct word){};
}

/*
 * cargo compiles in the directory of the workspace; what the workspace needs of other directories,
 * it compiles there, and before.
 */
static const char *directory_of(const struct extraction *e)
{
	for (uint32_t i = summary__n_processes(e->model.summary); i-- > 0;) {
		const struct trace_process *p = summary__process_at(e->model.summary, i);

		if (e->crates[i] && p->cwd && compile_is_own(p))
			return p->cwd;
	}
	return NULL;
}

/* A sum without some compile's would be a change that none was. */
static uint64_t results_of(const struct extraction *e)
{
	uint32_t n;
	const struct build_process *all = build__processes(e->model.build, &n);
	uint64_t sum = 0;

	if (e->counted.at_least)
		return HISTORY_UNKNOWN;
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].compiles && !all[i].results)
			return HISTORY_UNKNOWN;
		sum += all[i].compiles ? all[i].results : 0;
	}
	return crate_sums_number(sum);
}

/*
 * Which executions are counted; add_compiles() counts them. A compiler of which nothing was read
 * may have executed any query.
 */
static int fill_counted(struct extraction *e)
{
	struct history_build *b = &e->rows->build;
	int err = 0;

	for (uint32_t i = 0; i < summary__n_processes(e->model.summary) && !err; i++)
		if (e->crates[i])
			err = summary__each(e->model.summary, i, note, &e->counted);
	b->results = err ? HISTORY_UNKNOWN : results_of(e);
	b->executions = 0;
	if (err || all_counted(&e->model))
		return err;
	err = counted__names(&e->counted, &e->model.options.texts, e->rows, &b->uncounted);
	if (err ? err != -E2BIG : b->results != HISTORY_UNKNOWN)
		return err;
	b->uncounted = NULL;
	b->executions = HISTORY_UNKNOWN;
	return 0;
}

static void fill_numbers(struct history_build *b, const struct model *m)
{
	const struct build_totals *totals = build__totals(m->build);
	uint32_t n = summary__n_processes(m->summary);
	struct cost cost = cost_of(m, n);
	struct compare_recording recording = compare_recording_of(m, &cost);
	uint64_t peak = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes = summary__process_at(m->summary, i)->peak_bytes;

		peak = bytes > peak ? bytes : peak;
	}
	b->lost = known(m->has_losses, trace_losses__total(&m->losses));
	b->wall_ns = crate_sums_number(totals->running.end_ns - totals->running.start_ns);
	b->cpu_ns = known(cost.spent_ns, cost.spent_ns);
	b->cost_ppm = known(cost.whole && cost.spent_ns,
			    1000000 - part_of(1000000, cost.compilers_ns, cost.spent_ns));
	b->peak_bytes = known(peak, peak);
	b->compiles = totals->compiles;
	b->failed = totals->failed + totals->killed;
	b->reused = recording.reusing;
}

static int fill_texts(struct extraction *e)
{
	const struct model *m = &e->model;
	struct history_build *b = &e->rows->build;
	const char *host = trace_reader__info(e->reader)->host, *toolchain = NULL;
	const char *directory = directory_of(e) ?: "", *state = "whole";
	struct word workspace = word__last_component((struct word){directory, strlen(directory)});
	char part[32];

	/* The same text for the same build, in any order of its compilers. */
	for (uint32_t i = 0; i < summary__n_processes(m->summary); i++) {
		const char *version = summary__process_at(m->summary, i)->rustc_version;

		if (e->crates[i] && version && (!toolchain || strcmp(version, toolchain) < 0))
			toolchain = version;
	}
	/* A trace of several is no whole build, even if it is whole. */
	snprintf(part, sizeof(part), "part %" PRIu32, m->part);
	if (trace_reader__problem(e->reader))
		state = trace_reader__stats(e->reader).damaged ? "damaged" : "unfinished";
	else if (m->part)
		state = part;
	b->host = host && *host ? crate_sums_text(e->rows, host) : NULL;
	b->toolchain = toolchain ? crate_sums_text(e->rows, toolchain) : NULL;
	b->profile = text_of_word(e->rows, profile_of(e));
	b->workspace = text_of_word(e->rows, workspace);
	b->how = history_rows__text(e->rows, all_counted(m) ? "exact" : "sampled");
	b->state = history_rows__text(e->rows, state);
	return b->how && b->state ? 0 : -ENOMEM;
}

static int extract(struct extraction *e)
{
	struct model_options options = model_options_of(e->reader);
	const struct trace_info *info = trace_reader__info(e->reader);
	struct history_build *b = &e->rows->build;
	char text[TRACE_ID_TEXT];
	struct trace_id id;
	int err;

	options.parts = MODEL_BUILD | MODEL_LLVM;
	err = model__init(&e->model, &options) ?: self_time__new(&e->self_time);
	err = err ?: trace_reader__each(e->reader, take_item, e) ?: model__end(&e->model);
	if (err)
		return err;
	if (!build__totals(e->model.build)->compiles)
		return -ENODATA;

	/* What identifies the build is in all rows. */
	id = trace_id_of(info, summary__process_at(e->model.summary, 0));
	trace_id__text(&id, text);
	b->build = history_rows__text(e->rows, text);
	b->start_ns = crate_sums_number(info->realtime_start_ns);
	b->cpus = known(info->cpus, info->cpus);
	err = b->build ? name_crates(e) ?: fill_texts(e) : -ENOMEM;
	if (!err)
		fill_numbers(b, &e->model);
	err = err ?: fill_counted(e) ?: add_compiles(e);
	err = err	   ?: crate_sums__queries(e->rows, &e->model, e->crates)
		      ?: crate_sums__items(e->rows, &e->model, &e->items, e->crates)
		      ?: crate_sums__llvm(e->rows, &e->model, e->crates);
	/* Names are expanded when they are asked for. */
	return !err && trace_reader__is_refused(e->reader) ? -E2BIG : err;
}

int history_extract(struct trace_reader *r, struct history_rows *rows, const char **directory)
{
	__cleanup(extraction__clear) struct extraction e = {.reader = r, .rows = rows};
	int err = extract(&e);

	*directory = err ? NULL : directory_of(&e);
	return err;
}
