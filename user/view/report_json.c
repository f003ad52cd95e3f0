// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <sys/wait.h>

#include "analyze/probe_share.h"
#include "view/build.h"
#include "view/extras.h"
#include "view/json.h"
#include "view/report_rows.h"

static bool is_taken_off(const struct report_options *opt)
{
	return opt->costs && (opt->costs->subtracted || !opt->raw);
}

static void add_known(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json__number(j, key, value);
	else
		json__null(j, key);
}

static int put_row(FILE *out, const struct report_row *row, bool taken_off)
{
	struct json j;

	json__begin(&j);
	json__text(&j, "name", row->name);
	json__text(&j, "kind", row->kind);
	json__number(&j, "count", row->count);
	if (row->activities)
		json__number(&j, "activities", row->activities);
	json__number(&j, "unwound", row->unwound);
	add_known(&j, "total_ns", !row->untimed, row->total_ns);
	json__number(&j, "self_ns", row->self_ns);
	add_known(&j, "mean_ns", row->recorded, row->mean_ns);
	add_known(&j, "min_ns", row->recorded, row->min_ns);
	add_known(&j, "max_ns", row->recorded, row->max_ns);
	if (row->extra[REPORT_OFF_CPU])
		json__number(&j, "self_cpu_ns", report_row__cpu_ns(row));
	if (taken_off) {
		json__number(&j, "raw_total_ns", row->raw_total_ns);
		json__number(&j, "raw_self_ns", row->raw_self_ns);
	}
	for (int i = 0; i < REPORT_N_EXTRAS; i++)
		if (row->extra[i] || (i == REPORT_ESTIMATED && row->rough))
			json__number(&j, report_extras[i].key, row->extra[i]);
	return json__put(&j, out);
}

static int put_group(FILE *out, const struct report_row *row)
{
	struct json j;

	json__begin(&j);
	json__text(&j, "name", row->name);
	json__number(&j, "processes", row->processes);
	json__number(&j, "count", row->count);
	json__number(&j, "unwound", row->unwound);
	json__number(&j, "wall_ns", row->total_ns);
	json__number(&j, "self_ns", row->self_ns);
	json__number(&j, "max_ns", row->max_ns);
	if (row->extra[REPORT_OFF_CPU])
		json__number(&j, "self_off_ns", row->extra[REPORT_OFF_CPU]);
	if (row->preempted_ns)
		json__number(&j, "preempted_ns", row->preempted_ns);
	if (row->waiting_ns)
		json__number(&j, "waiting_ns", row->waiting_ns);
	return json__put(&j, out);
}

static int put_groups(FILE *out, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	int err = report_rows__groups(&r, opt);

	fputs(",\"groups\":[", out);
	for (size_t i = 0; !err && i < r.n; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = put_group(out, &r.rows[i]);
	}
	fputc(']', out);
	return err;
}

static int put_caller(FILE *out, const struct report_row *row)
{
	const struct caller_row *c = row->caller;
	struct json j;

	json__begin(&j);
	json__text(&j, "function", c->function);
	json__number(&j, "count", c->count);
	json__number(&j, "unwound", c->unwound);
	json__number(&j, "total_ns", c->total_ns);
	json__number(&j, "self_ns", c->self_ns);
	json__number(&j, "max_ns", c->max_ns);
	json__text(&j, "file", c->file);
	if (c->file)
		json__number(&j, "line", c->line);
	else
		json__null(&j, "line");
	json__number(&j, "line_count", c->line_count);
	json__number(&j, "lines", c->lines);
	return json__put(&j, out);
}

static int put_callers(FILE *out, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	int err = report_rows__callers(&r, opt);

	fputs(",\"callers\":[", out);
	for (size_t i = 0; !err && i < r.n; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = put_caller(out, &r.rows[i]);
	}
	fputc(']', out);
	return err;
}

/* ,"queries":[...] of one process or of all */
static int put_rows(FILE *out, const struct summary *s, uint32_t process,
		    const struct trace_texts *names, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	int err = report_rows__queries(&r, s, process, names, opt);

	if (err)
		return err;
	fputs(",\"queries\":[", out);
	for (size_t i = 0; !err && i < r.n; i++) {
		fputs(i ? "," : "", out);
		err = put_row(out, &r.rows[i], opt->costs && !opt->raw);
	}
	fputc(']', out);
	return err;
}

/* ,"tallies":[...] if there are any */
static int put_tallies(FILE *out, const struct summary *s, const struct trace_texts *names)
{
	size_t n;
	const struct trace_tally *t = summary__tallies(s, &n);
	int err = 0;

	if (!n)
		return 0;
	fputs(",\"tallies\":[", out);
	for (size_t i = 0; !err && i < n; i++) {
		struct json j;

		fputs(i ? "," : "", out);
		json__begin(&j);
		json__number(&j, "pid", summary__process_at(s, t[i].process)->pid);
		json__text(&j, "kind",
			   names->kind ? names->kind(names->ctx, t[i].kind)
				       : trace_kind_text(t[i].kind));
		json__text(&j, "name", names->text(names->ctx, t[i].label));
		json__number(&j, "events", t[i].events);
		json__number(&j, "sum", t[i].sum);
		err = json__put(&j, out);
	}
	fputc(']', out);
	return err;
}

static void add_exit(struct json *j, int32_t status)
{
	bool known = status != TRACE_EXIT_UNKNOWN;

	if (known && WIFEXITED(status))
		json__number(j, "exit", WEXITSTATUS(status));
	else
		json__null(j, "exit");
	if (known && WIFSIGNALED(status))
		json__number(j, "signal", WTERMSIG(status));
	else
		json__null(j, "signal");
}

