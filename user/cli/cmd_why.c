// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "capture/attach_set.h"
#include "capture/broker.h"
#include "cli/cmd.h"
#include "cli/find_library.h"
#include "options/exit_code.h"
#include "plan/library/find.h"
#include "view/plan_view.h"
#include "view/why_view.h"

struct why {
	const struct cli_why_options *options;
	struct trace_reader *r;
	struct model model;
	struct why_row *rows; /* that of all, then by index of the process */
	uint32_t n;
	struct library_file *file;
	struct plan *plan;
	char *path;
	uint8_t *attached;
	char cause[256]; /* of view.no_plan */
	struct why_view view;
};

static void why__clear(struct why *w)
{
	model__destroy(&w->model);
	trace_reader__free(w->r);
	free(w->rows);
	plan__free(w->plan);
	library_file__free(w->file);
	free(w->path);
	free(w->attached);
}

/* ---- The trace ------------------------------------------------------------------------------- */

static enum why_keys key_of(const struct trace_reader *r, const struct trace_span *span)
{
	uint32_t text = trace_reader__event_string(r, span);

	/* A definition without a path has an empty text. */
	if (text != TRACE_NO_STRING && *trace_reader__string(r, text))
		return WHY_NAMED;
	if (span->invocation == TRACE_NO_INVOCATION)
		return WHY_NO_ID;
	return trace_reader__mappings(r, span->process) ? WHY_NO_TEXT : WHY_NO_NAMES;
}

static int take_item(void *ctx, const struct trace_item *item)
{
	struct why *w = ctx;
	bool is_span = item->kind == TRACE_ITEM_SPAN && item->span.kind == TRACE_KIND_QUERY;
	uint32_t process = is_span ? item->span.process : item->results.process;
	int err = model__item(&w->model, item);

	if (err || (!is_span && item->kind != TRACE_ITEM_RESULTS) ||
	    strcmp(trace_reader__string(w->r, is_span ? item->span.label : item->results.label),
		   w->view.query) != 0)
		return err;
	if (array__reserve_at(&w->rows, process + 1, &w->n, sizeof(*w->rows)))
		return -ENOMEM;
	if (is_span)
		w->rows[process + 1].keys[key_of(w->r, &item->span)]++;
	else if (item->results.kind == TRACE_RESULTS_UNKNOWN)
		w->rows[process + 1].cut_list = true;
	else
		w->rows[process + 1].keys[WHY_LISTED] += item->results.n;
	return 0;
}

/* The query's row of a process, or of SUMMARY_ALL. */
static int find_row(const struct why *w, uint32_t process, struct summary_row *out)
{
	_free_ struct summary_row *rows = NULL;
	size_t n = 0;
	int err = summary__rows(w->model.summary, process, &rows, &n);

	for (size_t i = 0; !err && i < n; i++)
		if (!rows[i].is_activity &&
		    !strcmp(trace_reader__string(w->r, rows[i].label), w->view.query))
			*out = rows[i];
	return err;
}

/* Compilers that compiled something, whether they executed the query or not. */
static int add_rows(struct why *w)
{
	const struct summary *s = w->model.summary;
	uint32_t n = summary__n_processes(s), used = 1;
	int err = array__reserve_at(&w->rows, n, &w->n, sizeof(*w->rows))
			  ?: find_row(w, SUMMARY_ALL, &w->rows[0].row);

	for (uint32_t i = 0; i < n && !err; i++) {
		struct why_row *row = &w->rows[i + 1];

		row->process = summary__process_at(s, i);
		err = find_row(w, i, &row->row);
		if (err || (summary__only_queried(s, i) && !row->row.count && !row->row.results))
			continue;
		for (int k = 0; k < WHY_KEYS; k++)
			w->rows[0].keys[k] += row->keys[k];
		w->rows[0].cut_list |= row->cut_list;
		w->rows[used++] = *row;
	}
	w->view.rows = w->rows;
	w->view.n = used;
	return err;
}

static int read_trace(struct why *w)
{
	const struct model_options options = model_options_of(w->r);
	int err = model__init(&w->model, &options) ?: trace_reader__each(w->r, take_item, w);

	err = err ?: model__end(&w->model) ?: add_rows(w);
	w->view.summary = w->model.summary;
	w->view.losses = w->model.has_losses ? &w->model.losses : NULL;
	w->view.problem = trace_reader__problem(w->r);
	/* Of several toolchains, that of a compiler which executed the query. */
	for (size_t i = 1; !err && i < w->view.n; i++) {
		const struct why_row *row = &w->rows[i];

		if (w->view.build_id && !row->row.count && !row->row.results)
			continue;
		w->view.build_id = row->process->build_id;
		w->view.rustc_version = row->process->rustc_version;
		if (row->row.count || row->row.results)
			break;
	}
	return err;
}

/* ---- Its library ----------------------------------------------------------------------------- */

