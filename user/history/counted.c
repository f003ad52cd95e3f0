// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/counted.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "history/crate_sums.h"

static bool is_unsure(const struct summary_row *row)
{
	if (row->is_activity || row->count)
		return false;
	return row->results_unsure || row->results_missing ||
	       (!row->results && sample_sums__any(&row->samples));
}

static int note(void *ctx, const struct summary_row *row)
{
	struct counted *c = ctx;

	c->at_least |= row->results && row->results_missing;
	if (!is_unsure(row))
		return 0;
	if (array__reserve_at(&c->unsure, row->label, &c->n, sizeof(*c->unsure)))
		return -ENOMEM;
	c->unsure[row->label] = true;
	return 0;
}

int counted__read(struct counted *c, const struct model *m, const char *const *crates)
{
	int err = 0;

	for (uint32_t i = 0; i < summary__n_processes(m->summary) && !err; i++)
		if (crates[i])
			err = summary__each(m->summary, i, note, c);
	return err;
}

struct recorded {
	uint64_t executions;
	bool has_results;
};

static int add_recorded(void *ctx, const struct summary_row *row)
{
	struct recorded *r = ctx;

	if (!row->is_activity) {
		r->executions += row->count;
		r->has_results |= row->results != 0;
	}
	return 0;
}

uint64_t counted__recorded(const struct model *m, uint32_t process)
{
	struct recorded r = {};

	summary__each(m->summary, process, add_recorded, &r);
	return !r.executions && r.has_results ? HISTORY_UNKNOWN : crate_sums_number(r.executions);
}

int counted__executions(const struct counted *c, const struct model *m, uint32_t process,
			uint64_t *executions)
{
	_free_ struct summary_row *rows = NULL;
	size_t n;

	*executions = 0;
	if (summary__rows(m->summary, process, &rows, &n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!rows[i].is_activity && !(rows[i].label < c->n && c->unsure[rows[i].label]))
			*executions += summary_row__executions(&rows[i]);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* The names in `all`, which has room for all of them; their number. */
static size_t list(const struct counted *c, const struct model *m, const char **all)
{
	const struct trace_texts *texts = &m->options.texts;
	size_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const char *name = c->unsure[i] ? texts->text(texts->ctx, i) : NULL;

		/* A name of rustc's has no space. */
		if (name && *name && !strchr(name, ' '))
			all[n++] = name;
	}
	if (n)
		qsort(all, n, sizeof(*all), by_text);
	return n;
}

int counted__names(const struct counted *c, const struct model *m, struct history_rows *rows,
		   const char **names)
{
	_free_ const char **all = calloc(c->n + 1UL, sizeof(*all));
	char text[HISTORY_TEXT_MAX + 1];
	size_t n = all ? list(c, m, all) : 0, at = 0;

	*names = NULL;
	for (size_t i = 0; i < n; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "", all[i]);
		if (at >= sizeof(text))
			return -E2BIG;
	}
	if (n)
		*names = crate_sums_text(rows, text);
	return !all || (n && !*names) ? -ENOMEM : 0;
}

void counted__clear(struct counted *c)
{
	free(c->unsure);
	*c = (struct counted){};
}
