// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/mine/frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"

void frame_drafts__clear(struct frame_drafts *d)
{
	free(d->items);
	*d = (struct frame_drafts){0};
}

static int add_frame_draft(struct frame_drafts *d, uint64_t addr, uint64_t end,
			   enum plan_frame_kind kind, uint64_t entry)
{
	struct frame_draft draft = {
		.addr = addr,
		.size = (uint32_t)(end - addr),
		.entry = entry,
		.guard = PLAN_NONE,
		.kind = (uint8_t)kind,
	};

	if (end <= addr || end - addr > UINT32_MAX)
		return 0;
	return array__add(&d->items, &d->n, &d->capacity, &draft);
}

int frame_drafts__function(struct frame_drafts *d, enum plan_frame_kind kind, uint64_t entry,
			   const struct code_region *regions, size_t n)
{
	int err = 0;

	for (size_t i = 0; d && i < n && !err; i++)
		err = add_frame_draft(d, regions[i].addr, regions[i].addr + regions[i].size, kind,
				      entry);
	return err;
}

/* Add the parts that consist of marked instructions. */
static int add_marked(struct frame_drafts *d, const struct code *code, const uint32_t *marks,
		      enum plan_frame_kind kind, uint64_t entry)
{
	uint64_t from = 0, end = 0;
	int err = 0;

	for (size_t i = 0; i < code->n && !err; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (!marks[i])
			continue;
		if (insn->addr != end) {
			err = add_frame_draft(d, from, end, kind, entry);
			from = insn->addr;
		}
		end = insn->addr + insn->size;
	}
	return err ?: add_frame_draft(d, from, end, kind, entry);
}

int frame_drafts__runs(struct frame_drafts *d, const struct walk *w, uint64_t entry)
{
	int err = d ? add_marked(d, w->code, w->seen, PLAN_FRAME_RUNS, entry) : 0;

	for (size_t i = 0; d && i < w->code->n && !err; i++) {
		const struct code_insn *insn = &w->code->insns[i];

		if (w->seen[i] && insn->flow == CODE_CALL)
			err = add_frame_draft(d, insn->addr, insn->addr + insn->size,
					      PLAN_FRAME_CALLS, insn->target);
	}
	return err;
}

int frame_drafts__guard(struct frame_drafts *d, const struct walk *w)
{
	return d ? add_marked(d, w->code, w->seen, PLAN_FRAME_GUARD, 0) : 0;
}

/* ---- Wrappers -------------------------------------------------------------------------------- */

static bool leads_to(const struct code_insn *insn, uint64_t to)
{
	return insn->target == to &&
	       (insn->flow == CODE_CALL || insn->flow == CODE_JMP || insn->flow == CODE_JCC);
}

/* Whether the instruction, which is not marked yet, is a way to a marked one. */
static bool is_before(const struct code *code, const uint32_t *marks, size_t i)
{
	const struct code_insn *insn = &code->insns[i];
	size_t next = code_insn__goes_on(insn) ? code__after(code, i) : SIZE_MAX;
	size_t to = insn->flow == CODE_JCC || insn->flow == CODE_JMP
			    ? code__index(code, insn->target)
			    : SIZE_MAX;

	return (next != SIZE_MAX && marks[next]) || (to != SIZE_MAX && marks[to]);
}

int frame_drafts__wrapper(struct frame_drafts *d, const struct code *code, uint64_t entry,
			  uint64_t body)
{
	_free_ uint32_t *marks = calloc(code->n + 1, sizeof(*marks));
	bool again = true;

	if (!marks)
		return -ENOMEM;
	for (size_t i = 0; i < code->n; i++)
		marks[i] = leads_to(&code->insns[i], body);
	/* Mark all instructions from which a marked one can be reached. */
	while (again) {
		again = false;
		for (size_t i = code->n; i-- > 0;)
			if (!marks[i] && is_before(code, marks, i))
				marks[i] = again = true;
	}
	for (size_t i = 0; i < code->n; i++)
		marks[i] = !marks[i] || leads_to(&code->insns[i], body);
	return d ? add_marked(d, code, marks, PLAN_FRAME_WRAPPER, entry) : 0;
}

bool frames_stays(const struct code *code)
{
	for (size_t i = 0; i < code->n; i++) {
		const struct code_insn *insn = &code->insns[i];

		if (insn->flow == CODE_JMP_INDIRECT)
			return false;
		if ((insn->flow == CODE_JMP || insn->flow == CODE_JCC) &&
		    code__index(code, insn->target) == SIZE_MAX)
			return false;
	}
	return code->n;
}

/* ---- From parts to the plan ------------------------------------------------------------------ */

