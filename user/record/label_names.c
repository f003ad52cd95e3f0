// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/label_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int label_names__id(struct label_names *l, struct trace_output *trace, const char *name,
		    uint32_t *id)
{
	trace_output__write(trace, trace_writer__intern, name, id);
	/* Without a file, a name that is known keeps its id, and another one gets the next. */
	if (trace->err)
		for (*id = 0; *id < l->end && (!l->names[*id] || strcmp(l->names[*id], name));)
			++*id;
	if (array__reserve_at(&l->names, *id, &l->capacity, sizeof(*l->names)))
		return -ENOMEM;
	if (!l->names[*id])
		l->names[*id] = strdup(name);
	if (*id >= l->end)
		l->end = *id + 1;
	return l->names[*id] ? 0 : -ENOMEM;
}

const char *label_names__get(const struct label_names *l, uint32_t id)
{
	return id < l->end && l->names[id] ? l->names[id] : "<unknown>";
}

void label_names__clear(struct label_names *l)
{
	for (uint32_t i = 0; i < l->end; i++)
		free(l->names[i]);
	free(l->names);
	*l = (struct label_names){0};
}
