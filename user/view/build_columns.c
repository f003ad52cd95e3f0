// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The tables of a build's report, in text, Markdown and JSON. */
#include <errno.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "view/build_rows.h"
#include "view/path_view.h"
#include "view/place_text.h"
#include "view/report_columns.h"
#include "view/rebuilt.h"
#include "view/report_notes.h"

/* Maximum widths of names, so that lines have 80 columns. */
#define CRATE_MOST  24
#define QUERY_MOST  41
#define QUERY_LEAST 41
/*
 * The most expensive query fits beside a path that is cut to this; and, cut shorter, the file and
 * line that the item begins at: terminals link them, so those of the workspace are never cut.
 */
#define PATH_MOST	  38
#define LABEL_MOST	  22
#define PLACED_PATH_MOST  30
#define PLACED_LABEL_MOST 14
#define LLVM_COLUMNS	  9

static const char *share_title(const struct columns *c, const struct build_view *v)
{
	return c->to == COLUMNS_MARKDOWN
		       ? "%"
		       : report_title_share(v && build__totals(v->build)->off_cpu_known);
}

static void wait_columns(struct columns *c, const struct waits *waits, bool known, bool at_least,
			 const struct build_view *v)
{
	/* Where not every query has a probe, what is around queries has their waits. */
	bool all =
		known && build__totals(v->build)->executions && !summary__is_unwatched(v->summary);

	if (!IF(c, known))
		return;
	KNOWN(c, NS, "waiting_in_queries_ns", NULL, all, waits->in_queries,
	      "threads waiting, in queries; null: in passes");
	NUMBER(c, NS, "waiting_in_passes_ns", NULL,
	       all ? waits->in_passes : waits->in_queries + waits->in_passes,
	       "threads waiting, in activities");
	NUMBER(c, NS, "waiting_in_neither_ns", NULL, waits->in_neither,
	       "threads waiting, elsewhere");
	BOOL(c, "waits_at_least", at_least, "these are lower limits: attached late");
}

/* ---- Crates ---------------------------------------------------------------------------------- */

/* Of queries of a compile: recorded, or else by its own tables. */
static uint64_t executions_of(const struct build_view *v, const struct build_process *p)
{
	struct summary_counts counts = {};

	if (p->executions && !summary__is_unwatched(v->summary))
		return p->executions;
	summary__counts(v->summary, p->process->index, &counts);
	return counts.queries;
}

