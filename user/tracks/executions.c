// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tracks/executions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int executions__note(struct executions *e, uint32_t invocation, uint16_t query)
{
	if (invocation >= EXECUTIONS_MAX || query == WIRE_NO_QUERY)
		return 0;
	if (invocation >= e->n &&
	    array__reserve_at(&e->queries, invocation, &e->n, sizeof(*e->queries)))
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
