// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <sys/wait.h>

#include "analyze/compile_name.h"
#include "view/build.h"
#include "view/cost_view.h"
#include "view/json.h"
#include "view/report_rows.h"
#include "view/llvm_view.h"
#include "view/samples_text.h"
#include "view/subjects_view.h"

static bool is_taken_off(const struct report_options *opt)
{
	return opt->costs && (opt->costs->subtracted || !opt->raw);
}

/* How the self time is known, if the trace has samples. */
static void add_best(struct json *j, const struct report_row *row)
{
	json__text(j, "self_by", report_self_by(row->self_by));
	json__number(j, "best_self_ns", row->self_ns);
	json__number(j, "best_self_error_ns", row->self_error_ns);
}

static bool has_extra(const struct report_row *row, int extra, const struct samples_totals *sampled)
{
	/* Without stacks it is not known what called the query. */
	if (extra == REPORT_MEMORY_TOTAL && sampled && sampled->light)
		return false;
	return row->extra[extra] || (sampled && extra <= REPORT_SAMPLED_TOTAL_ERROR);
}

static void put_row(struct json *j, const struct report_row *row, bool taken_off,
		    const struct samples_totals *sampled)
{
	bool by_spans = row->self_by != SUMMARY_SELF_SAMPLES;
	bool has_spans = by_spans || row->raw_total_ns;

	json__text(j, "name", row->name);
	json__text(j, "kind", row->kind);
	if (row->results && !row->results_unsure && !row->results_missing)
		json__number(j, "count", row->results);
	else
		json__known(j, "count", row->count || (has_spans && !row->results), row->count);
	if (row->results)
		json__number(j, "results", row->results);
	if (row->results && row->results_missing)
		json__bool(j, "results_at_least", true);
	json__number(j, "unwound", row->unwound);
	if (row->begun)
		json__number(j, "began_before", row->begun);
	json__known(j, "total_ns", has_spans, row->total_ns);
	json__known(j, "self_ns", by_spans, row->exact_self_ns);
	json__known(j, "mean_ns", row->count, row->mean_ns);
	json__known(j, "min_ns", row->count, row->min_ns);
	json__known(j, "max_ns", row->count, row->max_ns);
	if (row->extra[REPORT_OFF_CPU])
		json__number(j, "self_cpu_ns", row->exact_cpu_ns);
	if (taken_off) {
		json__number(j, "raw_total_ns", row->raw_total_ns);
		json__number(j, "raw_self_ns", row->raw_self_ns);
	}
	if (sampled)
		add_best(j, row);
	for (int i = 0; i < REPORT_N_EXTRAS; i++)
		if (has_extra(row, i, sampled))
			json__number(j, report_extras[i].key, row->extra[i]);
	json__put(j);
}

static void put_group(struct json *j, const struct report_row *row)
{
	json__text(j, "name", row->name);
	json__number(j, "processes", row->processes);
	json__number(j, "count", row->count);
	json__number(j, "activities", row->activities);
	json__number(j, "unwound", row->unwound);
	json__number(j, "wall_ns", row->total_ns);
	json__number(j, "self_ns", row->exact_self_ns);
	json__number(j, "max_ns", row->max_ns);
	if (row->extra[REPORT_OFF_CPU]) {
		json__number(j, "self_cpu_ns", row->exact_cpu_ns);
		json__number(j, "self_off_ns", row->extra[REPORT_OFF_CPU]);
	}
	if (row->preempted_ns)
		json__number(j, "preempted_ns", row->preempted_ns);
	if (row->waiting_ns)
		json__number(j, "waiting_ns", row->waiting_ns);
	if (row->peak_bytes)
		json__number(j, "peak_bytes", row->peak_bytes);
	json__put(j);
}

static void put_groups(struct json *j, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	j->err = j->err ?: report_rows__groups(&r, opt);
	json__array(j, "groups");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__line(j, i);
		put_group(j, &r.rows[i]);
	}
	json__print(j, "]");
}

static void put_caller(struct json *j, const struct report_row *row)
{
	const struct caller_row *c = row->caller;

	json__text(j, "function", c->function);
	json__number(j, "count", c->count);
	json__number(j, "unwound", c->unwound);
	json__number(j, "total_ns", c->total_ns);
	json__number(j, "self_ns", c->self_ns);
	json__number(j, "max_ns", c->max_ns);
	if (c->cpu_ns != c->self_ns)
		json__number(j, "self_cpu_ns", c->cpu_ns);
	json__text(j, "file", c->file);
	json__known(j, "line", c->file, c->line);
	json__number(j, "line_count", c->line_count);
	json__number(j, "lines", c->lines);
	json__put(j);
}

