// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "analyze/on_cpu.h"
#include "base/array.h"
#include "view/cost_view.h"
#include "view/item_text.h"
#include "view/llvm_view.h"
#include "view/subjects_view.h"
#include "base/format.h"
#include "view/report_notes.h"
#include "view/report_rows.h"
#include "view/samples_text.h"
#include "view/table.h"
#include "view/verdict_text.h"

/* Marks numbers that include executions without an exact end. */
#define MARK CALLERS_TEXT_MARK

/* The command that shows all columns. */
#define WIDER "report --wide"

#define NAME_MOST 40 /* columns; a command line can be very long */
#define N_COLUMNS 7  /* most columns of the query table, in any trace */

#define NAME_KEPT 26 /* minimum columns of a name; other columns are left out first */

static size_t shown(size_t n, const struct report_options *opt)
{
	return opt->top && opt->top < n ? opt->top : n;
}

static void print_more(FILE *out, size_t n, const char *one, const char *many)
{
	if (n)
		fprintf(out, "  and %zu more %s\n", n, n == 1 ? one : many);
}

/* Executions, total time, and self time on the CPU; what is not exact is marked. */
static void add_sums(struct table *t, const struct report_row *row)
{
	bool is_sampled = row->self_by == SUMMARY_SELF_SAMPLES;
	char buf[FORMAT_MAX * 2];

	table__cell(t, report_row__count(buf, row));
	table__cellf(t, "%s%s", is_sampled ? REPORT_ESTIMATE : "",
		     format_duration(buf, report_row__total_ns(row)));
	table__cellf(t, "%s%s", report_self_mark(row->self_by), format_duration(buf, row->cpu_ns));
}

static bool shows_extra(const struct report_rows *all, int extra)
{
	return all->extra[extra] && report_extras[extra].title && extra != REPORT_OFF_CPU;
}

/* The other part of self, and both. */
static void add_off_cpu(struct table *t, const struct report_row *row)
{
	char buf[FORMAT_MAX];

	bool known = row->self_by != SUMMARY_SELF_SAMPLES;

	table__cell(t, known ? format_duration(buf, row->extra[REPORT_OFF_CPU]) : "-");
	table__cell(t, known ? format_duration(buf, row->self_ns) : "-");
}

/* Samples met the longest execution first and last so far apart. */
static void add_max(struct table *t, const struct report_row *row)
{
	uint64_t sampled_ns = row->extra[REPORT_SAMPLED_MAX];
	char buf[FORMAT_MAX];

	if (row->count || !sampled_ns)
		table__cell(t, row->count ? format_duration(buf, row->max_ns) : "-");
	else
		table__cellf(t, REPORT_ESTIMATE "%s", format_duration(buf, sampled_ns));
}

static void add_query(struct table *t, const struct report_row *row, const struct report_rows *all)
{
	char buf[FORMAT_MAX];

	table__cellf(t, "%s%s%s", row->name, row->instead, row->unwound ? " " MARK : "");
	add_sums(t, row);
	table__cell(t, format_percent(buf, row->cpu_ns, all->cpu_ns));
	if (report_rows__know_off_cpu(all))
		add_off_cpu(t, row);
	table__cell(t, row->count ? format_duration(buf, row->mean_ns) : "-");
	add_max(t, row);
	for (int i = 0; i < REPORT_N_EXTRAS; i++) {
		if (!shows_extra(all, i))
			continue;
		if (report_extras[i].is_time)
			table__cell(t, format_duration(buf, row->extra[i]));
		else
			table__cell(t, format_count(buf, row->extra[i]));
	}
}

/*
 * Set the order in which columns are left out: first columns that repeat others or that
 * fewer users need. The sorted column always stays.
 */
static void spare_columns(struct table *t, bool off_cpu, enum report_sort sort)
{
	static const char *const spare[] = {
		REPORT_SELF, "mean",	"incr. hashing", "incr. load",
		"max",	     "blocked", "total",	 REPORT_OFF,
	};
	static const char *const sorted[REPORT_SORTS] = {
		[REPORT_SORT_SELF] = REPORT_SELF,
		[REPORT_SORT_MAX] = "max",
		[REPORT_SORT_TOTAL] = "total",
		[REPORT_SORT_OFF] = REPORT_OFF,
	};

	table__keep_of_name(t, NAME_KEPT);
	for (size_t i = !off_cpu; i < N_OF(spare); i++) {
		if (!sorted[sort] || strcmp(spare[i], sorted[sort]))
			table__spare(t, spare[i]);
	}
}

