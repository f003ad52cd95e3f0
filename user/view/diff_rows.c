// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/diff_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "view/table.h"

/* Changes by at least this factor are shown as a factor. */
#define MANY 10

const char *const diff_sides[] = {[COMPARE_BASE] = "base", [COMPARE_NEW] = "new"};

bool diff_has_beside(const struct diff_view *v, enum compare_side side)
{
	for (size_t i = 0; i < v->n_traces; i++)
		if (v->traces[i].side == side && v->traces[i].recording.n_beside)
			return true;
	return false;
}

/* The distance between the medians. */
static uint64_t size_of(const struct compare_row *row, enum compare_metric metric)
{
	int64_t change = compare_row__change(row, metric);

	return change < 0 ? -(uint64_t)change : (uint64_t)change;
}

static int compare_size(const void *a, const void *b, void *metric_p)
{
	enum compare_metric metric = *(const enum compare_metric *)metric_p;
	uint64_t x = size_of(*(const struct compare_row *const *)a, metric);
	uint64_t y = size_of(*(const struct compare_row *const *)b, metric);

	return (x < y) - (x > y);
}

/* A path begins with its crate; a pass of LLVM is of none. */
static bool is_of_crate(const struct compare_row *row, const struct compare_unit *unit)
{
	size_t length = strlen(unit->crate);

	if (row->unit)
		return row->unit == unit;
	return !strncmp(row->query, unit->crate, length) &&
	       (!row->query[length] || row->query[length] == ':');
}

/* False if the row's crate, of an item all units of its crate, is on one side only. */
static bool in_both(const struct compare_result *result, const struct compare_row *row)
{
	bool known = false;

	for (size_t i = 0; row->table != COMPARE_OF_PASSES && i < result->n_crates; i++) {
		if (!is_of_crate(row, result->crates[i].unit))
			continue;
		if (!diff_is_one_sided(&result->crates[i]))
			return true;
		known = true;
	}
	return !known;
}

static bool is_uncounted(const struct compare_row *row)
{
	return (row->by[COMPARE_BASE] | row->by[COMPARE_NEW]) & COMPARE_UNCOUNTED;
}

/* Queries and items have no wall time, no peak of memory and no results of their own. */
static bool has_rows(enum compare_metric metric)
{
	return !compare_metric_is_of_crates(metric) || metric == COMPARE_CPU;
}

/* An item has no total time; what LLVM does for it has no number either. */
bool diff_shows(const struct diff_view *v, enum compare_of of)
{
	enum compare_metric metric = v->result->rules.metric;

	if (v->by == DIFF_BY_BOTH ? of == COMPARE_OF_INSTANCES : of != diff_by_of(v->by))
		return false;
	if (compare_is_of_llvm(of))
		return v->result->has_llvm && (metric == COMPARE_SELF || metric == COMPARE_CPU);
	if (of == COMPARE_OF_ITEMS)
		return v->result->has_items && has_rows(metric) && metric != COMPARE_TOTAL;
	return has_rows(metric);
}

const char *diff_name_title(enum compare_of of)
{
	static const char *const titles[COMPARE_TABLES] = {
		[COMPARE_OF_ITEMS] = "item",
		[COMPARE_OF_QUERIES] = "crate/query",
		[COMPARE_OF_PASSES] = "LLVM's pass",
		[COMPARE_OF_GENERICS] = "function in LLVM",
		[COMPARE_OF_INSTANCES] = "instance in LLVM",
	};

	return titles[of];
}

int diff_rows__init(struct diff_rows *r, const struct diff_view *v, enum compare_of of)
{
	const struct compare_result *result = v->result;
	enum compare_metric metric = compare_rules__of_queries(&result->rules);
	struct compare_table table = compare_result__table(result, of);
	size_t n = diff_shows(v, of) ? table.n : 0;

	*r = (struct diff_rows){.of = of, .n_all = n};
	r->rows = calloc(n + 1, sizeof(struct compare_row *));
	if (!r->rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct compare_row *row = &table.rows[i];

		r->recount += !is_uncounted(row) && compare_row__change(row, COMPARE_COUNT) != 0;
		if (!row->compared) {
			if (r->uncompared < DIFF_UNCOMPARED_NAMED)
				r->first_uncompared[r->uncompared] = row;
			r->uncompared++;
		} else if (!row->significant) {
			r->within += compare_row__change(row, metric) != 0;
		} else if (in_both(result, row)) {
			r->rows[r->n++] = row;
		}
	}
	qsort_r(r->rows, r->n, sizeof(*r->rows), compare_size, &metric);
	r->n_shown = v->top && v->top < r->n ? v->top : r->n;
	return 0;
}

