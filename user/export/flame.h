/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Executions merged by their stacks: a tree per process, in which a node is a query or a phase
 * called in one certain way, with how often and how long.
 *
 * Spans come in the order of their ends, so a node's children are there before it is. Those that
 * nothing encloses yet hang on their thread, one list for each depth, merged already: a span takes
 * what is deeper than it for its children. Each span costs a few look-ups, and memory is by
 * different stacks, not by spans: 40 bytes for each and 32 to 64 to find it, up to twice that
 * while they become more; those under way on each thread are among them.
 *
 * Cache hits, and intervals of a kind that this program does not know, are not in it: what those
 * enclose belongs to what encloses them.
 */
#ifndef QPROF_EXPORT_FLAME_H
#define QPROF_EXPORT_FLAME_H

#include "export/job.h"

#define FLAME_NONE UINT32_MAX

struct flame_node {
	uint32_t parent; /* FLAME_NONE: the node is a process */
	uint32_t child;	 /* the first, or FLAME_NONE */
	uint32_t next;	 /* the next child of the parent, or FLAME_NONE */
	uint32_t frame;	 /* what it is: see flame__name(); of a process its index */
	uint64_t count;	 /* executions, as a report counts them */
	uint64_t self_ns;
	uint64_t probe_ns; /* of self_ns; 0 once flame__build() has taken it off */
};

struct flame;

/*
 * Read job->r to its end. Self times of a query in a process add up to what `report` says, or with
 * job->raw to what `report --raw` says: what probes took of a query is taken off its stacks, none
 * of which gets below 0, and what is left over is spread over the others. Children are sorted by
 * name. 0 or a negative errno.
 */
int flame__build(struct export_job *job, struct flame **out);

/*
 * The same in steps, for who reads job->r for something else, too: all its items, then what
 * flame__build() promises. Errors are the same.
 */
int flame__new(struct export_job *job, struct flame **out);
int flame__item(struct flame *f, const struct trace_item *item);
int flame__finish(struct flame *f);

/* Nodes are numbered from 0 to below this; some numbers are unused, and no node's relative. */
uint32_t flame__n_nodes(const struct flame *f);

/* Different stacks; processes are none. */
uint32_t flame__n_stacks(const struct flame *f);

const struct flame_node *flame__node(const struct flame *f, uint32_t i);

/* The node of the i-th process of the trace, or FLAME_NONE past the end. */
uint32_t flame__process(const struct flame *f, uint32_t i);

/* Not escaped; with its kind where that is needed to tell it from an execution. */
const char *flame__name(const struct flame *f, const struct flame_node *node);

/* Frames other than processes are numbered from 0. */
uint32_t flame__n_frames(const struct flame *f);
const char *flame__frame_name(const struct flame *f, uint32_t frame);

/*
 * The node after `i` when all below `top` are gone through, each before its children; FLAME_NONE
 * behind the last. *depth, which is 0 at `top`, is kept up.
 */
uint32_t flame__walk(const struct flame *f, uint32_t top, uint32_t i, uint32_t *depth);

void flame__free(struct flame *f);
DEFINE_CLEANUP(struct flame, flame__free)
#define _flame_ __cleanup(flame__free_p)

#endif /* QPROF_EXPORT_FLAME_H */