static int print_sampled(FILE *out, const struct report_rows *r, const struct report_options *opt)
{
	int err = samples_text_rows(out, r, shown(r->n, opt), opt->width, WIDER);

	print_more(out, r->n - shown(r->n, opt), "query", "queries");
	return err;
}

static int print_queries(FILE *out, const struct report_rows *r, const struct report_options *opt)
{
	bool off_cpu = report_rows__know_off_cpu(r);
	struct table_column columns[N_COLUMNS + 3 + REPORT_N_EXTRAS] = {
		{"query", 0}, {"count", 0}, {"total", 0}, {report_title_cpu(off_cpu), 0}};
	size_t n_columns = 4;
	_table_ struct table *t = NULL;
	int err;

	/* Loaded results have a column of their own. */
	if (r->extra[REPORT_LOADS])
		columns[1].title = "executed";
	columns[n_columns++].title = report_title_share(off_cpu);
	if (off_cpu) {
		columns[n_columns++].title = REPORT_OFF;
		columns[n_columns++].title = REPORT_SELF;
	}
	columns[n_columns++].title = "mean";
	columns[n_columns++].title = "max";
	for (int i = 0; i < REPORT_N_EXTRAS; i++) {
		if (shows_extra(r, i))
			columns[n_columns++].title = report_extras[i].title;
	}
	t = table__new(columns, n_columns);
	spare_columns(t, off_cpu, opt->sort);
	for (size_t i = 0; i < shown(r->n, opt); i++)
		add_query(t, &r->rows[i], r);
	err = table__print_within(t, out, opt->width, WIDER);
	print_more(out, r->n - shown(r->n, opt), "query", "queries");
	return err;
}

static int print_table(FILE *out, const struct report_rows *r, const struct report_options *opt)
{
	return report_rows__are_sampled(r) ? print_sampled(out, r, opt)
					   : print_queries(out, r, opt);
}

/* Only for threads with known off-CPU times. */
static void add_thread(struct table *t, const struct report_row *row)
{
	uint64_t off_ns = row->preempted_ns + row->waiting_ns;
	char buf[FORMAT_MAX];

	table__cell(t, format_duration(buf, row->total_ns));
	table__cell(t, format_duration(buf, on_cpu_ns(row->total_ns, off_ns)));
	table__cell(t, format_duration(buf, row->preempted_ns));
	table__cell(t, format_duration(buf, row->waiting_ns));
	table__cellf(t, "%s%s", report_self_mark(row->self_by), format_duration(buf, row->self_ns));
	table__cell(t, format_duration(buf, row->extra[REPORT_OFF_CPU]));
}

static void add_group(struct table *t, const struct report_row *row, const struct report_rows *all)
{
	char buf[FORMAT_MAX];

	table__cell(t, format_duration(buf, row->total_ns));
	table__cellf(t, "%s%s", report_self_mark(row->self_by), format_duration(buf, row->cpu_ns));
	table__cell(t, format_percent(buf, row->cpu_ns, all->cpu_ns));
	if (report_rows__know_off_cpu(all))
		add_off_cpu(t, row);
	table__cell(t, format_duration(buf, row->max_ns));
	if (all->peak_bytes)
		table__cell(t, row->peak_bytes ? format_bytes(buf, row->peak_bytes) : "-");
}

/* Asked for by name, they count, as in the table of queries. */
static bool counts_activities(const struct report_rows *groups, const struct report_options *opt)
{
	return groups->activities && opt->query;
}

#define GROUP_COLUMNS_MOST 9

/* `columns` must outlive the table. */
static struct table *new_groups_table(const struct report_rows *r, const struct report_options *opt,
				      struct table_column columns[GROUP_COLUMNS_MOST])
{
	static const char *const titles[] = {
		[GROUP_BY_CRATE] = "crate",
		[GROUP_BY_PROCESS] = "process",
		[GROUP_BY_THREAD] = "thread",
	};
	const char *count = counts_activities(r, opt) ? "count" : "executions";
	const struct table_column threads[] = {
		{"thread", 0},	  {count, 0},	  {"wall", 0}, {"on-cpu", 0},
		{"preempted", 0}, {"waiting", 0}, {"self", 0}, {"off-cpu", 0},
	};
	size_t n_columns = 0;

