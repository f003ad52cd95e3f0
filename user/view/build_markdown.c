// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>

#include "view/llvm_view.h"
#include "view/build_rows.h"
#include "view/cost_view.h"
#include "view/table.h"
#include "view/place_text.h"
#include "view/path_view.h"
#include "view/report_notes.h"
#include "view/report_rows.h"
#include "view/verdict_text.h"

/* Default number of rows. */
#define FIT	 10
#define FIT_OPEN 5

static void print_head(FILE *out, const struct build_view *v)
{
	const struct build_totals *t = build__totals(v->build);
	/* Of the build that this is a part of, or itself. */
	const struct build_totals *whole = build__totals(build__whole(v->build) ?: v->build);
	uint64_t wall_ns = whole->running.end_ns - whole->running.start_ns;
	char buf[FORMAT_MAX * 2];

	fprintf(out, "### rustc: %s%s, %" PRIu32 " %s compiled", whole->unended ? "at least " : "",
		format_duration(buf, wall_ns), whole->compiles,
		whole->compiles == 1 ? "crate" : "crates");
	if (whole != t)
		fprintf(out, ", %" PRIu32 " chosen", t->compiles);
	if (t->failed || t->killed)
		fprintf(out, ", **%" PRIu32 " failed, %" PRIu32 " killed%s**", t->failed, t->killed,
			build_memory_kills(buf, t));
	if (t->unended)
		fprintf(out, ", **%" PRIu32 " not seen to end**", t->unended);
	if (whole->cached)
		fprintf(out, "; %" PRIu32 " from a cache", whole->cached);
	fputs("\n\n", out);
	if (wall_ns)
		fprintf(out, "- %.2f compilers on average; one at a time for the last %s\n",
			(double)whole->compiler_ns / wall_ns,
			format_duration(buf, whole->running.tail_ns));
	build_print_threads(out, v, "- threads: ", "- waiting: ");
	if (t->blocked_ns)
		fprintf(out, "- blocked in queries that another thread executed: %s\n",
			format_duration(buf, t->blocked_ns));
}

static void print_cost(FILE *out, const struct build_view *v)
{
	if (v->cost)
		cost_text_beside(out, v->cost, "- ");
	if (!v->cost || v->cost->is_part || !v->cost->added_ns)
		return;
	fputs("- ", out);
	cost_text_line(out, v->cost, "; ");
	fputc('\n', out);
}

static void print_reuse(FILE *out, const struct build_rows *r)
{
	if (!r->n_reuse)
		return;
	fprintf(out, "- incremental compiles: %" PRIu32 ", ", r->n_reuse);
	build_print_reuse(out, &r->reuse);
	fputc('\n', out);
}

static void print_more(FILE *out, size_t n, size_t shown)
{
	if (n > shown)
		fprintf(out, "\nand %zu more\n", n - shown);
}

static int print_crate(FILE *out, const struct build_crate *c, const struct build_view *v)
{
	const struct build_process *p = c->process;
	char buf[FORMAT_MAX], wall[BUILD_WALL_MAX];
	uint64_t cpu_ns;
	int err;

	fputs(build_crate_failed(c) ? "| " BUILD_FAILED " " : "| ", out);
	err = markdown_code(out, c->name);
	fprintf(out, " | %s |", build_wall(wall, p));
	for (int part = 0; part < BUILD_EXIT; part++)
		fprintf(out, " %s |",
			p->parts_known ? format_duration(buf, p->part_ns[part]) : "-");
	fprintf(out, " %s |", build_cpu_ns(v, p, &cpu_ns) ? format_duration(buf, cpu_ns) : "-");
	fprintf(out, " %s |", format_duration(buf, p->alone_ns));
	fprintf(out, " %s |", build_peak(buf, p));
	fprintf(out, " %s |\n", report_notes__exit(buf, p->process));
	return err;
}

static int print_crates(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	size_t shown = build_rows__shown(v, r->n_crates, FIT);

	if (!r->n_crates)
		return 0;
	fputs("\n| crate | wall | front end | codegen | link | cpu | alone | peak | exit |\n"
	      "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
	      out);
	for (size_t i = 0; i < shown; i++) {
		if (print_crate(out, r->crates[i], v))
			return -ENOMEM;
	}
	print_more(out, r->n_crates, shown);
	return 0;
}

static int print_query(FILE *out, const struct build_query *q, const struct build_rows *r)
{
	_free_ char *name = build_query_name(q);
	char count[FORMAT_MAX * 2], cpu[FORMAT_MAX + 1], percent[FORMAT_MAX], last[FORMAT_MAX];
	int err;

	if (!name)
		return -ENOMEM;
	fputs("| ", out);
	err = markdown_code(out, name);
	fprintf(out, " | %s | %s | %s | %s |\n", report_count(count, &q->row),
		build_query_cpu(cpu, q, r), format_percent(percent, q->row.best_cpu_ns, r->cpu_ns),
		r->is_sampled ? build_query_error(last, q) : build_query_off(last, q));
	return err;
}

