// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/trace_head.h"

#include <errno.h>
#include <string.h>

#include "base/version.h"
#include "trace/trace_id.h"

static char *joined(char *const words[])
{
	size_t size = 0;
	char *text, *end;

	for (size_t i = 0; words[i]; i++)
		size += strlen(words[i]) + 1;
	text = end = calloc(size + 1, 1);
	for (size_t i = 0; text && words[i]; i++) {
		if (i)
			*end++ = ' ';
		end = stpcpy(end, words[i]);
	}
	return text;
}

int trace_head__init(struct trace_head *head, char *const command[], struct trace_info *info)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*head = (struct trace_head){.command = command ? joined(command) : NULL};
	uname(&head->machine);
	*info = (struct trace_info){
		.tool = (char *)"qprof-bpf " QPROF_VERSION,
		.kernel = head->machine.release,
		.host = head->machine.nodename,
		.cpus = cpus > 0 ? (uint64_t)cpus : 0,
		.command = head->command,
	};
	/* Without random bytes, the trace has no id of its own: readers make one. */
	if (trace_id__make(&info->id))
		info->id = (struct trace_id){};
	return command && !head->command ? -ENOMEM : 0;
}

void trace_head__destroy(struct trace_head *head)
{
	free(take_ptr(head->command));
}
