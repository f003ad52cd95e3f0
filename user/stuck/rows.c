// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"

/* The assumed maximum size of a frame, if the start of the next one is unknown. */
#define FRAME_MOST 65536

#define NOT_SHOWN UINT32_MAX

struct by_sp {
	uint64_t sp;
	uint32_t call;
};

/* An entry and what it belongs to. */
struct placed {
	const struct entered *entered;
	uint32_t call;	/* whose frame contains it; if it is shown, the call that shows it */
	uint32_t shown; /* the same interval on the stack, or NOT_SHOWN */
};

struct join {
	const struct stuck_sources *from;
	struct by_sp *by_sp;
	struct placed *placed;
	bool *is_placed; /* by number of from->shown: an entry is the same interval */
	struct stuck_rows *rows;
};

/* ---- Where entries belong -------------------------------------------------------------------- */

/* The call whose frame contains `sp`. */
static uint32_t call_at(const struct join *j, uint64_t sp)
{
	const uint64_t *calls = j->from->calls;
	uint32_t n = j->from->n_calls, call;
	size_t behind = bisect(n, i, j->by_sp[i].sp <= sp);
	uint64_t outer;

	if (!behind)
		return STUCK_NO_CALL;
	call = j->by_sp[behind - 1].call;
	/* If the caller's sp is lower, the caller is on another stack. */
	outer = call + 1 < n ? calls[call + 1] : 0;
	if (outer > calls[call] ? sp < outer : sp - calls[call] < FRAME_MOST)
		return call;
	return STUCK_NO_CALL;
}

static bool is_same(const struct plan_shown *at, const struct entered *e, uint32_t call)
{
	uint32_t number = e->kind == WIRE_KIND_ACTIVITY ? at->guard : at->query;

	/*
	 * A query's entry lies in the frame of its body, or of the wrapper. The kernel half knows
	 * better which query a body is for, but a wrapper of another query is not waiting for this
	 * one.
	 */
	if (at->kind == WIRE_KIND_QUERY)
		return e->kind == WIRE_KIND_QUERY &&
		       (at->frame == call ||
			(at->request == call && (number == PLAN_NONE || number == e->number)));
	return at->kind == e->kind && at->frame == call &&
	       (number == PLAN_NONE || number == e->number);
}

static void place(struct join *j, struct placed *p, const struct entered *e)
{
	p->entered = e;
	p->call = call_at(j, e->sp);
	p->shown = NOT_SHOWN;
	for (uint32_t i = 0; i < j->from->n_shown && p->call != STUCK_NO_CALL; i++) {
		if (j->is_placed[i] || !is_same(&j->from->shown[i].at, e, p->call))
			continue;
		p->shown = i;
		j->is_placed[i] = true;
		p->call = j->from->shown[i].at.frame;
		return;
	}
}

/* The outermost call first; entries of one call in the order of entry. */
static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->call != y->call)
		return x->call < y->call ? 1 : -1;
	return (x->entered > y->entered) - (x->entered < y->entered);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int add_shown(struct join *j, const struct shown *s)
{
	struct stuck_row row = {
		.name = s->name,
		.kind = s->at.kind,
		.call = s->at.frame,
		.key = s->key,
		.query = s->at.query,
		.guard = s->at.guard,
	};

	return array__add(&j->rows->items, &j->rows->n, &j->rows->capacity, &row);
}

static int add_entered(struct join *j, const struct placed *p)
{
	const struct entered *e = p->entered;
	struct stuck_row row = {
		.name = e->name,
		.kind = e->kind,
		.exact = true,
		.start_ns = e->start_ns,
		.call = p->call,
		.key = e->key,
		.query = PLAN_NONE,
		.guard = PLAN_NONE,
	};

	if (!row.key && e->kind == WIRE_KIND_QUERY && p->shown != NOT_SHOWN)
		row.key = j->from->shown[p->shown].key;
	return array__add(&j->rows->items, &j->rows->n, &j->rows->capacity, &row);
}

/* Its place on the stack was reused. */
static bool is_over(const struct placed *p)
{
	return p->entered->kind == WIRE_KIND_QUERY && p->shown == NOT_SHOWN;
}

/*
 * Entries outside all known calls may still be running, unless the stack is known to its first
 * call. In the frame of a call, intervals entered before the watch are outside of those entered
 * since.
 */
static int add_all(struct join *j)
{
	const struct stuck_sources *from = j->from;
	bool may_run = !from->whole || !from->n_calls;
	uint32_t shown = 0, placed = 0;
	int err = 0;

	for (; placed < from->n_entered && j->placed[placed].call == STUCK_NO_CALL; placed++)
		if (may_run && !err)
			err = add_entered(j, &j->placed[placed]);
	for (uint32_t call = from->n_calls; call-- && !err;) {
		for (; shown < from->n_shown && from->shown[shown].at.frame == call && !err;
		     shown++)
			if (!j->is_placed[shown])
				err = add_shown(j, &from->shown[shown]);
		for (; placed < from->n_entered && j->placed[placed].call == call && !err; placed++)
			if (!is_over(&j->placed[placed]))
				err = add_entered(j, &j->placed[placed]);
	}
	return err;
}

int stuck_rows__find(const struct stuck_sources *from, struct stuck_rows *out)
{
	_free_ struct by_sp *by_sp = calloc(from->n_calls + 1UL, sizeof(*by_sp));
	_free_ struct placed *placed = calloc(from->n_entered + 1UL, sizeof(*placed));
	_free_ bool *is_placed = calloc(from->n_shown + 1UL, sizeof(*is_placed));
	struct join j = {from, by_sp, placed, is_placed, out};

	*out = (struct stuck_rows){0};
	if (!by_sp || !placed || !is_placed)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_calls; i++)
		by_sp[i] = (struct by_sp){from->calls[i], i};
	qsort(by_sp, from->n_calls, sizeof(*by_sp), array__by_u64);
	for (uint32_t i = 0; i < from->n_entered; i++)
		place(&j, &placed[i], &from->entered[i]);
	qsort(placed, from->n_entered, sizeof(*placed), compare_placed);
	return add_all(&j);
}

void stuck_rows__clear(struct stuck_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		free(rows->items[i].item);
	free(rows->items);
	*rows = (struct stuck_rows){0};
}
