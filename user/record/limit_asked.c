// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/limit_asked.h"

/* Of the compilers' CPU time, unless something else is asked for: docs/overhead.md. */
#define DEFAULT_PPM 250000

/* If events are named, or single executions are to be seen, all of them are recorded. */
static bool is_exact(const struct cli_record_options *o, bool queries_only)
{
	return o->exact || o->events.n || o->slow_ns || o->callers ||
	       o->attach == CLI_ATTACH_PERF || queries_only;
}

struct budget_limit limit_asked(const struct cli_record_options *o, bool queries_only)
{
	if (o->budget.ppm || is_exact(o, queries_only))
		return (struct budget_limit){.ppm = o->budget.ppm};
	return (struct budget_limit){.ppm = DEFAULT_PPM, .only_queries = true};
}