void diff_rows__clear(struct diff_rows *r)
{
	free(r->rows);
	*r = (struct diff_rows){};
}

int diff_tables__init(struct diff_tables *t, const struct diff_view *v)
{
	int err = 0;

	*t = (struct diff_tables){};
	for (unsigned int of = 0; of < COMPARE_TABLES && !err; of++)
		err = diff_rows__init(&t->of[of], v, of);
	return err;
}

void diff_tables__clear(struct diff_tables *t)
{
	for (unsigned int of = 0; of < COMPARE_TABLES; of++)
		diff_rows__clear(&t->of[of]);
}

const char *diff_metric_text(enum compare_metric metric)
{
	static const char *const texts[] = {
		[COMPARE_SELF] = "self time",	[COMPARE_TOTAL] = "total time",
		[COMPARE_COUNT] = "executions", [COMPARE_CPU] = "CPU time",
		[COMPARE_WALL] = "wall time",	[COMPARE_PEAK] = "peak memory",
		[COMPARE_RESULTS] = "results",
	};

	return texts[metric];
}

static char *number(char buf[DIFF_CELL_MAX], uint64_t value, enum compare_metric metric)
{
	if (metric == COMPARE_COUNT || metric == COMPARE_RESULTS)
		return format_count(buf, value);
	return metric == COMPARE_PEAK ? format_bytes(buf, value) : format_duration(buf, value);
}

char *diff_value(char buf[DIFF_CELL_MAX], const struct spread *s, enum compare_metric metric)
{
	return number(buf, s->median, metric);
}

static const char *sign_of(int64_t change)
{
	return change < 0 ? "-" : change > 0 ? "+" : "";
}

char *diff_change(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		  enum compare_metric metric)
{
	char value[DIFF_CELL_MAX];

	snprintf(buf, DIFF_CELL_MAX, "%s%.70s", sign_of(compare_row__change(row, metric)),
		 number(value, size_of(row, metric), metric));
	return buf;
}

char *diff_percent(char buf[DIFF_CELL_MAX], const struct compare_row *row,
		   enum compare_metric metric)
{
	const struct spread *of = row->of[metric];
	char value[FORMAT_MAX];

	if (!of[COMPARE_BASE].median && of[COMPARE_NEW].median)
		return strcpy(buf, "new");
	if (of[COMPARE_BASE].median && !of[COMPARE_NEW].median)
		return strcpy(buf, "gone");
	if (of[COMPARE_NEW].median / MANY >= (of[COMPARE_BASE].median ?: 1))
		snprintf(buf, DIFF_CELL_MAX, "x%s",
			 format_short(value, of[COMPARE_NEW].median / of[COMPARE_BASE].median));
	else
		snprintf(buf, DIFF_CELL_MAX, "%s%s", sign_of(compare_row__change(row, metric)),
			 format_percent(value, size_of(row, metric), of[COMPARE_BASE].median));
	return buf;
}

char *diff_count(char buf[DIFF_CELL_MAX], const struct compare_row *row)
{
	const struct spread *of = row->of[COMPARE_COUNT];
	char base[FORMAT_MAX], new[FORMAT_MAX];

	if (is_uncounted(row))
		return strcpy(buf, "-");
	format_count(base, of[COMPARE_BASE].median);
	format_count(new, of[COMPARE_NEW].median);
	if (!strcmp(base, new))
		snprintf(buf, DIFF_CELL_MAX, "%s", base);
	else
		snprintf(buf, DIFF_CELL_MAX, "%s -> %s", base, new);
	return buf;
}

char *diff_width(char buf[DIFF_CELL_MAX], const struct compare_row *row, enum compare_metric metric)
{
	const struct spread *of = row->of[metric];

	return number(buf, spread_width(&of[COMPARE_BASE], &of[COMPARE_NEW]), metric);
}

