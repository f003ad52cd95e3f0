// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "trace/process_list.h"

#include <stdlib.h>

#include "base/array.h"

static struct trace_process *append(struct process_list *l)
{
	struct trace_process *p;

	if (array__reserve_one(&l->at, l->n, &l->capacity, sizeof(*l->at)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		l->at[l->n++] = p;
	return p;
}

struct trace_process *process_list__set(struct process_list *l, const struct trace_process *record)
{
	struct trace_process *p = record->index < l->n ? l->at[record->index] : append(l);

	if (p)
		*p = *record;
	return p;
}

void process_list__destroy(struct process_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->at[i]);
	free(l->at);
	*l = (struct process_list){0};
}
