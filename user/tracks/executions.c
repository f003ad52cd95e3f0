// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/executions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096u

static int make_room(struct executions *e, uint32_t invocation)
{
	uint32_t n = e->n ? e->n : FIRST_ROOM;
	uint16_t *queries;

	while (n <= invocation)
		n *= 2;
	queries = reallocarray(e->queries, n, sizeof(*queries));
	if (!queries)
		return -ENOMEM;
	memset(queries + e->n, 0, (n - e->n) * sizeof(*queries));
	e->queries = queries;
	e->n = n;
	return 0;
}

int executions__note(struct executions *e, uint32_t invocation, uint16_t query)
{
	if (invocation >= EXECUTIONS_MAX || query == WIRE_NO_QUERY)
		return 0;
	if (invocation >= e->n && make_room(e, invocation))
		return -ENOMEM;
	e->queries[invocation] = query + 1;
	return 0;
}

uint16_t executions__query(const struct executions *e, uint32_t invocation)
{
	uint16_t query = invocation < e->n ? e->queries[invocation] : 0;

	return query ? (uint16_t)(query - 1) : WIRE_NO_QUERY;
}

void executions__clear(struct executions *e)
{
	free(e->queries);
	*e = (struct executions){NULL, 0};
}