static void crate_columns(struct columns *c, const struct build_crate *crate, const char *title,
			  const struct build_view *v)
{
	const struct build_process *p = crate ? crate->process : NULL;
	const struct trace_process *of = p ? p->process : NULL;
	bool off_cpu = p && build__totals(v->build)->off_cpu_known;
	const char *mark = crate && build_crate_failed(crate) ? BUILD_FAILED " " : "";
	uint64_t cpu_ns = 0;
	bool has_cpu = p && build_cpu_ns(v, p, &cpu_ns);
	uint64_t wall_ns = p ? p->end_ns - p->start_ns : 0;
	const char *least = of && of->end_ns ? "" : REPORT_LEAST;
	char buf[FORMAT_MAX];

	TEXT(c, "name", ON_PAGE(c, "crate", NULL), crate->name, "package, target and tool");
	MARKED_NAME(c, title, mark,
		    build_crate_name(crate, columns__most(c, CRATE_MOST - strlen(mark))));
	TEXT(c, "crate", NULL, of->crate, "null: none");
	TEXT(c, "crate_type", NULL, of->crate_type, "null: none");
	MARKED(c, NS, "wall_ns", ON_PAGE(c, "wall", NULL), least, wall_ns, "of the compiler");
	COLUMN(c, NS, NULL, ON_PAGE(c, NULL, "wall"), NULL,
	       *least && !wall_ns ? columns__unknown(c) : columns__marked(c, least, wall_ns));
	KNOWN(c, NS, "front_end_ns", "front end", p->parts_known, p->part_ns[BUILD_FRONT_END],
	      "up to code generation; null: unknown");
	KNOWN(c, NS, "codegen_ns", "codegen", p->parts_known, p->part_ns[BUILD_CODEGEN],
	      "up to the link; null: unknown");
	KNOWN(c, NS, "link_ns", "link", p->parts_known, p->part_ns[BUILD_LINK], "null: unknown");
	KNOWN(c, NS, "exit_ns", NULL, p->parts_known, p->part_ns[BUILD_EXIT],
	      "after the link; null: unknown");
	KNOWN(c, NS, "cpu_ns", ON_PAGE(c, "CPU", "cpu"), has_cpu, cpu_ns,
	      "CPU time, without what recording added if known; null: unknown");
	NUMBER(c, NS, "alone_ns", "alone", p->alone_ns, "in which it was the only compiler");
	KNOWN(c, NS, "metadata_ns", WIDE(c, "metadata"), p->metadata_ns, p->metadata_ns,
	      "until its metadata was written; null: not written, or unknown");
	KNOWN(c, NS, "preempted_ns", NULL, off_cpu, p->preempted_ns,
	      "threads ready, while others ran; null: not recorded");
	wait_columns(c, p ? &p->waits : NULL, off_cpu, of && of->attached_late, v);
	NUMBER(c, NS, "blocked_ns", NULL, p->blocked_ns,
	       "threads in queries that another thread executed");
	NUMBER(c, COUNT, "executions", WIDE(c, "executions"), executions_of(v, p),
	       "of queries: recorded, or by its tables");
	KNOWN(c, COUNT, "results", NULL, p->results, p->results,
	      "results that the compile numbered; null: unknown");
	KNOWN(c, BYTES, "peak_bytes", ON_PAGE(c, "peak memory", ROOMY(c, "peak")), of->peak_bytes,
	      of->peak_bytes, "the most resident memory; null: unknown");
	NUMBER(c, ID, "pid", WIDE(c, "pid"), of->pid, "process");
	CELL(c, ROOMY(c, "exit"), report_notes__exit(buf, of));
	SOME(c, NS, "sampled_cpu_ns", NULL, v->samples,
	     samples__process(v->samples, of->index)[TRACE_SAMPLE_CPU].value,
	     "that its samples of the CPU stand for");
}

/* ---- Queries --------------------------------------------------------------------------------- */

static char *cut_name(struct columns *c, const char *name, size_t most)
{
	_free_ char *clean = name ? format_clean(name) : NULL;

	return clean ? build_cut_name(clean, columns__most(c, most)) : NULL;
}

/* "crate/query", or "query" over all crates, and why it has a time without an execution. */
static char *query_name(struct columns *c, const struct build_query *q)
{
	_free_ char *name = NULL;

	if (asprintf(&name, "%s%s%s%s", q->crate ?: "", q->crate ? "/" : "", q->label,
		     summary_row__instead(&q->row)) < 0)
		name = NULL;
	return cut_name(c, name, QUERY_MOST);
}

