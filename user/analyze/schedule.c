// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/running.h"

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

static void set_times(struct schedule *s, const struct schedule_without *w)
{
	for (uint32_t i = 0; i < s->g->n_nodes; i++) {
		const struct compile_node *from = &s->g->nodes[i];

		s->nodes[i].metadata_ns = from->metadata_ns;
		s->nodes[i].whole_ns = from->compile->end_ns - from->compile->start_ns;
		s->nodes[i].run_ns = from->run_ns;
	}
	if (w->node >= s->g->n_nodes)
		return;
	if (w->run) {
		s->nodes[w->node].run_ns = 0;
		return;
	}
	s->nodes[w->node].metadata_ns = left_of(s->nodes[w->node].metadata_ns, w);
	s->nodes[w->node].whole_ns = left_of(s->nodes[w->node].whole_ns, w);
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
		s->nodes[i].missing = g->nodes[i].n_edges;
		s->nodes[i].missing_all = g->nodes[i].n_edges + 1;
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
	set_times(s, without);
	set_users(s);
	return 0;
}

/* ---- The build ------------------------------------------------------------------------------- */

/* Let the nodes of the next stage start. Those that wait for nothing are ready. */
static void begin_stage(struct schedule *s)
{
	const struct compile_node *nodes = s->g->nodes;
	uint32_t first = s->next;

	while (s->next < s->g->n_nodes && nodes[s->next].stage == nodes[first].stage) {
		s->unended++;
		if (!s->nodes[s->next].missing)
			push_ready(s, s->next);
		s->next++;
	}
}

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

static void spread_all(struct schedule *s)
{
	while (s->n_all_done) {
		uint32_t i = s->all_done[--s->n_all_done];
		const struct node *node = &s->nodes[i];

		fulfil(s, i, NEED_ALL);
		for (uint32_t k = 0; k < node->n_users; k++)
			count_all(s, s->users[node->first_user + k].node);
	}
}

static void take_event(struct schedule *s, const struct event *event)
{
	s->now_ns = event->ns;
	if (event->kind == EVENT_METADATA) {
		fulfil(s, event->node, NEED_METADATA);
		return;
	}
	if (event->kind == EVENT_RUN) {
		fulfil(s, event->node, NEED_RUN);
		return;
	}
	s->free_jobs++;
	s->unended--;
	fulfil(s, event->node, NEED_END);
	push_event(s, s->nodes[event->node].run_ns, event->node, EVENT_RUN);
	count_all(s, event->node);
	spread_all(s);
}

int schedule_ns(const struct compile_graph *g, uint32_t jobs,
		const struct schedule_without *without, uint64_t *ns)
{
	static const struct schedule_without nothing = {.node = UINT32_MAX};
	__cleanup(schedule__clear) struct schedule s;
	int err = schedule__init(&s, g, jobs ?: 1, without ?: &nothing);

	if (err)
		return err;
	while (s.next < g->n_nodes) {
		begin_stage(&s);
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
