/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * In a tree whose nodes have keys: which nodes have a key that no node above them has. A sum over
 * these counts each leaf once for a key, however often the key is above it. In time linear in the
 * nodes, with no recursion.
 */
#ifndef QPROF_ANALYZE_TREE_FIRST_H
#define QPROF_ANALYZE_TREE_FIRST_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_NONE UINT32_MAX

struct tree_node {
	uint32_t parent; /* smaller than its own number, or TREE_NONE */
	uint32_t key;	 /* below n_keys */
	bool is_first;	 /* the result */
};

/* 0 or -ENOMEM. */
int tree_first(struct tree_node *nodes, uint32_t n, uint32_t n_keys);

#endif /* QPROF_ANALYZE_TREE_FIRST_H */