static void query_columns(struct columns *c, const struct build_query *q, const char *title,
			  const struct build_rows *r, const struct build_view *v)
{
	const struct summary_row *row = q ? &q->row : NULL;
	bool by_spans = row && row->self_by != SUMMARY_SELF_SAMPLES;
	bool has_spans = row && (by_spans || row->raw_total_ns);
	bool off_cpu = v && build__totals(v->build)->off_cpu_known;
	uint64_t n = row ? summary_row__executions(row) : 0;
	const struct sample_sum *cpu = row ? &row->samples.self[TRACE_SAMPLE_CPU] : NULL;
	char buf[FORMAT_MAX * 2];

	TEXT(c, "name", NULL, q->label, "of the query or activity");
	OWNED_NAME(c, NULL, title, query_name(c, q), NULL);
	TEXT(c, "kind", NULL, summary_row__kind(row), "as in queries");
	KNOWN(c, COUNT, "count", NULL, n || (has_spans && !row->results), n,
	      "executions; null: unknown");
	CELL(c, "executions", report_count(buf, row));
	KNOWN(c, NS, "total_ns", NULL, has_spans, row->total_ns,
	      "with what was called; null: unknown");
	KNOWN(c, NS, "self_ns", NULL, by_spans, row->self_ns, "without that; null: unknown");
	NUMBER(c, NS, "self_cpu_ns", NULL, row->best_cpu_ns,
	       "the best known self time on the CPU; orders the rows");
	/* Marked if it is an estimate beside others that are none. */
	COLUMN(c, NS, NULL, report_title_cpu(off_cpu), NULL,
	       r->is_sampled && !row->best_cpu_ns
		       ? columns__unknown(c)
		       : columns__marked(c, r->is_sampled ? "" : report_self_mark(row->self_by),
					 row->best_cpu_ns));
	PERCENT(c, share_title(c, v), row->best_cpu_ns, r->cpu_ns);
	KNOWN(c, NS, "self_off_ns",
	      !r->is_sampled && (off_cpu || c->to == COLUMNS_MARKDOWN) ? REPORT_OFF : NULL,
	      by_spans, row->self_off_ns, "its part off the CPU; null: unknown");
	SOME(c, COUNT, "too_short", NULL, row->clamped, row->clamped,
	     "compiles in which its probes took longer than itself, so that self_ns is 0 there; "
	     "missing: none");
	SOME(c, NS, "best_self_ns", NULL, v->samples, row->best_self_ns,
	     "the best known self time; with samples");
	SOME(c, NS, "best_self_error_ns", NULL, v->samples, row->best_error_ns,
	     "its standard error; with samples");
	SOME(c, NS, NULL, r->is_sampled ? "+-" : NULL, row->best_error_ns, row->best_error_ns,
	     NULL);
	SOME(c, COUNT, "samples", NULL, v->samples, cpu->n,
	     "samples of the CPU whose innermost query it is");
	SOME(c, NS, "sampled_self_ns", NULL, v->samples, cpu->value,
	     "CPU time that these stand for");
}

