// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/critical_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compile_graph.h"
#include "analyze/compile_name.h"
#include "base/array.h"
#include "base/bisect.h"
#include "analyze/running.h"

/* cargo starts a compile this soon after it could; what takes longer has another cause. */
#define SLACK_NS UINT64_C(10000000)

/* Steps are tried out in schedules: at most so many, none below this share of the build. */
#define TRIED_MOST	32
#define TRIED_LEAST_PPM UINT64_C(2000)

/* More compiles than any build has; the schedules of a hostile trace would take too long. */
#define NODES_MOST 50000

const char *path_part_text(enum path_part part)
{
	static const char *const texts[PATH_PARTS] = {
		[PATH_FRONT_END] = "front end",
		[PATH_CODEGEN] = "codegen",
		[PATH_LINK] = "link",
		[PATH_EXIT] = "exit",
		[PATH_COMPILE] = "compile",
		[PATH_RUN] = "build script runs",
		[PATH_OTHER] = "no compiler works",
	};

	return texts[part];
}

/* The walk from the end of a build to its start; steps are added from the last to the first. */
struct walk {
	const struct compile_graph *g;
	struct critical_path *path;
	uint32_t *ends;	      /* nodes, in the order of their ends */
	uint32_t n, capacity; /* steps */
};

static uint64_t start_of(const struct compile_graph *g, uint32_t node)
{
	return g->nodes[node].compile->start_ns;
}

static uint64_t end_of(const struct compile_graph *g, uint32_t node)
{
	return g->nodes[node].compile->end_ns;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static int add_step(struct walk *w, uint32_t node, enum path_part part, uint64_t start_ns,
		    uint64_t end_ns)
{
	const struct path_step step = {
		.process = w->g->nodes[node].compile->process->index,
		.part = part,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.saved_ns = PATH_UNKNOWN,
	};

	return end_ns > start_ns ? array__add(&w->path->steps, &w->n, &w->capacity, &step) : 0;
}

/* The parts of a compile from its start to a moment. */
static int add_compile(struct walk *w, uint32_t node, uint64_t until_ns, bool freed_job)
{
	const struct build_process *p = w->g->nodes[node].compile;
	uint64_t at_ns = p->end_ns;
	uint32_t first = w->n;
	int err = 0;

	if (!p->parts_known)
		err = add_step(w, node, PATH_COMPILE, p->start_ns, until_ns);
	for (int part = BUILD_N_PARTS; part-- && p->parts_known && !err;) {
		uint64_t from_ns = at_ns - p->part_ns[part];

		err = add_step(w, node, (enum path_part)part, from_ns,
			       at_ns < until_ns ? at_ns : until_ns);
		at_ns = from_ns;
	}
	if (!err && w->n > first)
		w->path->steps[first].freed_job = freed_job;
	return err;
}

/* ---- Walk ------------------------------------------------------------------------------------ */

/* The last thing that a compile waited for, and the moment when it was there. */
struct blocker {
	uint32_t node;
	uint64_t ns;
	enum compile_need need;
	bool is_job; /* not needed: its job was */
};

#define NO_NODE UINT32_MAX

/*
 * The last thing that a compile needed. One that starts long after all that it needs was there
 * waited for a job, if one became free at the end of that wait; or else for something that is no
 * compile.
 */
static struct blocker blocker_of(const struct walk *w, uint32_t node)
{
	const struct compile_graph *g = w->g;
	const struct compile_node *n = &g->nodes[node];
	uint64_t start_ns = start_of(g, node), wait_ns;
	struct blocker last = {.node = NO_NODE};
	size_t n_ended = bisect(g->n_nodes, i, end_of(g, w->ends[i]) <= start_ns);
	uint32_t freed = n_ended ? w->ends[n_ended - 1] : NO_NODE;
	bool is_soon;

	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct compile_edge *e = &g->edges[n->first_edge + i];
		uint32_t on = e->need == NEED_ALL ? g->nodes[e->on].last : e->on;
		uint64_t ns = compile_graph__fulfilled(g, e);

		if (last.node == NO_NODE || ns > last.ns)
			last = (struct blocker){on, ns, e->need, false};
	}
	is_soon = last.node != NO_NODE && start_ns < last.ns + SLACK_NS;
	if (is_soon || last.need == NEED_RUN || freed == NO_NODE || freed >= node)
		return last;
	if (last.node != NO_NODE && end_of(g, freed) <= last.ns)
		return last;
	if (n->stage > g->nodes[freed].stage)
		return (struct blocker){freed, end_of(g, freed), NEED_END, false};
	wait_ns = start_ns - (last.node == NO_NODE ? w->path->start_ns : last.ns);
	if (start_ns - end_of(g, freed) < SLACK_NS + wait_ns / 4)
		return (struct blocker){freed, end_of(g, freed), NEED_END, true};
	return last;
}

