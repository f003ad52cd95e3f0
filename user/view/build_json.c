// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <sys/wait.h>

#include "base/cleanup.h"

#include "view/build_rows.h"
#include "view/report_rows.h"
#include "view/json.h"
#include "view/path_view.h"

/* Rows of queries, passes and pairs, unless all are requested. Crates are never left out. */
#define FIT 20

/* `all`: every query has a probe. Else what is around queries has their waits. */
static void add_waits(struct json *j, const struct waits *waits, bool all)
{
	json__known(j, "waiting_in_queries_ns", all, waits->in_queries);
	json__number(j, "waiting_in_passes_ns",
		     all ? waits->in_passes : waits->in_queries + waits->in_passes);
	json__number(j, "waiting_in_neither_ns", waits->in_neither);
}

static void put_totals(struct json *j, const struct build_view *v)
{
	const struct build_totals *t = build__totals(v->build);
	/* Of the build that this is a part of, or itself. */
	const struct build_totals *whole = build__totals(build__whole(v->build) ?: v->build);
	uint64_t cpu_ns;
	bool has_cpu = build_cpu_ns(v, NULL, &cpu_ns);

	json__begin(j);
	json__number(j, "wall_ns", whole->running.end_ns - whole->running.start_ns);
	json__number(j, "compilers_ns", whole->compiler_ns);
	json__number(j, "tail_ns", whole->running.tail_ns);
	json__number(j, "compiles", t->compiles);
	json__number(j, "failed", t->failed);
	json__number(j, "killed", t->killed);
	json__number(j, "killed_for_memory", t->memory_kills);
	json__number(j, "unended", t->unended);
	json__number(j, "doctests", t->doctests);
	json__number(j, "listed", t->listed);
	json__number(j, "cached", t->cached);
	json__number(j, "asked", t->asked);
	json__known(j, "cpu_ns", has_cpu, cpu_ns);
	json__known(j, "preempted_ns", t->off_cpu_known, t->preempted_ns);
	if (t->off_cpu_known) {
		add_waits(j, &t->waits, t->executions && !summary__is_unwatched(v->summary));
		json__bool(j, "waits_at_least", t->late);
	}
	json__number(j, "blocked_ns", t->blocked_ns);
	json__put_open(j);
}

