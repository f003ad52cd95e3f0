// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/callers.h"

#include <errno.h>
#include <string.h>

#include "analyze/on_cpu.h"
#include "base/table.h"

/* Executions of one query that were requested from one location. */
struct site {
	uint32_t locindex;
	uint32_t label;
	uint64_t count;
	uint64_t unwound;
	uint64_t total_ns;
	uint64_t self_ns;
	uint64_t self_off_ns;
	uint64_t probe_ns; /* probe time within total_ns */
	uint64_t self_probe_ns;
	uint64_t max_ns;
	/* Resolved texts; set only in the copies that rows are made from. */
	const char *function;
	const char *file;
	uint32_t line;
};

struct callers {
	TABLE(struct site) sites; /* by label << 32 | locindex */
};

int callers__new(struct callers **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

int callers__span(struct callers *c, const struct trace_span *span, const struct trace_times *times)
{
	struct site *s = table__get(&c->sites, (uint64_t)span->label << 32 | span->caller,
				    .locindex = span->caller, .label = span->label);
	uint64_t ns = span->end_ns - span->start_ns;

	if (!s)
		return -ENOMEM;
	s->count++;
	s->unwound += trace_span__is_unfinished(span);
	s->total_ns += ns;
	s->self_ns += times->self_ns;
	s->self_off_ns += times->self_off_ns;
	s->probe_ns += times->probe_ns;
	s->self_probe_ns += times->self_probe_ns;
	ns = trace_without_probes(ns, times->probe_ns);
	if (ns > s->max_ns)
		s->max_ns = ns;
	return 0;
}

static void resolve(struct site *s, const struct caller_locator *locator)
{
	struct trace_location at;

	if (s->locindex == TRACE_NO_LOCATION || !locator->locate(locator->ctx, s->locindex, &at))
		return;
	s->function = at.function->name;
	s->file = at.file;
	s->line = at.line;
}

/* NULL sorts first. */
static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static bool same_function(const struct site *a, const struct site *b)
{
	return !compare_texts(a->function, b->function);
}

static bool same_line(const struct site *a, const struct site *b)
{
	return a->line == b->line && !compare_texts(a->file, b->file);
}

static int compare(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	int by = compare_texts(x->function, y->function) ?: compare_texts(x->file, y->file);

	return by ?: (x->line > y->line) - (x->line < y->line);
}

static void add_to_row(struct caller_row *row, const struct site *s)
{
	uint64_t self_ns = trace_without_probes(s->self_ns, s->self_probe_ns);

	row->count += s->count;
	row->unwound += s->unwound;
	row->total_ns += trace_without_probes(s->total_ns, s->probe_ns);
	row->self_ns += self_ns;
	row->cpu_ns += on_cpu_ns(self_ns, s->self_off_ns);
	if (s->max_ns > row->max_ns)
		row->max_ns = s->max_ns;
}

/* Finish a line: all `count` executions from this line of the row's function were added. */
static void end_line(struct caller_row *row, const struct site *s, uint64_t count)
{
	if (!s->file)
		return;
	row->lines++;
	if (count <= row->line_count)
		return;
	row->file = s->file;
	row->line = s->line;
	row->line_count = count;
}

/* Sites are sorted, so sites of one function are adjacent, and so are sites of one line. */
static size_t merge(const struct site *sites, size_t n, struct caller_row *rows)
{
	uint64_t of_line = 0;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		const struct site *s = &sites[i];
		bool last = i + 1 == n || !same_function(s, s + 1);

		if (!i || !same_function(s - 1, s))
			rows[used++] = (struct caller_row){.function = s->function};
		add_to_row(&rows[used - 1], s);
		of_line += s->count;
		if (last || !same_line(s, s + 1)) {
			end_line(&rows[used - 1], s, of_line);
			of_line = 0;
		}
	}
	return used;
}

int callers__rows(const struct callers *c, const struct caller_locator *locator,
		  struct caller_row **rows, size_t *n)
{
	_free_ struct site *sites = calloc(c->sites.n + 1UL, sizeof(*sites));
	_free_ struct caller_row *made = calloc(c->sites.n + 1UL, sizeof(*made));

	if (!sites || !made)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->sites.n; i++) {
		sites[i] = c->sites.at[i];
		resolve(&sites[i], locator);
	}
	qsort(sites, c->sites.n, sizeof(*sites), compare);
	*n = merge(sites, c->sites.n, made);
	*rows = take_ptr(made);
	return 0;
}

void callers__free(struct callers *c)
{
	if (!c)
		return;
	table__destroy(&c->sites);
	free(c);
}
