// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/subjects_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "view/report_rows.h"
#include "view/report_columns.h"

/* Minimum columns of a name; other columns are left out first. */
#define NAME_KEPT 25

/* The name of a row whose activities have an unknown subject. */
#define NO_NAME "(unknown)"

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

static int choose(struct rows *r, const struct report_options *opt)
{
	int err = subjects__rows(opt->subjects, &r->at, &r->n_all);

	if (err)
		return err;
	for (size_t i = 0; i < r->n_all; i++) {
		r->total_ns += r->at[i].total_ns;
		r->cpu_ns += r->at[i].cpu_ns;
	}
	for (size_t i = 0; i < r->n_all; i++) {
		struct subject_row row = r->at[i];

		if (row.cpu_ns < opt->min_ns ||
		    (long double)row.cpu_ns * 1000000 < (long double)r->cpu_ns * opt->min_ppm)
			continue;
		r->at[i] = r->at[r->n];
		r->at[r->n++] = row;
	}
	qsort_r(r->at, r->n, sizeof(*r->at), compare, (void *)opt);
	return 0;
}

static void clear(struct rows *r)
{
	subject_rows__free(r->at, r->n_all);
}

/* "serde 41.2 ms, regex 12.0 ms, and 3 more"; NULL: no memory. */
static char *crates_text(const struct subject_row *row)
{
	uint32_t n = row->n_crates < SUBJECT_PARTS ? row->n_crates : SUBJECT_PARTS;
	_free_ char *text = NULL;
	char buf[FORMAT_MAX];
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const char *crate = row->crates[i].crate;

		fprintf(to, "%s%s %s", i ? ", " : "", crate && *crate ? crate : NO_NAME,
			format_duration(buf, row->crates[i].total_ns));
	}
	if (row->n_crates > n)
		fprintf(to, ", and %" PRIu32 " more", row->n_crates - n);
	return fclose(to) ? NULL : take_ptr(text);
}

/* The times of both, and what of it was on the CPU. */
static void time_columns(struct columns *c, const struct subject_row *row, const struct rows *r,
			 const char *help)
{
	bool off_cpu = r->cpu_ns != r->total_ns;

	NUMBER(c, NS, "total_ns", NULL, row->total_ns, help);
	NUMBER(c, NS, "cpu_ns", off_cpu ? report_title_cpu(true) : "total", row->cpu_ns,
	       "its part on the CPU");
	PERCENT(c, off_cpu ? report_title_share(true) : "total %", row->cpu_ns, r->cpu_ns);
	NUMBER(c, NS, NULL, off_cpu ? REPORT_OFF : NULL, row->total_ns - row->cpu_ns, NULL);
}

static void macro_columns(struct columns *c, const struct subject_row *row, const struct rows *r)
{
	TEXT(c, "name", NULL, row->name, "as it is written; null: unknown");
	time_columns(c, row, r, "of all expansions");
	NUMBER(c, COUNT, "expansions", "expansions", row->count, "calls of the macro");
	NUMBER(c, NS, "max_ns", "max", row->max_ns, "the longest expansion");
	NUMBER(c, COUNT, "crate_count", NULL, row->n_crates, "crates that call it");
	OWNED(c, NULL, "of this", crates_text(row), NULL);
	NAME(c, NULL, "macro", name_of(row), NULL);
	if (!LIST(c, "crates", true, "the three that spent most"))
		return;
	EACH_ROW (c, i, row->n_crates < SUBJECT_PARTS ? row->n_crates : SUBJECT_PARTS) {
		const struct subject_part *part = ROW(c, &row->crates[i]);

		TEXT(c, "name", NULL, part->crate && *part->crate ? part->crate : NULL,
		     "crate; null: unknown");
		NUMBER(c, NS, "total_ns", NULL, part->total_ns, "of its expansions");
	}
}

/* In tables nothing stands for no time. */
static void phase_column(struct columns *c, const struct subject_row *row, enum subject_phase phase,
			 const char *key, const char *title, const char *help)
{
	char buf[FORMAT_MAX];

	NUMBER(c, NS, key, NULL, row->phase_ns[phase], help);
	CELL(c, title, row->phase_ns[phase] ? format_duration(buf, row->phase_ns[phase]) : "");
}

