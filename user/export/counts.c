// SPDX-License-Identifier: Apache-2.0 OR MIT
/* provider,count,seconds: a row for each query and phase, by total time. Executions without a
 * span are in the count if they were counted exactly, and in no time. */
#include <errno.h>
#include <string.h>

#include "analyze/summary.h"
#include "export/job.h"

struct row {
	const char *name;
	uint64_t count;
	uint64_t total_ns;
};

static int take_item(struct export_job *job, struct summary *s, const struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_SPAN:
		return summary__span(s, &item->span, NULL);
	case TRACE_ITEM_PROCESS:
		return summary__process(s, item->process);
	case TRACE_ITEM_TALLY:
		return item->tally.kind == TRACE_KIND_COUNTED ? summary__tally(s, &item->tally) : 0;
	case TRACE_ITEM_COSTS:
		if (!job->raw)
			summary__set_costs(s, &item->costs);
		return 0;
	default:
		return 0;
	}
}

static int sum_up(struct export_job *job, struct summary *s)
{
	struct trace_item item;
	int err;

	while (!(err = trace_reader__next(job->r, &item)) && item.kind != TRACE_ITEM_END) {
		err = take_item(job, s, &item);
		if (err)
			break;
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
	return strcmp(x->name, y->name);
}

static void put_row(struct out *o, const struct row *row)
{
	uint64_t ns = row->total_ns;
	char fraction[16];

	/* No comma and no quote: a line has three fields, however it is read. */
	out__plain(o, row->name, ",\"", '_');
	out__bytes(o, ",", 1);
	out__number(o, row->count);
	out__bytes(o, ",", 1);
	out__number(o, ns / 1000000000);
	snprintf(fraction, sizeof(fraction), ".%09u\n", (unsigned int)(ns % 1000000000));
	out__text(o, fraction);
}

static int put_rows(struct export_job *job, const struct summary *s)
{
	_free_ struct summary_row *sums = NULL;
	_free_ struct row *rows = NULL;
	size_t n, used = 0;
	int err = summary__rows(s, SUMMARY_ALL, &sums, &n);

	rows = err ? NULL : calloc(n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		/* Only requests that were answered without an execution: no provider ran. */
		if (!sums[i].count && !sums[i].counted && !sums[i].raw_total_ns)
			continue;
		rows[used++] = (struct row){trace_reader__string(job->r, sums[i].label),
					    sums[i].count + sums[i].counted, sums[i].total_ns};
	}
	qsort(rows, used, sizeof(*rows), compare);
	for (size_t i = 0; i < used; i++)
		put_row(job->out, &rows[i]);
	job->written = used;
	return 0;
}

int export_counts(struct export_job *job)
{
	_summary_ struct summary *s = NULL;
	int err = summary__new(&s);

	if (!err)
		summary__borrow_texts(s);
	if (!err)
		err = sum_up(job, s);
	return err ? err : put_rows(job, s);
}
