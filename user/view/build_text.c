// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "view/build_rows.h"
#include "view/cost_view.h"
#include "view/llvm_view.h"
#include "view/report_notes.h"
#include "view/path_view.h"
#include "view/rebuilt.h"
#include "view/report_rows.h"
#include "view/samples_text.h"
#include "view/verdict_text.h"

/* Default numbers of rows; all tables together fit 40 lines. */
struct fit {
	size_t steps;
	size_t crates;
	size_t queries;
	size_t pairs;
	size_t passes;
	size_t items;
};

static const struct fit fit_without_items = {
	.steps = 3, .crates = 6, .queries = 4, .pairs = 3, .passes = 2};
/* Items show more closely than pairs which part of which crate is slow. */
static const struct fit fit_with_items = {
	.steps = 3, .crates = 5, .queries = 3, .passes = 1, .items = 5};
/* Of a single compile: the first screen has the title of queries, too. */
static const struct fit fit_one = {.steps = 3, .queries = 10, .passes = 4, .items = 5};

#define FIT_THREADS 3
#define FIT_OPEN    3 /* in a thread */
#define FIT_PEAKS   2

/* So that the crates with the most memory fit a line. */
#define PEAK_CRATE_MOST 20

/* Smaller numbers of parallel compilers have an entry each; the others share one. */
#define RUNNING_MOST 4

/* The number of entries that fit beside the average. */
#define RUNNING_ON_A_LINE 3

/* Print `n` and `what` unless `n` is 0; `before` is the separator. Returns the next separator. */
static const char *print_number(FILE *out, const char *before, uint32_t n, const char *what)
{
	if (!n)
		return before;
	fprintf(out, "%s%" PRIu32 " %s", before, n, what);
	return ", ";
}

static void print_asked(FILE *out, const struct build_totals *t)
{
	if (t->cached)
		fprintf(out, "; %" PRIu32 " from a cache", t->cached);
	if (t->doctests)
		fprintf(out, "; %" PRIu32 " doctest%s", t->doctests, t->doctests == 1 ? "" : "s");
	if (t->asked)
		fprintf(out, "; %" PRIu32 " version check%s", t->asked, t->asked == 1 ? "" : "s");
	fputc('\n', out);
}

static bool is_one(const struct build_rows *r)
{
	return r->n_crates == 1;
}

/* What was read last from outside may not be all. */
static const char *at_most(const struct build_view *v)
{
	return v->summary && summary__is_outside(v->summary) ? "at least" : "at most";
}

/* The first lines of the report of a single compile. */
static void print_one(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	static const char *const parts[BUILD_N_PARTS] = {
		[BUILD_FRONT_END] = "front end",
		[BUILD_CODEGEN] = "codegen",
		[BUILD_LINK] = "link",
		[BUILD_EXIT] = "exit",
	};
	const struct build_process *p = r->crates[0]->process;
	char buf[FORMAT_MAX];

	fprintf(out, "compile   %s: %s%s", r->crates[0]->name,
		p->process->end_ns ? "" : "at least ",
		format_duration(buf, p->end_ns - p->start_ns));
	if (p->process->peak_bytes)
		fprintf(out, ", %s %s of memory", at_most(v),
			format_bytes(buf, p->process->peak_bytes));
	if (p->process->exit_status)
		fprintf(out, ", exit: %s", report_notes__exit(buf, p->process));
	print_asked(out, build__totals(v->build));
	for (int i = 0; i < BUILD_N_PARTS && p->parts_known; i++)
		fprintf(out, "%s%s %s%s", i ? ", " : "parts     ", parts[i],
			format_duration(buf, p->part_ns[i]), i == BUILD_EXIT ? "\n" : "");
}

