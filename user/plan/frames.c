// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/* Functions of a query, by mode where that matters: with incremental compilation or not. */
struct query {
	uint64_t wrappers[2];
	uint64_t provider;
	bool stays; /* as in struct plan_query */
};

/* Its queries are `n` of plan_frames.of_bodies, from `first` on. */
struct body {
	uint32_t first, n;
	bool incremental;
	bool outlined; /* other bodies call it to execute */
};

struct guard {
	uint8_t kind;
	bool label_of_query;
	uint32_t query; /* that it is known to be for, or PLAN_NONE */
};

struct plan_frames {
	struct plan_frame *frames; /* as in the plan */
	uint32_t n_frames;
	struct plan_frame *guard_frames;
	uint32_t n_guard_frames;
	struct query *queries;
	uint32_t n_queries;
	struct body *bodies;
	uint32_t *of_bodies;
	struct guard *guards;
	uint64_t *sites; /* addresses, in order */
	uint32_t n_sites;
};

/* ---- The copy of a plan ---------------------------------------------------------------------- */

static int copy(void *out, const void *items, size_t n, size_t size)
{
	void *copied = calloc(n + 1, size);

	if (!copied)
		return -ENOMEM;
	if (n)
		memcpy(copied, items, n * size);
	*(void **)out = copied;
	return 0;
}

static int copy_queries(struct plan_frames *f, const struct plan *plan)
{
	uint32_t n = 0;

	f->queries = calloc(plan->n_queries + 1UL, sizeof(*f->queries));
	f->bodies = calloc(plan->n_bodies + 1UL, sizeof(*f->bodies));
	f->of_bodies = calloc(4UL * plan->n_queries + 1, sizeof(*f->of_bodies));
	if (!f->queries || !f->bodies || !f->of_bodies)
		return -ENOMEM;
	f->n_queries = plan->n_queries;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		f->queries[i] = (struct query){
			{q->wrapper_non_incr, q->wrapper_incr}, q->provider, q->stays};
	}
	for (uint32_t b = 0; b < plan->n_bodies; b++) {
		f->bodies[b] =
			(struct body){.first = n, .incremental = plan->bodies[b].incremental};
		for (uint32_t i = 0; i < plan->n_queries; i++)
			if (plan__serves(plan, &plan->queries[i], b))
				f->of_bodies[n++] = i;
		f->bodies[b].n = n - f->bodies[b].first;
	}
	for (uint32_t b = 0; b < plan->n_bodies; b++)
		if (plan->bodies[b].outlined)
			f->bodies[plan__outlined(plan, b)].outlined = true;
	return 0;
}

int plan_frames__new(const struct plan *plan, struct plan_frames **out)
{
	_plan_frames_ struct plan_frames *f = calloc(1, sizeof(*f));
	int err = f ? copy_queries(f, plan) : -ENOMEM;

	err = err ?: copy(&f->frames, plan->frames, plan->n_frames, sizeof(*f->frames));
	err = err
		      ?: copy(&f->guard_frames, plan->guard_frames, plan->n_guard_frames,
			      sizeof(*f->guard_frames));
	if (err)
		return err;
	f->n_frames = plan->n_frames;
	f->n_guard_frames = plan->n_guard_frames;
	f->guards = calloc(plan->n_guards + 1UL, sizeof(*f->guards));
	f->sites = calloc(plan->n_sites + 1UL, sizeof(*f->sites));
	if (!f->guards || !f->sites)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_guards; i++)
		f->guards[i] = (struct guard){plan->guards[i].kind, plan->guards[i].label_of_query,
					      PLAN_NONE};
	f->n_sites = plan->n_sites;
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		f->sites[i] = plan->sites[i].addr;
		if (plan->sites[i].role == WIRE_ROLE_GUARD)
			f->guards[plan->sites[i].guard].query = plan->sites[i].query;
	}
	qsort(f->sites, f->n_sites, sizeof(*f->sites), array__by_u64);
	*out = take_ptr(f);
	return 0;
}

