// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/process_title.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first word of a command, without its directory; its length goes to *size. */
static const char *program_of(const char *command, int *size)
{
	const char *end = command + strcspn(command, " ");
	const char *name = end;

	while (name > command && name[-1] != '/')
		name--;
	*size = (int)(end - name);
	return name;
}

char *process_title(const struct trace_process *p)
{
	const char *name = p->crate && *p->crate ? p->crate : NULL;
	int size = name ? (int)strlen(name) : 0;
	char *title;

	if (!name && p->command)
		name = program_of(p->command, &size);
	if (!size) {
		name = "process";
		size = (int)strlen(name);
	}
	return asprintf(&title, "%.*s (%" PRIu32 ")", size, name, p->pid) < 0 ? NULL : title;
}