static int print_queries(FILE *out, const char *what, const struct build_queries *q,
			 const struct build_rows *r, const struct build_view *v)
{
	size_t shown = build_rows__shown(v, q->n, FIT);

	if (!q->n)
		return 0;
	fprintf(out, "\n| %s | %s | %s | %% | %s |\n|---|---:|---:|---:|---:|\n", what,
		"executions", report_title_cpu(build__totals(v->build)->off_cpu_known),
		r->is_sampled ? "+-" : "off-cpu");
	for (size_t i = 0; i < shown; i++) {
		if (print_query(out, &q->rows[i], r))
			return -ENOMEM;
	}
	print_more(out, q->n, shown);
	return 0;
}

static int print_item(FILE *out, const struct build_item *item, bool llvm,
		      const struct build_rows *r, const struct build_view *v)
{
	const struct item_most most = build_item_most(item, v->names);
	_free_ char *place = NULL;
	char cpu[FORMAT_MAX + 1], percent[FORMAT_MAX];
	int err;

	fputs("| ", out);
	err = markdown_code(out, item->path) ?: place_text(v->names, item->row.item, &place);
	if (place && *place) {
		fputs(" at ", out);
		err = err ?: markdown_code(out, place);
	}
	fprintf(out, " | %s | %s | ",
		item->row.n_queries ? format_duration(cpu, item->row.cpu_ns) : "-",
		format_percent(percent, item->row.cpu_ns, r->cpu_ns));
	if (llvm)
		fprintf(out, "%s | ",
			item->row.llvm.n ? format_duration(cpu, item->row.llvm.value) : "-");
	err = err ?: markdown_code(out, most.name);
	fprintf(out, " %s |\n", format_duration(cpu, most.cpu_ns));
	return err;
}

static int print_items(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	size_t shown = build_rows__shown(v, r->n_items, FIT);
	bool llvm = build_rows__have_llvm(r, shown);

	if (!r->n_items)
		return 0;
	fprintf(out, "\n| item | %s | %% |%s most in |\n|---|---:|---:|%s---|\n",
		report_title_cpu(build__totals(v->build)->off_cpu_known), llvm ? " LLVM |" : "",
		llvm ? "---:|" : "");
	for (size_t i = 0; i < shown; i++) {
		if (print_item(out, &r->items[i], llvm, r, v))
			return -ENOMEM;
	}
	print_more(out, r->n_items, shown);
	return 0;
}

static int print_thread(FILE *out, const struct build_thread *t, const struct build_rows *r,
			const struct build_view *v)
{
	const struct trace_process *p = r->of[t->process].process->process;
	uint32_t shown = build_rows__shown(v, t->n_open, FIT_OPEN);
	char buf[FORMAT_MAX * 2];
	int err;

	fputs("- ", out);
	err = markdown_code(out, r->of[t->process].name);
	fprintf(out, " %s, while thread ", build_ending(buf, p));
	err = err ?: markdown_code(out, t->name ?: "?");
	fputs(" was in ", out);
	for (uint32_t i = 0; !err && i < shown; i++) {
		fputs(i ? " in " : "", out);
		err = markdown_code(out, v->names->text(v->names->ctx, t->open[i].label));
	}
	if (t->n_open - shown + t->more)
		fprintf(out, " in %" PRIu32 " more", t->n_open - shown + t->more);
	fputc('\n', out);
	return err;
}

static int print_interrupted(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	uint32_t n;
	const struct build_thread *threads = build__interrupted(v->build, &n);
	size_t shown = build_rows__shown(v, n, FIT);

	if (n)
		fputc('\n', out);
	for (size_t i = 0; i < shown; i++) {
		if (print_thread(out, &threads[i], r, v))
			return -ENOMEM;
	}
	print_more(out, n, shown);
	return 0;
}

static int print_notes(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	char buf[FORMAT_MAX];
	int err = 0;

	if (r->is_sampled)
		fputs("\n" REPORT_SAMPLED_TEXT "\n", out);
	if (v->losses)
		fprintf(out, "\nLost: %s.", format_count(buf, trace_losses__total(v->losses)));
	else
		fputs("\nLost: unknown, the trace does not say.", out);
	if (v->problem) {
		fputs(" Incomplete: ", out);
		err = markdown_code(out, v->problem);
		fputc('.', out);
	}
	fputc('\n', out);
	return err;
}

int build_markdown(FILE *out, const struct build_view *v)
{
	_build_rows_ struct build_rows r = {};
	int err = build_rows__init(&r, v);
	struct verdict verdict;

	if (err)
		return err;
	verdict = verdict_of(v->summary, v->losses);
	verdict_lead(out, &verdict);
	print_head(out, v);
	build_print_samples(out, "- samples: ", 0, &r, v);
	llvm_print_line(out, "- LLVM: ", 0, &r.llvm);
	print_cost(out, v);
	print_reuse(out, &r);
	err = path_markdown(out, FIT, &r, v);
	err = err ?: print_crates(out, &r, v);
	err = err ?: print_items(out, &r, v);
	err = err ?: print_queries(out, "query", &r.queries, &r, v);
	err = err ?: print_queries(out, "crate/query", &r.pairs, &r, v);
	err = err ?: print_queries(out, "rustc's pass", &r.passes, &r, v);
	err = err ?: print_interrupted(out, &r, v);
	return err ?: print_notes(out, &r, v);
}
