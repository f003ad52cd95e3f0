/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The nodes of a merged tree (export/flame.h), found by parent and frame. */
#ifndef QPROF_EXPORT_FLAME_TREE_H
#define QPROF_EXPORT_FLAME_TREE_H

#include "base/map.h"
#include "base/table.h"
#include "export/job.h"

#define FLAME_NONE UINT32_MAX

/* The times of a stack that exports show; of samples of memory, both are bytes. */
enum flame_value {
	FLAME_CPU,  /* on the CPU */
	FLAME_WALL, /* with the time off the CPU */
	FLAME_VALUES,
};

struct flame_node {
	uint32_t parent; /* FLAME_NONE: the node is a process */
	uint32_t child;	 /* the first, or FLAME_NONE */
	uint32_t next;	 /* the next child of the parent, or FLAME_NONE */
	uint32_t frame;	 /* see flame__name() in flame.h; for a process, its index */
	uint64_t count;	 /* executions, as a report counts them */
	uint64_t self[FLAME_VALUES];
	/* Parts of the wall time, 0 once flame__finish() has subtracted them. */
	uint64_t off_ns;
	uint64_t probe_ns;
};

struct flame_pair {
	uint32_t from;
	uint32_t to;
};

/* All zeroes is empty. */
struct flame_tree {
	struct flame_node *nodes;
	uint32_t n;
	uint32_t capacity;
	uint32_t n_free;       /* unused nodes */
	uint32_t free;	       /* the first unused node plus 1, the rest by `next`; 0: none */
	struct u64_map by_key; /* parent << 32 | frame -> node */
	struct flame_pair *todo;
	uint32_t n_todo;
	uint32_t todo_capacity;
};

/* Make a node without a parent; FLAME_NONE: no memory. */
uint32_t flame_tree__new(struct flame_tree *t, uint32_t frame);

/* Free a node for reuse. It has no parent and no children, and is not a root. */
void flame_tree__release(struct flame_tree *t, uint32_t i);

/* The child with that frame, or FLAME_NONE. */
uint32_t flame_tree__find(const struct flame_tree *t, uint32_t parent, uint32_t frame);

/*
 * Make `node`, which has no parent, a child of `parent`, which has no child with its frame. 0 or
 * -ENOMEM.
 */
int flame_tree__attach(struct flame_tree *t, uint32_t parent, uint32_t node);

/*
 * Move all children of `from` to `to`. A child whose frame `to` already has is merged into that
 * one, with everything below it. `from` has no children afterwards. 0, or -ENOMEM, after which the
 * tree can only be destroyed. The time is proportional to the number of nodes that go away.
 */
int flame_tree__move_children(struct flame_tree *t, uint32_t from, uint32_t to);

void flame_tree__destroy(struct flame_tree *t);

/* The frames of the stacks of an export (export/flame.h): one for each name, shared by the nodes.
 */

struct flame_frame {
	uint32_t label;
	uint32_t key; /* string id of the query's key; TRACE_NO_STRING: none, or it is not shown */
	uint8_t kind;
	/* The first frame of its row in a report, off which probe costs are taken. */
	uint32_t query;
	char *name; /* NULL: the text of the label */
};

/* All zeroes but for the job, which outlives it: no frames. */
struct flame_frames {
	const struct export_job *job;
	TABLE(struct flame_frame)
	all;			 /* by kind << 32 | label, or with keys its index in `keyed` */
	TABLE(uint32_t) keyed;	 /* keys, by label << 32 | key */
	struct u64_map query_of; /* is activity << 32 | label -> the first of its frames */
};

/* Set *frame to the number of the span's frame. 0 or -ENOMEM. */
int flame_frames__of(struct flame_frames *f, const struct trace_span *s, uint32_t *frame);

/*
 * The number of the frame with this name. `id` stands for the name, and for no kind and label of a
 * span. FLAME_NONE: no memory.
 */
uint32_t flame_frames__named(struct flame_frames *f, uint64_t id, const char *name, size_t len);

const char *flame_frames__name(const struct flame_frames *f, uint32_t frame);

/* True for a query or an activity, which count as executions. */
bool flame_frame_is_execution(uint8_t kind);

void flame_frames__destroy(struct flame_frames *f);

#endif /* QPROF_EXPORT_FLAME_TREE_H */