/* Of a part, the build that it is a part of; where that is not known, the part, and it says so. */
static void print_head(FILE *out, const struct build *b)
{
	const struct build *whole = build__whole(b);
	const struct build_totals *t = build__totals(whole ?: b);
	char wall[FORMAT_MAX], count[FORMAT_MAX], killed[FORMAT_MAX * 3], more[FORMAT_MAX * 2];
	const char *before = " (";

	fprintf(out, "%s%s%s, crates compiled: %s", whole ? "build     " : "chosen    ",
		t->unended ? "at least " : "",
		format_duration(wall, t->running.end_ns - t->running.start_ns),
		format_count(count, t->compiles));
	before = print_number(out, before, t->failed, "failed");
	snprintf(killed, sizeof(killed), "killed%s", build_memory_kills(more, t));
	before = print_number(out, before, t->killed, killed);
	before = print_number(out, before, t->unended, "not seen to end");
	fputs(before[0] == ',' ? ")" : "", out);
	if (whole && whole != b)
		fprintf(out, ", chosen: %s", format_count(count, build__totals(b)->compiles));
	print_asked(out, t);
}

static void print_parallel(FILE *out, const struct build_totals *t)
{
	uint64_t wall_ns = t->running.end_ns - t->running.start_ns, more_ns = 0;
	char buf[FORMAT_MAX];

	if (!wall_ns)
		return;
	fprintf(out, "parallel  %.2f rustc on average%s", (double)t->compiler_ns / wall_ns,
		t->running.n > RUNNING_ON_A_LINE ? "\n          " : "; ");
	for (size_t i = 0; i < t->running.n; i++) {
		if (i >= RUNNING_MOST)
			more_ns += t->running.at[i];
		else
			fprintf(out, "%s%zu for %s %%", i ? ", " : "", i,
				format_percent(buf, t->running.at[i], wall_ns));
	}
	if (more_ns)
		fprintf(out, ", more for %s %%", format_percent(buf, more_ns, wall_ns));
	fprintf(out, "\ntail      one rustc at a time for the last %s\n",
		format_duration(buf, t->running.tail_ns));
}

static int by_peak(const void *a, const void *b)
{
	const struct build_crate *const *x = a, *const *y = b;
	uint64_t p = (*x)->process->process->peak_bytes, q = (*y)->process->process->peak_bytes;

	return (p < q) - (p > q);
}

/* The compilers that need most memory: what does not fit first, and what comes next. */
static int print_memory(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	_free_ struct build_crate **crates = calloc(r->n_crates + 1, sizeof(struct build_crate *));
	char buf[FORMAT_MAX];

	if (!crates)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_crates; i++)
		crates[i] = r->crates[i];
	qsort(crates, r->n_crates, sizeof(struct build_crate *), by_peak);
	for (size_t i = 0; i < r->n_crates && i < FIT_PEAKS; i++) {
		const struct build_process *p = crates[i]->process;
		_free_ char *name = build_crate_name(crates[i], PEAK_CRATE_MOST);

		if (!p->process->peak_bytes)
			break;
		if (!name)
			return -ENOMEM;
		if (i)
			fputs(", ", out);
		else
			fprintf(out, "memory    %s: ", at_most(v));
		fprintf(out, "%s %s", name, format_bytes(buf, p->process->peak_bytes));
	}
	if (r->n_crates && crates[0]->process->process->peak_bytes)
		fputc('\n', out);
	return 0;
}

/* The lines between what the build took and the tables; *llvm: whether one is of
 * LLVM; *rebuilt: how many are of what was built again. */
static int print_lines(FILE *out, const struct build_rows *r, const struct build_view *v,
		       bool *llvm, size_t *rebuilt)
{
	const struct build_totals *t = build__totals(v->build);
	char buf[FORMAT_MAX];
	int err;

	build_print_threads(out, v, "threads   ", "waiting   ");
	if (t->blocked_ns)
		fprintf(out, "blocked   %s in queries that another thread executed\n",
			format_duration(buf, t->blocked_ns));
	build_print_samples(out, "samples   ", WRAP_COLUMNS, r, v);
	*llvm = llvm_print_line(out, "LLVM      ", WRAP_COLUMNS, &r->llvm);
	if (r->n_reuse) {
		fputs("reuse     ", out);
		build_print_reuse(out, &r->reuse);
		if (reuse__knows_unseen(&r->reuse))
			fprintf(out, ", %s neither", format_count(buf, reuse__unseen(&r->reuse)));
		else
			fputs(" from the last build", out);
		fprintf(out, " (%" PRIu32 " %s)\n", r->n_reuse,
			r->n_reuse == 1 ? "compile" : "compiles");
	}
	err = rebuilt_text(out, v, rebuilt);
	if (err)
		return err;
	if (v->cost) {
		cost_text_beside(out, v->cost, "beside    ");
		cost_text_unseen(out, v->cost, "unseen    ");
	}
	if (!v->cost || v->cost->is_part || !v->cost->added_ns)
		return 0;
	fputs("cost      ", out);
	cost_text_line(out, v->cost, ";\n          ");
	if (v->costs && v->raw && !v->costs->subtracted)
		fputs(";\n          self times below are with it", out);
	fputc('\n', out);
	return 0;
}

