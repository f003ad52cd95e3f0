// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/trend_view.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/change_points.h"
#include "base/array.h"
#include "view/history_cells.h"
#include "view/sparkline.h"
#include "view/columns.h"

#define SHORT	     40 /* points that are lines in any case */
#define AROUND	     2	/* lines before and after a change */
#define NEWEST	     10
#define NOISE_SHOWN  0.10 /* the height of a sparkline, at least; a ratio */
#define EXACT_SHOWN  0.01
#define NAME_KEPT    8
#define DAY_LENGTH   10 /* of a date */
#define MOST_SURE    0.9999
#define SPARK_NO_END 120 /* columns, where lines have no limit */

static const char *const metric_titles[TREND_METRICS] = {
	[TREND_CPU] = "CPU time",    [TREND_WALL] = "Wall time",     [TREND_COUNT] = "Executions",
	[TREND_RESULTS] = "Results", [TREND_MEMORY] = "Peak memory",
};

/* "It takes 3 % more CPU time". */
static const struct {
	const char *verb;
	const char *noun;
} metric_words[TREND_METRICS] = {
	[TREND_CPU] = {"takes", "CPU time"},   [TREND_WALL] = {"takes", "time"},
	[TREND_COUNT] = {"has", "executions"}, [TREND_RESULTS] = {"has", "results"},
	[TREND_MEMORY] = {"needs", "memory"},
};

static void print_name(FILE *out, const char *before, const char *name, const char *after)
{
	_free_ char *clean = name ? format_clean(name) : NULL;

	if (name)
		fprintf(out, "%s%s%s", before, clean ?: "?", after);
}

/* "CPU time of syn: 60 builds, 2026-09-28 to 2026-11-26". */
static void say_title(FILE *out, const struct trend *t)
{
	const struct history_series *of = &t->question.of;
	char from[HISTORY_CELL_MAX], to[HISTORY_CELL_MAX];

	fprintf(out, "%s of ", metric_titles[t->question.metric]);
	print_name(out, "", of->query, of->crate ? " in " : "");
	print_name(out, "", of->item, of->crate ? " in " : "");
	print_name(out, "", of->llvm, of->crate ? " in LLVM in " : " in LLVM");
	print_name(out, "", of->crate, "");
	if (!history_series__is_of_part(of) && !of->crate)
		fputs("the build", out);
	print_name(out, " on ", t->question.filter.branch, "");
	fprintf(out, ": %zu build%s", t->n, t->n == 1 ? "" : "s");
	if (!t->n)
		return;
	history_date(from, t->points[0].build->start_ns);
	history_date(to, t->points[t->n - 1].build->start_ns);
	if (strncmp(from, to, DAY_LENGTH) != 0)
		fprintf(out, ", %.*s to %.*s", DAY_LENGTH, from, DAY_LENGTH, to);
	else
		fprintf(out, ", %.*s", DAY_LENGTH, from);
}

static bool is_counted(const struct trend_point *p)
{
	return p->reason == TREND_COUNTED && p->value != HISTORY_UNKNOWN;
}

static int print_sparkline(FILE *out, const struct trend *t, const struct trend_look *look)
{
	_free_ double *values = calloc(t->n ?: 1, sizeof(*values));
	struct sparkline s = {
		.values = values,
		.n = t->n,
		.columns = look->width ?: SPARK_NO_END,
		.least = t->exact ? EXACT_SHOWN : NOISE_SHOWN,
		.blocks = look->blocks,
	};
	size_t used = 0;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		values[i] = is_counted(&t->points[i]) ? (double)t->points[i].value : -1;
	if (sparkline_print(out, &s))
		return -ENOMEM;
	fputc('\n', out);
	/* A ^ below each change, as far as columns are apart. */
	for (size_t i = 0; i < t->n_changes; i++) {
		size_t column = sparkline_column(&s, t->changes[i].point);

		if (i && column < used)
			continue;
		fprintf(out, "%*s^", (int)(column - used), "");
		used = column + 1;
	}
	if (t->n_changes)
		fputc('\n', out);
	return 0;
}