/* ,"incremental":{...} if the process loaded anything */
static int put_reuse(FILE *out, const struct summary *s, uint32_t i)
{
	struct reuse reuse = summary__reuse(s, i);
	struct json j;

	if (!reuse.loads)
		return 0;
	json__begin(&j);
	json__number(&j, "executed", reuse__executed(&reuse));
	if (reuse.unrecorded.rough)
		json__number(&j, "estimated", reuse.unrecorded.estimated);
	json__number(&j, "loads", reuse.loads);
	add_known(&j, "loaded", !reuse__may_miss(&reuse), reuse.loaded);
	add_known(&j, "results", reuse.results, reuse.results);
	fputs(",\"incremental\":", out);
	return json__put(&j, out);
}

static int put_process(FILE *out, const struct summary *s, uint32_t i,
		       const struct trace_texts *names, const struct report_options *opt)
{
	const struct trace_process *p = summary__process_at(s, i);
	struct json j;
	int err;

	json__begin(&j);
	json__number(&j, "pid", p->pid);
	json__number(&j, "parent_pid", p->parent_pid);
	json__text(&j, "crate", p->crate);
	json__text(&j, "crate_type", p->crate_type);
	json__text(&j, "command", p->command);
	json__text(&j, "rustc_version", p->rustc_version);
	json__text(&j, "build_id", p->build_id);
	add_exit(&j, p->exit_status);
	json__bool(&j, "attached_late", p->attached_late);
	json__number(&j, "start_ns", p->start_ns);
	json__number(&j, "end_ns", p->end_ns);
	err = json__put_open(&j, out) ?: put_reuse(out, s, i) ?: put_rows(out, s, i, names, opt);
	fputc('}', out);
	return err;
}

static int put_probes(FILE *out, const struct summary *s, const struct trace_losses *losses,
		      const struct report_options *opt)
{
	struct probe_share share = probe_share_of(s, opt->costs, losses);
	struct json j;

	json__begin(&j);
	json__number(&j, "hits", share.hits);
	json__number(&j, "emulated_ps", opt->costs->ps[TRACE_COST_EMULATED]);
	json__number(&j, "stepped_ps", opt->costs->ps[TRACE_COST_STEPPED]);
	json__number(&j, "probe_ns", share.probe_ns);
	json__number(&j, "wall_ns", share.wall_ns);
	json__bool(&j, "taken_off", is_taken_off(opt));
	fputs(",\"probes\":", out);
	return json__put(&j, out);
}

static int put_budget_row(FILE *out, const struct decided *row, const struct trace_texts *names)
{
	struct json j;

	json__begin(&j);
	json__text(&j, "kind", trace_kind_text(row->kind) ?: "<unknown>");
	json__text(&j, "name", names->text(names->ctx, row->label));
	json__number(&j, "decisions", row->decisions);
	json__text(&j, "watch", trace_watch_name(row->watch));
	json__number(&j, "counted_ns", row->ns[TRACE_WATCH_COUNTED]);
	json__number(&j, "off_ns", row->ns[TRACE_WATCH_OFF]);
	return json__put(&j, out);
}

/* Print the rows of queries, or of other intervals if there are any. */
static int put_budget_rows(FILE *out, const struct decisions *d, const struct trace_texts *names,
			   bool queries)
{
	bool any = queries;
	int err = 0;

	fputs(queries ? ",\"queries\":[" : "", out);
	for (uint32_t i = 0, n = 0; !err && i < d->rows.n; i++) {
		if ((d->rows.at[i].kind == TRACE_KIND_QUERY) != queries)
			continue;
		fputs(!any ? ",\"others\":[" : n ? "," : "", out);
		any = true;
		n++;
		err = put_budget_row(out, &d->rows.at[i], names);
	}
	fputs(any ? "]" : "", out);
	return err;
}

static int put_budget(FILE *out, const struct decisions *d, const struct trace_texts *names)
{
	struct json j;
	int err;

	json__begin(&j);
	json__number(&j, "budget_ppm", d->ppm);
	json__number(&j, "decisions", d->total);
	json__number(&j, "last_cost_ppm", d->last_cost_ppm);
	json__number(&j, "most_cost_ppm", d->most_cost_ppm);
	fputs(",\"budget\":", out);
	err = json__put_open(&j, out);
	err = err ?: put_budget_rows(out, d, names, true);
	err = err ?: put_budget_rows(out, d, names, false);
	fputs("}", out);
	return err;
}

int report_json(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct trace_texts *names, const struct report_options *opt)
{
	uint32_t n = summary__n_processes(s);
	struct json j;
	int err;

	json__begin(&j);
	json__text(&j, "schema", "qprof-report/2");
	json__text(&j, "problem", opt->problem);
	if (losses)
		json__number(&j, "lost", trace_losses__total(losses));
	else
		json__null(&j, "lost");
	json__losses(&j, "losses", losses);
	err = json__put_open(&j, out);
	if (!err && opt->costs)
		err = put_probes(out, s, losses, opt);
	if (!err && opt->decisions)
		err = put_budget(out, opt->decisions, names);
	if (!err && opt->groups)
		err = put_groups(out, opt);
	if (!err && opt->callers)
		err = put_callers(out, opt);
	if (!err && opt->build) {
		fputs(",\"build\":", out);
		err = build_json(out, opt->build);
	}
	fputs(",\"processes\":[", out);
	for (uint32_t i = 0; !err && i < n; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = put_process(out, s, i, names, opt);
	}
	fputc(']', out);
	err = err ?: put_rows(out, s, SUMMARY_ALL, names, opt);
	err = err ?: put_tallies(out, s, names);
	fputs("}\n", out);
	return err;
}
