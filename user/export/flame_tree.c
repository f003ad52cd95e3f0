// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static uint64_t key_of(uint32_t parent, uint32_t frame)
{
	return (uint64_t)parent << 32 | frame;
}

uint32_t flame_tree__new(struct flame_tree *t, uint32_t frame)
{
	const struct flame_node node = {
		.parent = FLAME_NONE, .child = FLAME_NONE, .next = FLAME_NONE, .frame = frame};
	uint32_t i = t->free - 1;

	if (t->free) {
		t->free = t->nodes[i].next;
		t->n_free--;
	} else {
		/* FLAME_NONE, the last number, is reserved. */
		if (t->n == FLAME_NONE - 1 ||
		    array__reserve_one(&t->nodes, t->n, &t->capacity, sizeof(*t->nodes)))
			return FLAME_NONE;
		i = t->n++;
	}
	t->nodes[i] = node;
	return i;
}

void flame_tree__release(struct flame_tree *t, uint32_t i)
{
	t->nodes[i] =
		(struct flame_node){.parent = FLAME_NONE, .child = FLAME_NONE, .next = t->free};
	t->free = i + 1;
	t->n_free++;
}

uint32_t flame_tree__find(const struct flame_tree *t, uint32_t parent, uint32_t frame)
{
	return u64_map__get(&t->by_key, key_of(parent, frame));
}

int flame_tree__attach(struct flame_tree *t, uint32_t parent, uint32_t node)
{
	struct flame_node *n = &t->nodes[node];

	if (u64_map__put(&t->by_key, key_of(parent, n->frame), node))
		return -ENOMEM;
	n->parent = parent;
	n->next = t->nodes[parent].child;
	t->nodes[parent].child = node;
	return 0;
}

static int add_todo(struct flame_tree *t, uint32_t from, uint32_t to)
{
	if (array__reserve_one(&t->todo, t->n_todo, &t->todo_capacity, sizeof(*t->todo)))
		return -ENOMEM;
	t->todo[t->n_todo++] = (struct flame_pair){from, to};
	return 0;
}

/* Make `child` a child of `to`, or merge it into the child with the same frame. */
static int give(struct flame_tree *t, uint32_t child, uint32_t to)
{
	struct flame_node *n = &t->nodes[child], *same;
	uint32_t there = flame_tree__find(t, to, n->frame);

	if (there == U64_MAP_NONE)
		return flame_tree__attach(t, to, child);
	same = &t->nodes[there];
	same->count += n->count;
	for (int i = 0; i < FLAME_VALUES; i++)
		same->self[i] += n->self[i];
	same->off_ns += n->off_ns;
	same->probe_ns += n->probe_ns;
	if (n->child != FLAME_NONE)
		return add_todo(t, child, there); /* its children first, then the node itself */
	flame_tree__release(t, child);
	return 0;
}

static int move_direct(struct flame_tree *t, uint32_t from, uint32_t to)
{
	uint32_t child = t->nodes[from].child, next;

	t->nodes[from].child = FLAME_NONE;
	for (; child != FLAME_NONE; child = next) {
		next = t->nodes[child].next;
		u64_map__remove(&t->by_key, key_of(from, t->nodes[child].frame));
		if (give(t, child, to))
			return -ENOMEM;
	}
	return 0;
}

int flame_tree__move_children(struct flame_tree *t, uint32_t from, uint32_t to)
{
	int err = move_direct(t, from, to);

	/* A work list, because recursion could exhaust the stack on a deeply nested trace. */
	while (!err && t->n_todo) {
		struct flame_pair pair = t->todo[--t->n_todo];

		err = move_direct(t, pair.from, pair.to);
		flame_tree__release(t, pair.from);
	}
	return err;
}

void flame_tree__destroy(struct flame_tree *t)
{
	free(t->nodes);
	free(t->todo);
	u64_map__destroy(&t->by_key);
	*t = (struct flame_tree){0};
}
