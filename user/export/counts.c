// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * provider,count,seconds: a row for each query and phase, by total time. Where not all queries have
 * probes, the times of all rows are CPU time by samples; a count of 0 is not known.
 */
#include <errno.h>
#include <string.h>

#include "analyze/model.h"
#include "base/map.h"
#include "export/job.h"

struct row {
	const char *name;
	uint64_t count;
	uint64_t total_ns;
	bool is_namesake; /* an activity with the name of a query */
};

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
	return strcmp(x->name, y->name);
}

static int put_rows(struct export_job *job, const struct model *m)
{
	_free_ struct summary_row *sums = NULL;
	struct u64_map queries = {};
	_free_ struct row *rows = NULL;
	size_t n, used = 0;
	int err = summary__rows(m->summary, SUMMARY_ALL, &sums, &n);

	for (size_t i = 0; i < n && !err; i++)
		err = sums[i].is_activity ? 0 : u64_map__put(&queries, sums[i].label, 0);
	rows = err ? NULL : calloc(n + 1, sizeof(*rows));
	if (!rows) {
		u64_map__destroy(&queries);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t count = summary_row__executions(&sums[i]);

		/* The row has only cache hits; no provider ran. */
		if (!count && !sums[i].raw_total_ns && !sample_sums__any(&sums[i].samples))
			continue;
		rows[used++] = (struct row){
			.name = trace_reader__string(job->r, sums[i].label),
			.count = count,
			.total_ns = m->by_samples || !sums[i].raw_total_ns
					    ? sums[i].samples.total[TRACE_SAMPLE_CPU].value
					    : sums[i].total_ns,
			.is_namesake = sums[i].is_activity &&
				       u64_map__get(&queries, sums[i].label) != U64_MAP_NONE,
		};
	}
	qsort(rows, used, sizeof(*rows), compare);
	for (size_t i = 0; i < used; i++) {
		uint64_t ns = rows[i].total_ns;
		char fraction[16];

		/* Without commas and quotes, each line has three fields for any CSV reader. */
		out__plain(job->out, rows[i].name, ",\"", '_');
		if (rows[i].is_namesake)
			out__text(job->out, " (activity)");
		out__bytes(job->out, ",", 1);
		out__number(job->out, rows[i].count);
		out__bytes(job->out, ",", 1);
		out__number(job->out, ns / 1000000000);
		snprintf(fraction, sizeof(fraction), ".%09u\n", (unsigned int)(ns % 1000000000));
		out__text(job->out, fraction);
	}
	u64_map__destroy(&queries);
	job->written = used;
	return 0;
}

int export_counts(struct export_job *job)
{
	_model_ struct model m = {};
	struct model_options options = model_options_of(job->r);
	int err;

	options.raw = job->raw;
	err = model__init(&m, &options) ?: model__read(&m, job->r);
	job->cpu_by_samples = m.by_samples;
	return err ?: put_rows(job, &m);
}