/* Parts that overlap: the later kind of these is shown. */
static const uint8_t rank[PLAN_FRAME_KINDS] = {
	[PLAN_FRAME_BODY] = 1,	  [PLAN_FRAME_RUNS] = 2,     [PLAN_FRAME_CALLS] = 3,
	[PLAN_FRAME_WRAPPER] = 4, [PLAN_FRAME_PROVIDER] = 5,
};

/* A part with its place in the plan. */
struct part {
	uint64_t addr, end;
	uint32_t of;
	uint8_t kind;
};

struct parts {
	struct part *items;
	uint32_t n;
};

/* The entry of a function, and what it is of. */
struct entry {
	uint64_t addr;
	uint32_t of;
	uint8_t kind;
};

struct entries {
	struct entry *items;
	uint32_t n;
};

static int by_entry(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The order is total, so that of functions folded into one the same is found each time. */
static int in_order(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return by_entry(a, b) ?: x->of < y->of ? -1 : x->of > y->of;
}

static void add_entry(struct entries *e, enum plan_frame_kind kind, uint64_t addr, uint32_t of)
{
	if (addr)
		e->items[e->n++] = (struct entry){addr, of, (uint8_t)kind};
}

static int find_entries(const struct plan *plan, struct entries *e)
{
	e->items = calloc(3UL * plan->n_queries + plan->n_bodies + 1, sizeof(*e->items));
	if (!e->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		const struct plan_query *q = &plan->queries[i];

		add_entry(e, PLAN_FRAME_WRAPPER, q->wrapper_non_incr, i);
		add_entry(e, PLAN_FRAME_WRAPPER, q->wrapper_incr, i);
		add_entry(e, PLAN_FRAME_PROVIDER, q->provider, i);
	}
	for (uint32_t i = 0; i < plan->n_bodies; i++)
		add_entry(e, PLAN_FRAME_BODY, plan->bodies[i].addr, i);
	qsort(e->items, e->n, sizeof(*e->items), in_order);
	return 0;
}

/* The owner of a part: a query, a body or a guard; or PLAN_NONE. */
static uint32_t owner_of(const struct entries *e, const struct frame_draft *d)
{
	struct entry key = {.addr = d->entry, .kind = d->kind};
	size_t first;

	if (d->kind == PLAN_FRAME_GUARD)
		return d->guard;
	if (d->kind == PLAN_FRAME_RUNS)
		key.kind = PLAN_FRAME_BODY;
	if (d->kind == PLAN_FRAME_CALLS)
		key.kind = PLAN_FRAME_PROVIDER;
	first = bisect(e->n, i, by_entry(&e->items[i], &key) < 0);
	return first < e->n && !by_entry(&e->items[first], &key) ? e->items[first].of : PLAN_NONE;
}

static int by_start(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->kind != y->kind)
		return rank[x->kind] < rank[y->kind] ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

/* Parts of functions, or of guards. */
static int collect(const struct plan *plan, const struct entries *entries,
		   const struct frame_drafts *d, bool guards, struct parts *out)
{
	out->items = calloc(d->n + 1UL, sizeof(*out->items));
	out->n = 0;
	if (!out->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct frame_draft *draft = &d->items[i];
		struct part part = {draft->addr, draft->addr + draft->size, 0, draft->kind};

		if ((draft->kind == PLAN_FRAME_GUARD) != guards)
			continue;
		part.of = owner_of(entries, draft);
		if (part.of == PLAN_NONE || (guards && !plan->guards[part.of].exact))
			continue;
		out->items[out->n++] = part;
	}
	if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), by_start);
	return 0;
}

/* Parts that all cover one range. */
struct cover {
	struct part *items;
	uint32_t n, capacity;
	uint64_t from, end;
};

struct placing {
	struct plan *plan;
	const uint64_t *bytes; /* by guard: of all its parts */
	uint32_t frames_capacity, guards_capacity;
};

static bool is_outer(const struct placing *p, const struct part *a, const struct part *b)
{
	if (p->bytes[a->of] != p->bytes[b->of])
		return p->bytes[a->of] > p->bytes[b->of];
	return a->of < b->of;
}

static struct plan_frame frame_of(const struct cover *c, const struct part *part)
{
	return (struct plan_frame){c->from, (uint32_t)(c->end - c->from), part->of, part->kind};
}

/* The last range, if it covers the same up to where `c` begins, grows. */
static bool extends_last(struct plan_frame *frames, uint32_t n, const struct cover *c)
{
	struct plan_frame *last = n >= c->n ? &frames[n - c->n] : NULL;
	bool same = last && last->addr + last->size == c->from &&
		    (n == c->n || last[-1].addr != last->addr) && c->end - last->addr <= UINT32_MAX;

	for (uint32_t i = 0; i < c->n && same; i++)
		same = last[i].addr == last->addr && last[i].of == c->items[i].of &&
		       last[i].kind == c->items[i].kind;
	for (uint32_t i = 0; i < c->n && same; i++)
		last[i].size = (uint32_t)(c->end - last[i].addr);
	return same;
}

