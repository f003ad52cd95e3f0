// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Stacks of items instead of callers: a crate, the modules and impls in it, the item, and each
 * query about it, with the self time that `report --by item` has.
 */
#include <errno.h>
#include <string.h>

#include "analyze/model.h"
#include "export/flame.h"

#define NO_ITEM "(no item)"

struct adding {
	struct flame *flame;
	const struct trace_reader *r;
};

/* Add a node for each segment of a path. Types, which other tools' paths have, may hold "::". */
static uint32_t add_path(struct flame *f, const char *path)
{
	uint32_t node = FLAME_NONE;

	for (;;) {
		size_t n = 0;
		int within = 0;

		for (; path[n] && (within > 0 || strncmp(path + n, "::", 2) != 0); n++)
			within += path[n] == '<' ? 1 : path[n] == '>' ? -1 : 0;
		node = node == FLAME_NONE ? flame__add_top(f, path, n)
					  : flame__add(f, node, path, n);
		if (node == FLAME_NONE || !path[n])
			return node;
		path += n + 2;
	}
}

static int add_cell(void *ctx, const struct item_cell *cell)
{
	const struct adding *a = ctx;
	const char *query = trace_reader__string(a->r, cell->label);
	uint32_t node = add_path(a->flame, cell->item == TRACE_NO_STRING
						   ? NO_ITEM
						   : trace_reader__string(a->r, cell->item));

	if (node != FLAME_NONE)
		node = flame__add(a->flame, node, query, strlen(query));
	if (node == FLAME_NONE)
		return -ENOMEM;
	flame__charge(a->flame, node, cell->executions, cell->self_ns,
		      cell->self_ns - cell->cpu_ns);
	return 0;
}

int flame__build_items(struct export_job *job, struct flame **out)
{
	struct model_options options = model_options_of(job->r);
	struct adding a = {.r = job->r};
	_flame_ struct flame *f = NULL;
	_model_ struct model m;
	int err;

	options.parts = MODEL_ITEMS;
	options.raw = job->raw;
	err = model__init(&m, &options) ?: model__read(&m, job->r) ?: flame__new(job, &f);
	a.flame = f;
	err = err ?: items__each(m.items, add_cell, &a) ?: flame__finish(f);
	if (err)
		return err;
	*out = take_ptr(f);
	return 0;
}