static int by_end(const void *a, const void *b, void *ctx)
{
	const struct compile_graph *g = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (end_of(g, x) != end_of(g, y))
		return end_of(g, x) < end_of(g, y) ? -1 : 1;
	return (x > y) - (x < y);
}

static int walk_back(struct critical_path *path, const struct compile_graph *g)
{
	_free_ uint32_t *ends = calloc(g->n_nodes, sizeof(*ends));
	struct walk w = {.g = g, .path = path, .ends = ends};
	uint32_t node;
	uint64_t until_ns;
	bool freed_job = false;
	int err = 0;

	if (!ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		ends[i] = i;
	qsort_r(ends, g->n_nodes, sizeof(*ends), by_end, (void *)g);
	node = ends[g->n_nodes - 1];
	path->start_ns = start_of(g, 0);
	until_ns = end_of(g, node);
	path->wall_ns = until_ns - path->start_ns;
	/* The last compile first, up to its last moment on the path, then what it waited for. */
	for (uint32_t at = node; at != NO_NODE && !err; at = node) {
		uint64_t start_ns = start_of(g, at), from_ns;
		const struct blocker b = blocker_of(&w, at);

		err = add_compile(&w, at, until_ns, freed_job);
		node = b.node;
		freed_job = b.is_job;
		from_ns = node == NO_NODE ? path->start_ns : b.ns;
		until_ns = from_ns < start_ns ? from_ns : start_ns;
		if (!err && node != NO_NODE && b.need == NEED_RUN)
			err = add_step(&w, node, PATH_RUN, until_ns, start_ns);
		else if (!err)
			err = add_step(&w, at, PATH_OTHER, until_ns, start_ns);
	}
	path->n_steps = w.n;
	for (size_t i = 0; i < w.n / 2; i++) {
		const struct path_step step = path->steps[i];

		path->steps[i] = path->steps[w.n - 1 - i];
		path->steps[w.n - 1 - i] = step;
	}
	return err;
}

/* ---- What would be saved --------------------------------------------------------------------- */

static uint64_t length_of(const struct path_step *step)
{
	return step->end_ns - step->start_ns;
}

/* The length of the shortest step that is tried out. */
static uint64_t least_tried(const struct critical_path *path)
{
	uint64_t most[TRIED_MOST] = {0};
	uint64_t least = path->wall_ns / 1000000 * TRIED_LEAST_PPM;

	for (size_t i = 0; i < path->n_steps; i++) {
		uint64_t ns = length_of(&path->steps[i]);
		size_t at = path->steps[i].part == PATH_OTHER ? 0 : TRIED_MOST;

		for (; at && ns > most[at - 1]; at--)
			if (at < TRIED_MOST)
				most[at] = most[at - 1];
		if (at < TRIED_MOST)
			most[at] = ns;
	}
	return most[TRIED_MOST - 1] > least ? most[TRIED_MOST - 1] : least;
}

static int try_steps(struct critical_path *path, const struct compile_graph *g, uint32_t n)
{
	_free_ uint32_t *node_of = calloc(n + 1UL, sizeof(*node_of));
	uint64_t least = least_tried(path), ns;
	int err = node_of ? 0 : -ENOMEM;
	unsigned int tried = 0;

	for (uint32_t i = 0; i < g->n_nodes && !err; i++)
		node_of[g->nodes[i].compile->process->index] = i;
	for (size_t i = 0; i < path->n_steps && !err && tried < TRIED_MOST; i++) {
		struct path_step *step = &path->steps[i];
		uint32_t node = node_of[step->process];
		/* Only where the path waited for it: codegen may go on beside what needs the
		 * metadata. */
		const struct schedule_without without = {
			.node = node,
			.run = step->part == PATH_RUN,
			.from_ns = step->start_ns - start_of(g, node),
			.to_ns = step->end_ns - start_of(g, node),
		};

		if (length_of(step) < least || step->part == PATH_OTHER)
			continue;
		tried++;
		err = schedule_ns(g, path->jobs, &without, &ns);
		if (err)
			break;
		step->saved_ns = ns < path->scheduled_ns ? path->scheduled_ns - ns : 0;
		/* With few jobs, other compiles may come in a better order by chance. */
		if (step->saved_ns > length_of(step))
			step->saved_ns = length_of(step);
	}
	return err;
}

int critical_path__of(struct critical_path *path, const struct build *b)
{
	_compile_graph_ struct compile_graph g = {};
	uint32_t n;
	int err;

	*path = (struct critical_path){};
	if (build__totals(b)->compiles > NODES_MOST)
		return 0;
	err = compile_graph__of(&g, b);
	build__processes(b, &n);
	if (err || !g.n_nodes)
		return err;
	for (uint32_t i = 0; i < g.n_nodes; i++)
		path->n_cut += compile_is_cut(g.nodes[i].compile->process);
	path->jobs = schedule_jobs(&g) ?: 1;
	err = walk_back(path, &g);
	err = err ?: schedule_ns(&g, path->jobs, NULL, &path->scheduled_ns);
	err = err ?: schedule_ns(&g, SCHEDULE_ALL_JOBS, NULL, &path->unlimited_ns);
	return err ?: try_steps(path, &g, n);
}

void critical_path__destroy(struct critical_path *path)
{
	free(path->steps);
	*path = (struct critical_path){};
}

/* ---- The build started again ----------------------------------------------------------------- */

/* An event of a node; of events at one moment the first of these comes first. */
enum event_kind { EVENT_METADATA, EVENT_END, EVENT_RUN };

struct event {
	uint64_t ns;
	uint32_t node;
	uint8_t kind;
};

struct node {
	uint64_t metadata_ns; /* from its start */
	uint64_t whole_ns;
	uint64_t run_ns;
	uint32_t missing;     /* what it waits for before it starts */
	uint32_t missing_all; /* before all that it needs has ended, and it has, too */
	uint32_t first_user;
	uint32_t n_users;
};

/* A node that waits for another one. */
struct user {
	uint32_t node;
	uint8_t need;
};

/* The first event is at 0. */
struct heap {
	struct event *at;
	uint32_t n;
};

struct schedule {
	const struct compile_graph *g;
	struct node *nodes;
	struct user *users; /* by the node that is waited for */
	struct heap events;
	struct heap ready;  /* nodes, without a time */
	uint32_t *all_done; /* nodes whose users are to hear that all has ended */
	uint32_t n_all_done;
	uint32_t free_jobs;
	uint32_t next;	  /* the first node of a later stage */
	uint32_t unended; /* nodes of this stage */
	uint64_t now_ns;
};

static void schedule__clear(struct schedule *s)
{
	free(s->nodes);
	free(s->users);
	free(s->events.at);
	free(s->ready.at);
	free(s->all_done);
}

/* ---- Heaps ----------------------------------------------------------------------------------- */

static bool event_is_before(const struct event *a, const struct event *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	return a->kind != b->kind ? a->kind < b->kind : a->node < b->node;
}

static void heap__push(struct heap *h, struct event event)
{
	uint32_t at = h->n++;

	for (; at && event_is_before(&event, &h->at[(at - 1) / 2]); at = (at - 1) / 2)
		h->at[at] = h->at[(at - 1) / 2];
	h->at[at] = event;
}

static struct event heap__pop(struct heap *h)
{
	const struct event first = h->at[0], last = h->at[--h->n];
	uint32_t at = 0;

	for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
		if (child + 1 < h->n && event_is_before(&h->at[child + 1], &h->at[child]))
			child++;
		if (!event_is_before(&h->at[child], &last))
			break;
		h->at[at] = h->at[child];
	}
	h->at[at] = last;
	return first;
}