static void unit_columns(struct columns *c, const struct subject_row *row, const struct rows *r)
{
	const char *crate = row && row->n_crates ? row->crates[0].crate : NULL;
	const char *thread = row ? row->thread : NULL;
	char buf[FORMAT_MAX];

	TEXT(c, "name", NULL, row->name, "rustc's name of the codegen unit; null: unknown");
	TEXT(c, "crate", NULL, crate, "null: unknown");
	NUMBER(c, ID, "pid", NULL, row->pid, "process");
	NUMBER(c, ID, "tid", NULL, row->tid, "the thread that spent most time on it");
	TEXT(c, "thread", NULL, thread, "its name; null: none");
	time_columns(c, row, r, "all steps");
	phase_column(c, row, SUBJECT_CODEGEN, "codegen_ns", "codegen", "rustc makes LLVM's code");
	phase_column(c, row, SUBJECT_OPTIMIZE, "optimize_ns", "optimize", "optimization");
	phase_column(c, row, SUBJECT_LTO, "lto_ns", "lto", "link-time optimization");
	phase_column(c, row, SUBJECT_EMIT, "emit_ns", "emit", "machine code and bitcode");
	phase_column(c, row, SUBJECT_COPY, "copy_ns", NULL, "taken from the last build");
	KNOWN(c, COUNT, "size", NULL, row->size, row->size, "rustc's estimate; null: unknown");
	CELL(c, "size", row->size ? format_count(buf, row->size) : "");
	FORMAT(c, "thread", "%s%s%" PRIu32, thread ?: "", thread ? ", " : "", row->tid);
	TEXT(c, NULL, "crate", crate ?: "", NULL);
	NAME(c, NULL, "codegen unit", name_of(row), NULL);
}

int subjects_text(FILE *out, const struct report_options *opt)
{
	static const char *const of_macros[] = {"of this", "max", NULL};
	/* Names of units mostly do not tell their crate, so that stays. */
	static const char *const of_units[] = {"lto",	  "size",    "thread", "cpu %",
					       "total %", "codegen", NULL};
	bool macros = subjects__of(opt->subjects) == SUBJECTS_MACROS;
	__cleanup(clear) struct rows r = {};
	int err = choose(&r, opt);
	size_t shown = opt->top && opt->top < r.n ? opt->top : r.n;
	bool has_lto = false, any_name = false;
	struct columns c = {
		.out = out,
		.width = opt->width,
		.name_last = true,
		.keep_of_name = NAME_KEPT,
	};

	if (err)
		return err;
	if (!r.n_all) {
		fputs(macros ? "no expansion of a procedural macro was recorded\n"
			     : "no work on a codegen unit was recorded\n",
		      out);
		return 0;
	}
	for (size_t i = 0; i < r.n; i++)
		has_lto |= r.at[i].phase_ns[SUBJECT_LTO] != 0;
	for (size_t i = 0; i < r.n_all; i++)
		any_name |= r.at[i].name != NULL;
	c.spare = macros ? of_macros : of_units + has_lto;
	EACH_ROW (&c, i, shown)
		(macros ? macro_columns : unit_columns)(&c, ROW(&c, &r.at[i]), &r);
	if (c.err)
		return c.err;
	columns__more(&c, r.n - shown, macros ? "macro" : "codegen unit",
		      macros ? "macros" : "codegen units");
	if (!any_name)
		fputs("  " NO_NAME ": recorded with --no-keys, by an older version, or of a "
		      "compiler whose arguments\n  could not be read\n",
		      out);
	return 0;
}

void subjects_columns(struct columns *c, enum subjects_of of, const struct report_options *opt)
{
	bool macros = of == SUBJECTS_MACROS;
	bool there = opt->subjects && subjects__of(opt->subjects) == of;
	__cleanup(clear) struct rows r = {};

	if (!LIST(c, macros ? "macros" : "units", there,
		  macros ? "with --by macro" : "with --by cgu: codegen units"))
		return;
	c->err = c->err ?: c->describes ? 0 : choose(&r, opt);
	EACH_ROW (c, i, r.n)
		(macros ? macro_columns : unit_columns)(c, ROW(c, &r.at[i]), &r);
}

/* ---- Callers --------------------------------------------------------------------------------- */

int callers_text(FILE *out, const struct report_rows *r, size_t n)
{
	/* Names of generic functions can be very long. */
	struct columns c = {.out = out, .name_last = true};

	EACH_ROW (&c, i, n)
		report_caller_columns(&c, ROW(&c, &r->rows[i]), r);
	columns__more(&c, r->n - n, "caller", "callers");
	return c.err;
}
