// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <sys/wait.h>

#include "view/build_rows.h"
#include "view/json.h"

/* Rows of queries, passes and pairs, unless all are requested. Crates are never left out. */
#define FIT 20

static void add_waits(struct json *j, const struct waits *waits)
{
	json__number(j, "waiting_in_queries_ns", waits->in_queries);
	json__number(j, "waiting_in_passes_ns", waits->in_passes);
	json__number(j, "waiting_in_neither_ns", waits->in_neither);
}

static void add_known(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json__number(j, key, value);
	else
		json__null(j, key);
}

static int put_totals(FILE *out, const struct build_totals *t)
{
	struct json j;

	json__begin(&j);
	json__number(&j, "wall_ns", t->running.end_ns - t->running.start_ns);
	json__number(&j, "compilers_ns", t->compiler_ns);
	json__number(&j, "tail_ns", t->running.tail_ns);
	json__number(&j, "compiles", t->compiles);
	json__number(&j, "failed", t->failed);
	json__number(&j, "killed", t->killed);
	json__number(&j, "unended", t->unended);
	json__number(&j, "asked", t->asked);
	add_known(&j, "cpu_ns", t->off_cpu_known, t->cpu_ns);
	add_known(&j, "preempted_ns", t->off_cpu_known, t->preempted_ns);
	if (t->off_cpu_known)
		add_waits(&j, &t->waits);
	json__number(&j, "blocked_ns", t->blocked_ns);
	return json__put_open(&j, out);
}

static int put_running(FILE *out, const struct running *r)
{
	int err = 0;

	fputs(",\"running\":[", out);
	for (size_t i = 0; !err && i < r->n; i++) {
		struct json j;

		fputs(i ? "," : "", out);
		json__begin(&j);
		json__number(&j, "compilers", i);
		json__number(&j, "ns", r->at[i]);
		err = json__put(&j, out);
	}
	fputc(']', out);
	return err;
}

static int put_reuse(FILE *out, const struct build_rows *r)
{
	struct json j;

	if (!r->n_reuse)
		return 0;
	json__begin(&j);
	json__number(&j, "compiles", r->n_reuse);
	json__number(&j, "executed", reuse__executed(&r->reuse));
	if (r->reuse.unrecorded.rough)
		json__number(&j, "estimated", r->reuse.unrecorded.estimated);
	json__number(&j, "loads", r->reuse.loads);
	add_known(&j, "loaded", !reuse__may_miss(&r->reuse), r->reuse.loaded);
	add_known(&j, "results", r->results_known, r->reuse.results);
	fputs(",\"incremental\":", out);
	return json__put(&j, out);
}

static int put_crate(FILE *out, const struct build_crate *c, const struct build_totals *totals)
{
	static const char *const parts[BUILD_N_PARTS] = {
		[BUILD_FRONT_END] = "front_end_ns",
		[BUILD_CODEGEN] = "codegen_ns",
		[BUILD_LINK] = "link_ns",
		[BUILD_EXIT] = "exit_ns",
	};
	const struct build_process *p = c->process;
	struct json j;

	json__begin(&j);
	json__text(&j, "name", c->name);
	json__number(&j, "pid", p->process->pid);
	json__text(&j, "crate", p->process->crate);
	json__text(&j, "crate_type", p->process->crate_type);
	json__number(&j, "wall_ns", p->end_ns - p->start_ns);
	for (int i = 0; i < BUILD_N_PARTS; i++)
		add_known(&j, parts[i], p->parts_known, p->part_ns[i]);
	add_known(&j, "metadata_ns", p->metadata_ns, p->metadata_ns);
	json__number(&j, "alone_ns", p->alone_ns);
	add_known(&j, "cpu_ns", totals->off_cpu_known, p->cpu_ns);
	add_known(&j, "preempted_ns", totals->off_cpu_known, p->preempted_ns);
	if (totals->off_cpu_known)
		add_waits(&j, &p->waits);
	json__number(&j, "blocked_ns", p->blocked_ns);
	json__number(&j, "executions", p->executions);
	return json__put(&j, out);
}

static int put_crates(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	int err = 0;

	fputs(",\"crates\":[", out);
	for (size_t i = 0; !err && i < r->n_crates; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = put_crate(out, r->crates[i], build__totals(v->build));
	}
	fputc(']', out);
	return err;
}

static int put_query(FILE *out, const struct build_query *q, const struct build_rows *r)
{
	struct json j;

	json__begin(&j);
	if (q->crate) {
		json__text(&j, "crate", q->crate);
		json__number(&j, "pid", r->of[q->process].process->process->pid);
	}
	json__text(&j, "name", q->label);
	json__text(&j, "kind", summary_row__kind(&q->row));
	json__number(&j, "count", q->row.count + q->row.unrecorded.counted);
	json__number(&j, "total_ns", q->row.total_ns);
	json__number(&j, "self_ns", q->row.self_ns);
	json__number(&j, "self_off_ns", q->row.self_off_ns);
	return json__put(&j, out);
}

static int put_queries(FILE *out, const char *key, const struct build_queries *q,
		       const struct build_rows *r, const struct build_view *v)
{
	size_t shown = build_rows__shown(v, q->n, FIT);
	int err = 0;

	fprintf(out, ",\"%s\":[", key);
	for (size_t i = 0; !err && i < shown; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = put_query(out, &q->rows[i], r);
	}
	fputc(']', out);
	return err;
}

static int put_thread(FILE *out, const struct build_thread *t, const struct build_rows *r,
		      const struct build_view *v)
{
	const struct trace_process *p = r->of[t->process].process->process;
	struct json j;
	int err;

	json__begin(&j);
	json__text(&j, "name", r->of[t->process].name);
	json__number(&j, "pid", p->pid);
	add_known(&j, "signal", p->exit_status != TRACE_EXIT_UNKNOWN, WTERMSIG(p->exit_status));
	json__number(&j, "tid", t->tid);
	json__text(&j, "thread", t->name);
	json__number(&j, "more", t->more);
	err = json__put_open(&j, out);
	fputs(",\"open\":[", out);
	for (uint32_t i = 0; !err && i < t->n_open; i++) {
		fputs(i ? "," : "", out);
		json__begin(&j);
		json__text(&j, "name", v->names->text(v->names->ctx, t->open[i].label));
		json__text(&j, "kind", trace_kind_text(t->open[i].kind));
		json__number(&j, "ns", t->open[i].ns);
		err = json__put(&j, out);
	}
	fputs("]}", out);
	return err;
}

static int put_interrupted(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	uint32_t n;
	const struct build_thread *threads = build__interrupted(v->build, &n);
	int err = 0;

	fputs(",\"interrupted\":[", out);
	for (uint32_t i = 0; !err && i < n; i++) {
		fputs(i ? ",\n" : "\n", out);
		err = put_thread(out, &threads[i], r, v);
	}
	fputc(']', out);
	return err;
}

int build_json(FILE *out, const struct build_view *v)
{
	const struct build_totals *totals = build__totals(v->build);
	_build_rows_ struct build_rows r = {};
	int err = build_rows__init(&r, v);

	err = err ?: put_totals(out, totals);
	err = err ?: put_running(out, &totals->running);
	err = err ?: put_reuse(out, &r);
	err = err ?: put_crates(out, &r, v);
	err = err ?: put_queries(out, "queries", &r.queries, &r, v);
	err = err ?: put_queries(out, "pairs", &r.pairs, &r, v);
	err = err ?: put_queries(out, "passes", &r.passes, &r, v);
	err = err ?: put_interrupted(out, &r, v);
	fputc('}', out);
	return err;
}
