// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "export/flame.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "export/flame_tree.h"
#include "export/notes.h"
#include "trace/self_time.h"

/* The spans of a thread at one depth that no span encloses yet. */
struct level {
	uint16_t depth;
	uint32_t node; /* their parent; a placeholder without a frame of its own */
};

struct flame_thread {
	uint32_t process;
	struct level *levels; /* ascending depths, without 0, whose parent is the process's node */
	uint32_t n;
	uint32_t capacity;
};

/* ---- Names ----------------------------------------------------------------------------------- */

const struct trace_place *flame__frame_place(const struct flame *f, uint32_t frame)
{
	uint32_t key = f->frames.all.at[frame].key;

	return key == TRACE_NO_STRING ? NULL
				      : trace_reader__place(f->job->r, TRACE_NO_PROCESS, key);
}

const char *flame__name(const struct flame *f, const struct flame_node *node)
{
	if (node->parent == FLAME_NONE)
		return f->processes[node->frame].title;
	return flame_frames__name(&f->frames, node->frame);
}

/* ---- Building -------------------------------------------------------------------------------- */

static int append_process(struct flame *f, struct flame_process *p)
{
	p->node = flame_tree__new(&f->tree, f->n_processes);
	if (p->node == FLAME_NONE ||
	    array__reserve_one(&f->processes, f->n_processes, &f->processes_capacity,
			       sizeof(*f->processes)))
		return -ENOMEM;
	f->processes[f->n_processes++] = *p;
	return 0;
}

/* The parent node of the thread's spans at this depth. The thread has no deeper spans left. */
static uint32_t node_at(struct flame *f, struct flame_thread *t, uint16_t depth)
{
	struct level *top = t->n ? &t->levels[t->n - 1] : NULL;
	uint32_t node;

	if (!depth)
		return f->processes[t->process].node;
	if (top && top->depth == depth)
		return top->node;
	if (array__reserve_one(&t->levels, t->n, &t->capacity, sizeof(*t->levels)))
		return FLAME_NONE;
	node = flame_tree__new(&f->tree, 0);
	if (node != FLAME_NONE)
		t->levels[t->n++] = (struct level){depth, node};
	return node;
}

