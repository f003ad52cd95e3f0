// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/compile_name.h"
#include "base/array.h"
#include "view/cost_view.h"
#include "view/item_text.h"
#include "view/llvm_view.h"
#include "view/subjects_view.h"
#include "base/format.h"
#include "view/report_columns.h"
#include "view/report_notes.h"
#include "view/samples_text.h"
#include "view/verdict_text.h"

#define NAME_MOST 40 /* columns; a command line can be very long */

#define NAME_KEPT 26 /* minimum columns of a name; other columns are left out first */

static size_t shown(size_t n, const struct report_options *opt)
{
	return opt->top && opt->top < n ? opt->top : n;
}

static int print_table(FILE *out, const struct report_rows *r, const struct report_options *opt)
{
	/*
	 * The order in which columns are left out: first columns that repeat others or that fewer
	 * users need. The sorted column always stays.
	 */
	static const char *const all[] = {
		REPORT_SELF, "mean",	"incr. hashing", "incr. load",
		"max",	     "blocked", "total",	 REPORT_OFF,
	};
	static const char *const sorted[REPORT_SORTS] = {
		[REPORT_SORT_SELF] = REPORT_SELF,
		[REPORT_SORT_MAX] = "max",
		[REPORT_SORT_TOTAL] = "total",
		[REPORT_SORT_OFF] = REPORT_OFF,
	};
	static const char *const of_samples[] = {"max", NULL};
	const char *spare[N_OF(all) + 1], *stays = sorted[opt->sort];
	size_t n = 0;
	struct columns c = {.out = out,
			    .width = opt->width,
			    .wide = opt->wide,
			    .keep_of_name = NAME_KEPT,
			    .spare = spare};

	for (size_t i = !report_rows__know_off_cpu(r); i < N_OF(all); i++)
		if (!stays || strcmp(all[i], stays))
			spare[n++] = all[i];
	spare[n] = NULL;
	if (report_rows__are_sampled(r))
		c.spare = of_samples;
	EACH_ROW (&c, i, shown(r->n, opt))
		report_query_columns(&c, ROW(&c, &r->rows[i]), r, opt);
	columns__more(&c, r->n - shown(r->n, opt), "query", "queries");
	return c.err;
}

static int print_groups(FILE *out, const struct report_options *opt)
{
	/* Other columns repeat these. */
	static const char *const of_threads[] = {REPORT_OFF, "wall", NULL};
	static const char *const of_others[] = {REPORT_SELF, NULL};
	_report_rows_ struct report_rows r = {};
	struct columns c = {.out = out, .width = opt->width, .keep_of_name = NAME_KEPT};
	int err = report_rows__groups(&r, opt);

	if (err || (opt->details && !r.n && !r.left_out))
		return err;
	if (opt->details)
		fputc('\n', out);
	if (opt->by == GROUP_BY_THREAD && r.off_ns)
		c.spare = of_threads;
	else if (report_rows__know_off_cpu(&r))
		c.spare = of_others;
	EACH_ROW (&c, i, shown(r.n, opt))
		report_group_columns(&c, ROW(&c, &r.rows[i]), &r, opt);
	columns__more(&c, r.n - shown(r.n, opt), "row", "rows");
	return c.err;
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
	return callers_text(out, &r, shown(r.n, opt));
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
	return items_text(out, &r, shown(r.n, opt), opt->width, names);
}

static int process_columns(struct columns *c, const struct trace_process *p,
			   const struct summary *s, const struct trace_texts *names,
			   const struct samples *sampled, const struct report_options *opt,
			   bool off_cpu)
{
	_free_ char *name = p ? compile_name(p) : NULL;
	_free_ struct summary_row *rows = NULL;
	uint64_t count = 0, cpu_ns = 0;
	char buf[FORMAT_MAX];
	size_t n = 0;
	int err = p ? name ? summary__rows(s, p->index, &rows, &n) : -ENOMEM : 0;

	for (size_t k = 0; k < n && !err; k++) {
		if (opt->query &&
		    !opt->query(opt->query_ctx, names->text(names->ctx, rows[k].label)))
			continue;
		count += rows[k].is_activity ? 0 : rows[k].count;
		cpu_ns += rows[k].self_cpu_ns;
	}
	if (p && sampled) {
		count = samples__process(sampled, p->index)[TRACE_SAMPLE_CPU].n;
		cpu_ns = samples__process(sampled, p->index)[TRACE_SAMPLE_CPU].value;
	}
	if (name)
		format_cut(name, NAME_MOST);
	NAME(c, NULL, "process", name, NULL);
	NUMBER(c, ID, NULL, "pid", p->pid, NULL);
	CELL(c, "exit", report_notes__exit(buf, p));
	NUMBER(c, COUNT, NULL, sampled ? "samples" : "executions", count, NULL);
	NUMBER(c, NS, NULL, report_title_cpu(sampled || off_cpu), cpu_ns, NULL);
	return err;
}

