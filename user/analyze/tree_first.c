// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/tree_first.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

int tree_first(struct tree_node *nodes, uint32_t n, uint32_t n_keys)
{
	/* The children of each node as a list; those of none are in child[n]. */
	_free_ uint32_t *child = malloc((n + 1UL) * sizeof(*child));
	_free_ uint32_t *next = malloc((n + 1UL) * sizeof(*next));
	_free_ uint32_t *open = calloc(n_keys + 1UL, sizeof(*open)); /* by key: nodes around */

	if (!child || !next || !open)
		return -ENOMEM;
	for (uint32_t i = 0; i <= n; i++)
		child[i] = TREE_NONE;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t parent = nodes[i].parent == TREE_NONE ? n : nodes[i].parent;

		next[i] = child[parent];
		child[parent] = i;
	}
	for (uint32_t i = child[n]; i != TREE_NONE;) {
		nodes[i].is_first = !open[nodes[i].key]++;
		if (child[i] != TREE_NONE) {
			i = child[i];
			continue;
		}
		/* Leave it and those above it that have no more children. */
		while (i != TREE_NONE && next[i] == TREE_NONE) {
			open[nodes[i].key]--;
			i = nodes[i].parent;
		}
		if (i != TREE_NONE) {
			open[nodes[i].key]--;
			i = next[i];
		}
	}
	return 0;
}