/*
 * Print the open intervals of a thread, the innermost first: "typeck (1.00 s) in analysis (2.00
 * s)".
 */
static int print_thread(FILE *out, const struct build_thread *t, const struct build_rows *r,
			const struct build_view *v)
{
	const struct trace_process *p = r->of[t->process].process->process;
	uint32_t shown = !v->full && t->n_open > FIT_OPEN ? FIT_OPEN : t->n_open;
	_free_ char *name = format_clean(t->name ?: ""), *text = NULL;
	char buf[FORMAT_MAX * 2];
	size_t size;
	FILE *to;
	int err = 0;

	if (!name)
		return -ENOMEM;
	fprintf(out, "%s %" PRIu32 ", %s", r->of[t->process].name, p->pid, build_ending(buf, p));
	if (p->peak_bytes)
		fprintf(out, ", had %s %s", at_most(v), format_bytes(buf, p->peak_bytes));
	fprintf(out, "; thread %" PRIu32 "%s%s was in\n", t->tid, *name ? " " : "", name);

	to = open_memstream(&text, &size);
	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < shown && !err; i++) {
		const struct build_open *open = &t->open[i];
		_free_ char *clean = format_clean(v->names->text(v->names->ctx, open->label));

		err = clean ? 0 : -ENOMEM;
		fprintf(to, "%s%s (%s)", i ? " in " : "", clean ?: "",
			format_duration(buf, open->ns));
	}
	if (t->n_open - shown + t->more)
		fprintf(to, " in %" PRIu32 " more", t->n_open - shown + t->more);
	if (fclose(to) || err)
		return -ENOMEM;
	fputs("  ", out);
	wrap_print(out, text, strlen("  "), WRAP_COLUMNS, 4);
	return 0;
}