/* Move the thread's spans that are deeper than `depth` under the node `to`. */
static int take_deeper(struct flame *f, struct flame_thread *t, uint16_t depth, uint32_t to)
{
	while (t->n && t->levels[t->n - 1].depth > depth) {
		uint32_t from = t->levels[--t->n].node;
		int err = flame_tree__move_children(&f->tree, from, to);

		flame_tree__release(&f->tree, from);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The node of a span under its parent, with the nodes that the span encloses; FLAME_NONE: no
 * memory.
 */
static uint32_t get_node(struct flame *f, struct flame_thread *t, const struct trace_span *s,
			 uint32_t frame)
{
	uint32_t parent = s->depth ? FLAME_NONE : f->processes[t->process].node;
	uint32_t node;

	for (uint32_t i = t->n; i && parent == FLAME_NONE; i--) {
		if (t->levels[i - 1].depth == s->depth)
			parent = t->levels[i - 1].node;
		if (t->levels[i - 1].depth < s->depth)
			break;
	}
	node = parent == FLAME_NONE ? U64_MAP_NONE : flame_tree__find(&f->tree, parent, frame);
	if (node != U64_MAP_NONE)
		return take_deeper(f, t, s->depth, node) ? FLAME_NONE : node;
	/*
	 * If the deeper spans are all at one depth, which is the case where nothing was lost, their
	 * placeholder becomes the new node.
	 */
	if (t->n && t->levels[t->n - 1].depth > s->depth) {
		node = t->levels[--t->n].node;
		f->tree.nodes[node].frame = frame;
	} else {
		node = flame_tree__new(&f->tree, frame);
	}
	if (node == FLAME_NONE || take_deeper(f, t, s->depth, node))
		return FLAME_NONE;
	parent = node_at(f, t, s->depth);
	if (parent == FLAME_NONE || flame_tree__attach(&f->tree, parent, node))
		return FLAME_NONE;
	return node;
}

/* Leave the span out: its children take its place. */
static int pass_over(struct flame *f, struct flame_thread *t, const struct trace_span *s)
{
	uint32_t loose, at;
	int err;

	if (!t->n || t->levels[t->n - 1].depth <= s->depth)
		return 0;
	loose = flame_tree__new(&f->tree, 0);
	if (loose == FLAME_NONE)
		return -ENOMEM;
	if (take_deeper(f, t, s->depth, loose))
		return -ENOMEM;
	at = node_at(f, t, s->depth);
	if (at == FLAME_NONE)
		return -ENOMEM;
	err = flame_tree__move_children(&f->tree, loose, at);
	flame_tree__release(&f->tree, loose);
	return err;
}

static int take_span(struct flame *f, const struct trace_span *s)
{
	struct flame_thread *t =
		table__get(&f->threads, (uint64_t)s->process << 32 | s->tid, .process = s->process);
	struct flame_node *node;
	struct trace_times own;
	uint32_t frame, i;

	if (!t || self_time__span(f->self_time, s, &own))
		return -ENOMEM;
	if (s->kind == TRACE_KIND_HIT)
		return 0;
	/* The meaning of other kinds' times is unknown. */
	if (!flame_frame_is_execution(s->kind) && s->kind != TRACE_KIND_BLOCKED &&
	    s->kind != TRACE_KIND_LOAD && s->kind != TRACE_KIND_HASHING)
		return pass_over(f, t, s);
	if (flame_frames__of(&f->frames, s, &frame))
		return -ENOMEM;
	i = get_node(f, t, s, frame);
	if (i == FLAME_NONE)
		return -ENOMEM;
	node = &f->tree.nodes[i];
	node->count += flame_frame_is_execution(s->kind);
	node->self[FLAME_WALL] += own.self_ns;
	node->off_ns += own.self_off_ns;
	node->probe_ns += own.self_probe_ns;
	return 0;
}

int flame__item(struct flame *f, const struct trace_item *item)
{
	switch (item->kind) {
	case TRACE_ITEM_PROCESS:
		if (item->process->index < f->n_processes)
			return 0;
		if (item->process->index > f->n_processes)
			return -EINVAL;
		return append_process(f, &(struct flame_process){.process = item->process});
	case TRACE_ITEM_SPAN:
		return take_span(f, &item->span);
	case TRACE_ITEM_COSTS:
		if (!f->job->raw)
			self_time__set_costs(f->self_time, &item->costs);
		return 0;
	default:
		return 0;
	}
}

/* ---- Stacks of anything else ----------------------------------------------------------------- */

/* The number of a name. FLAME_NONE: no memory. */
static uint32_t number_of(struct flame *f, const char *name, size_t len)
{
	_free_ char *text = strndup(name, len);
	bool is_new;
	uint32_t id;

	return text && !interner__id(&f->names, text, &id, &is_new) ? id : FLAME_NONE;
}

uint32_t flame__add_top(struct flame *f, const char *name, size_t len)
{
	uint32_t number = number_of(f, name, len), process = u64_map__get(&f->tops, number);
	struct flame_process p = {.title = NULL};

	if (number == FLAME_NONE)
		return FLAME_NONE;
	if (process != U64_MAP_NONE)
		return f->processes[process].node;
	p.title = strndup(name, len);
	if (!p.title || u64_map__put(&f->tops, number, f->n_processes) || append_process(f, &p)) {
		free(p.title);
		return FLAME_NONE;
	}
	return p.node;
}

uint32_t flame__add(struct flame *f, uint32_t parent, const char *name, size_t len)
{
	uint32_t number = number_of(f, name, len), frame, node;

	if (number == FLAME_NONE)
		return FLAME_NONE;
	frame = flame_frames__named(&f->frames, number, name, len);
	if (frame == FLAME_NONE)
		return FLAME_NONE;
	node = flame_tree__find(&f->tree, parent, frame);
	if (node != FLAME_NONE)
		return node;
	node = flame_tree__new(&f->tree, frame);
	return node != FLAME_NONE && !flame_tree__attach(&f->tree, parent, node) ? node
										 : FLAME_NONE;
}

void flame__charge(struct flame *f, uint32_t node, uint64_t count, uint64_t self, uint64_t off_ns)
{
	f->tree.nodes[node].count += count;
	f->tree.nodes[node].self[FLAME_WALL] += self;
	f->tree.nodes[node].off_ns += off_ns;
}

/* ---- Probe costs, and times off the CPU ------------------------------------------------------ */

/* The sums of one query in one process: executions, waits and loads. */
struct share {
	uint64_t self_ns;
	uint64_t part_ns;  /* of it, that is subtracted */
	uint64_t alone_ns; /* the nodes' self times without their parts, each at least 0 */
	uint64_t before;   /* the part of alone_ns that comes before the current node */
};

static uint64_t scaled(uint64_t part, uint64_t whole, uint64_t to)
{
	return whole ? (uint64_t)((unsigned __int128)part * to / whole) : 0;
}

/* The time that is subtracted from the wall time of a node. */
static uint64_t part_of(const struct flame_node *n, enum flame_value value)
{
	return n->probe_ns + (value == FLAME_CPU ? n->off_ns : 0);
}

/*
 * Scale each node's own time to the time that its query has left in the process. That is less than
 * the sum of the nodes where some nodes' parts exceeded their time. Rounding errors are carried
 * from node to node, so the sum is exact.
 */
static void take_off(struct flame *f, uint32_t top, struct share *shares, enum flame_value value)
{
	uint32_t depth = 0;

	for (uint32_t i = flame__walk(f, top, top, &depth); i != FLAME_NONE;
	     i = flame__walk(f, top, i, &depth)) {
		const struct flame_node *n = &f->tree.nodes[i];
		struct share *s = &shares[f->frames.all.at[n->frame].query];

		s->self_ns += n->self[FLAME_WALL];
		s->part_ns += part_of(n, value);
		s->alone_ns += trace_without_probes(n->self[FLAME_WALL], part_of(n, value));
	}
	depth = 0;
	for (uint32_t i = flame__walk(f, top, top, &depth); i != FLAME_NONE;
	     i = flame__walk(f, top, i, &depth)) {
		struct flame_node *n = &f->tree.nodes[i];
		struct share *s = &shares[f->frames.all.at[n->frame].query];
		uint64_t left = trace_without_probes(s->self_ns, s->part_ns);
		uint64_t from = scaled(s->before, s->alone_ns, left);

		s->before += trace_without_probes(n->self[FLAME_WALL], part_of(n, value));
		n->self[value] = scaled(s->before, s->alone_ns, left) - from;
	}
	/* Clear only the used shares, which are few of all frames. */
	depth = 0;
	for (uint32_t i = flame__walk(f, top, top, &depth); i != FLAME_NONE;
	     i = flame__walk(f, top, i, &depth))
		shares[f->frames.all.at[f->tree.nodes[i].frame].query] = (struct share){0};
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b, void *ctx)
{
	const struct flame *f = ctx;
	const struct flame_node *x = &f->tree.nodes[*(const uint32_t *)a];
	const struct flame_node *y = &f->tree.nodes[*(const uint32_t *)b];

	return strcmp(flame__name(f, x), flame__name(f, y))
		       ?: (x->frame > y->frame) - (x->frame < y->frame);
}

/* Sort the children of a node, in an array that grows. */
static int sort_children(struct flame *f, uint32_t parent, uint32_t **ids, uint32_t *capacity)
{
	struct flame_node *nodes = f->tree.nodes;
	uint32_t n = 0;

	for (uint32_t i = nodes[parent].child; i != FLAME_NONE; i = nodes[i].next) {
		if (array__reserve_one(ids, n, capacity, sizeof(**ids)))
			return -ENOMEM;
		(*ids)[n++] = i;
	}
	if (n < 2)
		return 0;
	qsort_r(*ids, n, sizeof(**ids), compare_names, f);
	nodes[parent].child = (*ids)[0];
	for (uint32_t i = 0; i < n; i++)
		nodes[(*ids)[i]].next = i + 1 < n ? (*ids)[i + 1] : FLAME_NONE;
	return 0;
}

int flame__new(struct export_job *job, struct flame **out)
{
	_flame_ struct flame *f = calloc(1, sizeof(*f));

	if (!f || self_time__new(&f->self_time))
		return -ENOMEM;
	f->job = job;
	f->frames.job = job;
	*out = take_ptr(f);
	return 0;
}

int flame__finish(struct flame *f)
{
	_free_ struct share *shares = NULL;
	_free_ uint32_t *ids = NULL;
	uint32_t capacity = 0;
	int err = 0;

	/* The children of lost spans become children of their process. */
	for (uint32_t i = 0; i < f->threads.n && !err; i++)
		err = take_deeper(f, &f->threads.at[i], 0,
				  f->processes[f->threads.at[i].process].node);
	for (uint32_t i = 0; i < f->n_processes && !err; i++) {
		struct flame_process *p = &f->processes[i];

		p->title = p->title ?: process_title(p->process);
		err = p->title ? 0 : -ENOMEM;
	}
	if (err)
		return err;
	shares = calloc(f->frames.all.n + 1, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_processes; i++) {
		/* The wall times, of which both are computed, come last. */
		take_off(f, f->processes[i].node, shares, FLAME_CPU);
		take_off(f, f->processes[i].node, shares, FLAME_WALL);
	}
	for (uint32_t i = 0; i < f->tree.n; i++) {
		f->has_off |= f->tree.nodes[i].off_ns;
		f->tree.nodes[i].off_ns = f->tree.nodes[i].probe_ns = 0;
	}
	/* Unused nodes have no children. */
	for (uint32_t i = 0; i < f->tree.n && !err; i++)
		err = sort_children(f, i, &ids, &capacity);
	return err;
}

static int take(void *ctx, const struct trace_item *item)
{
	return flame__item(ctx, item);
}

int flame__build(struct export_job *job, struct flame **out)
{
	_flame_ struct flame *f = NULL;
	int err;

	if (job->by_item)
		return flame__build_items(job, out);
	if (job->cause)
		return flame__build_samples(job, out);
	err = flame__new(job, &f) ?: trace_reader__each(job->r, take, f) ?: flame__finish(f);

	if (err)
		return err;
	*out = take_ptr(f);
	return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

uint64_t flame__self(const struct flame *f, const struct flame_node *node)
{
	return node->self[f->job->wall ? FLAME_WALL : FLAME_CPU];
}

uint64_t flame__number(const struct flame *f, uint32_t node)
{
	const struct flame_node *n = &f->tree.nodes[node];

	return n->parent == FLAME_NONE ? (uint64_t)f->frames.all.n + n->frame : n->frame;
}

uint32_t flame__walk(const struct flame *f, uint32_t top, uint32_t i, uint32_t *depth)
{
	const struct flame_node *nodes = f->tree.nodes;

	if (nodes[i].child != FLAME_NONE) {
		++*depth;
		return nodes[i].child;
	}
	for (; i != top; i = nodes[i].parent, --*depth) {
		if (nodes[i].next != FLAME_NONE)
			return nodes[i].next;
	}
	return FLAME_NONE;
}

void flame__free(struct flame *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n_processes; i++)
		free(f->processes[i].title);
	flame_frames__destroy(&f->frames);
	for (uint32_t i = 0; i < f->threads.n; i++)
		free(f->threads.at[i].levels);
	free(f->processes);
	table__destroy(&f->threads);
	flame_tree__destroy(&f->tree);
	u64_map__destroy(&f->tops);
	interner__destroy(&f->names);
	self_time__free(f->self_time);
	free(f);
}

/* ---- Stacks, one after another --------------------------------------------------------------- */

static int push(struct stack *s, uint32_t node)
{
	if (array__reserve_one(&s->nodes, s->n, &s->capacity, sizeof(*s->nodes)))
		return -ENOMEM;
	s->nodes[s->n++] = node;
	return 0;
}

void stack__begin(struct stack *s, const struct flame *f, uint32_t from, uint32_t to)
{
	s->flame = f;
	s->n = 0;
	s->process = from;
	s->end = to < f->n_processes ? to : f->n_processes;
}

int stack__next(struct stack *s)
{
	uint32_t first, depth, next;

	for (; s->process < s->end; s->process++, s->n = 0) {
		first = s->flame->processes[s->process].node;
		/* The process alone is no stack: the first one is a child of it. */
		if (!s->n && push(s, first))
			return -ENOMEM;
		depth = s->n - 1;
		next = flame__walk(s->flame, first, s->nodes[s->n - 1], &depth);
		if (next == FLAME_NONE)
			continue;
		s->n = depth;
		return push(s, next) ?: 1;
	}
	return 0;
}

const struct flame_node *stack__node(const struct stack *s)
{
	return &s->flame->tree.nodes[s->nodes[s->n - 1]];
}

void stack__destroy(struct stack *s)
{
	free(s->nodes);
	*s = (struct stack){0};
}
