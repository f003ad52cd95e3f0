// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_sides.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/compile_name.h"
#include "base/format.h"
#include "base/part.h"

struct compare_recording compare_recording_of(const struct model *m, const struct cost *cost)
{
	struct compare_recording r = {
		.cost_ppm = part_of(cost->in_compilers_ns, 1000000, cost->compilers_ns),
		.n_beside = cost->n_beside,
		.probed = summary__spans(m->summary) && !m->by_samples,
		.sampled = summary__is_sampled(m->summary),
		.off_cpu = build__totals(m->build)->off_cpu_known,
	};

	for (uint32_t i = 0; i < summary__n_processes(m->summary); i++) {
		if (compile_only_queries(summary__process_at(m->summary, i)))
			continue;
		r.compiles++;
		r.reusing += summary__reuse(m->summary, i).loads > 0;
	}
	return r;
}

unsigned int compare_sides_differ(const struct compare_recording *all, size_t n_base, size_t n_new)
{
	/* The first that compiled anything, and so shows how it was recorded. */
	const struct compare_recording *first = NULL;
	bool compiles[2] = {}, reuses[2] = {};
	unsigned int differences = 0;

	for (size_t i = 0; i < n_base + n_new; i++) {
		const struct compare_recording *r = &all[i];
		bool is_new = i >= n_base;

		compiles[is_new] |= r->compiles > 0;
		reuses[is_new] |= r->reusing > 0;
		if (!r->compiles)
			continue;
		first = first ?: r;
		if (first->probed != r->probed || first->sampled != r->sampled ||
		    first->off_cpu != r->off_cpu)
			differences |= COMPARE_OTHER_RECORDING;
	}
	if (compiles[0] && compiles[1] && reuses[0] != reuses[1])
		differences |= COMPARE_CLEAN_AND_INCREMENTAL;
	return differences;
}

char *compare_recording_text(char buf[COMPARE_RECORDING_TEXT], const struct compare_recording *r)
{
	const char *samples = r->sampled ? " and samples" : "";
	const char *off_cpu = r->off_cpu ? "" : ", without off-CPU times";
	char percent[FORMAT_MAX], cost[FORMAT_MAX + 24] = "";

	if (r->cost_ppm)
		snprintf(cost, sizeof(cost), " (+%s %% in compilers)",
			 format_percent(percent, r->cost_ppm, 1000000));
	if (!r->probed)
		snprintf(buf, COMPARE_RECORDING_TEXT, "%s%s%s",
			 r->sampled ? "counts and samples" : "counts alone", off_cpu, cost);
	else
		snprintf(buf, COMPARE_RECORDING_TEXT, "all probes%s%s%s", samples, off_cpu, cost);
	return buf;
}
