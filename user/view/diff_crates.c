// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/diff_crates.h"

#include <errno.h>
#include <stdlib.h>

#include "view/diff_rows.h"

static enum compare_metric metric_of(const struct compare_result *r)
{
	bool has_cpu = r->build.of[COMPARE_CPU][COMPARE_BASE].median &&
		       r->build.of[COMPARE_CPU][COMPARE_NEW].median;

	return r->rules.metric == COMPARE_SELF && has_cpu ? COMPARE_CPU : r->rules.metric;
}

static bool is_shown(const struct compare_row *row, enum compare_metric metric)
{
	return diff_is_one_sided(row) || compare_row__changed(row, metric) ||
	       compare_row__changed(row, COMPARE_PEAK);
}

static int compare_changes(const void *a, const void *b, void *metric_p)
{
	enum compare_metric metric = *(const enum compare_metric *)metric_p;
	const struct compare_row *const *x = a, *const *y = b;
	int64_t dx = compare_row__change(*x, metric), dy = compare_row__change(*y, metric);
	/* Unsigned, because the smallest number cannot be negated. */
	uint64_t ax = dx < 0 ? -(uint64_t)dx : (uint64_t)dx;
	uint64_t ay = dy < 0 ? -(uint64_t)dy : (uint64_t)dy;

	return (ax < ay) - (ax > ay);
}

static void add_other(struct diff_crates *c, const struct compare_row *row)
{
	c->n_others++;
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		c->others[side] += row->of[c->metric][side].median;
}

int diff_crates__init(struct diff_crates *c, const struct compare_result *r)
{
	*c = (struct diff_crates){.metric = metric_of(r)};
	c->rows = calloc(r->n_crates + 1, sizeof(struct compare_row *));
	if (!c->rows)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_crates; i++) {
		if (is_shown(&r->crates[i], c->metric))
			c->rows[c->n_changed++] = &r->crates[i];
		else
			add_other(c, &r->crates[i]);
	}
	qsort_r(c->rows, c->n_changed, sizeof(*c->rows), compare_changes, &c->metric);
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
