// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/filter_asked.h"

#include <errno.h>
#include <stdio.h>

#include "base/diag.h"
#include "capture/privilege.h"
#include "capture/uprobe_multi.h"

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

/* Each perf event takes long to attach while a compiler runs, and long to remove. */
static int new_default(const struct cli_record_options *o, struct filter **out, bool *queries_only)
{
	const char *fewer = "query-provider";

	*queries_only = uses_perf_events(o);
	return filter__new(&fewer, *queries_only ? 1 : 0, out);
}

int filter_asked(const struct cli_record_options *o, struct filter **out, bool *queries_only)
{
	const struct cli_texts *events = &o->events;
	int err = events->n ? filter__new(events->texts, events->n, out)
			    : new_default(o, out, queries_only);

	if (err == -EINVAL)
		return diag_error_r(err, "there is an empty word in the list of --events");
	if (err)
		return diag_error_r(err, "out of memory");
	print_missing(*out);
	if (filter__is_empty(*out) && !cli_samples(o))
		return diag_error_r(-EINVAL, "nothing is left to record; add --sample, or see "
					     "--events in \"qprof-bpf help record\"");
	return 0;
}