/* The path that the recording had of the library, by the functions of stacks; NULL: it has none. */
static const char *recorded_path(const struct why *w)
{
	struct trace_location at;

	for (uint32_t i = 1; w->view.build_id && i <= trace_reader__stacks(w->r); i++) {
		const struct trace_stack *s = trace_reader__stack(w->r, i);

		if (s->kind == TRACE_STACK_LOCATION &&
		    trace_reader__location(w->r, s->place, &at) && at.function->file &&
		    !strcmp(at.function->library, w->view.build_id) &&
		    plan_find__is_library(at.function->file))
			return at.function->file;
	}
	return NULL;
}

static int open_library(struct why *w)
{
	_broker_ struct broker *broker = NULL;
	const char *path;
	int err;

	if (w->options->library) {
		if (find_library(w->options->library, &w->path, &w->file))
			return -EINVAL;
		return w->file ? 0 : library_file__open(w->path, &w->file);
	}
	path = recorded_path(w);
	if (!path) {
		w->view.no_plan = "the trace has no path of its library; name it with --library";
		return 0;
	}
	/* A trace may name any file: a child opens it, and none of another user's FUSE server. */
	err = broker__new(&broker) ?: broker__file(broker, getpid(), path, &w->file);
	snprintf(w->cause, sizeof(w->cause), "%s: %s; name a copy with --library", path,
		 err == -BROKER_SERVED ? "another user's file server has it" : strerror(-err));
	w->view.no_plan = err ? w->cause : NULL;
	return 0;
}

/* The sites that a recording of the same events attaches now. */
static int find_attached(struct why *w)
{
	bool callers = trace_reader__stats(w->r).callers;
	_attach_set_ struct attach_set set = {};
	_filter_ struct filter *filter = NULL;
	int err = w->view.events ? filter__new(&w->view.events, 1, &filter) : -EINVAL;

	if (err)
		return err == -ENOMEM ? err : 0;
	err = attach_set__init(&set, w->plan, filter, 0, callers);
	w->attached = err ? NULL : malloc(w->plan->n_sites + 1UL);
	for (uint32_t i = 0; w->attached && i < w->plan->n_sites; i++) {
		const struct plan_site *s = &w->plan->sites[i];

		w->attached[i] = attach_set__wants(&set, s) ? (uint8_t)attach_set__part(&set, s)
							    : PLAN_PARTS;
	}
	w->view.attached = w->attached;
	return w->attached ? 0 : -ENOMEM;
}

/* 0, or a negative errno after an error line. */
static int add_plan(struct why *w)
{
	char build_id[2 * PLAN_BUILD_ID_MAX + 1];
	int err = open_library(w);

	w->view.number = PLAN_NONE;
	if (err || !w->file)
		return err;
	w->view.library = library_file__path(w->file);
	err = plan__load(w->file, &w->plan);
	snprintf(w->cause, sizeof(w->cause), "it cannot be made: %s", strerror(-err));
	if (err) {
		w->view.no_plan = w->cause;
	} else {
		plan_build_id_text(w->plan, build_id);
		if (w->view.build_id && strcmp(build_id, w->view.build_id) != 0) {
			plan__free(take_ptr(w->plan));
			w->view.no_plan = "the file is another library than the recorded one: its "
					  "build-id differs";
		}
	}
	w->view.plan = w->plan;
	for (uint32_t i = 0; w->plan && i < w->plan->n_queries; i++)
		if (!strcmp(w->plan->queries[i].name, w->view.query))
			w->view.number = i;
	if (w->plan && w->view.number == PLAN_NONE)
		w->view.no_plan = "it has no query of this name";
	return w->plan && find_attached(w) ? diag_error_r(-ENOMEM, "out of memory") : 0;
}

/* A misspelt name would look like a query that is never executed. */
static int check_name(const struct why *w)
{
	const struct why_row *all = &w->rows[0];

	if (w->view.number != PLAN_NONE || all->row.count || all->row.results || all->row.kinds ||
	    all->row.hits || sample_sums__any(&all->row.samples))
		return 0;
	return w->plan ? diag_error_r(-ENOENT, "neither %s nor its library has a query called %s",
				      w->options->operands.paths[1], w->view.query)
		       : diag_error_r(-ENOENT, "%s has no query called %s, and %s",
				      w->options->operands.paths[1], w->view.query,
				      w->view.no_plan);
}

int cmd_why(const struct cli_why_options *o)
{
	__cleanup(why__clear) struct why w = {.options = o};
	int err;

	if (o->schema)
		return cmd_finish_stdout(why_schema(stdout) ? EXIT_CODE_FAILURE : EXIT_CODE_OK);
	w.view.query = o->operands.paths[0];
	if (cmd_open_trace(o->operands.paths[1], &w.r))
		return EXIT_CODE_FAILURE;
	w.view.events = trace_reader__info(w.r)->events;
	err = read_trace(&w);
	if (err) {
		cmd_unreadable(o->operands.paths[1], NULL, err);
		return EXIT_CODE_FAILURE;
	}
	if (add_plan(&w) || check_name(&w))
		return EXIT_CODE_FAILURE;
	err = o->json ? why_json(stdout, &w.view) : why_text(stdout, &w.view);
	return cmd_finish_stdout(err ? EXIT_CODE_FAILURE : EXIT_CODE_OK);
}