void plan_frames__free(struct plan_frames *f)
{
	if (!f)
		return;
	free(f->frames);
	free(f->guard_frames);
	free(f->queries);
	free(f->bodies);
	free(f->of_bodies);
	free(f->guards);
	free(f->sites);
	free(f);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* 1 + the index of the first of the equal ranges that contain `pc`, or 0. */
static uint32_t range_at(const struct plan_frame *frames, uint32_t n, uint64_t pc)
{
	size_t i = bisect(n, k, frames[k].addr <= pc);

	if (!i || pc - frames[i - 1].addr >= frames[i - 1].size)
		return 0;
	while (i > 1 && frames[i - 2].addr == frames[i - 1].addr)
		i--;
	return (uint32_t)i;
}

struct plan_frame_code plan_frames__code(const struct plan_frames *f, uint64_t addr, bool is_return)
{
	uint64_t pc = addr - is_return;

	return (struct plan_frame_code){range_at(f->frames, f->n_frames, pc),
					range_at(f->guard_frames, f->n_guard_frames, pc)};
}

bool plan_frames__is_site(const struct plan_frames *f, uint64_t addr)
{
	size_t i = bisect(f->n_sites, k, f->sites[k] < addr);

	return i < f->n_sites && f->sites[i] == addr;
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* A walk from the outermost frame to the innermost. */
struct walk {
	const struct plan_frames *f;
	const struct plan_frame_code *codes;
	struct plan_shown *out;
	uint32_t n_out, max;
	uint32_t wrapper; /* the frame of the wrapper just outside, or PLAN_NONE */
	bool in_body;	  /* the frame just outside is a body in which a query runs */
	bool asks;	  /* the frame just outside is a body in which none runs */
	uint32_t asked;	  /* the query that the innermost body is for, or PLAN_NONE */
	uint32_t running; /* the one that the innermost execution is of, or PLAN_NONE */
};

static const struct plan_frame *frame_at(const struct walk *w, uint32_t i)
{
	return w->codes[i].frame ? &w->f->frames[w->codes[i].frame - 1] : NULL;
}

static void show(struct walk *w, struct plan_shown shown)
{
	if (w->n_out < w->max)
		w->out[w->n_out++] = shown;
}

/* Facts about the query of a body. Functions are those of one of the possible queries. */
struct clues {
	const struct body *body;
	uint32_t wrapper;  /* these: or PLAN_NONE */
	uint32_t provider; /* has a frame */
	uint32_t called;   /* its provider is called */
	bool unframed;	   /* the provider has no frame */
};

static bool is_same_provider(const struct plan_frames *f, uint32_t query, uint32_t other)
{
	return other == PLAN_NONE || f->queries[query].provider == f->queries[other].provider;
}

/* The number of possible queries; *query is one of them. */
static uint32_t count_possible(const struct plan_frames *f, const struct clues *c, uint32_t *query)
{
	bool mode = c->body->incremental;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->body->n; i++) {
		uint32_t of = f->of_bodies[c->body->first + i];
		const struct query *q = &f->queries[of];

		if (c->wrapper != PLAN_NONE &&
		    q->wrappers[mode] != f->queries[c->wrapper].wrappers[mode])
			continue;
		if (!is_same_provider(f, of, c->provider) || !is_same_provider(f, of, c->called) ||
		    (c->unframed && q->stays))
			continue;
		*query = of;
		n++;
	}
	return n;
}

/* The body of a part in which a query runs: a call's is that of the parts around it. */
static const struct body *body_of(const struct plan_frames *f, const struct plan_frame *frame)
{
	const struct plan_frame *around = frame;

	while (around->kind == PLAN_FRAME_CALLS && around > f->frames)
		around--;
	if (around->kind != PLAN_FRAME_RUNS && around->kind != PLAN_FRAME_BODY)
		for (around = frame; around->kind == PLAN_FRAME_CALLS; around++)
			if (around + 1 == f->frames + f->n_frames)
				return NULL;
	return around->kind == PLAN_FRAME_RUNS || around->kind == PLAN_FRAME_BODY
		       ? &f->bodies[around->of]
		       : NULL;
}

/* Facts that the frames around frame `i`, a body's, show about its query. */
static struct clues clues_at(const struct walk *w, uint32_t i)
{
	const struct plan_frame *frame = frame_at(w, i), *inner = NULL;
	const struct plan_frame *wrapper = w->wrapper == PLAN_NONE ? NULL : frame_at(w, w->wrapper);

	/* The next frame inside that is a function of a query. */
	while (i-- && !inner)
		inner = frame_at(w, i);
	return (struct clues){
		.body = body_of(w->f, frame),
		.wrapper = wrapper ? wrapper->of : PLAN_NONE,
		.provider = frame->kind != PLAN_FRAME_BODY && inner &&
					    inner->kind == PLAN_FRAME_PROVIDER
				    ? inner->of
				    : PLAN_NONE,
		.called = frame->kind == PLAN_FRAME_CALLS ? frame->of : PLAN_NONE,
	};
}

/* The number of queries that frame `i`, a body's, may be for; *query is one of them. */
static uint32_t find_query(const struct walk *w, struct clues *c, uint32_t *query)
{
	uint32_t n = c->body ? count_possible(w->f, c, query) : 0;

	if (n || !c->body || c->wrapper == PLAN_NONE)
		return n;
	/* The wrapper is another query's, so it does not wait for this body. */
	c->wrapper = PLAN_NONE;
	return count_possible(w->f, c, query);
}

static struct plan_shown blank(uint32_t frame)
{
	return (struct plan_shown){
		.frame = frame,
		.request = PLAN_NONE,
		.query = PLAN_NONE,
		.guard = PLAN_NONE,
		.kind = WIRE_KIND_QUERY,
	};
}

/* A function that executes for the body just outside runs the query which that body is for. */
static bool runs_for_body(const struct walk *w, const struct clues *c)
{
	if (!c->body || !c->body->outlined || !w->asks || w->asked == PLAN_NONE)
		return false;
	for (uint32_t i = 0; i < c->body->n; i++)
		if (w->f->of_bodies[c->body->first + i] == w->asked)
			return true;
	return false;
}

/* A body in which a query runs. */
static void on_execution(struct walk *w, uint32_t i)
{
	struct plan_shown shown = blank(i);
	struct clues c = clues_at(w, i);
	uint32_t query, n = find_query(w, &c, &query);

	if (c.wrapper != PLAN_NONE)
		shown.request = w->wrapper;
	if (n > 1 && runs_for_body(w, &c)) {
		query = w->asked;
		n = 1;
	}
	if (n > 1 && c.provider == PLAN_NONE && i) {
		c.unframed = true;
		n = count_possible(w->f, &c, &query);
	}
	if (n == 1)
		shown.query = query;
	w->asked = w->running = shown.query;
	show(w, shown);
}

/* A provider outside whose frame there is no body, because the stack is not whole. */
static void on_provider(struct walk *w, uint32_t i)
{
	struct plan_shown shown = blank(i);
	uint32_t n = 0, of = frame_at(w, i)->of;

	for (uint32_t q = 0; q < w->f->n_queries; q++)
		n += is_same_provider(w->f, q, of);
	if (n == 1)
		shown.query = of;
	w->asked = w->running = shown.query;
	show(w, shown);
}

static void on_function(struct walk *w, uint32_t i)
{
	const struct plan_frame *frame = frame_at(w, i);
	bool in_body = w->in_body;

	if (!frame)
		return;
	w->in_body = frame->kind == PLAN_FRAME_RUNS || frame->kind == PLAN_FRAME_CALLS;
	if (w->in_body)
		on_execution(w, i);
	else if (frame->kind == PLAN_FRAME_PROVIDER && !in_body)
		on_provider(w, i);
	w->asks = frame->kind == PLAN_FRAME_BODY;
	if (w->asks) {
		struct clues c = clues_at(w, i);
		uint32_t query;

		w->asked = find_query(w, &c, &query) == 1 ? query : PLAN_NONE;
	}
	w->wrapper = frame->kind == PLAN_FRAME_WRAPPER ? i : PLAN_NONE;
}

static uint32_t query_of_guard(const struct walk *w, const struct guard *g)
{
	switch (g->kind) {
	case WIRE_KIND_HASHING:
		return g->label_of_query ? w->running : PLAN_NONE;
	case WIRE_KIND_LOAD:
	case WIRE_KIND_BLOCKED:
		return g->query != PLAN_NONE ? g->query : w->asked;
	default:
		return PLAN_NONE;
	}
}

static void on_guards(struct walk *w, uint32_t i)
{
	uint32_t first = w->codes[i].guard;
	const struct plan_frame *frames = w->f->guard_frames;

	for (uint32_t k = first; k && k <= w->f->n_guard_frames; k++) {
		struct plan_shown shown = blank(i);

		if (frames[k - 1].addr != frames[first - 1].addr)
			return;
		shown.guard = frames[k - 1].of;
		shown.kind = w->f->guards[shown.guard].kind;
		shown.query = query_of_guard(w, &w->f->guards[shown.guard]);
		show(w, shown);
	}
}

uint32_t plan_frames__shown(const struct plan_frames *f, const struct plan_frame_code *codes,
			    uint32_t n, struct plan_shown *out, uint32_t max)
{
	struct walk w = {
		.f = f,
		.codes = codes,
		.out = out,
		.max = max,
		.wrapper = PLAN_NONE,
		.asked = PLAN_NONE,
		.running = PLAN_NONE,
	};

	for (uint32_t i = n; i--;) {
		on_function(&w, i);
		on_guards(&w, i);
	}
	return w.n_out;
}

/* ---- What a plan shows ----------------------------------------------------------------------- */

static bool share_body(const struct plan *plan, uint32_t a, uint32_t b)
{
	return a == b || (plan__outlined(plan, a) != PLAN_NONE &&
			  plan__outlined(plan, a) == plan__outlined(plan, b));
}

/* Whether no other query of the body has the same function. */
static bool is_only(const struct plan *plan, uint32_t query, bool incremental, bool provider)
{
	const struct plan_query *q = &plan->queries[query];
	uint32_t body = incremental ? q->body_incr : q->body_non_incr;
	uint64_t wrapper = incremental ? q->wrapper_incr : q->wrapper_non_incr;

	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *other = &plan->queries[i];

		if (other == q ||
		    !share_body(plan, body, incremental ? other->body_incr : other->body_non_incr))
			continue;
		if (provider ? other->provider == q->provider
			     : (incremental ? other->wrapper_incr : other->wrapper_non_incr) ==
				       wrapper)
			return false;
	}
	return provider ? q->provider : wrapper;
}

