// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/query_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/diag.h"

int query_keys__set(struct library *lib, const struct plan *plan)
{
	_free_ uint8_t *keys = calloc(plan->n_queries + 1UL, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_queries; i++)
		keys[i] = plan->queries[i].key;
	return library__set_keys(lib, keys, &plan->layout)
		       ?: library__set_arguments(lib, plan->guards);
}

/* Errors of the file end the recording elsewhere. */
void query_keys__write_types(struct trace_output *trace, const struct plan *plan,
			     const uint32_t *labels)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		if (plan->queries[i].key_type)
			trace_output__write(trace, trace_writer__key_type, labels[i],
					    plan->queries[i].key_type);
}

void query_keys__note_problem(char **why, const struct plan *plan)
{
	const char *layout = plan->layout.problem;

	if (*why || (!layout && !plan->keys_problem))
		return;
	if (asprintf(why, "%s in %s", layout ?: "keys that are in memory cannot be read",
		     plan->path) < 0)
		*why = NULL;
}

void query_keys__print(const char *why, uint64_t unnamed)
{
	if (why)
		diag_info("some executions have no name of what they were about: %s; see "
			  "\"qprof-bpf plan\"",
			  why);
	if (unnamed)
		diag_verbose("of %" PRIu64 " executions the key was read and has no name", unnamed);
}

void query_keys__print_unread(uint64_t n)
{
	if (n)
		diag_info("of %" PRIu64 " activities it is unknown what they were about: it could "
			  "not be read",
			  n);
}