static void put_callers(struct json *j, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	j->err = j->err ?: report_rows__callers(&r, opt);
	json__array(j, "callers");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__line(j, i);
		put_caller(j, &r.rows[i]);
	}
	json__print(j, "]");
}

static void put_place(struct json *j, const struct trace_texts *names, uint32_t string)
{
	const struct trace_place *place = trace_texts__place(names, string);

	if (!place)
		return;
	json__text(j, "file", names->text(names->ctx, place->file));
	json__number(j, "line", place->line);
	if (place->call_file == TRACE_NO_STRING)
		return;
	json__text(j, "call_file", names->text(names->ctx, place->call_file));
	json__number(j, "call_line", place->call_line);
}

/* ,"queries":[...] of an item */
static void put_parts(struct json *j, const struct item_row *item, const struct trace_texts *names)
{
	json__array(j, "queries");
	for (uint32_t i = 0; i < item->n_queries && !j->err; i++) {
		const struct item_part *part = &item->queries[i];

		json__item(j, i);
		json__text(j, "name", names->text(names->ctx, part->label));
		json__number(j, "self_ns", part->self_ns);
		if (part->cpu_ns != part->self_ns)
			json__number(j, "self_cpu_ns", part->cpu_ns);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_item(struct json *j, const struct report_row *row, const struct trace_texts *names,
		     const struct report_options *opt)
{
	const struct item_row *item = row->item;
	bool is_module = opt->modules;

	json__text(j, "name", item->item == TRACE_NO_STRING ? NULL : row->name);
	if (is_module)
		json__number(j, "items", row->items);
	else
		put_place(j, names, item->item);
	json__known(j, "executions", item_row__is_counted(item), item_row__executions(item));
	if (item->at_least)
		json__bool(j, "executions_at_least", true);
	json__known(j, "charged", item_row__knows_charged(item), item->charged);
	if (!is_module)
		json__known(j, "instances", item->instances, item->instances);
	json__number(j, "self_ns", item->self_ns);
	if (row->self_by == SUMMARY_SELF_SAMPLES)
		add_best(j, row);
	if (item->cpu_ns != item->self_ns)
		json__number(j, "self_cpu_ns", item->cpu_ns);
	if (row->extra[REPORT_SAMPLED_OFF])
		json__number(j, "sampled_off_ns", row->extra[REPORT_SAMPLED_OFF]);
	if (row->extra[REPORT_MEMORY])
		json__number(j, "memory_bytes", row->extra[REPORT_MEMORY]);
	if (item->llvm.n) {
		json__number(j, "llvm_ns", item->llvm.value);
		json__number(j, "llvm_error_ns", sample_sum__error(&item->llvm));
	}
	json__put_open(j);
	put_parts(j, item, names);
	json__print(j, "}");
}

static void put_items(struct json *j, const struct trace_texts *names,
		      const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};

	j->err = j->err ?: report_rows__items(&r, names, opt);
	json__array(j, opt->modules ? "modules" : "items");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__line(j, i);
		put_item(j, &r.rows[i], names, opt);
	}
	json__print(j, "]");
}

/* ,"queries":[...] of one process or of all */
static void put_rows(struct json *j, const struct summary *s, uint32_t process,
		     const struct trace_texts *names, const struct report_options *opt)
{
	const struct samples_totals *sampled = opt->samples ? samples__totals(opt->samples) : NULL;
	_report_rows_ struct report_rows r = {};

	j->err = j->err ?: report_rows__queries(&r, s, process, names, opt);
	if (j->err)
		return;
	json__array(j, "queries");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__item(j, i);
		put_row(j, &r.rows[i], opt->costs && !opt->raw, sampled);
	}
	json__print(j, "]");
}

/* ,"tallies":[...] if there are any */
static void put_tallies(struct json *j, const struct summary *s, const struct trace_texts *names)
{
	size_t n;
	const struct trace_tally *t = summary__tallies(s, &n);

	if (!n)
		return;
	json__array(j, "tallies");
	for (size_t i = 0; i < n && !j->err; i++) {
		json__item(j, i);
		json__number(j, "pid", summary__process_at(s, t[i].process)->pid);
		json__text(j, "kind",
			   names->kind ? names->kind(names->ctx, t[i].kind)
				       : trace_kind_text(t[i].kind));
		json__text(j, "name", names->text(names->ctx, t[i].label));
		json__number(j, "events", t[i].events);
		json__number(j, "sum", t[i].sum);
		json__put(j);
	}
	json__print(j, "]");
}