	if (opt->by == GROUP_BY_THREAD && r->off_ns)
		return table__new(memcpy(columns, threads, sizeof(threads)), N_OF(threads));
	columns[n_columns++].title = titles[opt->by];
	columns[n_columns++].title = count;
	columns[n_columns++].title = "wall";
	columns[n_columns++].title = report_title_cpu(report_rows__know_off_cpu(r));
	columns[n_columns++].title = report_title_share(report_rows__know_off_cpu(r));
	if (report_rows__know_off_cpu(r)) {
		columns[n_columns++].title = REPORT_OFF;
		columns[n_columns++].title = REPORT_SELF;
	}
	columns[n_columns++].title = "max";
	if (r->peak_bytes)
		columns[n_columns++].title = "peak";
	return table__new(columns, n_columns);
}

static int print_groups(FILE *out, const struct report_options *opt)
{
	struct table_column columns[GROUP_COLUMNS_MOST] = {0};
	_report_rows_ struct report_rows r = {};
	_table_ struct table *t = NULL;
	char buf[FORMAT_MAX];
	bool counts;
	int err = report_rows__groups(&r, opt);

	if (err || (opt->details && !r.n && !r.left_out))
		return err;
	if (opt->details)
		fputc('\n', out);
	counts = counts_activities(&r, opt);
	t = new_groups_table(&r, opt, columns);
	for (size_t i = 0; i < shown(r.n, opt); i++) {
		const struct report_row *row = &r.rows[i];

		table__cellf(t, "%s%s", row->name, row->unwound ? " " MARK : "");
		table__cell(t, format_count(buf, row->count + (counts ? row->activities : 0)));
		if (opt->by == GROUP_BY_THREAD && r.off_ns)
			add_thread(t, row);
		else
			add_group(t, row, &r);
	}
	table__keep_of_name(t, NAME_KEPT);
	/* Other columns repeat these. */
	if (opt->by == GROUP_BY_THREAD && r.off_ns) {
		table__spare(t, REPORT_OFF);
		table__spare(t, "wall");
	} else if (report_rows__know_off_cpu(&r)) {
		table__spare(t, REPORT_SELF);
	}
	err = table__print_within(t, out, opt->width, WIDER);
	print_more(out, r.n - shown(r.n, opt), "row", "rows");
	return err;
}

static int print_callers(FILE *out, bool unprobed, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	int err = report_rows__callers(&r, opt);

	if (err)
		return err;
	if (!r.n && !r.left_out) {
		fputs(unprobed ? "executions of these queries were not recorded, and their "
				 "callers are unknown\n"
			       : "none of these queries was executed\n",
		      out);
		return 0;
	}
	err = callers_text(out, &r, shown(r.n, opt));
	print_more(out, r.n - shown(r.n, opt), "caller", "callers");
	return err;
}

static int print_items(FILE *out, const struct trace_texts *names, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	int err = report_rows__items(&r, names, opt);

	/* Beside other tables, one without rows says nothing. */
	if (err || (opt->details && !r.n && !r.left_out))
		return err;
	if (opt->details)
		fputc('\n', out);
	err = items_text(out, &r, shown(r.n, opt), opt->width, names);
	print_more(out, r.n - shown(r.n, opt), opt->modules ? "module" : "item",
		   opt->modules ? "modules" : "items");
	return err;
}

static bool is_wanted(const struct report_options *opt, const char *query)
{
	return !opt->query || opt->query(opt->query_ctx, query);
}

static int print_process(struct table *t, const struct summary *s, uint32_t i,
			 const struct trace_texts *names, const struct samples *sampled,
			 const struct report_options *opt)
{
	const struct trace_process *p = summary__process_at(s, i);
	_free_ struct summary_row *rows = NULL;
	uint64_t count = 0, cpu_ns = 0;
	char buf[FORMAT_MAX];
	_free_ char *name = compile_name(p);
	size_t n;
	int err = name ? 0 : -ENOMEM;

	err = err ?: summary__rows(s, i, &rows, &n);
	if (err)
		return err;
	for (size_t k = 0; k < n; k++) {
		if (!is_wanted(opt, names->text(names->ctx, rows[k].label)))
			continue;
		count += rows[k].is_activity ? 0 : rows[k].count;
		cpu_ns += rows[k].self_cpu_ns;
	}
	if (sampled) {
		count = samples__process(sampled, i)[TRACE_SAMPLE_CPU].n;
		cpu_ns = samples__process(sampled, i)[TRACE_SAMPLE_CPU].value;
	}
	format_cut(name, NAME_MOST);
	table__cell(t, name);
	table__cellf(t, "%" PRIu32, p->pid);
	table__cell(t, report_notes__exit(buf, p));
	table__cell(t, format_count(buf, count));
	table__cell(t, format_duration(buf, cpu_ns));
	return 0;
}

