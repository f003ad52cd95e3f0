// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

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
	/* Its children first, then the node itself. */
	if (n->child != FLAME_NONE)
		return array__add(&t->todo, &t->n_todo, &t->todo_capacity,
				  &((const struct flame_pair){child, there}));
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

/* ---- Frames ---------------------------------------------------------------------------------- */

bool flame_frame_is_execution(uint8_t kind)
{
	return kind == TRACE_KIND_QUERY || kind == TRACE_KIND_ACTIVITY;
}

/* A new frame's name: "typeck", "typeck(app::main)"; waits and loads add their kind. */
static int name_frame(struct flame_frames *f, struct flame_frame *frame)
{
	const struct trace_reader *r = f->job->r;
	_free_ char *label = NULL;

	if (flame_frame_is_execution(frame->kind) && frame->key == TRACE_NO_STRING)
		return 0;
	if (frame->key == TRACE_NO_STRING)
		label = strdup(trace_reader__string(r, frame->label));
	else if (asprintf(&label, "%s(%s)", trace_reader__string(r, frame->label),
			  trace_reader__string(r, frame->key)) < 0)
		label = NULL;
	if (!label)
		return -ENOMEM;
	if (flame_frame_is_execution(frame->kind))
		frame->name = take_ptr(label);
	else if (asprintf(&frame->name, "%s [%s]", label, trace_reader__kind(r, frame->kind)) < 0)
		frame->name = NULL;
	return frame->name ? 0 : -ENOMEM;
}

int flame_frames__of(struct flame_frames *f, const struct trace_span *s, uint32_t *out)
{
	const uint64_t row = (uint64_t)(s->kind == TRACE_KIND_ACTIVITY) << 32 | s->label;
	uint32_t n = f->all.n, key = TRACE_NO_STRING, what = s->label, first;
	struct flame_frame *frame;
	const uint32_t *keyed;
	const char *text;

	/* With keys, a frame stands for a label with its key. */
	if (f->job->keys) {
		key = trace_reader__event_string(f->job->r, s);
		text = key == TRACE_NO_STRING ? "" : trace_reader__string(f->job->r, key);
		/* An unknown key is an empty text, and "()" that of a query without. */
		if (!*text || !strcmp(text, "()"))
			key = TRACE_NO_STRING;
		keyed = table__get(&f->keyed, (uint64_t)s->label << 32 | key, key);
		if (!keyed)
			return -ENOMEM;
		what = keyed - f->keyed.at;
	}
	frame = table__get(&f->all, (uint64_t)s->kind << 32 | what, .label = s->label, .key = key,
			   .kind = s->kind, .query = n);
	if (!frame)
		return -ENOMEM;
	*out = frame - f->all.at;
	if (f->all.n == n)
		return 0;
	first = u64_map__get(&f->query_of, row);
	if (first != U64_MAP_NONE)
		frame->query = first;
	else if (u64_map__put(&f->query_of, row, n))
		return -ENOMEM;
	return name_frame(f, frame);
}

uint32_t flame_frames__named(struct flame_frames *f, uint64_t id, const char *name, size_t len)
{
	uint32_t n = f->all.n;
	struct flame_frame *frame =
		table__get(&f->all, id, .label = TRACE_NO_STRING, .key = TRACE_NO_STRING,
			   .kind = TRACE_KIND_QUERY, .query = n);

	if (!frame)
		return FLAME_NONE;
	frame->name = frame->name ?: strndup(name, len);
	return frame->name ? (uint32_t)(frame - f->all.at) : FLAME_NONE;
}

const char *flame_frames__name(const struct flame_frames *f, uint32_t frame)
{
	return f->all.at[frame].name ?: trace_reader__string(f->job->r, f->all.at[frame].label);
}

void flame_frames__destroy(struct flame_frames *f)
{
	for (uint32_t i = 0; i < f->all.n; i++)
		free(f->all.at[i].name);
	table__destroy(&f->all);
	table__destroy(&f->keyed);
	u64_map__destroy(&f->query_of);
}