/* The change that a point begins; NULL: none. */
static const struct trend_change *change_at(const struct trend *t, size_t point)
{
	for (size_t i = 0; i < t->n_changes; i++)
		if (t->changes[i].point == point)
			return &t->changes[i];
	return NULL;
}

/* Whether a point has a line of its own: not within a long stretch without a change. */
static bool has_line(const struct trend *t, const struct trend_look *look, size_t point)
{
	if (look->full || t->n <= SHORT || !point || point + NEWEST >= t->n)
		return true;
	for (size_t i = 0; i < t->n_changes; i++)
		if (point + AROUND >= t->changes[i].point && point <= t->changes[i].point + AROUND)
			return true;
	return false;
}

/* The last counted point before this one that is comparable; `point` itself: none. */
static size_t before(const struct trend *t, size_t point)
{
	for (size_t i = point; i--;)
		if (is_counted(&t->points[i]) && t->points[i].group == t->points[point].group)
			return i;
	return point;
}

/* Against the one before; nothing if there is none. */
static const char *change_text(char buf[HISTORY_CELL_MAX], const struct trend *t, size_t point)
{
	size_t former = before(t, point);
	double old;

	if (former == point || !is_counted(&t->points[point]))
		return "";
	old = (double)t->points[former].value;
	if (!old && !t->points[point].value)
		return "+0.0 %";
	return history_change(buf, old ? (double)t->points[point].value / old - 1 : INFINITY);
}

/* "12 builds, 1.20 s to 1.30 s" */
static void put_stretch(struct columns *c, const struct trend *t, size_t from, size_t to)
{
	char low[HISTORY_CELL_MAX], high[HISTORY_CELL_MAX];
	uint64_t least = HISTORY_UNKNOWN, most = 0;
	bool same;

	for (size_t i = from; i < to; i++) {
		if (!is_counted(&t->points[i]))
			continue;
		least = least < t->points[i].value ? least : t->points[i].value;
		most = most > t->points[i].value ? most : t->points[i].value;
	}
	history_value(low, t->question.metric, least);
	history_value(high, t->question.metric, least > most ? least : most);
	same = !strcmp(low, high);
	columns__format(c, "%zu builds, %s%s%s", to - from, low, same ? "" : " to ",
			same ? "" : high);
}

static void put_branch(struct columns *c, const struct trend_point *p)
{
	const char *reason = trend_reason_name(p->reason);
	const char *label = p->build->label;

	columns__format(c, "%s%s%s%s%s%s", p->build->branch ?: "-", label ? "  " : "", label ?: "",
			reason ? "  (not counted: " : "", reason ?: "", reason ? ")" : "");
}

/* A line of the table: one point, or the points [from, to). */
struct line {
	size_t from, to;
};

static void line_columns(struct columns *c, const struct line *line, const struct trend *t)
{
	bool one = line && line->to == line->from + 1;
	const struct trend_point *p = one ? &t->points[line->from] : NULL;
	char buf[HISTORY_CELL_MAX];

	CELL(c, " ", one && change_at(t, line->from) ? ">" : "");
	CELL(c, trend_metric_name(t->question.metric),
	     one ? history_value(buf, t->question.metric, p->value) : "..");
	CELL(c, "change", one ? change_text(buf, t, line->from) : "");
	CELL(c, "date", one ? history_date(buf, p->build->start_ns) : "");
	CELL(c, "commit", one ? history_commit(buf, p->build) : "");
	COLUMN(c, TEXT, NULL, "branch", NULL,
	       one ? put_branch(c, p) : put_stretch(c, t, line->from, line->to));
}

