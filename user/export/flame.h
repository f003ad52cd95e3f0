/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Executions merged by their stacks. There is a tree per process, in which a node is a query or a
 * phase called in one particular way, with its count and time.
 *
 * Spans arrive in the order of their ends, so a node's children exist before the node does. Spans
 * that no span encloses yet stay with their thread, merged, in one list per depth; a span takes the
 * deeper ones as its children. Each span costs a few look-ups. Memory grows with the number of
 * different stacks and not with spans: 56 bytes per stack and 32 to 64 to find it, and up to twice
 * that while the tables grow. Stacks that are still open on a thread count as well.
 *
 * Cache hits and intervals of a kind that this program does not know have no node. Their children
 * become children of the enclosing span.
 */
#ifndef QPROF_EXPORT_FLAME_H
#define QPROF_EXPORT_FLAME_H

#include "export/flame_tree.h"
#include "export/job.h"
#include "trace/interner.h"

struct flame_process {
	const struct trace_process *process; /* the reader's; NULL: it was added by its name */
	uint32_t node;
	char *title;
};

struct flame {
	struct export_job *job;
	struct flame_tree tree;
	struct flame_process *processes; /* by index */
	uint32_t n_processes;
	uint32_t processes_capacity;
	/* Numbered from 0; processes have no frame number. Their names are not escaped, and include
	 * the kind, except for an execution, and with job->keys the key: "typeck(app::main)". */
	struct flame_frames frames;
	TABLE(struct flame_thread) threads; /* by process << 32 | tid */
	struct self_time *self_time;
	struct interner names; /* of added nodes; a frame has the number of its name */
	struct u64_map tops;   /* name -> process */
	bool has_off; /* once finished: some stack was off the CPU, so times on it differ from wall
		       */
};

/*
 * Read job->r to its end. The self times of a query in a process, on the CPU and in all, add up to
 * those of `report`, or with job->raw to those of `report --raw`. The probe costs of a query are
 * subtracted from its stacks, none of which goes below 0; the rest is spread over its other stacks.
 * So is the time off the CPU. Children are sorted by name. 0 or a negative errno.
 */
int flame__build(struct export_job *job, struct flame **out);

/* Likewise with job->by_item, which flame__build() heeds: items in their modules, and queries. */
int flame__build_items(struct export_job *job, struct flame **out);

/* Likewise with job->cause, which flame__build() heeds: sampled stacks (export/flame_samples.h). */
int flame__build_samples(struct export_job *job, struct flame **out);

/*
 * The same in steps, for callers that also use the items themselves: pass every item of job->r,
 * then finish. Errors as flame__build().
 */
int flame__new(struct export_job *job, struct flame **out);
int flame__item(struct flame *f, const struct trace_item *item);
int flame__finish(struct flame *f);

/*
 * Stacks of anything else, instead of items: a node that stands for a process, and below a node
 * another one, by their names; each is made once. FLAME_NONE: no memory. Finish as above.
 */
uint32_t flame__add_top(struct flame *f, const char *name, size_t len);
uint32_t flame__add(struct flame *f, uint32_t parent, const char *name, size_t len);
/* `off_ns` is the part of `self`, ns or bytes, that was off the CPU. */
void flame__charge(struct flame *f, uint32_t node, uint64_t count, uint64_t self, uint64_t off_ns);

/* The self time of a node that job->wall chooses. */
uint64_t flame__self(const struct flame *f, const struct flame_node *node);

/* Of a frame, or of a process. */
const char *flame__name(const struct flame *f, const struct flame_node *node);

/* The number of a node's frame; the processes follow the frames. */
uint64_t flame__number(const struct flame *f, uint32_t node);

/* Where what the frame's query was about is in the source; NULL: unknown, or without job->keys. */
const struct trace_place *flame__frame_place(const struct flame *f, uint32_t frame);

/*
 * The node that follows `i` in the tree below `top`, parents before children; FLAME_NONE after the
 * last. *depth, 0 at `top`, is updated.
 */
uint32_t flame__walk(const struct flame *f, uint32_t top, uint32_t i, uint32_t *depth);

void flame__free(struct flame *f);
DEFINE_CLEANUP(struct flame, flame__free)
#define _flame_ __cleanup(flame__free_p)

/* Iterates over the stacks of a merged tree, each from its outermost frame. */

/* All zeroes is empty. */
struct stack {
	const struct flame *flame;
	uint32_t *nodes; /* [0] is the process, [n - 1] the innermost node */
	uint32_t n;
	uint32_t capacity;
	uint32_t process; /* its number */
	uint32_t end;
};

/* Start before the stacks of the processes from number `from` up to, without, `to`. */
void stack__begin(struct stack *s, const struct flame *f, uint32_t from, uint32_t to);

/* 1, 0 after the last stack, or -ENOMEM. A process alone is not a stack. */
int stack__next(struct stack *s);

/* The innermost node, after stack__next(). */
const struct flame_node *stack__node(const struct stack *s);

void stack__destroy(struct stack *s);
#define _stack_ __cleanup(stack__destroy)

#endif /* QPROF_EXPORT_FLAME_H */
