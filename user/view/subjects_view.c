// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/subjects_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "view/report_rows.h"
#include "view/table.h"

/* Minimum columns of a name; other columns are left out first. */
#define NAME_KEPT 25

/* The name of a row whose activities have an unknown subject. */
#define NO_NAME "(unknown)"

static const char *const phase_names[SUBJECT_PHASES] = {
	[SUBJECT_CODEGEN] = "codegen", [SUBJECT_OPTIMIZE] = "optimize", [SUBJECT_LTO] = "lto",
	[SUBJECT_EMIT] = "emit",       [SUBJECT_COPY] = "copy",
};

struct rows {
	struct subject_row *at;
	size_t n_all; /* owned */
	size_t n;     /* chosen: the first ones */
	uint64_t total_ns;
	uint64_t cpu_ns;
};

static const char *name_of(const struct subject_row *row)
{
	return row->name ?: NO_NAME;
}

static uint64_t key_of(const struct subject_row *row, enum report_sort sort)
{
	switch (sort) {
	case REPORT_SORT_COUNT:
		return row->count;
	case REPORT_SORT_MAX:
		return row->max_ns;
	case REPORT_SORT_OFF:
		return row->total_ns - row->cpu_ns;
	case REPORT_SORT_SELF:
	case REPORT_SORT_TOTAL:
		return row->total_ns;
	default:
		return row->cpu_ns;
	}
}

static int compare(const void *a, const void *b, void *opt_p)
{
	const struct report_options *opt = opt_p;
	const struct subject_row *x = a, *y = b;
	uint64_t kx = key_of(x, opt->sort), ky = key_of(y, opt->sort);
	int names = strcmp(name_of(x), name_of(y));

	if (opt->sort == REPORT_SORT_NAME || kx == ky)
		return names ?: (x->pid > y->pid) - (x->pid < y->pid);
	return (kx < ky) - (kx > ky);
}

static bool is_wanted(const struct rows *r, const struct subject_row *row,
		      const struct report_options *opt)
{
	return row->cpu_ns >= opt->min_ns &&
	       (long double)row->cpu_ns * 1000000 >= (long double)r->cpu_ns * opt->min_ppm;
}

static void swap(struct subject_row *a, struct subject_row *b)
{
	struct subject_row old = *a;

	*a = *b;
	*b = old;
}

static int choose(struct rows *r, const struct report_options *opt)
{
	int err = subjects__rows(opt->subjects, &r->at, &r->n_all);

	if (err)
		return err;
	for (size_t i = 0; i < r->n_all; i++) {
		r->total_ns += r->at[i].total_ns;
		r->cpu_ns += r->at[i].cpu_ns;
	}
	for (size_t i = 0; i < r->n_all; i++)
		if (is_wanted(r, &r->at[i], opt))
			swap(&r->at[r->n++], &r->at[i]);
	qsort_r(r->at, r->n, sizeof(*r->at), compare, (void *)opt);
	return 0;
}

static void clear(struct rows *r)
{
	subject_rows__free(r->at, r->n_all);
}

static bool knows_off_cpu(const struct rows *r)
{
	return r->cpu_ns != r->total_ns;
}

/* "serde 41.2 ms, regex 12.0 ms, and 3 more" */
static int add_crates(struct table *t, const struct subject_row *row)
{
	uint32_t n = row->n_crates < SUBJECT_PARTS ? row->n_crates : SUBJECT_PARTS;
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const char *crate = row->crates[i].crate;

		fprintf(to, "%s%s %s", i ? ", " : "", crate && *crate ? crate : NO_NAME,
			format_duration(buf, row->crates[i].total_ns));
	}
	if (row->n_crates > n)
		fprintf(to, ", and %" PRIu32 " more", row->n_crates - n);
	if (fclose(to))
		return -ENOMEM;
	table__cell(t, text);
	return 0;
}

static int add_macro(struct table *t, const struct rows *r, const struct subject_row *row)
{
	char buf[FORMAT_MAX];

	table__cell(t, format_duration(buf, row->cpu_ns));
	table__cell(t, format_percent(buf, row->cpu_ns, r->cpu_ns));
	if (knows_off_cpu(r))
		table__cell(t, format_duration(buf, row->total_ns - row->cpu_ns));
	table__cell(t, format_count(buf, row->count));
	table__cell(t, format_duration(buf, row->max_ns));
	if (add_crates(t, row))
		return -ENOMEM;
	table__cell(t, name_of(row));
	return 0;
}