static void put_queries(struct columns *c, const char *key, const struct build_queries *q,
			const struct build_rows *r, const struct build_view *v, const char *help)
{
	if (!LIST(c, key, true, help))
		return;
	EACH_ROW (c, i, build_rows__shown(v, q->n, BUILD_FIT_MOST)) {
		const struct build_query *row = ROW(c, &q->rows[i]);

		if (q == &r->pairs) {
			TEXT(c, "crate", NULL, row->crate, "name of the compile");
			NUMBER(c, ID, "pid", NULL, r->of[row->process].process->process->pid,
			       "process");
		}
		query_columns(c, row, NULL, r, v);
	}
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* The query that most of an item's time on the CPU is in; or LLVM, if that took more. */
struct item_most {
	const char *name;
	uint64_t cpu_ns;
};

static struct item_most most_of(const struct build_item *item, const struct trace_texts *names)
{
	const struct item_row *row = &item->row;

	if (row->llvm.n && (!row->n_queries || row->llvm.value > row->queries[0].cpu_ns))
		return (struct item_most){"LLVM", row->llvm.value};
	return (struct item_most){names->text(names->ctx, row->queries[0].label),
				  row->queries[0].cpu_ns};
}

/* "`app::f` at `src/lib.rs:12`"; NULL: no memory. */
static char *markdown_item(const struct build_item *item, const struct build_view *v)
{
	_free_ char *text = NULL, *place = place_text(v->names, item->row.item);
	size_t size;
	FILE *to = place ? open_memstream(&text, &size) : NULL;
	int err;

	if (!to)
		return NULL;
	err = markdown_code(to, item->path);
	if (*place) {
		fputs(" at ", to);
		err = err ?: markdown_code(to, place);
	}
	return fclose(to) || err ? NULL : take_ptr(text);
}

static char *markdown_most(const struct build_item *item, const struct build_view *v)
{
	const struct item_most most = most_of(item, v->names);
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err = to ? markdown_code(to, most.name) : 0;

	if (!to)
		return NULL;
	fprintf(to, " %s", format_duration(buf, most.cpu_ns));
	return fclose(to) || err ? NULL : take_ptr(text);
}

static char *item_place(const struct build_item *item, const struct build_view *v)
{
	_free_ char *place = place_text(v->names, item->row.item);

	return place ? strdup(v->wide ? place : place_in_package(place)) : NULL;
}

/* Of items: what the rows to be shown have. `title` is that of names; of JSON it is NULL. */
struct item_look {
	const char *title;
	bool places, llvm;
	size_t path_most; /* columns of a path in a table that is not wide */
};

/* That of the first `n` items. */
static struct item_look look_of(const struct build_rows *r, size_t n, const char *title,
				const struct build_view *v)
{
	struct item_look look = {.title = title};

	for (size_t i = 0; i < n; i++) {
		look.llvm = look.llvm || r->items[i].row.llvm.n;
		look.places = look.places || trace_texts__place(v->names, r->items[i].row.item);
	}
	look.path_most =
		(look.places ? PLACED_PATH_MOST : PATH_MOST) - (look.llvm ? LLVM_COLUMNS : 0);
	return look;
}

/* The most expensive query, or LLVM, and how it is in text. */
static void most_columns(struct columns *c, const struct build_item *item,
			 const struct item_look *look, const struct build_view *v)
{
	const struct item_row *row = item ? &item->row : NULL;
	struct item_most most = item ? most_of(item, v->names) : (struct item_most){};
	bool off_cpu = v && build__totals(v->build)->off_cpu_known;

	SOME_TEXT(c, "query", NULL, row->n_queries,
		  v->names->text(v->names->ctx, row->queries[0].label),
		  "the query with the most time on the CPU; missing: only LLVM has any");
	SOME(c, NS, "query_self_ns", NULL, row->n_queries, row->queries[0].self_ns,
	     "self time of this query for the item");
	SOME(c, NS, "query_self_cpu_ns", NULL, row->n_queries, row->queries[0].cpu_ns,
	     "the best known part of that on the CPU");
	OWNED(c, NULL, MARKDOWN(c, "most in"), markdown_most(item, v), NULL);
	OWNED(c, NULL, TEXTUAL(c, "most in"),
	      cut_name(c, most.name, look->places ? PLACED_LABEL_MOST : LABEL_MOST), NULL);
	NUMBER(c, NS, NULL, WIDE(c, off_cpu ? "on-cpu there" : "self there"), most.cpu_ns, NULL);
	item_executions_column(c, WIDE(c, "executions"), row);
	OWNED(c, NULL, look->places ? TEXTUAL(c, "at") : NULL, item_place(item, v), NULL);
}

static void item_columns(struct columns *c, const struct build_item *item,
			 const struct item_look *look, const struct build_rows *r,
			 const struct build_view *v)
{
	const struct item_row *row = item ? &item->row : NULL;
	const struct trace_place *at = row ? trace_texts__place(v->names, row->item) : NULL;
	const struct sample_sum *sampled = row ? row->sampled : NULL;
	bool met = row && sampled[TRACE_SAMPLE_CPU].n;
	bool off_cpu = v && build__totals(v->build)->off_cpu_known;

	OWNED(c, "crate", NULL, build_item_crate(item), "crate of the item");
	TEXT(c, "name", NULL, item->path, "path");
	OWNED(c, NULL, TEXTUAL(c, look->title),
	      build_item_name(item, columns__most(c, look->path_most)), NULL);
	OWNED(c, NULL, MARKDOWN(c, look->title), markdown_item(item, v), NULL);
	SOME_TEXT(c, "file", NULL, at, v->names->text(v->names->ctx, at->file),
		  "where it begins; missing: unknown");
	SOME(c, COUNT, "line", NULL, at, at->line, "line there, from 1");
	KNOWN(c, COUNT, "executions", NULL, item_row__is_counted(row), item_row__executions(row),
	      "of queries about it; null: unknown");
	SOME_BOOL(c, "executions_at_least", row->at_least, true,
		  "true: there may be more, by the compilers' tables; else missing");
	KNOWN(c, COUNT, "charged", NULL, item_row__knows_charged(row), row->charged,
	      "executions without an item of their own, within these; null");
	NUMBER(c, NS, "self_ns", NULL, row->self_ns, "of all of these, and of activities within");
	NUMBER(c, NS, "self_cpu_ns", NULL, row->cpu_ns,
	       "the best known self time on the CPU; with llvm_ns it orders the rows");
	KNOWN(c, NS, NULL, report_title_cpu(off_cpu), row->n_queries, row->cpu_ns, NULL);
	PERCENT(c, look->places ? ROOMY(c, share_title(c, v)) : share_title(c, v), row->cpu_ns,
		r->cpu_ns);
	SOME_TEXT(c, "self_by", NULL, met, report_self_by(SUMMARY_SELF_SAMPLES),
		  "how it is known: spans, samples");
	SOME(c, NS, "best_self_error_ns", NULL, met, sample_sum__error(&sampled[TRACE_SAMPLE_CPU]),
	     "its standard error; with self_by");
	SOME(c, NS, "llvm_ns", look->llvm ? "LLVM" : NULL, row->llvm.n, row->llvm.value,
	     "time of LLVM for it, by samples; missing: none, or unknown");
	SOME(c, NS, "llvm_error_ns", NULL, row->llvm.n, sample_sum__error(&row->llvm),
	     "standard error of that");
	KNOWN(c, NS, NULL, off_cpu ? WIDE(c, REPORT_OFF) : NULL, item_row__is_counted(row),
	      row->self_ns - row->cpu_ns, NULL);
	SOME(c, NS, "sampled_off_ns", NULL, sampled[TRACE_SAMPLE_OFF_CPU].n,
	     sampled[TRACE_SAMPLE_OFF_CPU].value, "waits in these");
	SOME(c, BYTES, "memory_bytes", NULL, sampled[TRACE_SAMPLE_FAULT].n,
	     sampled[TRACE_SAMPLE_FAULT].value, "memory that page faults made resident in these");
	most_columns(c, item, look, v);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The title of a first column: "crate", or in text "crate (6 of 12)". */
static const char *title(char buf[FORMAT_MAX * 2], enum columns_to to, const char *what,
			 size_t shown, size_t n)
{
	if (to == COLUMNS_MARKDOWN || shown == n)
		return what;
	snprintf(buf, FORMAT_MAX * 2, "%s (%zu of %zu)", what, shown, n);
	return buf;
}

int build_crate_table(FILE *out, enum columns_to to, size_t fit, const struct build_rows *r,
		      const struct build_view *v)
{
	size_t shown = build_rows__shown(v, r->n_crates, fit);
	struct columns c = {.to = to, .out = out, .wide = v->wide};
	char buf[FORMAT_MAX * 2];
	const char *first = title(buf, to, "crate", shown, r->n_crates);

	if (!r->n_crates)
		return 0;
	fputc('\n', out);
	EACH_ROW (&c, i, shown)
		crate_columns(&c, ROW(&c, r->crates[i]), first, v);
	if (to == COLUMNS_MARKDOWN)
		columns__more(&c, r->n_crates - shown, NULL, NULL);
	else if (!c.err && build_crate_failed(r->crates[0]) && !v->wide)
		fputs("  " BUILD_FAILED
		      " failed, was killed, or was not seen to end (exit: report --wide)\n",
		      out);
	return c.err;
}

int build_query_table(FILE *out, enum columns_to to, enum build_table of, size_t fit,
		      const struct build_rows *r, const struct build_view *v)
{
	const struct {
		const char *what;
		const struct build_queries *queries;
	} tables[] = {
		[BUILD_QUERIES] = {"query", &r->queries},
		[BUILD_PAIRS] = {"crate/query", &r->pairs},
		[BUILD_PASSES] = {"rustc's pass", &r->passes},
	};
	const struct build_queries *q = tables[of].queries;
	size_t shown = build_rows__shown(v, q->n, fit);
	struct columns c = {
		.to = to, .out = out, .wide = v->wide, .least_of_name = v->wide ? 0 : QUERY_LEAST};
	char buf[FORMAT_MAX * 2];
	const char *first = title(buf, to, tables[of].what, shown, q->n);

	if (!shown)
		return 0;
	fputc('\n', out);
	EACH_ROW (&c, i, shown)
		query_columns(&c, ROW(&c, &q->rows[i]), first, r, v);
	if (to == COLUMNS_MARKDOWN)
		columns__more(&c, q->n - shown, NULL, NULL);
	return c.err;
}

int build_item_table(FILE *out, enum columns_to to, size_t fit, const struct build_rows *r,
		     const struct build_view *v)
{
	size_t shown = build_rows__shown(v, r->n_items, fit);
	char buf[FORMAT_MAX * 2];
	const struct item_look look =
		look_of(r, shown, title(buf, to, "item", shown, r->n_items), v);
	struct columns c = {.to = to,
			    .out = out,
			    .wide = v->wide,
			    .least_of_name = v->wide ? 0 : look.path_most};

	if (!r->n_items)
		return 0;
	fputc('\n', out);
	EACH_ROW (&c, i, shown)
		item_columns(&c, ROW(&c, &r->items[i]), &look, r, v);
	if (to == COLUMNS_MARKDOWN)
		columns__more(&c, r->n_items - shown, NULL, NULL);
	return c.err;
}

/* ---- The object ------------------------------------------------------------------------------ */

/* `whole` is of the build that this is a part of, or of itself. */
static void total_columns(struct columns *c, const struct build_totals *whole,
			  const struct build_view *v)
{
	const struct build_totals *t = v ? build__totals(v->build) : NULL;
	uint64_t cpu_ns = 0;
	bool has_cpu = v && build_cpu_ns(v, NULL, &cpu_ns);

	NUMBER(c, NS, "wall_ns", NULL, whole->running.end_ns - whole->running.start_ns,
	       "from the start of the first compiler to the end of the last");
	NUMBER(c, NS, "compilers_ns", NULL, whole->compiler_ns,
	       "wall time of all compilers, added up");
	NUMBER(c, NS, "tail_ns", NULL, whole->running.tail_ns,
	       "at the end, with never two compilers at once");
	NUMBER(c, COUNT, "compiles", NULL, t->compiles, "compilers that compiled");
	NUMBER(c, COUNT, "failed", NULL, t->failed, "of these: failed");
	NUMBER(c, COUNT, "killed", NULL, t->killed, "of these: ended by a signal");
	NUMBER(c, COUNT, "killed_for_memory", NULL, t->memory_kills,
	       "of these: by the kernel, as memory had run out");
	NUMBER(c, COUNT, "unended", NULL, t->unended, "of these: the end was not seen");
	NUMBER(c, COUNT, "doctests", NULL, t->doctests, "compilers of doctests");
	NUMBER(c, COUNT, "listed", NULL, t->listed,
	       "compilers that only listed the sources of a crate, for a cache");
	NUMBER(c, COUNT, "cached", NULL, t->cached, "crates that were listed and not compiled");
	NUMBER(c, COUNT, "asked", NULL, t->asked,
	       "compilers that were only asked, such as for their version");
	KNOWN(c, NS, "cpu_ns", NULL, has_cpu, cpu_ns,
	      "CPU time, without what recording added if known; null: unknown");
	KNOWN(c, NS, "preempted_ns", NULL, t->off_cpu_known, t->preempted_ns,
	      "threads ready, while others ran; null: not recorded");
	wait_columns(c, t ? &t->waits : NULL, t && t->off_cpu_known, t && t->late, v);
	NUMBER(c, NS, "blocked_ns", NULL, t->blocked_ns,
	       "threads in queries that another thread executed");
}

static void thread_columns(struct columns *c, const struct build_thread *t,
			   const struct build_rows *r, const struct build_view *v)
{
	const struct build_crate *of = t ? &r->of[t->process] : NULL;
	const struct trace_process *p = of ? of->process->process : NULL;

	TEXT(c, "name", NULL, of->name, "package, target and tool");
	NUMBER(c, ID, "pid", NULL, p->pid, "process");
	KNOWN(c, ID, "signal", NULL, p->exit_status != TRACE_EXIT_UNKNOWN, WTERMSIG(p->exit_status),
	      "that killed it; null: the end was not seen");
	KNOWN_BOOL(c, "killed_for_memory", p->kill, p->kill == TRACE_KILL_MEMORY,
		   "by the kernel, as memory had run out; null: unknown, or no SIGKILL");
	NUMBER(c, ID, "tid", NULL, t->tid, "thread");
	TEXT(c, "thread", NULL, t->name, "its name; null: none");
	NUMBER(c, COUNT, "more", NULL, t->more, "outer intervals that are not in open");
	if (!LIST(c, "open", true, "what it was in, the innermost first"))
		return;
	EACH_ROW (c, i, t->n_open) {
		const struct build_open *open = ROW(c, &t->open[i]);

		TEXT(c, "name", NULL, v->names->text(v->names->ctx, open->label),
		     "of the query or activity");
		TEXT(c, "kind", NULL, trace_kind_text(open->kind), "as in queries");
		NUMBER(c, NS, "ns", NULL, open->ns, "how long ago it began");
	}
}

void build_columns(struct columns *c, const struct build_view *v)
{
	const struct build_totals *whole =
		v ? build__totals(build__whole(v->build) ?: v->build) : NULL;
	const struct item_look look = {};
	uint32_t n_threads = 0;
	const struct build_thread *threads = v ? build__interrupted(v->build, &n_threads) : NULL;
	_build_rows_ struct build_rows r = {};

	if (!OBJECT(c, "build", v, "the report of the build, unless rows are of something else"))
		return;
	c->err = c->err ?: c->describes ? 0 : build_rows__init(&r, v);
	total_columns(c, whole, v);
	if (LIST(c, "running", true, "how long how many compilers existed at once"))
		EACH_ROW (c, i, whole->running.n) {
			NUMBER(c, COUNT, "compilers", NULL, i, "at once");
			NUMBER(c, NS, "ns", NULL, whole->running.at[i], "for how long");
		}
	if (OBJECT(c, "sampled", v && v->stacks, "CPU time by samples, if there are any")) {
		NUMBER(c, NS, "front_end_ns", NULL, r.shares[SAMPLE_FRONT_END].value, "CPU time");
		NUMBER(c, NS, "codegen_ns", NULL, r.shares[SAMPLE_CODEGEN].value, "CPU time");
		NUMBER(c, NS, "llvm_ns", NULL, r.shares[SAMPLE_LLVM].value, "CPU time");
		NUMBER(c, NS, "unknown_ns", NULL, r.shares[SAMPLE_NO_STACK].value,
		       "CPU time of stacks that end too early");
		columns__leave(c);
	}
	if (OBJECT(c, "incremental", r.n_reuse, "if a compile loaded results of the last build")) {
		NUMBER(c, COUNT, "compiles", NULL, r.n_reuse, "that loaded anything");
		reuse_columns(c, &r.reuse);
		columns__leave(c);
	}
	rebuilt_columns(c, v);
	path_columns(c, &r, v);
	if (LIST(c, "crates", true, "compiles, the longest first"))
		EACH_ROW (c, i, r.n_crates)
			crate_columns(c, ROW(c, r.crates[i]), NULL, v);
	/* Missing where no item is known: a build without any is none whose items are unknown. */
	if (LIST(c, "items", r.n_items, "items of the user's own crates"))
		EACH_ROW (c, i, build_rows__shown(v, r.n_items, BUILD_FIT_MOST))
			item_columns(c, ROW(c, &r.items[i]), &look, &r, v);
	put_queries(c, "queries", &r.queries, &r, v, "queries, over all compiles");
	put_queries(c, "pairs", &r.pairs, &r, v, "queries of one compile");
	put_queries(c, "passes", &r.passes, &r, v, "activities, over all compiles");
	if (LIST(c, "interrupted", true, "threads of killed compilers, and what they were in"))
		EACH_ROW (c, i, n_threads)
			thread_columns(c, ROW(c, &threads[i]), &r, v);
	columns__leave(c);
}