static int print_points(FILE *out, const struct trend *t, const struct trend_look *look)
{
	static const char *const spare[] = {"date", "change", NULL};
	struct columns c = {.out = out,
			    .width = look->width,
			    .option = "--wide",
			    .name_last = true,
			    .keep_of_name = NAME_KEPT,
			    .spare = spare};
	_free_ struct line *lines = calloc(t->n + 1, sizeof(*lines));
	size_t n = 0;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0, to; i < t->n; i = to) {
		for (to = i; to < t->n && !has_line(t, look, to); to++)
			;
		to = to > i + 1 ? to : i + 1;
		lines[n++] = (struct line){i, to};
	}
	fputc('\n', out);
	EACH_ROW (&c, i, n)
		line_columns(&c, ROW(&c, &lines[i]), t);
	return c.err;
}

static void print_sentence(FILE *out, const char *text, size_t width)
{
	_free_ char *clean = format_clean(text);

	wrap_print(out, clean ?: "?", 0, width, 2);
}

static uint64_t rounded(double value)
{
	return value < 0 ? 0 : (uint64_t)(value + 0.5);
}

/*
 * "Since 77aa01bc12d0 of 2026-10-12 14:03 it takes 10.3 % more CPU time: 1.32 s, before 1.20
 * s; 99.2 % sure."
 */