static void push_event(struct schedule *s, uint64_t after_ns, uint32_t node, enum event_kind kind)
{
	heap__push(&s->events, (struct event){s->now_ns + after_ns, node, kind});
}

/* Of all that are ready, the node that was started first comes first. */
static void push_ready(struct schedule *s, uint32_t node)
{
	heap__push(&s->ready, (struct event){.node = node});
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The length of what is left of the time from 0 to `ns`. */
static uint64_t left_of(uint64_t ns, const struct schedule_without *w)
{
	if (ns <= w->from_ns || w->to_ns <= w->from_ns)
		return ns;
	return ns < w->to_ns ? w->from_ns : ns - (w->to_ns - w->from_ns);
}

static void set_users(struct schedule *s)
{
	const struct compile_graph *g = s->g;
	uint32_t at = 0;

	for (uint32_t i = 0; i < g->n_edges; i++)
		s->nodes[g->edges[i].on].n_users++;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		s->nodes[i].first_user = at;
		at += s->nodes[i].n_users;
		s->nodes[i].n_users = 0;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		for (uint32_t k = 0; k < g->nodes[i].n_edges; k++) {
			const struct compile_edge *e = &g->edges[g->nodes[i].first_edge + k];
			struct node *on = &s->nodes[e->on];

			s->users[on->first_user + on->n_users++] = (struct user){i, e->need};
		}
	}
}