static void add_exit(struct json *j, const struct trace_process *p)
{
	int32_t status = p->exit_status;
	bool known = status != TRACE_EXIT_UNKNOWN;

	json__known(j, "exit", known && WIFEXITED(status), WEXITSTATUS(status));
	json__known(j, "signal", known && WIFSIGNALED(status), WTERMSIG(status));
	json__known_bool(j, "killed_for_memory", p->kill, p->kill == TRACE_KILL_MEMORY);
}

/* ,"incremental":{...} if the process loaded anything */
static void put_reuse(struct json *j, const struct summary *s, uint32_t i)
{
	struct reuse reuse = summary__reuse(s, i);

	if (!reuse.loads)
		return;
	json__begin(j);
	json__reuse(j, &reuse);
	json__print(j, ",\"incremental\":");
	json__put(j);
}

static void put_process(struct json *j, const struct summary *s, uint32_t i,
			const struct trace_texts *names, const struct report_options *opt)
{
	const struct trace_process *p = summary__process_at(s, i);
	_free_ char *name = compile_name(p);

	json__text(j, "name", name);
	json__number(j, "pid", p->pid);
	json__number(j, "parent_pid", p->parent_pid);
	json__text(j, "crate", p->crate);
	json__text(j, "crate_type", p->crate_type);
	json__text(j, "command", p->command);
	json__text(j, "rustc_version", p->rustc_version);
	json__text(j, "build_id", p->build_id);
	add_exit(j, p);
	json__bool(j, "attached_late", p->attached_late);
	json__number(j, "start_ns", p->start_ns);
	json__number(j, "end_ns", p->end_ns);
	json__known(j, "peak_bytes", p->peak_bytes, p->peak_bytes);
	json__put_open(j);
	put_reuse(j, s, i);
	put_rows(j, s, i, names, opt);
	json__print(j, "}");
}

static void put_probes(struct json *j, const struct summary *s, const struct report_options *opt)
{
	/* The hits of a part of a trace are not known. */
	uint64_t hits = opt->cost ? opt->cost->hits : 0;
	long double ps = (long double)hits * opt->costs->ps[TRACE_COST_EMULATED];

	json__begin(j);
	json__known(j, "hits", opt->cost, hits);
	json__number(j, "emulated_ps", opt->costs->ps[TRACE_COST_EMULATED]);
	json__number(j, "stepped_ps", opt->costs->ps[TRACE_COST_STEPPED]);
	json__known(j, "probe_ns", opt->cost && ps / 1000 < 0x1p64L, (uint64_t)(ps / 1000));
	json__number(j, "wall_ns", summary__wall_ns(s));
	json__bool(j, "taken_off", is_taken_off(opt));
	json__print(j, ",\"probes\":");
	json__put(j);
}

int report_json(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct trace_texts *names, const struct report_options *opt)
{
	struct summary_counts counts = {0};
	struct json j = {.out = out};

	json__begin(&j);
	json__text(&j, "schema", "qprof-report/3");
	json__text(&j, "problem", opt->problem);
	json__known(&j, "lost", losses, losses ? trace_losses__total(losses) : 0);
	json__losses(&j, "losses", losses);
	j.err = summary__counts(s, SUMMARY_ALL, &counts);
	json__number(&j, "query_executions", counts.queries);
	if (counts.unsure)
		json__number(&j, "unsure_results", counts.unsure);
	json__number(&j, "activities", counts.activities);
	json__put_open(&j);
	if (opt->costs)
		put_probes(&j, s, opt);
	if (opt->cost)
		cost_json(&j, opt->cost);
	if (opt->samples)
		samples_json(&j, samples__totals(opt->samples));
	if (opt->groups)
		put_groups(&j, opt);
	if (opt->subjects)
		subjects_json(&j, opt);
	if (opt->llvm)
		llvm_json(&j, opt);
	if (opt->items)
		put_items(&j, names, opt);
	if (opt->callers)
		put_callers(&j, opt);
	if (opt->build) {
		json__print(&j, ",\"build\":");
		j.err = j.err ?: build_json(out, opt->build);
	}
	json__array(&j, "processes");
	for (uint32_t i = 0; i < summary__n_processes(s) && !j.err; i++) {
		json__line(&j, i);
		put_process(&j, s, i, names, opt);
	}
	json__print(&j, "]");
	put_rows(&j, s, SUMMARY_ALL, names, opt);
	put_tallies(&j, s, names);
	json__print(&j, "}\n");
	return j.err;
}
