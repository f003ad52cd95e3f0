// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/llvm_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "view/report_rows.h"
#include "view/table.h"
#include "view/wrap.h"

/* Minimum columns of a name; other columns are left out first. */
#define NAME_KEPT 36

/* Rows of functions above the passes of several. */
#define FUNCTIONS_SHOWN 10

/* What LLVM does for no function, on a few lines. */
#define RESTS_SHOWN 6

#define UNKNOWN "(unknown)"

static const char *const works[LLVM_WORKS] = {
	[LLVM_MACHINE_CODE] = "machine code",
	[LLVM_OPTIMISES] = "optimisation",
	[LLVM_ELSE] = "other",
};

static const enum llvm_work order[] = {LLVM_MACHINE_CODE, LLVM_OPTIMISES, LLVM_ELSE};

/* "200", or ">=12". */
static char *llvm_instances(char buf[FORMAT_MAX], const struct llvm_generic *generic)
{
	char count[FORMAT_MAX];

	snprintf(buf, FORMAT_MAX, "%s%s", generic->at_least ? ">=" : "",
		 format_count(count, generic->instances));
	return buf;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void print_works(FILE *out, const struct llvm_totals *t)
{
	const char *before = ": ";
	char buf[FORMAT_MAX];

	for (size_t i = 0; i < N_OF(order); i++) {
		const struct sample_sum *of = &t->of[order[i]];

		if (!of->n)
			continue;
		fprintf(out, "%s%s %% %s", before, format_percent(buf, of->value, t->all.value),
			works[order[i]]);
		before = ", ";
	}
}

/* So that the line fits. */
static double percent_of(const struct sample_sum *part, const struct sample_sum *all)
{
	return 100 * (double)part->value / (double)all->value;
}

void llvm_print_line(FILE *out, const char *lead, const struct llvm_rows *rows)
{
	const struct llvm_totals *t = &rows->totals;
	const struct llvm_pass_row *first = rows->passes;
	_free_ char *name = NULL;
	char buf[FORMAT_MAX];

	if (!t->all.n)
		return;
	fprintf(out, "%s%s", lead, format_duration(buf, t->all.value));
	if (rows->unknown) {
		fputs(", of passes and functions that were not read\n", out);
		return;
	}
	fprintf(out, ": %.0f %% %s, %.0f %% %s", percent_of(&t->of[LLVM_MACHINE_CODE], &t->all),
		works[LLVM_MACHINE_CODE], percent_of(&t->of[LLVM_OPTIMISES], &t->all),
		works[LLVM_OPTIMISES]);
	if (rows->n_passes && first->name)
		name = format_clean(first->name);
	if (name)
		fprintf(out, "; first: %s %.0f %%", name, percent_of(&first->self, &t->all));
	fputc('\n', out);
}

static void print_unknown(FILE *out, enum llvm_unknown unknown)
{
	static const char *const why[] = {
		[LLVM_NO_SAMPLES] = "the CPU was not sampled: LLVM's passes are known by samples",
		[LLVM_NOT_RUN] = "no sample is in LLVM: it did not run, or too shortly",
		[LLVM_NOT_READ] =
			"LLVM's passes and functions were not read: the recording is of an older "
			"version, or\nLLVM is part of another library, or not as it is known to be",
	};

	fprintf(out, "%s\n", why[unknown]);
}

/* "for no function 14.0 ms, 9.1 %: debug information (DWARF) 8.00 ms, IPSCCP 6.00 ms" */
static int print_rests(FILE *out, const struct llvm_rows *rows, size_t width)
{
	const struct sample_sum *all = &rows->totals.no_function;
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	uint64_t more = all->value;
	size_t size;
	FILE *to;

	if (!all->n)
		return 0;
	to = open_memstream(&text, &size);
	if (!to)
		return -ENOMEM;
	fprintf(to, "for no function %s, %s %%", format_duration(buf, all->value),
		format_percent((char[FORMAT_MAX]){}, all->value, rows->totals.all.value));
	for (uint32_t i = 0; i < rows->n_rests && i < RESTS_SHOWN; i++) {
		const struct llvm_rest *rest = &rows->rests[i];
		_free_ char *name = format_clean(rest->name);

		fprintf(to, "%s %s %s", i ? "," : ":", name ?: "",
			format_duration(buf, rest->self.value));
		more -= rest->self.value;
	}
	if (more)
		fprintf(to, ", other %s", format_duration(buf, more));
	if (fclose(to))
		return -ENOMEM;
	wrap_print(out, text, 0, width, 2);
	return 0;
}

static void print_no_pass(FILE *out, const struct llvm_rows *rows)
{
	uint64_t all = rows->totals.all.value, ns = all;
	char time[FORMAT_MAX], share[FORMAT_MAX];

	for (uint32_t i = 0; i < rows->n_passes; i++)
		ns -= rows->passes[i].self.value;
	if (ns)
		fprintf(out, "in no pass %s, %s %%\n", format_duration(time, ns),
			format_percent(share, ns, all));
}

static void print_head(FILE *out, const struct llvm_rows *rows)
{
	char buf[FORMAT_MAX];

	fprintf(out, "LLVM %s", format_duration(buf, rows->totals.all.value));
	print_works(out, &rows->totals);
	fputs("\n\n", out);
}

static void print_more(FILE *out, size_t n, const char *what)
{
	if (n)
		fprintf(out, "  and %zu more %s%s\n", n, what,
			n == 1				? ""
			: what[strlen(what) - 1] == 's' ? "es"
							: "s");
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void add_times(struct table *t, const struct sample_sum *self, uint64_t all)
{
	char buf[FORMAT_MAX];

	table__cell(t, format_duration(buf, self->value));
	table__cell(t, format_duration(buf, sample_sum__error(self)));
	table__cell(t, format_percent(buf, self->value, all));
}

/* Of chosen functions, shares are of their own time. */
static const char *share_title(const struct report_options *opt)
{
	return opt->llvm_by == REPORT_LLVM_FUNCTION ? "self %" : "LLVM %";
}

static bool is_shown(const struct report_options *opt, const struct sample_sum *self, uint64_t all)
{
	return self->value >= opt->min_ns &&
	       (long double)self->value * 1000000 >= (long double)all * opt->min_ppm;
}

static size_t most(const struct report_options *opt, size_t n)
{
	return opt->top && opt->top < n ? opt->top : n;
}

static int print_passes(FILE *out, const struct llvm_rows *rows, uint64_t all,
			const struct report_options *opt)
{
	const struct table_column columns[] = {
		{"self", 0}, {"+-", 0}, {share_title(opt), 0}, {"for", 0}, {"LLVM's pass", 0}};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	size_t n = 0;
	int err;

	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	for (uint32_t i = 0; i < rows->n_passes; i++) {
		const struct llvm_pass_row *pass = &rows->passes[i];

		if (!is_shown(opt, &pass->self, all) || n++ >= most(opt, rows->n_passes))
			continue;
		add_times(t, &pass->self, all);
		table__cell(t, pass->codegen ? works[LLVM_MACHINE_CODE]
			       : pass->name  ? works[LLVM_OPTIMISES]
					     : "");
		table__cell(t, pass->name ?: UNKNOWN);
	}
	err = table__print_within(t, out, opt->width, "report --wide");
	if (!err)
		print_more(out, n - table__rows(t), "pass");
	return err;
}

/* "app 200 ms, dep 6.00 ms, and 3 more" */
static int add_crates(struct table *t, const struct llvm_generic *generic)
{
	uint32_t n = generic->n_crates < LLVM_PARTS ? generic->n_crates : LLVM_PARTS;
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		fprintf(to, "%s%s", i ? ", " : "", generic->crates[i].crate ?: UNKNOWN);
		if (generic->n_crates > 1)
			fprintf(to, " %s", format_duration(buf, generic->crates[i].self.value));
	}
	if (generic->n_crates > n)
		fprintf(to, ", and %" PRIu32 " more", generic->n_crates - n);
	if (fclose(to))
		return -ENOMEM;
	table__cell(t, text);
	return 0;
}

/* Of a single crate, all are used in it. */
static bool has_several_crates(const struct llvm_rows *rows)
{
	const char *first = rows->n_generics ? rows->generics[0].crates[0].crate : NULL;

	for (uint32_t i = 0; i < rows->n_generics; i++) {
		const struct llvm_generic *generic = &rows->generics[i];

		if (generic->n_crates > 1 ||
		    strcmp(generic->crates[0].crate ?: UNKNOWN, first ?: UNKNOWN) != 0)
			return true;
	}
	return false;
}

static int add_generic(struct table *t, const struct llvm_generic *generic, uint64_t all,
		       bool crates)
{
	char buf[FORMAT_MAX];

	add_times(t, &generic->self, all);
	table__cell(t, llvm_instances(buf, generic));
	table__cell(t, generic->crate ?: "-");
	if (crates && add_crates(t, generic))
		return -ENOMEM;
	table__cell(t, generic->path);
	return 0;
}

static int print_generics(FILE *out, const struct llvm_rows *rows, uint64_t all,
			  const struct report_options *opt)
{
	bool crates = has_several_crates(rows);
	struct table_column columns[] = {{"self", 0},	   {"+-", 0},	      {share_title(opt), 0},
					 {"instances", 0}, {"defined in", 0}, {"used in", 0},
					 {"function", 0}};
	_table_ struct table *t = NULL;
	size_t n = 0;
	int err = 0;

	if (!crates)
		columns[5] = columns[6];
	t = table__new(columns, N_OF(columns) - !crates);
	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	table__cut_beginnings(t);
	table__spare(t, "+-");
	table__spare(t, share_title(opt));
	for (uint32_t i = 0; i < rows->n_generics && !err; i++) {
		const struct llvm_generic *generic = &rows->generics[i];

		if (is_shown(opt, &generic->self, all) && n++ < most(opt, rows->n_generics))
			err = add_generic(t, generic, all, crates);
	}
	err = err ?: table__print_within(t, out, opt->width, "report --wide");
	if (!err)
		print_more(out, n - table__rows(t), "function");
	return err;
}

/* Instances by themselves, if there are several. */
static int print_functions(FILE *out, const struct llvm_rows *rows, uint64_t all,
			   const struct report_options *opt)
{
	const struct table_column columns[] = {
		{"self", 0}, {"+-", 0}, {share_title(opt), 0}, {"defined in", 0}, {"function", 0}};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	size_t n = most(opt, rows->n_functions);
	int err;

	if (!opt->top && n > FUNCTIONS_SHOWN)
		n = FUNCTIONS_SHOWN;
	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	table__cut_beginnings(t);
	for (uint32_t i = 0; i < n; i++) {
		add_times(t, &rows->functions[i].self, all);
		table__cell(t, rows->functions[i].crate ?: "-");
		table__cell(t, rows->functions[i].path);
	}
	err = table__print_within(t, out, opt->width, "report --wide");
	if (!err) {
		print_more(out, rows->n_functions - n, "function");
		fputc('\n', out);
	}
	return err;
}

/* The passes of functions that are asked for, as shares of these. */
static int print_chosen(FILE *out, const struct llvm_rows *rows, const struct report_options *opt)
{
	struct sample_sum sum = {};
	char time[FORMAT_MAX], share[FORMAT_MAX], n[FORMAT_MAX];
	int err = 0;

	for (uint32_t i = 0; i < rows->n_functions; i++)
		sample_sum__add(&sum, &rows->functions[i].self);
	if (!sum.n) {
		fputs("no sample of LLVM is in a function of that name\n", out);
		return 0;
	}
	fprintf(out, "%s of LLVM's time, %s %%, in %s function%s\n\n",
		format_duration(time, sum.value),
		format_percent(share, sum.value, rows->totals.all.value),
		format_count(n, rows->n_functions), rows->n_functions == 1 ? "" : "s");
	if (rows->n_functions > rows->n_generics || rows->n_functions == 1) {
		err = print_generics(out, rows, sum.value, opt);
		fputc('\n', out);
	}
	if (!err && rows->n_functions > 1)
		err = print_functions(out, rows, sum.value, opt);
	return err ?: print_passes(out, rows, sum.value, opt);
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int passes_by_name(const void *a, const void *b)
{
	const struct llvm_pass_row *x = a, *y = b;

	return strcmp(x->name ?: "", y->name ?: "");
}

static int generics_by_name(const void *a, const void *b)
{
	const struct llvm_generic *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int generics_by_instances(const void *a, const void *b)
{
	const struct llvm_generic *x = a, *y = b;
	uint64_t nx = x->instances, ny = y->instances;

	return (nx < ny) - (nx > ny)
		       ?: (x->self.value < y->self.value) - (x->self.value > y->self.value)
		       ?: strcmp(x->path, y->path);
}

/* They come with the largest time first. */
static void sort(struct llvm_rows *rows, enum report_sort by)
{
	if (by == REPORT_SORT_NAME && rows->n_passes)
		qsort(rows->passes, rows->n_passes, sizeof(*rows->passes), passes_by_name);
	if ((by == REPORT_SORT_NAME || by == REPORT_SORT_INSTANCES) && rows->n_generics)
		qsort(rows->generics, rows->n_generics, sizeof(*rows->generics),
		      by == REPORT_SORT_NAME ? generics_by_name : generics_by_instances);
}

int llvm_text(FILE *out, const struct report_options *opt)
{
	_llvm_rows_ struct llvm_rows rows = {};
	int err = llvm__rows(opt->llvm, opt->llvm_wants, opt->llvm_ctx, &rows);
	uint64_t all = rows.totals.all.value;

	if (err)
		return err;
	if (rows.unknown) {
		print_unknown(out, rows.unknown);
		return 0;
	}
	sort(&rows, opt->sort);
	if (opt->llvm_by == REPORT_LLVM_FUNCTION)
		return print_chosen(out, &rows, opt);
	print_head(out, &rows);
	if (opt->llvm_by == REPORT_LLVM_PASS) {
		err = print_passes(out, &rows, all, opt);
		print_no_pass(out, &rows);
		return err;
	}
	return print_generics(out, &rows, all, opt) ?: print_rests(out, &rows, opt->width);
}
