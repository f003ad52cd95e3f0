// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "decode/caller_index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "trace/function_table.h"
#include "base/array.h"

struct caller_index {
	struct locations *locations;
	struct u64_map known; /* file and return address -> locindex, or TRACE_NO_LOCATION */
	uint64_t refused;
	uint64_t unplaced;
};

int caller_index__new(struct caller_index **out)
{
	_caller_index_ struct caller_index *c = calloc(1, sizeof(*c));

	if (!c || locations__new(&c->locations))
		return -ENOMEM;
	*out = take_ptr(c);
	return 0;
}

static uint64_t key_of(const struct decoder_functions *functions, uint64_t addr)
{
	return (uint64_t)functions->file << 32 | (uint32_t)addr;
}

int caller_index__find(struct caller_index *c, const struct decoder_functions *functions,
		       uint64_t addr, bool is_return, uint32_t *locindex,
		       struct trace_function *found)
{
	struct trace_function f = {.library = ""};
	uint64_t pc = addr - is_return;
	uint32_t offset;
	bool is_new;
	int err;

	*found = (struct trace_function){0};
	*locindex = TRACE_NO_LOCATION;
	if (!functions || pc > UINT32_MAX ||
	    !functions->find(functions->ctx, (uint32_t)pc, &f.addr, &f.size))
		return 0;
	offset = (uint32_t)(addr - f.addr);
	err = locations__index(c->locations, key_of(functions, f.addr), f.size, offset, locindex,
			       &is_new);
	if (err == -EOVERFLOW) {
		c->refused++;
		*locindex = TRACE_NO_LOCATION;
		return 0;
	}
	if (err || !is_new)
		return err;
	f.first = *locindex - offset;
	if (functions->describe)
		functions->describe(functions->ctx, &f);
	f.name = functions->name(functions->ctx, (uint32_t)pc);
	*found = f;
	return f.name ? 0 : -ENOMEM;
}

int caller_index__get(struct caller_index *c, const struct decoder_functions *functions,
		      uint32_t caller, uint32_t *locindex, struct trace_function *found)
{
	uint32_t known;
	int err = 0;

	*found = (struct trace_function){0};
	*locindex = TRACE_NO_LOCATION;
	if (!caller)
		return 0;
	known = functions ? u64_map__get(&c->known, key_of(functions, caller)) : *locindex;
	if (known == U64_MAP_NONE) {
		err = caller_index__find(c, functions, caller, true, locindex, found);
		err = err ?: u64_map__put(&c->known, key_of(functions, caller), *locindex);
	} else {
		*locindex = known;
	}
	c->unplaced += *locindex == TRACE_NO_LOCATION;
	return err;
}

uint64_t caller_index__unplaced(const struct caller_index *c)
{
	return c->unplaced;
}

uint64_t caller_index__refused(const struct caller_index *c)
{
	return c->refused;
}

void caller_index__free(struct caller_index *c)
{
	if (!c)
		return;
	locations__free(c->locations);
	u64_map__destroy(&c->known);
	free(c);
}

/* ---- Executions ------------------------------------------------------------------------------ */

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