static int print_processes(FILE *out, const struct summary *s, const struct trace_texts *names,
			   const struct report_rows *r, const struct report_options *opt)
{
	bool sampled = report_rows__are_sampled(r);
	const struct table_column columns[] = {
		{"process", 0},
		{"pid", 0},
		{"exit", 0},
		{sampled ? "samples" : "executions", 0},
		{report_title_cpu(sampled || report_rows__know_off_cpu(r)), 0},
	};
	uint32_t n = summary__n_processes(s), n_shown = shown(n, opt);
	_table_ struct table *t = table__new(columns, N_OF(columns));
	int err;

	if (n < 2 || opt->totals_only)
		return 0;
	for (uint32_t i = 0; i < n_shown; i++) {
		if (print_process(t, s, i, names, sampled ? opt->samples : NULL, opt))
			return -ENOMEM;
	}
	fputc('\n', out);
	err = table__print(t, out, "");
	print_more(out, n - n_shown, "process", "processes");
	return err;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct trace_tally *x = a, *y = b;

	return (x->label > y->label) - (x->label < y->label);
}

/* Sum the sizes of artifacts by name; returns the number of names. */
static size_t sum_artifacts(const struct trace_tally *from, size_t n, struct trace_tally *sizes)
{
	size_t used = 0, n_sizes = 0;

	for (size_t i = 0; i < n; i++) {
		if (from[i].kind == TRACE_KIND_ARTIFACT_SIZE)
			sizes[n_sizes++] = from[i];
	}
	qsort(sizes, n_sizes, sizeof(*sizes), compare_tallies);
	for (size_t i = 0; i < n_sizes; i++) {
		if (used && sizes[used - 1].label == sizes[i].label)
			sizes[used - 1].sum += sizes[i].sum;
		else
			sizes[used++] = sizes[i];
	}
	return used;
}

static int print_artifacts(FILE *out, const struct summary *s, const struct trace_texts *names)
{
	static const struct table_column columns[] = {{"artifact", 0}, {"size", 0}};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	size_t n;
	const struct trace_tally *tallies = summary__tallies(s, &n);
	_free_ struct trace_tally *sizes = calloc(n + 1, sizeof(*sizes));
	char buf[FORMAT_MAX];

	if (!sizes)
		return -ENOMEM;
	n = sum_artifacts(tallies, n, sizes);
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		table__cell(t, names->text(names->ctx, sizes[i].label));
		table__cell(t, format_count(buf, sizes[i].sum));
	}
	fputc('\n', out);
	return table__print(t, out, "");
}

static const char *with_or_without(const struct report_options *opt)
{
	return opt->raw && !opt->costs->subtracted ? "with it" : "without it";
}

static void print_cost(FILE *out, const struct report_options *opt)
{
	if (opt->cost && cost_text_line(out, opt->cost, "; ")) {
		if (opt->costs)
			fprintf(out, "; the times above are %s", with_or_without(opt));
		fputc('\n', out);
	}
	if (opt->cost)
		cost_text_beside(out, opt->cost, "");
}

static void print_clamped(FILE *out, uint64_t clamped)
{
	char buf[FORMAT_MAX];

	if (clamped)
		fprintf(out, "too short to time, as their probes take longer: %s %s, shown as 0\n",
			format_count(buf, clamped), clamped == 1 ? "query" : "queries");
}

/* Whether only samples show one of the queries. */
static bool has_unprobed(const struct report_rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->rows[i].self_by == SUMMARY_SELF_SAMPLES)
			return true;
	}
	return false;
}

static void print_begun(FILE *out, const struct report_rows *queries)
{
	struct begun_note note = {};

	for (size_t i = 0; i < queries->n; i++)
		if (queries->rows[i].begun)
			begun_note__add(&note, out, queries->rows[i].name);
	begun_note__end(&note, out);
}

/* Two numbers, as in every output: an activity is no execution of a query. */
static void print_counts(FILE *out, const struct summary *s)
{
	char queries[FORMAT_MAX], activities[FORMAT_MAX];
	struct summary_counts counts;

	if (summary__counts(s, SUMMARY_ALL, &counts) || !(counts.queries + counts.activities))
		return;
	fprintf(out, "in all: %s executions of queries, ", format_count(queries, counts.queries));
	if (counts.unsure)
		fprintf(out, "%s result%s that may be none, ", format_count(queries, counts.unsure),
			counts.unsure == 1 ? "" : "s");
	fprintf(out, "%s activities\n", format_count(activities, counts.activities));
}