static int schedule__init(struct schedule *s, const struct compile_graph *g, uint32_t jobs,
			  const struct schedule_without *without)
{
	struct node *shorter;

	*s = (struct schedule){
		.g = g,
		.nodes = calloc(g->n_nodes + 1UL, sizeof(*s->nodes)),
		.users = calloc(g->n_edges + 1UL, sizeof(*s->users)),
		/* Metadata and the end of a node, or its run. */
		.events.at = calloc(2UL * g->n_nodes + 1, sizeof(*s->events.at)),
		.ready.at = calloc(g->n_nodes + 1UL, sizeof(*s->ready.at)),
		.all_done = calloc(g->n_nodes + 1UL, sizeof(*s->all_done)),
		.free_jobs = jobs,
	};
	if (!s->nodes || !s->users || !s->events.at || !s->ready.at || !s->all_done)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct compile_node *from = &g->nodes[i];

		s->nodes[i] = (struct node){
			.metadata_ns = from->metadata_ns,
			.whole_ns = from->compile->end_ns - from->compile->start_ns,
			.run_ns = from->run_ns,
			.missing = from->n_edges,
			.missing_all = from->n_edges + 1,
		};
	}
	set_users(s);
	if (!without || without->node >= g->n_nodes)
		return 0;
	shorter = &s->nodes[without->node];
	if (without->run) {
		shorter->run_ns = 0;
		return 0;
	}
	shorter->metadata_ns = left_of(shorter->metadata_ns, without);
	shorter->whole_ns = left_of(shorter->whole_ns, without);
	return 0;
}

/* ---- The build ------------------------------------------------------------------------------- */

static void start_ready(struct schedule *s)
{
	while (s->ready.n && s->free_jobs) {
		uint32_t i = heap__pop(&s->ready).node;

		s->free_jobs--;
		push_event(s, s->nodes[i].metadata_ns, i, EVENT_METADATA);
		push_event(s, s->nodes[i].whole_ns, i, EVENT_END);
	}
}

static void fulfil(struct schedule *s, uint32_t i, enum compile_need need)
{
	const struct node *node = &s->nodes[i];

	for (uint32_t k = 0; k < node->n_users; k++) {
		const struct user *user = &s->users[node->first_user + k];

		if (user->need == need && !--s->nodes[user->node].missing && user->node < s->next)
			push_ready(s, user->node);
	}
}

static void count_all(struct schedule *s, uint32_t i)
{
	if (!--s->nodes[i].missing_all)
		s->all_done[s->n_all_done++] = i;
}

static void take_event(struct schedule *s, const struct event *event)
{
	static const enum compile_need needs[] = {
		[EVENT_METADATA] = NEED_METADATA,
		[EVENT_END] = NEED_END,
		[EVENT_RUN] = NEED_RUN,
	};

	s->now_ns = event->ns;
	if (event->kind == EVENT_END) {
		s->free_jobs++;
		s->unended--;
	}
	fulfil(s, event->node, needs[event->kind]);
	if (event->kind != EVENT_END)
		return;
	push_event(s, s->nodes[event->node].run_ns, event->node, EVENT_RUN);
	count_all(s, event->node);
	while (s->n_all_done) {
		uint32_t i = s->all_done[--s->n_all_done];
		const struct node *node = &s->nodes[i];

		fulfil(s, i, NEED_ALL);
		for (uint32_t k = 0; k < node->n_users; k++)
			count_all(s, s->users[node->first_user + k].node);
	}
}

int schedule_ns(const struct compile_graph *g, uint32_t jobs,
		const struct schedule_without *without, uint64_t *ns)
{
	__cleanup(schedule__clear) struct schedule s;
	int err = schedule__init(&s, g, jobs ?: 1, without);

	if (err)
		return err;
	while (s.next < g->n_nodes) {
		uint32_t stage = g->nodes[s.next].stage;

		/* Let its nodes start. Those that wait for nothing are ready. */
		for (; s.next < g->n_nodes && g->nodes[s.next].stage == stage; s.next++) {
			s.unended++;
			if (!s.nodes[s.next].missing)
				push_ready(&s, s.next);
		}
		start_ready(&s);
		while (s.events.n && s.unended) {
			const struct event event = heap__pop(&s.events);

			take_event(&s, &event);
			start_ready(&s);
		}
	}
	*ns = s.now_ns;
	return 0;
}

uint32_t schedule_jobs(const struct compile_graph *g)
{
	_free_ struct running_interval *at = calloc(g->n_nodes + 1UL, sizeof(*at));
	struct running running;
	uint32_t n;

	if (!at)
		return 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		at[i] = (struct running_interval){
			.start_ns = g->nodes[i].compile->start_ns,
			.end_ns = g->nodes[i].compile->end_ns,
		};
	if (running__of(&running, at, g->n_nodes))
		return 0;
	n = running.n ? (uint32_t)running.n - 1 : 0;
	running__destroy(&running);
	return n;
}