static enum plan_shows shows_in(const struct plan *plan, uint32_t query, bool incremental)
{
	const struct plan_query *q = &plan->queries[query];
	uint32_t body = incremental ? q->body_incr : q->body_non_incr;
	uint32_t outlined = plan__outlined(plan, body);

	if (body == PLAN_NONE || !plan->bodies[body].n_ends)
		return PLAN_SHOWS_NOT;
	if (plan->bodies[outlined == PLAN_NONE ? body : outlined].n_queries == 1 ||
	    (q->stays && is_only(plan, query, incremental, true)))
		return PLAN_SHOWS_ALWAYS;
	return is_only(plan, query, incremental, false) ? PLAN_SHOWS_REQUESTED : PLAN_SHOWS_NOT;
}

enum plan_shows plan_query__shows(const struct plan *plan, uint32_t query)
{
	enum plan_shows a = shows_in(plan, query, false), b = shows_in(plan, query, true);

	return a > b ? a : b;
}

const char *plan_shows_name(enum plan_shows shows)
{
	static const char *const names[] = {
		[PLAN_SHOWS_ALWAYS] = "always",
		[PLAN_SHOWS_REQUESTED] = "requested",
		[PLAN_SHOWS_NOT] = "no",
	};

	return shows <= PLAN_SHOWS_NOT ? names[shows] : "no";
}