static void print_samples(FILE *out, const struct report_options *opt, const char *after)
{
	if (opt->samples && samples_text_head(out, samples__totals(opt->samples)))
		fputs(after, out);
}

static void print_notes(FILE *out, const struct summary *s, const struct report_rows *r,
			const struct trace_losses *losses, const struct report_options *opt)
{
	fputc('\n', out);
	print_counts(out, s);
	print_cost(out, opt);
	if (!report_rows__are_sampled(r))
		print_samples(out, opt, "");
	report_notes__unfinished(out, r->unwound, s);
	if (opt->details || !report_options__has_other_rows(opt))
		samples_text_marks(out, r);
	else if (report_rows__are_sampled(r))
		fputs(REPORT_SAMPLED_TEXT "\n", out);
	if (opt->samples)
		samples_text_notes(out, samples__totals(opt->samples));
	print_clamped(out, r->clamped);
	report_notes__late(out, s);
	print_begun(out, r);
	report_notes__losses(out, losses, true);
	if (opt->problem)
		fprintf(out, "incomplete: %s\n", opt->problem);
}

#define DETAILS 10

/* The items that the shown queries were about, the threads in which they ran, and their callers. */
static int print_details(FILE *out, const struct trace_texts *names, const struct report_rows *r,
			 const struct report_options *opt)
{
	struct report_options of = *opt;
	int err = 0;

	of.top = opt->top ?: DETAILS;
	if (opt->sort == REPORT_SORT_HITS)
		of.sort = REPORT_SORT_CPU;
	if (opt->items && items__any(opt->items))
		err = print_items(out, names, &of);
	if (!err && opt->groups)
		err = print_groups(out, &of);
	if (!err && opt->callers) {
		fputc('\n', out);
		err = print_callers(out, has_unprobed(r), &of);
	}
	return err;
}

/* The cause, if nothing was executed: most likely nothing was to compile. */
static void print_nothing(FILE *out, const struct summary *s)
{
	uint32_t n = summary__n_processes(s), asked = 0;

	for (uint32_t i = 0; i < n; i++)
		asked += summary__only_queried(s, i);
	if (!n)
		fputs("no compiler ran: cargo does not compile again what is up to date;\n"
		      "touch src/lib.rs, or cargo clean, make it do so\n",
		      out);
	else if (asked == n)
		fprintf(out, "%" PRIu32 " version check%s, nothing compiled\n", n,
			n == 1 ? "" : "s");
	else
		fputs("no query was executed\n", out);
}

static int print_all(FILE *out, const struct summary *s, const struct trace_texts *names,
		     const struct report_rows *r, const struct report_options *opt)
{
	int err = print_table(out, r, opt);

	return err ?: print_processes(out, s, names, r, opt);
}

int report_text(FILE *out, const struct summary *s, const struct trace_losses *losses,
		const struct trace_texts *names, const struct report_options *opt)
{
	_report_rows_ struct report_rows r = {};
	int err = report_rows__queries(&r, s, SUMMARY_ALL, names, opt);
	struct verdict verdict;

	if (err)
		return err;
	verdict = verdict_of(s, losses);
	verdict_lead(out, &verdict);
	if (report_rows__are_sampled(&r))
		print_samples(out, opt, "\n");
	if (opt->llvm_by)
		err = llvm_text(out, opt);
	else if (!r.n && !r.left_out && verdict.state)
		fputs("no query was recorded\n", out);
	else if (!r.n && !r.left_out)
		print_nothing(out, s);
	else if (opt->details && !r.n)
		; /* A line said that nothing has such a name. */
	else if (opt->details)
		err = print_table(out, &r, opt) ?: print_details(out, names, &r, opt);
	else if (opt->groups)
		err = print_groups(out, opt);
	else if (opt->subjects)
		err = subjects_text(out, opt);
	else if (opt->items)
		err = print_items(out, names, opt);
	else if (opt->callers)
		err = print_callers(out, has_unprobed(&r), opt);
	else
		err = print_all(out, s, names, &r, opt);
	err = err ?: report_notes__reuse(out, s, opt);
	err = err ?: print_artifacts(out, s, names);
	if (err)
		return err;
	print_notes(out, s, &r, losses, opt);
	return 0;
}