static int print_processes(FILE *out, const struct summary *s, const struct trace_texts *names,
			   const struct report_rows *r, const struct report_options *opt)
{
	const struct samples *sampled = report_rows__are_sampled(r) ? opt->samples : NULL;
	uint32_t n = summary__n_processes(s), n_shown = shown(n, opt);
	struct columns c = {.out = out};

	if (n < 2 || opt->totals_only)
		return 0;
	fputc('\n', out);
	EACH_ROW (&c, i, n_shown)
		c.err = c.err
				?: process_columns(&c, ROW(&c, summary__process_at(s, i)), s, names,
						   sampled, opt, report_rows__know_off_cpu(r));
	columns__more(&c, n - n_shown, "process", "processes");
	return c.err;
}

static int compare_tallies(const void *a, const void *b)
{
	const struct trace_tally *x = a, *y = b;

	return (x->label > y->label) - (x->label < y->label);
}

static int print_artifacts(FILE *out, const struct summary *s, const struct trace_texts *names)
{
	size_t n, n_sizes = 0, used = 0;
	const struct trace_tally *tallies = summary__tallies(s, &n);
	_free_ struct trace_tally *sizes = calloc(n + 1, sizeof(*sizes));
	struct columns c = {.out = out};

	if (!sizes)
		return -ENOMEM;
	/* Sum them up by name. */
	for (size_t i = 0; i < n; i++)
		if (tallies[i].kind == TRACE_KIND_ARTIFACT_SIZE)
			sizes[n_sizes++] = tallies[i];
	qsort(sizes, n_sizes, sizeof(*sizes), compare_tallies);
	for (size_t i = 0; i < n_sizes; i++) {
		if (used && sizes[used - 1].label == sizes[i].label)
			sizes[used - 1].sum += sizes[i].sum;
		else
			sizes[used++] = sizes[i];
	}
	if (!used)
		return 0;
	fputc('\n', out);
	EACH_ROW (&c, i, used) {
		NAME(&c, NULL, "artifact", names->text(names->ctx, sizes[i].label), NULL);
		NUMBER(&c, COUNT, NULL, "size", sizes[i].sum, NULL);
	}
	return c.err;
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

static void print_samples(FILE *out, const struct report_options *opt, const char *after)
{
	if (opt->samples && samples_text_head(out, samples__totals(opt->samples)))
		fputs(after, out);
}

static void print_notes(FILE *out, const struct summary *s, const struct report_rows *r,
			const struct trace_losses *losses, const struct report_options *opt)
{
	struct summary_counts counts;
	struct begun_note begun = {};
	char buf[FORMAT_MAX];

	fputc('\n', out);
	/* Two numbers, as in every output: an activity is no execution of a query. */
	if (!summary__counts(s, SUMMARY_ALL, &counts) && counts.queries + counts.activities) {
		fprintf(out, "in all: %s executions of queries, ",
			format_count(buf, counts.queries));
		if (counts.unsure)
			fprintf(out, "%s result%s that may be none, ",
				format_count(buf, counts.unsure), counts.unsure == 1 ? "" : "s");
		fprintf(out, "%s activities\n", format_count(buf, counts.activities));
	}
	if (opt->cost && cost_text_line(out, opt->cost, "; ")) {
		if (opt->costs)
			fprintf(out, "; the times above are %s",
				opt->raw && !opt->costs->subtracted ? "with it" : "without it");
		fputc('\n', out);
	}
	if (opt->cost)
		cost_text_beside(out, opt->cost, "");
	if (!report_rows__are_sampled(r))
		print_samples(out, opt, "");
	report_notes__unfinished(out, r->unwound, s);
	if (opt->details || !report_options__has_other_rows(opt))
		samples_text_marks(out, r);
	else if (report_rows__are_sampled(r))
		report_notes__sampled(out, s);
	if (opt->samples)
		samples_text_notes(out, samples__totals(opt->samples));
	if (r->clamped)
		fprintf(out, "too short to time, as their probes take longer: %s %s, shown as 0\n",
			format_count(buf, r->clamped), r->clamped == 1 ? "query" : "queries");
	report_notes__late(out, s);
	for (size_t i = 0; i < r->n; i++)
		if (r->rows[i].begun)
			begun_note__add(&begun, out, r->rows[i].name);
	begun_note__end(&begun, out);
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
		fputs("no compiler ran: if nothing failed, cargo found all up to date;\n"
		      "touch src/lib.rs, or cargo clean, make it compile again\n",
		      out);
	else if (asked == n)
		fprintf(out, "%" PRIu32 " version check%s, nothing compiled\n", n,
			n == 1 ? "" : "s");
	else
		fputs("no query was executed\n", out);
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
		err = print_table(out, &r, opt) ?: print_processes(out, s, names, &r, opt);
	err = err ?: report_notes__reuse(out, s, opt);
	err = err ?: print_artifacts(out, s, names);
	if (err)
		return err;
	print_notes(out, s, &r, losses, opt);
	return 0;
}