static bool is_twin(const struct plan *plan, const struct part *a, const struct part *b)
{
	const struct plan_guard *x = &plan->guards[a->of], *y = &plan->guards[b->of];

	return a != b && x->scope == y->scope && x->number == y->number;
}

static int place_guards(struct placing *p, struct cover *c)
{
	struct plan *plan = p->plan;
	uint32_t n = 0;
	int err = 0;

	/* Only one guard of a number runs, and no frame shows which, once their paths have met. */
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->n; k++)
			if (is_twin(plan, &c->items[i], &c->items[k]))
				c->items[i].kind = PLAN_FRAME_KINDS;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->items[i].kind != PLAN_FRAME_KINDS)
			c->items[n++] = c->items[i];
	c->n = n;
	/* The parts of a guard that lies within another's are a part of the other's. */
	for (uint32_t i = 1; i < c->n; i++)
		for (uint32_t k = i; k && is_outer(p, &c->items[k], &c->items[k - 1]); k--) {
			struct part swapped = c->items[k];

			c->items[k] = c->items[k - 1];
			c->items[k - 1] = swapped;
		}
	if (!c->n || extends_last(plan->guard_frames, plan->n_guard_frames, c))
		return 0;
	for (uint32_t i = 0; i < c->n && !err; i++) {
		struct plan_frame frame = frame_of(c, &c->items[i]);

		err = array__add(&plan->guard_frames, &plan->n_guard_frames, &p->guards_capacity,
				 &frame);
	}
	return err;
}

static int place_function(struct placing *p, struct cover *c)
{
	struct plan *plan = p->plan;
	struct plan_frame frame;

	for (uint32_t i = 1; i < c->n; i++)
		if (rank[c->items[i].kind] > rank[c->items[0].kind])
			c->items[0] = c->items[i];
	c->n = 1;
	if (extends_last(plan->frames, plan->n_frames, c))
		return 0;
	frame = frame_of(c, &c->items[0]);
	return array__add(&plan->frames, &plan->n_frames, &p->frames_capacity, &frame);
}

static bool covers(const struct cover *c, const struct part *part)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->items[i].of == part->of && c->items[i].kind == part->kind)
			return true;
	return false;
}

/* Split overlapping parts into ranges, and place the parts that cover each. */
static int place_all(struct placing *p, const struct parts *parts,
		     int (*place)(struct placing *p, struct cover *c))
{
	struct cover active = {0}, c = {0};
	uint32_t next = 0, left;
	int err = 0;

	while (!err && (next < parts->n || active.n)) {
		if (!active.n)
			active.from = parts->items[next].addr;
		while (next < parts->n && parts->items[next].addr == active.from && !err)
			err = array__add(&active.items, &active.n, &active.capacity,
					 &parts->items[next++]);
		active.end = next < parts->n ? parts->items[next].addr : UINT64_MAX;
		c.n = 0;
		for (uint32_t i = 0; i < active.n && !err; i++) {
			if (active.items[i].end < active.end)
				active.end = active.items[i].end;
			if (!covers(&c, &active.items[i]))
				err = array__add(&c.items, &c.n, &c.capacity, &active.items[i]);
		}
		c.from = active.from;
		c.end = active.end;
		err = err ?: place(p, &c);
		active.from = active.end;
		left = 0;
		for (uint32_t i = 0; i < active.n; i++)
			if (active.items[i].end > active.from)
				active.items[left++] = active.items[i];
		active.n = left;
	}
	free(active.items);
	free(c.items);
	return err;
}

int frames_place(struct plan *plan, const struct frame_drafts *d)
{
	_free_ uint64_t *bytes = calloc(plan->n_guards + 1UL, sizeof(*bytes));
	struct placing p = {.plan = plan, .bytes = bytes};
	struct parts functions = {0}, guards = {0};
	struct entries entries = {0};
	int err = bytes ? find_entries(plan, &entries) : -ENOMEM;

	err = err ?: collect(plan, &entries, d, false, &functions);
	err = err ?: collect(plan, &entries, d, true, &guards);
	for (uint32_t i = 0; i < guards.n && !err; i++)
		bytes[guards.items[i].of] += guards.items[i].end - guards.items[i].addr;
	err = err ?: place_all(&p, &functions, place_function);
	err = err ?: place_all(&p, &guards, place_guards);
	free(entries.items);
	free(functions.items);
	free(guards.items);
	return err;
}
