/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The nodes of a merged tree (export/flame.h), found by parent and frame. */
#ifndef QPROF_EXPORT_FLAME_TREE_H
#define QPROF_EXPORT_FLAME_TREE_H

#include "base/map.h"
#include "export/flame.h"

struct flame_pair {
	uint32_t from;
	uint32_t to;
};

/* All zeroes is an empty one. */
struct flame_tree {
	struct flame_node *nodes;
	uint32_t n;
	uint32_t capacity;
	uint32_t n_free;       /* of them */
	uint32_t free;	       /* the first of those plus 1, the rest by `next`; 0: none */
	struct u64_map by_key; /* parent << 32 | frame -> node */
	struct flame_pair *todo;
	uint32_t n_todo;
	uint32_t todo_capacity;
};

/* A node without a parent; FLAME_NONE without memory. */
uint32_t flame_tree__new(struct flame_tree *t, uint32_t frame);

/* Its number may be given out again. It has no parent, no child, and is no root. */
void flame_tree__release(struct flame_tree *t, uint32_t i);

/* The child of that frame, or FLAME_NONE. */
uint32_t flame_tree__find(const struct flame_tree *t, uint32_t parent, uint32_t frame);

/* Hang `node`, which has no parent, under `parent`, which has no such child. 0 or -ENOMEM. */
int flame_tree__attach(struct flame_tree *t, uint32_t parent, uint32_t node);

/*
 * Give all children of `from` to `to`: those that it has already are added up, with all below
 * them. `from` is left without children. 0, or -ENOMEM, after which the tree is good for nothing.
 * Takes time by the nodes that go away.
 */
int flame_tree__move_children(struct flame_tree *t, uint32_t from, uint32_t to);

void flame_tree__destroy(struct flame_tree *t);

#endif /* QPROF_EXPORT_FLAME_TREE_H */