static void put_running(struct json *j, const struct running *r)
{
	json__array(j, "running");
	for (size_t i = 0; i < r->n && !j->err; i++) {
		json__item(j, i);
		json__number(j, "compilers", i);
		json__number(j, "ns", r->at[i]);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_reuse(struct json *j, const struct build_rows *r)
{
	if (!r->n_reuse)
		return;
	json__begin(j);
	json__number(j, "compiles", r->n_reuse);
	json__reuse(j, &r->reuse);
	json__print(j, ",\"incremental\":");
	json__put(j);
}

static void put_crate(struct json *j, const struct build_crate *c, const struct build_view *v)
{
	static const char *const parts[BUILD_N_PARTS] = {
		[BUILD_FRONT_END] = "front_end_ns",
		[BUILD_CODEGEN] = "codegen_ns",
		[BUILD_LINK] = "link_ns",
		[BUILD_EXIT] = "exit_ns",
	};
	const struct build_process *p = c->process;
	const struct build_totals *totals = build__totals(v->build);
	uint64_t cpu_ns;
	bool has_cpu = build_cpu_ns(v, p, &cpu_ns);

	json__text(j, "name", c->name);
	json__number(j, "pid", p->process->pid);
	json__text(j, "crate", p->process->crate);
	json__text(j, "crate_type", p->process->crate_type);
	json__number(j, "wall_ns", p->end_ns - p->start_ns);
	for (int i = 0; i < BUILD_N_PARTS; i++)
		json__known(j, parts[i], p->parts_known, p->part_ns[i]);
	json__known(j, "metadata_ns", p->metadata_ns, p->metadata_ns);
	json__number(j, "alone_ns", p->alone_ns);
	json__known(j, "cpu_ns", has_cpu, cpu_ns);
	json__known(j, "preempted_ns", totals->off_cpu_known, p->preempted_ns);
	if (totals->off_cpu_known) {
		add_waits(j, &p->waits, totals->executions && !summary__is_unwatched(v->summary));
		json__bool(j, "waits_at_least", p->process->attached_late);
	}
	json__number(j, "blocked_ns", p->blocked_ns);
	json__number(j, "executions", build_executions(v, p));
	json__known(j, "results", p->results, p->results);
	json__known(j, "peak_bytes", p->process->peak_bytes, p->process->peak_bytes);
	if (v->samples)
		json__number(
			j, "sampled_cpu_ns",
			samples__process(v->samples, p->process->index)[TRACE_SAMPLE_CPU].value);
	json__put(j);
}

static void put_shares(struct json *j, const struct build_rows *r)
{
	json__begin(j);
	json__number(j, "front_end_ns", r->shares[SAMPLE_FRONT_END].value);
	json__number(j, "codegen_ns", r->shares[SAMPLE_CODEGEN].value);
	json__number(j, "llvm_ns", r->shares[SAMPLE_LLVM].value);
	json__number(j, "unknown_ns", r->shares[SAMPLE_NO_STACK].value);
	json__print(j, ",\"sampled\":");
	json__put(j);
}

static void put_crates(struct json *j, const struct build_rows *r, const struct build_view *v)
{
	json__array(j, "crates");
	for (size_t i = 0; i < r->n_crates && !j->err; i++) {
		json__line(j, i);
		put_crate(j, r->crates[i], v);
	}
	json__print(j, "]");
}

static void put_query(struct json *j, const struct build_query *q, const struct build_rows *r,
		      const struct build_view *v)
{
	bool by_spans = q->row.self_by != SUMMARY_SELF_SAMPLES;
	bool has_spans = by_spans || q->row.raw_total_ns;

	if (q->crate) {
		json__text(j, "crate", q->crate);
		json__number(j, "pid", r->of[q->process].process->process->pid);
	}
	json__text(j, "name", q->label);
	json__text(j, "kind", summary_row__kind(&q->row));
	if (summary_row__is_counted(&q->row))
		json__number(j, "count", q->row.results);
	else
		json__known(j, "count", q->row.count || (has_spans && !q->row.results),
			    q->row.count);
	json__known(j, "total_ns", has_spans, q->row.total_ns);
	json__known(j, "self_ns", by_spans, q->row.self_ns);
	json__known(j, "self_off_ns", by_spans, q->row.self_off_ns);
	json__number(j, "self_cpu_ns", q->row.best_cpu_ns);
	if (v->samples) {
		json__number(j, "best_self_ns", q->row.best_self_ns);
		json__number(j, "best_self_error_ns", q->row.best_error_ns);
		json__number(j, "samples", q->row.samples.self[TRACE_SAMPLE_CPU].n);
		json__number(j, "sampled_self_ns", q->row.samples.self[TRACE_SAMPLE_CPU].value);
	}
	json__put(j);
}

static void put_queries(struct json *j, const char *key, const struct build_queries *q,
			const struct build_rows *r, const struct build_view *v)
{
	size_t shown = build_rows__shown(v, q->n, FIT);

	json__array(j, key);
	for (size_t i = 0; i < shown && !j->err; i++) {
		json__line(j, i);
		put_query(j, &q->rows[i], r, v);
	}
	json__print(j, "]");
}

static int put_item(struct json *j, const struct build_item *item, const struct build_view *v)
{
	const struct trace_place *place = trace_texts__place(v->names, item->row.item);
	const struct item_part *most = &item->row.queries[0];
	const struct sample_sum *sampled = item->row.sampled;
	_free_ char *crate = build_item_crate(item);

	if (!crate)
		return -ENOMEM;
	json__text(j, "crate", crate);
	json__text(j, "name", item->path);
	if (place) {
		json__text(j, "file", v->names->text(v->names->ctx, place->file));
		json__number(j, "line", place->line);
	}
	json__known(j, "executions", item_row__is_counted(&item->row),
		    item_row__executions(&item->row));
	if (item->row.at_least)
		json__bool(j, "executions_at_least", true);
	json__known(j, "charged", item_row__knows_charged(&item->row), item->row.charged);
	json__number(j, "self_ns", item->row.self_ns);
	json__number(j, "self_cpu_ns", item->row.cpu_ns);
	if (sampled[TRACE_SAMPLE_CPU].n) {
		json__text(j, "self_by", report_self_by(SUMMARY_SELF_SAMPLES));
		json__number(j, "best_self_error_ns",
			     sample_sum__error(&sampled[TRACE_SAMPLE_CPU]));
	}
	if (sampled[TRACE_SAMPLE_OFF_CPU].n)
		json__number(j, "sampled_off_ns", sampled[TRACE_SAMPLE_OFF_CPU].value);
	if (sampled[TRACE_SAMPLE_FAULT].n)
		json__number(j, "memory_bytes", sampled[TRACE_SAMPLE_FAULT].value);
	if (item->row.llvm.n) {
		json__number(j, "llvm_ns", item->row.llvm.value);
		json__number(j, "llvm_error_ns", sample_sum__error(&item->row.llvm));
	}
	if (item->row.n_queries) {
		json__text(j, "query", v->names->text(v->names->ctx, most->label));
		json__number(j, "query_self_ns", most->self_ns);
		json__number(j, "query_self_cpu_ns", most->cpu_ns);
	}
	return json__put(j);
}

/* Missing where no item is known: a build without any is none whose items are unknown. */
static void put_items(struct json *j, const struct build_rows *r, const struct build_view *v)
{
	size_t shown = build_rows__shown(v, r->n_items, FIT);

	if (!r->n_items)
		return;
	json__array(j, "items");
	for (size_t i = 0; i < shown && !j->err; i++) {
		json__line(j, i);
		j->err = j->err ?: put_item(j, &r->items[i], v);
	}
	json__print(j, "]");
}

static void put_thread(struct json *j, const struct build_thread *t, const struct build_rows *r,
		       const struct build_view *v)
{
	const struct trace_process *p = r->of[t->process].process->process;

	json__text(j, "name", r->of[t->process].name);
	json__number(j, "pid", p->pid);
	json__known(j, "signal", p->exit_status != TRACE_EXIT_UNKNOWN, WTERMSIG(p->exit_status));
	json__known_bool(j, "killed_for_memory", p->kill, p->kill == TRACE_KILL_MEMORY);
	json__number(j, "tid", t->tid);
	json__text(j, "thread", t->name);
	json__number(j, "more", t->more);
	json__put_open(j);
	json__array(j, "open");
	for (uint32_t i = 0; i < t->n_open && !j->err; i++) {
		json__item(j, i);
		json__text(j, "name", v->names->text(v->names->ctx, t->open[i].label));
		json__text(j, "kind", trace_kind_text(t->open[i].kind));
		json__number(j, "ns", t->open[i].ns);
		json__put(j);
	}
	json__print(j, "]}");
}

static void put_interrupted(struct json *j, const struct build_rows *r, const struct build_view *v)
{
	uint32_t n;
	const struct build_thread *threads = build__interrupted(v->build, &n);

	json__array(j, "interrupted");
	for (uint32_t i = 0; i < n && !j->err; i++) {
		json__line(j, i);
		put_thread(j, &threads[i], r, v);
	}
	json__print(j, "]");
}

int build_json(FILE *out, const struct build_view *v)
{
	const struct build *whole = build__whole(v->build) ?: v->build;
	_build_rows_ struct build_rows r = {};
	struct json j = {.out = out, .err = build_rows__init(&r, v)};

	if (j.err)
		return j.err;
	put_totals(&j, v);
	put_running(&j, &build__totals(whole)->running);
	put_reuse(&j, &r);
	if (v->stacks)
		put_shares(&j, &r);
	put_crates(&j, &r, v);
	j.err = j.err ?: path_json(&j, &r, v);
	put_items(&j, &r, v);
	put_queries(&j, "queries", &r.queries, &r, v);
	put_queries(&j, "pairs", &r.pairs, &r, v);
	put_queries(&j, "passes", &r.passes, &r, v);
	put_interrupted(&j, &r, v);
	json__print(&j, "}");
	return j.err;
}