static int add_unit(struct table *t, const struct rows *r, const struct subject_row *row)
{
	const char *crate = row->n_crates ? row->crates[0].crate : NULL;
	char buf[FORMAT_MAX];

	table__cell(t, format_duration(buf, row->cpu_ns));
	table__cell(t, format_percent(buf, row->cpu_ns, r->cpu_ns));
	if (knows_off_cpu(r))
		table__cell(t, format_duration(buf, row->total_ns - row->cpu_ns));
	for (int i = 0; i < SUBJECT_COPY; i++)
		table__cell(t, row->phase_ns[i] ? format_duration(buf, row->phase_ns[i]) : "");
	if (row->size)
		table__cell(t, format_count(buf, row->size));
	else
		table__cell(t, "");
	table__cellf(t, "%s%s%" PRIu32, row->thread ?: "", row->thread ? ", " : "", row->tid);
	table__cell(t, crate ?: "");
	table__cell(t, name_of(row));
	return 0;
}

static bool has_lto(const struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].phase_ns[SUBJECT_LTO])
			return true;
	return false;
}

#define COLUMNS_MAX 11

static const char *const macro_titles[] = {"expansions", "max", "of this", "macro"};
static const char *const unit_titles[] = {
	"codegen", "optimize", "lto", "emit", "size", "thread", "crate", "codegen unit",
};

/* `columns` must outlive the table. */
static struct table *new_table(enum subjects_of of, const struct rows *r,
			       struct table_column columns[COLUMNS_MAX])
{
	bool macros = of == SUBJECTS_MACROS, off_cpu = knows_off_cpu(r);
	const char *const *titles = macros ? macro_titles : unit_titles;
	size_t n_titles = macros ? N_OF(macro_titles) : N_OF(unit_titles), n = 0;
	const char *share = off_cpu ? report_title_share(true) : "total %";
	struct table *t;

	columns[n++] = (struct table_column){off_cpu ? report_title_cpu(true) : "total", 0};
	columns[n++] = (struct table_column){share, 0};
	if (off_cpu)
		columns[n++] = (struct table_column){REPORT_OFF, 0};
	for (size_t i = 0; i < n_titles; i++)
		columns[n++] = (struct table_column){titles[i], 0};
	t = table__new(columns, n);
	table__name_last(t);
	table__keep_of_name(t, NAME_KEPT);
	if (of == SUBJECTS_MACROS) {
		table__spare(t, "of this");
		table__spare(t, "max");
		return t;
	}
	/* Names of units mostly do not tell their crate, so that stays. */
	if (!has_lto(r))
		table__spare(t, "lto");
	table__spare(t, "size");
	table__spare(t, "thread");
	table__spare(t, share);
	table__spare(t, "codegen");
	return t;
}

static void print_more(FILE *out, size_t n, bool macros)
{
	const char *what = macros ? "macro" : "codegen unit";

	if (n)
		fprintf(out, "  and %zu more %s%s\n", n, what, n == 1 ? "" : "s");
}

/* Why all rows are called NO_NAME. */
static void print_why_nameless(FILE *out, const struct rows *r)
{
	for (size_t i = 0; i < r->n_all; i++)
		if (r->at[i].name)
			return;
	fputs("  " NO_NAME ": recorded with --no-keys, by an older version, or of a compiler "
	      "whose arguments\n  could not be read\n",
	      out);
}

int subjects_text(FILE *out, const struct report_options *opt)
{
	bool macros = subjects__of(opt->subjects) == SUBJECTS_MACROS;
	struct table_column columns[COLUMNS_MAX];
	__cleanup(clear) struct rows r = {};
	_table_ struct table *t = NULL;
	int err = choose(&r, opt);
	size_t shown = opt->top && opt->top < r.n ? opt->top : r.n;

	if (err)
		return err;
	if (!r.n_all) {
		fputs(macros ? "no expansion of a procedural macro was recorded\n"
			     : "no work on a codegen unit was recorded\n",
		      out);
		return 0;
	}
	t = new_table(subjects__of(opt->subjects), &r, columns);
	for (size_t i = 0; i < shown && !err; i++)
		err = macros ? add_macro(t, &r, &r.at[i]) : add_unit(t, &r, &r.at[i]);
	if (!err)
		err = table__print_within(t, out, opt->width, "report --wide");
	if (!err) {
		print_more(out, r.n - shown, macros);
		print_why_nameless(out, &r);
	}
	return err;
}

