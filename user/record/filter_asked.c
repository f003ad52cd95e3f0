// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/filter_asked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "capture/outside.h"
#include "capture/privilege.h"
#include "capture/uprobe_multi.h"

/* ---- Samples --------------------------------------------------------------------------------- */

/* Samples a second of CPU time: docs/samples.md, "Why 251". */
#define DEFAULT_HZ 251

bool samples_show_slow(const struct cli_record_options *o)
{
	uint64_t hz = o->sample_hz ?: DEFAULT_HZ;

	return !o->no_sample && o->slow_ns >= 2 * UINT64_C(1000000000) / hz;
}

struct sampling_options samples_asked(const struct cli_record_options *o,
				      const struct filter *filter)
{
	bool all_queries = filter__passes_all_queries(filter);
	/* Where probes see every query, no stack is walked for the sake of one. */
	enum wire_light light = all_queries ? WIRE_LIGHT_HERE : WIRE_LIGHT_NEAR;
	/* What runs within queries, and LLVM, only samples show. */
	bool listed = all_queries && !o->exact;
	/* With -e none, waits or page faults may be wanted alone. */
	bool chosen = cli_samples(o) && filter__is_empty(filter);
	uint64_t by_default = listed || chosen || o->no_sample ? 0 : DEFAULT_HZ;

	if (outside_asked(o))
		return (struct sampling_options){.hz = OUTSIDE_HZ};
	return (struct sampling_options){
		.hz = (uint32_t)(o->sample_hz ?: by_default),
		.fault_period = (uint32_t)(o->fault_period ?: o->light_period),
		.light = o->light_period ? light : WIRE_LIGHT_NOT,
		.off_cpu = o->off_cpu_stacks,
		.implied = by_default && !cli_samples(o) && !filter__is_empty(filter),
	};
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Print one line with the requested events that are not available. */
static void print_missing(const struct filter *f)
{
	const char *word, *why;
	char line[1024] = "";
	size_t len = 0;

	for (size_t i = 0; (word = filter__missing(f, i, &why)) && len < sizeof(line); i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%s%s (%s)", i ? ", " : "",
					word, why);
	if (len)
		diag_warn("cannot record %s", line);
}

/* True if the kernel is older than 6.6, or is treated as if it were. */
static bool uses_perf_events(const struct cli_record_options *o)
{
	char missing[128];

	if (o->attach != CLI_ATTACH_AUTO)
		return o->attach == CLI_ATTACH_PERF;
	/* A missing capability makes that test fail as well, but has an error line of its own. */
	return !privilege_missing(privilege_effective(), 0, missing, sizeof(missing)) &&
	       !uprobe_multi_is_available();
}

/* Single executions are to be seen, unless the list says which. */
static bool wants_executions(const struct cli_record_options *o)
{
	bool is_short = o->slow_ns && !samples_show_slow(o);

	return o->exact || (!o->events.n && (is_short || o->callers));
}

bool outside_asked(const struct cli_record_options *o)
{
	char why[PRIVILEGE_NAMES_MAX];
	bool listed = o->exact || o->callers || o->events.n || cli_samples(o) || o->slow_ns;

	if (o->attach == CLI_ATTACH_READ)
		return true;
	return o->attach == CLI_ATTACH_AUTO && (o->command || o->pids.n) && !o->traces && !listed &&
	       privilege_refused(why) != PRIVILEGE_GRANTED;
}

/* Each perf event takes long to attach while a compiler runs, and long to remove. */
static int new_filter(const struct cli_record_options *o, struct filter **out)
{
	const struct cli_texts *events = &o->events;
	_free_ const char **lists = calloc(events->n + 1UL, sizeof(*lists));
	bool rest =
		events->n ? *events->texts[0] == '-' : !uses_perf_events(o) && !outside_asked(o);
	size_t n = 0;

	if (!lists)
		return -ENOMEM;
	if (wants_executions(o))
		lists[n++] = rest ? "default,query-provider" : "query-provider";
	else if (!events->n && !rest)
		lists[n++] = "none,counts";
	for (size_t i = 0; i < events->n; i++)
		lists[n++] = events->texts[i];
	return filter__new(lists, n, out);
}

/* Which option gives all queries probes that were not asked for; NULL: none does. */
static const char *needs_probes(const struct cli_record_options *o, const struct filter *f)
{
	if (o->exact)
		return NULL;
	if (wants_executions(o))
		return o->callers     ? "--callers"
		       : o->no_sample ? "--slow without samples"
				      : "--slow with less than two periods of samples";
	if (filter__wants_hits(f))
		return "query-cache-hit";
	if (filter__passes(f, FILTER_HASHING, NULL) && !filter__passes_all_queries(f))
		return "incr-result-hashing";
	return o->callers && filter__may_probe_queries(f) && !filter__passes_all_queries(f)
		       ? "--callers"
		       : NULL;
}

int filter_asked(const struct cli_record_options *o, struct filter **out)
{
	_filter_ struct filter *f = NULL;
	int err = new_filter(o, &f);
	const char *why, *needing;

	if (err == -EINVAL)
		return diag_error_r(err, "there is an empty word in the list of --events");
	if (err)
		return diag_error_r(err, "out of memory");
	print_missing(f);
	needing = needs_probes(o, f);
	if (needing && !o->quiet)
		diag_info("%s needs probes in all queries, as --exact has", needing);
	if (o->no_sample && !cli_samples(o) && filter__is_empty(f))
		return diag_error_r(-EINVAL, "nothing is left to record: leave out -e none or "
					     "--no-sample");
	if (filter__missing(f, 0, &why) && !filter__selects_any(f))
		return diag_error_r(-EINVAL, "nothing is left to record; see --events in "
					     "\"qprof-bpf help record\"");
	*out = take_ptr(f);
	return 0;
}