static void say_change(FILE *out, const struct trend *t, const struct trend_change *c)
{
	const struct history_build *build = t->points[c->point].build;
	const struct history_build *old = t->points[c->former].build;
	enum trend_metric metric = t->question.metric;
	const char *noun = metric_words[metric].noun;
	char buf[HISTORY_CELL_MAX], change[HISTORY_CELL_MAX], from[HISTORY_CELL_MAX];

	fprintf(out, "Since %s", build->commit ? history_commit(buf, build) : "the build");
	fprintf(out, " of %s it %s ", history_date(buf, build->start_ns),
		metric_words[metric].verb);
	history_change(change, c->change);
	if (!isfinite(c->change))
		fprintf(out, "%s", noun);
	else if (change[0] == 'x')
		fprintf(out, "%s times the %s", change + 1, noun);
	else
		fprintf(out, "%s %s %s", change + 1, c->change < 0 ? "less" : "more", noun);
	fprintf(out, ": %s", history_value(buf, metric, rounded(c->after)));
	fprintf(out, ", before %s",
		isfinite(c->change) ? history_value(buf, metric, rounded(c->before)) : "none");
	if (t->exact)
		fputs("; exact.", out);
	else if (c->confidence > MOST_SURE)
		fputs("; over 99.99 % sure.", out);
	else
		fprintf(out, "; %.4g %% sure.", floor(c->confidence * 10000) / 100);

	/* Which commits may have made it, and what else is different. */
	if (c->toolchain)
		fprintf(out, " The compiler is another one there: %s, before %s.",
			history_toolchain(buf, build->toolchain),
			history_toolchain(from, old->toolchain));
	if (build->commit && old->commit && strcmp(build->commit, old->commit) != 0)
		fprintf(out, " The last build before is of %s.", history_commit(from, old));
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* The median difference between a build and the one before, as a ratio; negative: not known. */
static double noise_of(const struct trend *t)
{
	_free_ double *steps = calloc(t->n ?: 1, sizeof(*steps));
	size_t n = 0;

	for (size_t i = 0; steps && i < t->n; i++) {
		size_t former = before(t, i);

		if (is_counted(&t->points[i]) && former != i && t->points[former].value)
			steps[n++] = fabs(
				(double)t->points[i].value / (double)t->points[former].value - 1);
	}
	if (!n)
		return -1;
	qsort(steps, n, sizeof(*steps), compare);
	return steps[n / 2];
}

/* The counted builds of the group that has most: groups are judged apart. */
static size_t n_in_largest(const struct trend *t)
{
	_free_ size_t *n = calloc(t->n_groups + 1, sizeof(*n));
	size_t most = 0;

	for (size_t i = 0; n && i < t->n; i++) {
		const struct trend_point *p = &t->points[i];

		if (is_counted(p) && p->group <= t->n_groups && ++n[p->group] > most)
			most = n[p->group];
	}
	return most;
}

/* The metric without noise that some build has, or of queries may have; NULL: none. */
static const char *exact_metric(const struct trend *t)
{
	const struct history_series *of = &t->question.of;

	for (size_t i = 0; i < t->n; i++) {
		const struct history_build *b = t->points[i].build;

		if (!is_counted(&t->points[i]))
			continue;
		if (of->llvm)
			return NULL;
		if (b->results != HISTORY_UNKNOWN && !of->query && !of->item)
			return "results";
		if (b->executions != HISTORY_UNKNOWN || of->query)
			return "count";
	}
	return NULL;
}

static void say_no_change(FILE *out, const struct trend *t)
{
	char text[HISTORY_CELL_MAX];
	size_t n = n_in_largest(t);
	const char *exact = exact_metric(t);

	if (!(t->reasons[TREND_COUNTED]))
		fputs("No build can be judged.", out);
	else if (t->exact)
		fprintf(out, "No change of %s or more.", history_change(text, t->least) + 1);
	else if (n < 2 * CHANGE_POINTS_LEAST)
		fprintf(out,
			"%zu comparable build%s too few to tell a change from noise: add more, %u "
			"at least%s%s%s.",
			n, n == 1 ? " is" : "s are", 2 * CHANGE_POINTS_LEAST,
			exact ? ", or ask for --metric " : "", exact ?: "",
			exact ? ", which has no noise" : "");
	else
		fprintf(out,
			"No change beyond noise: one build differs from the next by %s (median).",
			history_change(text, fmax(noise_of(t), 0)) + 1);
}

/* Print the title, a change, or that there is none, on lines that fit. */
static int print_said(FILE *out, const struct trend *t, size_t width,
		      void (*say)(FILE *out, const struct trend *t),
		      const struct trend_change *change)
{
	_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	if (change)
		say_change(to, t, change);
	else
		say(to, t);
	if (fclose(to))
		return -ENOMEM;
	print_sentence(out, text, width);
	return 0;
}

int trend_text(FILE *out, const struct trend *t, const struct trend_look *look)
{
	int err = print_said(out, t, look->width, say_title, NULL);

	if (err || !t->n)
		return err;
	err = print_sparkline(out, t, look) ?: print_points(out, t, look);
	if (err)
		return err;
	if (t->n_notes)
		fputc('\n', out);
	for (size_t i = 0; i < t->n_notes; i++) {
		_free_ char *text = NULL;

		if (asprintf(&text, "%c%s.", toupper(*t->notes[i]), t->notes[i] + 1) < 0)
			text = NULL;
		print_sentence(out, text ?: "?", look->width);
	}
	fputc('\n', out);
	if (!t->n_changes)
		return print_said(out, t, look->width, say_no_change, NULL);
	for (size_t i = 0; i < t->n_changes && !err; i++)
		err = print_said(out, t, look->width, NULL, &t->changes[i]);
	return err;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define SCHEMA "qprof-trend/1"

/* Null if it is no number. */
#define RATIO(c, key, value, help) REAL(c, RATIO, key, isfinite(value), value, 6, help)

static void point_columns(struct columns *c, const struct trend_point *p)
{
	const struct history_build *b = p ? p->build : NULL;

	TEXT(c, "build", NULL, b->build, "the UUID of the trace");
	TEXT(c, "commit", NULL, b->commit, "of the source; null: not known");
	TEXT(c, "branch", NULL, b->branch, "null: not known");
	KNOWN(c, NONE, "dirty", NULL, b->dirty != HISTORY_UNKNOWN, b->dirty,
	      "1: the source had changes that are in no commit");
	NUMBER(c, NS, "start_ns", NULL, b->start_ns, "the start of the recording, since 1970 UTC");
	TEXT(c, "host", NULL, b->host, "the name of the machine");
	TEXT(c, "label", NULL, b->label, "the user's");
	TEXT(c, "toolchain", NULL, b->toolchain, "the version of the compiler");
	KNOWN(c, NONE, "value", NULL, p->value != HISTORY_UNKNOWN, p->value,
	      "in `unit`; null: not known");
	TEXT(c, "how", NULL, p->how, "how the value is known: exact or sampled");
	TEXT(c, "left_out", NULL, trend_reason_name(p->reason),
	     "why changes are not looked for there; null: they are");
}

static void change_columns(struct columns *c, const struct trend_change *k, const struct trend *t)
{
	const struct history_build *build = k ? t->points[k->point].build : NULL;

	TEXT(c, "commit", NULL, build->commit, "of the first build of the new level");
	TEXT(c, "former_commit", NULL, t->points[k->former].build->commit,
	     "of the last build of the former level");
	TEXT(c, "build", NULL, build->build, "the first build of the new level");
	TEXT(c, "branch", NULL, build->branch, "of it");
	NUMBER(c, NS, "start_ns", NULL, build->start_ns, "of it, since 1970 UTC");
	NUMBER(c, NONE, "point", NULL, k->point, "the index of it in points");
	RATIO(c, "change", k->change, "0.03: 3 % more; null: from nothing");
	REAL(c, NONE, "confidence", isfinite(k->confidence), k->confidence, 6,
	     "0 to 1: that it is no noise");
	REAL(c, NONE, "before", isfinite(k->before), k->before, 6, "the former level, in `unit`");
	REAL(c, NONE, "after", isfinite(k->after), k->after, 6, "the new level");
	BOOL(c, "other_toolchain", k->toolchain, "the two builds are by different compilers");
}

static int put_document(FILE *out, enum columns_to to, const struct trend *t)
{
	const struct history_series *of = &t->question.of;
	enum trend_metric metric = t->question.metric;
	struct columns c = {.to = to, .out = out};

	columns__begin(&c, SCHEMA, SCHEMA);
	TEXT(&c, "crate", NULL, of->crate, "what is followed: a crate; null: the whole build");
	TEXT(&c, "query", NULL, of->query, "a query; null: all");
	TEXT(&c, "item", NULL, of->item, "the path of an item; null: all");
	TEXT(&c, "llvm", NULL, of->llvm,
	     "a function that LLVM compiles, or a pass of LLVM; null: all");
	TEXT(&c, "metric", NULL, trend_metric_name(metric), "cpu, wall, count, results or memory");
	TEXT(&c, "unit", NULL, trend_metric_unit(metric),
	     "of value, before and after: ns, executions, results or bytes");
	BOOL(&c, "exact", t->exact, "the numbers have no noise");
	RATIO(&c, "least", t->least, "smaller changes are none");
	TEXT(&c, "uncounted", NULL, t->uncounted,
	     "queries whose executions are in no value, as some build does not count them; null: "
	     "none");
	NUMBER(&c, BUILDS, "absent", NULL, t->absent,
	       "without the crate, query, item, function or pass");
	NUMBER(&c, BUILDS, "not_whole", NULL, t->not_whole,
	       "unfinished, damaged or parts of a build, so without a point");
	if (LIST(&c, "notes", true,
		 "sentences about what was left out, and how numbers are compared")) {
		for (size_t i = 0; i < t->n_notes; i++)
			columns__item(&c, i, t->notes[i]);
		columns__leave_list(&c);
	}
	if (LIST(&c, "points", true,
		 "builds, the oldest first; those of a commit follow each other"))
		EACH_ROW (&c, i, t->n)
			point_columns(&c, ROW(&c, &t->points[i]));
	if (LIST(&c, "changes", true, "where the level changed, the oldest first"))
		EACH_ROW (&c, i, t->n_changes)
			change_columns(&c, ROW(&c, &t->changes[i]), t);
	return columns__end(&c);
}

int trend_json(FILE *out, const struct trend *t)
{
	return put_document(out, COLUMNS_JSON, t);
}

int trend_schema(FILE *out)
{
	return put_document(out, COLUMNS_SCHEMA, &(struct trend){});
}
