// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/ended.h"

#include <stdlib.h>
#include <string.h>

void ended__add(struct ended *e, pid_t pid, const struct mapped_library *library)
{
	uint32_t i = e->n % ENDED_KEPT;
	char *path = strdup(library->path);

	if (!path)
		return;
	free(e->items[i].path);
	e->items[i].pid = pid;
	e->items[i].library = *library;
	e->items[i].library.path = e->items[i].path = path;
	e->n++;
}

const struct mapped_library *ended__find(const struct ended *e, pid_t pid, uint64_t time_ns)
{
	for (uint32_t i = 0; i < ENDED_KEPT; i++)
		if (e->items[i].pid == pid && e->items[i].library.time_ns >= time_ns)
			return &e->items[i].library;
	return NULL;
}

void ended__destroy(struct ended *e)
{
	for (uint32_t i = 0; i < ENDED_KEPT; i++)
		free(e->items[i].path);
	*e = (struct ended){0};
}
