// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/tree_first.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* The children of each node as a list; those of none are in child[n]. */
struct lists {
	uint32_t *child, *next;
};

static void lists__clear(struct lists *l)
{
	free(l->child);
	free(l->next);
}

static int lists__init(struct lists *l, const struct tree_node *nodes, uint32_t n)
{
	l->child = malloc((n + 1UL) * sizeof(*l->child));
	l->next = malloc((n + 1UL) * sizeof(*l->next));
	if (!l->child || !l->next)
		return -ENOMEM;
	for (uint32_t i = 0; i <= n; i++)
		l->child[i] = TREE_NONE;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t parent = nodes[i].parent == TREE_NONE ? n : nodes[i].parent;

		l->next[i] = l->child[parent];
		l->child[parent] = i;
	}
	return 0;
}

/* Leave a node and those above it that have no more children; the next one, or TREE_NONE. */
static uint32_t leave(const struct tree_node *nodes, const struct lists *l, uint32_t *open,
		      uint32_t i)
{
	for (; i != TREE_NONE; i = nodes[i].parent) {
		open[nodes[i].key]--;
		if (l->next[i] != TREE_NONE)
			return l->next[i];
	}
	return TREE_NONE;
}

int tree_first(struct tree_node *nodes, uint32_t n, uint32_t n_keys)
{
	__cleanup(lists__clear) struct lists l = {};
	_free_ uint32_t *open = calloc(n_keys + 1UL, sizeof(*open));

	if (!open || lists__init(&l, nodes, n))
		return -ENOMEM;
	for (uint32_t i = l.child[n]; i != TREE_NONE;) {
		nodes[i].is_first = !open[nodes[i].key]++;
		i = l.child[i] != TREE_NONE ? l.child[i] : leave(nodes, &l, open, i);
	}
	return 0;
}
