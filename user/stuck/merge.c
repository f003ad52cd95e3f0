// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/* The assumed maximum size of a frame, if the start of the next one is unknown. */
#define FRAME_MOST 65536

struct by_sp {
	uint64_t sp;
	uint32_t call;
};

struct merge {
	const struct native_call *calls;
	uint32_t n_calls;
	struct by_sp *by_sp;
	struct stuck_rows *rows;
	uint32_t query; /* index + 1 of the row of the innermost query so far; 0: none */
	bool has_body;	/* the current query's body, its provider were found */
	bool has_provider;
};

static int compare_sp(const void *a, const void *b)
{
	const struct by_sp *x = a, *y = b;

	return (x->sp > y->sp) - (x->sp < y->sp);
}

/* The call whose frame contains `sp`. */
static uint32_t call_at(const struct merge *m, uint64_t sp)
{
	size_t behind = bisect(m->n_calls, i, m->by_sp[i].sp <= sp);
	uint32_t call;
	uint64_t outer;

	if (!behind)
		return STUCK_NO_CALL;
	call = m->by_sp[behind - 1].call;
	/* If the caller's sp is lower, the caller is on another stack. */
	outer = call + 1 < m->n_calls ? m->calls[call + 1].sp : 0;
	if (outer > m->calls[call].sp ? sp < outer : sp - m->calls[call].sp < FRAME_MOST)
		return call;
	return STUCK_NO_CALL;
}

static int add_row(struct merge *m, const struct stuck_row *row)
{
	struct stuck_rows *rows = m->rows;
	int err = array__reserve_one(&rows->items, rows->n, &rows->capacity, sizeof(*row));

	if (!err)
		rows->items[rows->n++] = *row;
	return err;
}

static int add_query(struct merge *m, const char *name, uint32_t call)
{
	const struct stuck_row row = {.name = name, .kind = WIRE_KIND_QUERY, .call = call};
	int err = add_row(m, &row);

	if (err)
		return err;
	m->query = m->rows->n;
	m->has_body = m->has_provider = false;
	return 0;
}

static struct stuck_row *current(const struct merge *m)
{
	return m->query ? &m->rows->items[m->query - 1] : NULL;
}

/* Whether a row may belong to the query; a NULL name matches any. */
static bool may_be(const struct stuck_row *row, const char *name)
{
	return !row->name || !name || !strcmp(row->name, name);
}

/*
 * The calls of one execution are the wrapper, the body, and then the provider's function. Any of
 * them may be missing: a query can be forced without its wrapper, and tail calls leave nothing on
 * the stack.
 */
static int on_call(struct merge *m, uint32_t call)
{
	const struct place *place = &m->calls[call].place;
	struct stuck_row *row = current(m);
	bool same = row && may_be(row, place->query) && !m->has_provider &&
		    (place->kind == PLACE_PROVIDER || !m->has_body);
	int err = 0;

	if (place->kind == PLACE_OTHER)
		return 0;
	if (place->kind == PLACE_WRAPPER || !same)
		err = add_query(m, place->query, call);
	if (err)
		return err;
	row = current(m);
	if (!row->name)
		row->name = place->query;
	if (place->kind == PLACE_BODY) {
		row->call = call;
		row->key = m->calls[call].key;
	}
	m->has_body |= place->kind != PLACE_WRAPPER;
	m->has_provider |= place->kind == PLACE_PROVIDER;
	return 0;
}

static int on_entered(struct merge *m, const struct entered *e, uint32_t call)
{
	struct stuck_row *row = current(m);
	int err;

	if (e->kind != WIRE_KIND_QUERY)
		return add_row(m, &(struct stuck_row){.name = e->name,
						      .kind = e->kind,
						      .exact = true,
						      .start_ns = e->start_ns,
						      .call = call});
	/* Recorded entries are exact, so they override rows that were read from the stack. */
	if (!row || row->exact || call == STUCK_NO_CALL ||
	    (row->call != call && !may_be(row, e->name))) {
		err = add_query(m, e->name, call);
		if (err)
			return err;
		m->has_body = true;
		row = current(m);
	}
	row->name = e->name;
	row->exact = true;
	row->start_ns = e->start_ns;
	if (e->key)
		row->key = e->key;
	return 0;
}

/* A recorded entry and the call whose frame contains it. */
struct placed {
	const struct entered *entered;
	uint32_t call;
};

/* The outermost call first; entries of one call in the order of entry. */
static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->call != y->call)
		return x->call < y->call ? 1 : -1;
	return (x->entered > y->entered) - (x->entered < y->entered);
}

/*
 * A query's entry belongs to the frame of its body or wrapper. If the frame is another function's,
 * the query has ended and its place on the stack was reused.
 */
static bool is_over(const struct merge *m, const struct placed *p)
{
	enum place_kind kind =
		p->call == STUCK_NO_CALL ? PLACE_OTHER : m->calls[p->call].place.kind;

	return p->entered->kind == WIRE_KIND_QUERY && kind != PLACE_BODY && kind != PLACE_WRAPPER;
}

static int merge_all(struct merge *m, const struct placed *placed, uint32_t n)
{
	uint32_t next = 0;
	int err = 0;

	while (next < n && placed[next].call == STUCK_NO_CALL)
		next++;
	for (uint32_t call = m->n_calls; call-- && !err;) {
		err = on_call(m, call);
		for (; next < n && placed[next].call == call && !err; next++)
			if (!is_over(m, &placed[next]))
				err = on_entered(m, placed[next].entered, call);
	}
	return err;
}

/*
 * Add the entries outside all known calls. They may still be running, unless the stack is known to
 * its first call.
 */
static int add_outermost(struct merge *m, const struct placed *placed, uint32_t n, bool whole)
{
	int err = 0;

	for (uint32_t i = 0; i < n && placed[i].call == STUCK_NO_CALL && !err; i++)
		if (!whole || !m->n_calls)
			err = on_entered(m, placed[i].entered, STUCK_NO_CALL);
	return err;
}

static void sort_calls(struct merge *m)
{
	for (uint32_t i = 0; i < m->n_calls; i++)
		m->by_sp[i] = (struct by_sp){m->calls[i].sp, i};
	qsort(m->by_sp, m->n_calls, sizeof(*m->by_sp), compare_sp);
}

int stuck_merge(const struct entered *entered, uint32_t n_entered, const struct native_call *calls,
		uint32_t n_calls, bool whole, struct stuck_rows *out)
{
	_free_ struct by_sp *by_sp = calloc(n_calls + 1UL, sizeof(*by_sp));
	_free_ struct placed *placed = calloc(n_entered + 1UL, sizeof(*placed));
	struct merge m = {.calls = calls, .n_calls = n_calls, .by_sp = by_sp, .rows = out};
	int err;

	*out = (struct stuck_rows){0};
	if (!by_sp || !placed)
		return -ENOMEM;
	sort_calls(&m);
	for (uint32_t i = 0; i < n_entered; i++)
		placed[i] = (struct placed){&entered[i], call_at(&m, entered[i].sp)};
	err = add_outermost(&m, placed, n_entered, whole);
	qsort(placed, n_entered, sizeof(*placed), compare_placed);
	return err ?: merge_all(&m, placed, n_entered);
}

void stuck_rows__clear(struct stuck_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		free(rows->items[i].item);
	free(rows->items);
	*rows = (struct stuck_rows){0};
}