char *diff_name(const struct compare_row *row)
{
	char *name;
	int len;

	if (row->query && !row->unit)
		len = asprintf(&name, "%s", row->query);
	else if (row->query)
		len = asprintf(&name, "%s/%s", row->unit->name, row->query);
	else if (diff_is_one_sided(row))
		len = asprintf(&name, "%s (only in %s)", row->unit->name,
			       diff_sides[row->in[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW]);
	else
		len = asprintf(&name, "%s", row->unit->name);
	return len < 0 ? NULL : name;
}

/* The verdict on a change of this row. */
static const char *note_of(const struct compare_row *row, enum compare_metric metric,
			   const struct compare_result *r)
{
	if (!compare_row__knows(row, metric) && !row->query &&
	    (metric == COMPARE_WALL || metric == COMPARE_TOTAL) &&
	    (!r->rules.different_recording || r->without_cost) && !r->rules.different_work)
		return r->rules.of_history ? ": no verdict with fewer than 3 builds a side"
					   : ": no verdict with fewer than 3 traces a side";
	if (!compare_row__knows(row, metric))
		return ": not compared";
	if (compare_row__changed(row, metric))
		return "";
	if (compare_row__is_doubted(row, metric))
		return ": what recording cost may explain it";
	if (metric == COMPARE_COUNT &&
	    row->of[metric][COMPARE_BASE].median == row->of[metric][COMPARE_NEW].median)
		return "";
	/* Those of one source are equal; here a side has several. */
	if (metric == COMPARE_COUNT || metric == COMPARE_RESULTS)
		return r->rules.of_history ? ": builds of one side differ as much"
					   : ": traces of one side differ as much";
	return r->too_noisy && compare_metric_is_time(metric) ? ": too much noise for a verdict"
							      : ": within noise";
}

void diff_print_change(FILE *out, const struct compare_row *row, enum compare_metric metric,
		       const struct compare_result *r)
{
	char base[DIFF_CELL_MAX], new[DIFF_CELL_MAX], change[DIFF_CELL_MAX];
	char percent[DIFF_CELL_MAX];

	diff_value(base, &row->of[metric][COMPARE_BASE], metric);
	diff_value(new, &row->of[metric][COMPARE_NEW], metric);
	/* A build whose compilers were not all read to their end; any other has results. */
	if (metric == COMPARE_RESULTS && row == &r->build && !compare_row__knows(row, metric)) {
		fprintf(out, "%s -> %s: not compared",
			row->of[metric][COMPARE_BASE].median ? base : "unknown",
			row->of[metric][COMPARE_NEW].median ? new : "unknown");
		return;
	}
	fprintf(out, "%s -> %s", base, new);
	if (metric == COMPARE_COUNT && !row->query && r->n_uncounted)
		fprintf(out, ", of queries counted in all %s", diff_noun(&r->rules));
	if (!compare_row__change(row, metric)) {
		fputs(", no change", out);
		return;
	}
	diff_percent(percent, row, metric);
	fprintf(out, ", %s (%s%s)%s", diff_change(change, row, metric), percent,
		percent[0] == '+' || percent[0] == '-' ? " %" : "", note_of(row, metric, r));
}

void diff_print_raw(FILE *out, const char *text, bool markdown)
{
	if (!markdown)
		print_clean(out, text);
	else if (markdown_code(out, text))
		fputc('?', out);
}

/* The word for one row, or for several. */
static const char *rows_text(const struct diff_rows *rows, size_t n)
{
	static const char *const texts[COMPARE_TABLES][2] = {
		[COMPARE_OF_ITEMS] = {"item", "items"},
		[COMPARE_OF_QUERIES] = {"query of a crate", "queries of crates"},
		[COMPARE_OF_PASSES] = {"pass of LLVM", "passes of LLVM"},
		[COMPARE_OF_GENERICS] = {"function in LLVM", "functions in LLVM"},
		[COMPARE_OF_INSTANCES] = {"instance in LLVM", "instances in LLVM"},
	};

	return texts[rows->of][n != 1];
}

void diff_print_uncompared(FILE *out, const struct diff_rows *rows, const struct compare_result *r,
			   bool markdown)
{
	size_t n =
		rows->uncompared < DIFF_UNCOMPARED_NAMED ? rows->uncompared : DIFF_UNCOMPARED_NAMED;

	if (!n || r->rules.different_work)
		return;
	fprintf(out, "not compared, as their number or time is not known in all %s: %zu %s (",
		diff_noun(&r->rules), rows->uncompared, rows_text(rows, rows->uncompared));
	for (size_t i = 0; i < n; i++) {
		_free_ char *name = diff_name(rows->first_uncompared[i]);

		fputs(i ? ", " : "", out);
		diff_print_raw(out, name ?: "?", markdown);
	}
	fprintf(out, "%s)\n", n < rows->uncompared ? ", ..." : "");
}

void diff_print_within(FILE *out, const struct diff_tables *tables)
{
	static const char first[] = "within noise, or too small to judge: ";
	const char *before = first;

	for (unsigned int of = 0; of < COMPARE_TABLES; of++) {
		const struct diff_rows *rows = &tables->of[of];

		if (!rows->within)
			continue;
		fprintf(out, "%s%zu %s", before, rows->within, rows_text(rows, rows->within));
		before = ", ";
	}
	if (before != first)
		fputc('\n', out);
}

void diff_print_errors(FILE *out, const struct diff_tables *tables, const struct compare_result *r)
{
	bool any = r->build.error_ns[COMPARE_SELF];

	/* Times in LLVM are always by samples. */
	for (unsigned int of = COMPARE_OF_PASSES; of < COMPARE_TABLES; of++)
		any |= tables->of[of].n_all;
	if (compare_rules__of_queries(&r->rules) != COMPARE_COUNT && any)
		fputs("times are by samples: a change counts if it exceeds four standard errors "
		      "as well\n",
		      out);
}

void diff_print_noise(FILE *out, const struct compare_result *r)
{
	char percent[FORMAT_MAX];

	if (!r->noise_is_estimated || compare_rules__of_queries(&r->rules) == COMPARE_COUNT)
		return;
	fprintf(out, "fewer than %d %s on a side (%" PRIu32 ", %" PRIu32 "): ", SPREAD_TRUSTED,
		diff_noun(&r->rules), r->traces[COMPARE_BASE], r->traces[COMPARE_NEW]);
	if (r->noise_ppm == UINT64_MAX) {
		fputs("too few queries were executed equally often on both sides to estimate "
		      "noise; only times of what one side does not have are reported\n",
		      out);
		return;
	}
	fprintf(out, "noise is estimated, at %s %%",
		format_percent(percent, r->noise_ppm, 1000000));
	if (r->is_noise_of_busy)
		fprintf(out, ", as threads waited for a CPU for %s %% of the time that they ran",
			format_percent(percent, r->busy_ppm, 1000000));
	if (r->too_noisy)
		fprintf(out,
			", which is too much to judge times, but for the largest changes: record "
			"more %s of each side, in turns",
			diff_noun(&r->rules));
	putc('\n', out);
}

/* ---- Crates ---------------------------------------------------------------------------------- */

static void add_other(struct diff_crates *c, const struct compare_row *row)
{
	c->n_others++;
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		c->others[side] += row->of[c->metric][side].median;
}

int diff_crates__init(struct diff_crates *c, const struct compare_result *r)
{
	bool has_cpu = r->build.of[COMPARE_CPU][COMPARE_BASE].median &&
		       r->build.of[COMPARE_CPU][COMPARE_NEW].median;

	*c = (struct diff_crates){.metric = r->rules.metric == COMPARE_SELF && has_cpu
						    ? COMPARE_CPU
						    : r->rules.metric};
	c->rows = calloc(r->n_crates + 1, sizeof(struct compare_row *));
	if (!c->rows)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_crates; i++) {
		const struct compare_row *row = &r->crates[i];

		if (diff_is_one_sided(row) || compare_row__changed(row, c->metric) ||
		    compare_row__changed(row, COMPARE_PEAK))
			c->rows[c->n_changed++] = row;
		else
			add_other(c, row);
	}
	qsort_r(c->rows, c->n_changed, sizeof(*c->rows), compare_size, &c->metric);
	c->n_shown = c->n_changed < DIFF_CRATES_MOST ? c->n_changed : DIFF_CRATES_MOST;
	for (size_t i = c->n_shown; i < c->n_changed; i++)
		add_other(c, c->rows[i]);
	return 0;
}

void diff_crates__clear(struct diff_crates *c)
{
	free(c->rows);
	*c = (struct diff_crates){};
}

bool diff_crates_any(const struct compare_result *r)
{
	return r->n_crates > 1 || (r->n_crates && diff_is_one_sided(&r->crates[0]));
}