static void put_crates(struct json *j, const struct subject_row *row)
{
	json__array(j, "crates");
	for (uint32_t i = 0; i < row->n_crates && i < SUBJECT_PARTS; i++) {
		const char *crate = row->crates[i].crate;

		json__item(j, i);
		json__text(j, "name", crate && *crate ? crate : NULL);
		json__number(j, "total_ns", row->crates[i].total_ns);
		json__put(j);
	}
	json__print(j, "]");
}

static void put_macro(struct json *j, const struct subject_row *row)
{
	json__text(j, "name", row->name);
	json__number(j, "total_ns", row->total_ns);
	json__number(j, "cpu_ns", row->cpu_ns);
	json__number(j, "max_ns", row->max_ns);
	json__number(j, "expansions", row->count);
	json__number(j, "crate_count", row->n_crates);
	json__put_open(j);
	put_crates(j, row);
	json__print(j, "}");
}

static void put_unit(struct json *j, const struct subject_row *row)
{
	char key[32];

	json__text(j, "name", row->name);
	json__text(j, "crate", row->n_crates ? row->crates[0].crate : NULL);
	json__number(j, "pid", row->pid);
	json__number(j, "tid", row->tid);
	json__text(j, "thread", row->thread);
	json__number(j, "total_ns", row->total_ns);
	json__number(j, "cpu_ns", row->cpu_ns);
	for (int i = 0; i < SUBJECT_PHASES; i++) {
		snprintf(key, sizeof(key), "%s_ns", phase_names[i]);
		json__number(j, key, row->phase_ns[i]);
	}
	json__known(j, "size", row->size, row->size);
	json__put(j);
}

void subjects_json(struct json *j, const struct report_options *opt)
{
	bool macros = subjects__of(opt->subjects) == SUBJECTS_MACROS;
	__cleanup(clear) struct rows r = {};

	j->err = j->err ?: choose(&r, opt);
	json__array(j, macros ? "macros" : "units");
	for (size_t i = 0; i < r.n && !j->err; i++) {
		json__line(j, i);
		(macros ? put_macro : put_unit)(j, &r.at[i]);
	}
	json__print(j, "]");
}

/* ---- Callers --------------------------------------------------------------------------------- */

/* The function, and the line with most of its requests. */
static void add_name(struct table *t, const struct report_row *row)
{
	const struct caller_row *c = row->caller;
	const char *mark = row->unwound ? " " CALLERS_TEXT_MARK : "";

	if (!c->file)
		table__cellf(t, "%s%s", row->name, mark);
	else if (c->lines == 1)
		table__cellf(t, "%s at %s:%" PRIu32 "%s", row->name, c->file, c->line, mark);
	else
		table__cellf(t, "%s at %s:%" PRIu32 " and %" PRIu32 " other line%s%s", row->name,
			     c->file, c->line, c->lines - 1, c->lines == 2 ? "" : "s", mark);
}

int callers_text(FILE *out, const struct report_rows *r, size_t n)
{
	bool off_cpu = report_rows__know_off_cpu(r);
	const struct table_column columns[] = {
		{"executions", 0},
		{"total", 0},
		{report_title_cpu(off_cpu), 0},
		{report_title_share(off_cpu), 0},
		{"max", 0},
		{"caller", 0},
	};
	_table_ struct table *t = table__new(columns, N_OF(columns));
	char buf[FORMAT_MAX];

	/* Names of generic functions can be very long. */
	table__name_last(t);
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->rows[i];

		table__cell(t, format_count(buf, row->count));
		table__cell(t, format_duration(buf, row->total_ns));
		table__cellf(t, "%s%s", report_self_mark(row->self_by),
			     format_duration(buf, row->cpu_ns));
		table__cell(t, format_percent(buf, row->cpu_ns, r->cpu_ns));
		table__cell(t, format_duration(buf, row->max_ns));
		add_name(t, row);
	}
	return table__print(t, out, "");
}