/* By a kill of which the trace does not say more. */
static bool is_killed_at_once(const struct build_thread *t, const struct build_rows *r)
{
	const struct trace_process *p = r->of[t->process].process->process;
	int32_t status = p->exit_status;

	return !p->kill && status != TRACE_EXIT_UNKNOWN && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

static int print_interrupted(FILE *out, const struct build_rows *r, const struct build_view *v)
{
	uint32_t n, killed = 0;
	const struct build_thread *threads = build__interrupted(v->build, &n);
	size_t shown = build_rows__shown(v, n, FIT_THREADS);

	if (n)
		fputc('\n', out);
	for (size_t i = 0; i < shown; i++) {
		if (print_thread(out, &threads[i], r, v))
			return -ENOMEM;
	}
	if (n > shown)
		fprintf(out, "  and %zu more such %s\n", n - shown,
			n - shown == 1 ? "thread" : "threads");
	for (uint32_t i = 0; i < n; i++)
		killed += is_killed_at_once(&threads[i], r);
	if (killed)
		fputs("  the kernel sends SIGKILL when memory runs out; its log says so (dmesg)\n",
		      out);
	return 0;
}

static bool have_macros(const struct build_rows *r)
{
	for (size_t i = 0; i < r->passes.n; i++)
		if (!strcmp(r->passes.rows[i].label, "expand_proc_macro"))
			return true;
	return false;
}

static void print_notes(FILE *out, bool llvm, const struct build_rows *r,
			const struct build_view *v)
{
	const struct build_queries *const all[] = {&r->queries, &r->passes};
	struct begun_note note = {};

	fputc('\n', out);
	if (is_one(r) && !v->full)
		fputs("all queries: --by query; every row of these tables: --full\n", out);
	if (llvm)
		fputs("LLVM: --by generic (functions), --by pass\n", out);
	if (have_macros(r))
		fputs("procedural macros: --by macro\n", out);
	if (r->is_sampled)
		report_notes__sampled(out, v->summary);
	if (v->samples)
		samples_text_notes(out, samples__totals(v->samples));
	for (size_t k = 0; k < N_OF(all); k++)
		for (size_t i = 0; i < all[k]->n; i++)
			if (all[k]->rows[i].row.begun)
				begun_note__add(&note, out, all[k]->rows[i].label);
	begun_note__end(&note, out);
	report_notes__late(out, v->summary);
	report_notes__losses(out, v->losses, v->full);
	if (v->problem)
		fprintf(out, "incomplete: %s\n", v->problem);
}

/*
 * A pass that took more than each query and item: most of the time is about no item, so the first
 * row of the other tables would not be what is slow.
 */
static bool passes_lead(const struct build_rows *r)
{
	uint64_t ns = r->passes.n ? r->passes.rows[0].row.best_cpu_ns : 0;

	return (!r->queries.n || ns > r->queries.rows[0].row.best_cpu_ns) &&
	       (!r->n_items || ns > r->items[0].row.cpu_ns + r->items[0].row.llvm.value);
}

/* So many lines are taken from the longest tables. */
static void make_room(struct fit *fit, size_t lines)
{
	for (; lines; lines--) {
		size_t *longest = fit->items > fit->queries ? &fit->items : &fit->queries;

		if (fit->crates > *longest)
			longest = &fit->crates;
		if (*longest > 1)
			--*longest;
	}
}

int build_text(FILE *out, const struct build_view *v)
{
	const struct build *whole = build__whole(v->build);
	_build_rows_ struct build_rows r = {};
	int err = build_rows__init(&r, v);
	struct fit fit;
	struct verdict verdict;
	size_t rebuilt;
	bool llvm, lead;

	if (err)
		return err;
	verdict = verdict_of(v->summary, v->losses);
	verdict_lead(out, &verdict);
	if (is_one(&r)) {
		print_one(out, &r, v);
		if (whole && whole != v->build)
			print_head(out, v->build);
	} else {
		print_head(out, v->build);
		print_parallel(out, build__totals(whole ?: v->build));
		err = print_memory(out, &r, v);
	}
	if (err)
		return err;
	err = print_lines(out, &r, v, &llvm, &rebuilt);
	if (err)
		return err;
	fit = is_one(&r) ? fit_one : r.n_items ? fit_with_items : fit_without_items;
	/* The line that names --by macro has the place of a row. */
	fit.queries -= have_macros(&r);
	make_room(&fit, rebuilt);
	if (!is_one(&r) || v->full || whole != v->build)
		err = path_table(out, COLUMNS_TEXT, fit.steps, &r, v);
	if (!is_one(&r) || v->full)
		err = err ?: build_crate_table(out, COLUMNS_TEXT, fit.crates, &r, v);
	lead = is_one(&r) && passes_lead(&r);
	if (lead)
		err = err ?: build_query_table(out, COLUMNS_TEXT, BUILD_PASSES, fit.passes, &r, v);
	err = err ?: build_item_table(out, COLUMNS_TEXT, fit.items, &r, v);
	err = err ?: build_query_table(out, COLUMNS_TEXT, BUILD_QUERIES, fit.queries, &r, v);
	if (!is_one(&r))
		err = err ?: build_query_table(out, COLUMNS_TEXT, BUILD_PAIRS, fit.pairs, &r, v);
	if (!lead)
		err = err ?: build_query_table(out, COLUMNS_TEXT, BUILD_PASSES, fit.passes, &r, v);
	err = err ?: print_interrupted(out, &r, v);
	if (err)
		return err;
	print_notes(out, llvm, &r, v);
	return 0;
}
