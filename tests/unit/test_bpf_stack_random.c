// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A thread of the model runs random queries, guards and timers, with panics, catches and grown
 * stacks. The model knows by its own recursion what each hit belongs to; the query stack only knows
 * sp.
 *
 * Half of the trees are incremental: a request may find its query green, and before that it forces
 * other queries, which have no request.
 *
 * The thread is switched off its CPU between the hits, and anywhere in the programs that they run.
 *
 * Under good conditions, the query stack must send all spans of the model, in order. Under bad ones
 * (catches that no probe sees, wrappers that never execute), a span without a flag must have ended
 * exactly as in the model.
 */

#include "test.h"

/* Enough that no request is forgotten. */
#define STACK_REQUESTS 1024

#include "../fixtures/random.h"
#include "../fixtures/stack_world.h"

#define STACKS	   8
#define STACK_SIZE 0x100000ULL
#define STACK_GAP  0x1000ULL
#define BASE	   0x7f0000000000ULL
#define MAX_CALLS  100000
#define MAX_DEPTH  60
/* The first scope of a function. Lower scopes are bodies: a body's scope is its group. */
#define FUNCTIONS 3

enum kind { STARTED, WRAPPED, THROUGH };
enum fate { RUNNING, ENDED, UNWOUND, NOT_EXECUTED };

/* One execution of a query, an attempt at one, or an interval of another kind. */
struct call {
	wire_u32 query;
	wire_u32 kind; /* enum wire_kind */
	enum fate fate;
	bool seen; /* the probes saw its start */
	bool is_timer;
	wire_u32 caller; /* of its request; 0: the request was not seen */
	int stack;	 /* the stack on which it started */
	wire_u64 start_ns;
	wire_u64 end_ns;
	wire_u32 depth;
	wire_u32 invocation;
	bool sent;
};

struct model {
	struct rng rng;
	bool bad;
	bool incremental;
	struct call calls[MAX_CALLS];
	wire_u32 n_calls;
	struct call *running[MAX_DEPTH + 1]; /* oldest first */
	wire_u32 n_running;
	struct call *unwound[MAX_DEPTH + 1]; /* youngest first: left, and not yet caught */
	wire_u32 n_unwound;
	struct world_span expected[MAX_CALLS];
	wire_u32 n_expected;
	wire_u32 n_events, first_event, last_event;
	wire_u32 budget; /* calls left in this tree */
	int stack;
	bool mapped[STACKS];
};

static struct model m;

static bool chance(wire_u32 one_in)
{
	return rng_below(&m.rng, one_in) == 0;
}

static wire_u64 some(wire_u64 lo, wire_u64 hi)
{
	return (lo + rng_below(&m.rng, hi - lo)) & ~7ULL;
}

static enum kind kind_of(wire_u32 query)
{
	return query % 8 < 4 ? STARTED : query % 8 < 7 ? WRAPPED : THROUGH;
}

static wire_u32 group_of(wire_u32 query)
{
	return query % 3;
}

static void expect(struct call *c, wire_u32 flags, wire_u64 end_ns)
{
	if (!c->seen || (flags && c->sent))
		return;
	c->sent = true;
	m.expected[m.n_expected++] = (struct world_span){
		.start_ns = c->start_ns,
		.end_ns = end_ns,
		.query = c->query,
		.kind = c->kind,
		.depth = c->depth,
		.flags = flags,
		.invocation = flags ? WIRE_NO_INVOCATION : c->invocation,
		.caller = c->caller,
	};
}

static void stop_capture(void)
{
	wire_u64 now = world_flush();

	for (wire_u32 i = 0; i < m.n_unwound; i++)
		expect(m.unwound[i], WIRE_SPAN_OPEN, now);
	for (wire_u32 i = m.n_running; i-- > 0;)
		expect(m.running[i], WIRE_SPAN_OPEN, now);
}

/* True if the next event falls into the capture. */
static bool is_watched(void)
{
	wire_u32 event = m.n_events++;

	if (event == m.last_event)
		stop_capture();
	return event >= m.first_event && event < m.last_event;
}

static wire_u32 seen_below(void)
{
	wire_u32 n = 0;

	for (wire_u32 i = 0; i < m.n_running; i++)
		n += m.running[i]->seen;
	return n;
}

/* The caller's frame has `sp`. */
static void see_request(struct call *c, wire_u64 sp)
{
	if (!is_watched())
		return;
	c->caller = m.n_calls;
	world_request(c->query, sp, c->caller);
}

static void see_start(struct call *c, enum kind kind, wire_u64 sp)
{
	wire_u32 group = group_of(c->query);

	c->stack = m.stack;
	if (!is_watched())
		return;
	c->depth = seen_below();
	c->seen = true;
	c->start_ns = kind == WRAPPED ? world_wrapper(c->query, group, sp)
				      : world_start(c->query, group, sp);
}

static void see_end(struct call *c, wire_u64 sp)
{
	c->invocation = rng_below(&m.rng, 1u << 30);
	c->fate = ENDED;
	if (!is_watched())
		return;
	c->end_ns = world_end(group_of(c->query), sp, c->invocation);
	expect(c, 0, c->end_ns);
}

/* A guard of a function, or a timer. */
static void see_guard(struct call *c, wire_u32 scope, wire_u32 number, wire_u64 sp)
{
	c->stack = m.stack;
	if (!is_watched())
		return;
	c->depth = seen_below();
	c->seen = true;
	c->start_ns = world_guard_of(c->kind, c->query, scope, number, sp, false);
}

static void see_guard_end(struct call *c, wire_u32 scope, wire_u32 number, wire_u64 sp)
{
	c->invocation = WIRE_NO_INVOCATION;
	c->fate = ENDED;
	if (!is_watched())
		return;
	c->end_ns = world_guard_end(scope, number, sp, false);
	expect(c, 0, c->end_ns);
}

static void see_catch(wire_u64 sp)
{
	bool seen = is_watched() && !(m.bad && chance(3));
	wire_u64 now = seen ? world_caught(sp) : 0;
	wire_u32 left = 0;

	for (wire_u32 i = 0; i < m.n_unwound; i++) {
		if (m.unwound[i]->stack != m.stack)
			m.unwound[left++] = m.unwound[i];
		else if (seen)
			expect(m.unwound[i], WIRE_SPAN_UNWOUND, now);
	}
	m.n_unwound = left;
}

/* Switch to a new stack. The highest free address is mapped first, as the kernel does. */
static bool grow(wire_u64 *sp)
{
	for (int i = STACKS - 1; i >= 0; i--) {
		wire_u64 lo = BASE + i * (STACK_SIZE + STACK_GAP);

		if (m.mapped[i])
			continue;
		m.mapped[i] = true;
		m.stack = i;
		world_map(i, lo, STACK_SIZE);
		*sp = lo + STACK_SIZE - some(64, 2000);
		return true;
	}
	return false;
}

static bool run_code(wire_u64 sp);
static bool run_frame(wire_u64 sp, wire_u32 scope, wire_u32 number);

/* Run an interval of a function, with more intervals inside. True if it panics. */
static bool run_guard(wire_u64 sp, wire_u32 scope, wire_u32 number)
{
	bool is_timer = scope >= FUNCTIONS && chance(3), panics;
	wire_u32 key_scope = is_timer ? WIRE_SCOPE_TIMER : scope;
	wire_u32 key_number = is_timer ? number | 0x8000 : number;
	struct call *c = &m.calls[m.n_calls++];

	assert_true(m.n_calls < MAX_CALLS);
	*c = (struct call){
		.query = 100 * scope + number, .kind = WIRE_KIND_ACTIVITY, .is_timer = is_timer};
	see_guard(c, key_scope, key_number, sp);
	m.running[m.n_running++] = c;
	panics = run_frame(sp, scope, number + 1);
	if (panics) {
		c->fate = UNWOUND;
		m.unwound[m.n_unwound++] = c;
	} else {
		see_guard_end(c, key_scope, key_number, sp);
	}
	m.n_running--;
	return panics;
}

/* Run code in a function's frame; its guards are numbered from `number` on. True if it panics. */
static bool run_frame(wire_u64 sp, wire_u32 scope, wire_u32 number)
{
	while (m.n_running < MAX_DEPTH && m.budget && !chance(3)) {
		bool panics;

		m.budget--;
		panics = number < 6 && chance(2) ? run_guard(sp, scope, number)
						 : run_code(sp - some(600, 1200));
		if (panics)
			return true;
	}
	return false;
}

static wire_u32 some_function(void)
{
	return FUNCTIONS + rng_below(&m.rng, 3);
}

/* Run a query whose body has `sp`. True if it panics. */
static bool run_body(struct call *c, enum kind kind, wire_u64 sp)
{
	wire_u64 end_sp = sp;
	bool panics;

	if (kind == THROUGH)
		sp -= some(8, 256);
	if (kind != WRAPPED)
		see_start(c, kind, sp);
	m.running[m.n_running++] = c;
	panics = run_code(sp - some(600, 1200));
	/* The body hashes the result. */
	if (!panics && chance(3))
		panics = run_frame(end_sp, group_of(c->query), 1);
	if (panics) {
		c->fate = UNWOUND;
		m.unwound[m.n_unwound++] = c;
	} else if (kind == WRAPPED && m.bad && chance(4)) {
		c->fate = NOT_EXECUTED;
	} else {
		see_end(c, end_sp);
	}
	m.n_running--;
	return panics;
}

static struct call *new_call(void)
{
	struct call *c = &m.calls[m.n_calls++];

	assert_true(m.n_calls < MAX_CALLS);
	*c = (struct call){.query = rng_below(&m.rng, 16)};
	return c;
}

static enum kind kind_of_body(wire_u32 query)
{
	return kind_of(query) == WRAPPED ? STARTED : kind_of(query);
}

/*
 * Force queries, as a body does before it executes; a forced query may force others first. True if
 * one panics. The query `avoided` is not forced: within its own request, on a grown stack, it would
 * be taken for the requested execution.
 */
static bool run_marking(wire_u64 sp, wire_u32 avoided)
{
	while (m.n_running < MAX_DEPTH && m.budget && chance(2)) {
		struct call *c = new_call();
		wire_u64 body = sp - some(500, 900);

		m.budget--;
		if (c->query == avoided)
			continue;
		if (chance(3) && run_marking(body - some(600, 1200), avoided))
			return true;
		if (run_body(c, kind_of_body(c->query), body))
			return true;
	}
	return false;
}

/* Run a requested query from the frame of its body. True if it panics. */
static bool run_requested(struct call *c, wire_u64 sp, bool grown)
{
	if (!m.incremental)
		return run_body(c, kind_of(c->query), sp);
	if (run_marking(sp - some(600, 1200), grown ? c->query : UINT32_MAX))
		return true;
	/* The query is green and is not executed. */
	if (chance(2))
		return false;
	return run_body(c, kind_of_body(c->query), sp);
}

static bool run_query(wire_u64 sp)
{
	struct call *c = new_call();
	int old = m.stack;
	bool grown = false, panics;

	see_request(c, sp + 8);
	if (!m.incremental && kind_of(c->query) == WRAPPED)
		see_start(c, WRAPPED, sp);
	sp -= world_reach(c->query) - 8;
	if (chance(6))
		grown = grow(&sp);
	panics = run_requested(c, sp, grown);
	if (grown) {
		if (panics)
			see_catch(BASE + m.stack * (STACK_SIZE + STACK_GAP) + STACK_SIZE - 16);
		world_unmap(m.stack);
		m.mapped[m.stack] = false;
		m.stack = old;
	}
	return panics;
}

static bool run_code(wire_u64 sp)
{
	while (m.n_running < MAX_DEPTH && m.budget && !chance(4)) {
		bool catches = chance(3), panics;

		m.budget--;
		panics = chance(3) ? run_frame(sp - some(16, 400), some_function(), 1)
				   : run_query(sp - some(16, 400));
		if (!panics)
			continue;
		if (!catches)
			return true;
		see_catch(sp - 8);
	}
	return chance(12);
}

static void run_tree(void)
{
	wire_u64 sp = BASE + STACK_SIZE - 4096;

	m.stack = 0;
	m.mapped[0] = true;
	world_map(0, BASE, STACK_SIZE);
	m.n_events = 0;
	m.incremental = chance(2);
	m.first_event = chance(2) ? 0 : rng_below(&m.rng, 200);
	m.last_event = chance(4) ? m.first_event + rng_below(&m.rng, 200) : UINT32_MAX;
	for (m.budget = 300; m.budget;) {
		m.budget--;
		if (run_query(sp - some(16, 400)))
			see_catch(sp - 8);
	}
	if (m.n_events <= m.last_event)
		stop_capture();
	m.n_unwound = 0;
}

static void assert_same_span(const struct world_span *got, const struct world_span *want)
{
	assert_int_equal(got->query, want->query);
	assert_int_equal(got->kind, want->kind);
	assert_int_equal(got->start_ns, want->start_ns);
	assert_int_equal(got->end_ns, want->end_ns);
	assert_int_equal(got->flags, want->flags);
	assert_int_equal(got->depth, want->depth);
	assert_int_equal(got->invocation, want->invocation);
	assert_int_equal(got->caller, want->caller);
}

static struct call *call_started_at(wire_u64 start_ns)
{
	for (wire_u32 i = 0; i < m.n_calls; i++)
		if (m.calls[i].seen && m.calls[i].start_ns == start_ns)
			return &m.calls[i];
	fail_msg("a span starts where no query does");
	return NULL;
}

/* A span without a flag must match a call that ended, any other span a call that did not. */
static void assert_fits(const struct world_span *got)
{
	struct call *c = call_started_at(got->start_ns);

	assert_int_equal(got->query, c->query);
	assert_int_equal(got->kind, c->kind);
	assert_true(!got->caller || got->caller == c->caller);
	if (!got->flags && c->is_timer && c->fate == UNWOUND) {
		/* The timer was taken for one that was moved. */
		c->fate = RUNNING;
	} else if (!got->flags) {
		assert_int_equal(c->fate, ENDED);
		assert_int_equal(got->end_ns, c->end_ns);
		assert_int_equal(got->invocation, c->invocation);
		c->fate = RUNNING; /* a second span must not match */
	} else if (!(got->flags & WIRE_SPAN_OPEN)) {
		/* A guard on top of one that was left is left with it. */
		assert_true(c->fate == UNWOUND || c->fate == NOT_EXECUTED ||
			    (c->kind == WIRE_KIND_ACTIVITY && got->flags == WIRE_SPAN_LEFT));
		c->fate = RUNNING;
	}
}

/* Switch the thread at any point of a program, but not more often than intervals can wait. */
static void switch_sometimes(void)
{
	const struct off_cpu *o = &world.t.off_cpu;

	while (chance(8) && (wire_u8)(o->noted - o->sent) < OFF_CPU_WAITING) {
		world_leave(1 + rng_below(&m.rng, WIRE_OFF_MAX - 1));
		world_return(1 + rng_below(&m.rng, 50));
	}
}

/*
 * Spans and off-CPU intervals must nest, in the order of their ends. With `exact`, the depth of
 * each must be the number of spans around it. The loop runs backwards, so that a span comes before
 * the intervals inside it.
 */
static void assert_nest(bool exact)
{
	static const struct world_span *open[MAX_CALLS];
	wire_u64 n_off = 0, later = UINT64_MAX;
	wire_u32 n_open = 0;

	for (size_t i = world.n_spans; i-- > 0;) {
		const struct world_span *s = &world.spans[i];

		assert_true(s->start_ns <= s->end_ns && s->end_ns <= later);
		later = s->end_ns;
		while (n_open && open[n_open - 1]->start_ns >= s->end_ns)
			n_open--;
		assert_true(!n_open || open[n_open - 1]->start_ns <= s->start_ns);
		if (exact)
			assert_int_equal(s->depth, n_open);
		if (s->kind == WORLD_OFF_CPU)
			n_off++;
		else
			open[n_open++] = s;
	}
	assert_int_equal(n_off, world.n_switches);
}

static void drop_off_cpu(void)
{
	size_t n = 0;

	for (size_t i = 0; i < world.n_spans; i++)
		if (world.spans[i].kind != WORLD_OFF_CPU)
			world.spans[n++] = world.spans[i];
	world.n_spans = n;
}

/* Run 20 trees. Only their spans are left, without the off-CPU intervals. */
static void run_trees(bool bad)
{
	struct rng rng = m.n_calls ? m.rng : rng_new();

	memset(&m, 0, sizeof(m));
	m.rng = rng;
	m.bad = bad;
	world_reset();
	world.callers = true;
	world.interrupt = switch_sometimes;
	for (int tree = 0; tree < 20; tree++)
		run_tree();
	assert_nest(!bad);
	drop_off_cpu();
}

TEST_CASE(everything_is_passed_on_unchanged)
{
	for (int round = 0; round < 30; round++) {
		run_trees(false);
		for (wire_u32 i = 0; i < m.n_expected && i < world.n_spans; i++)
			assert_same_span(&world.spans[i], &m.expected[i]);
		assert_int_equal(world.n_spans, m.n_expected);
		assert_int_equal(world.t.n, 0);
		assert_int_equal(world.n_used, 0);
		assert_int_equal(world.t.n_requests, 0);
		assert_int_equal(world.counters[WIRE_COUNT_LEFT], 0);
		assert_int_equal(world.counters[WIRE_COUNT_NOT_EXECUTED], 0);
	}
}

TEST_CASE(nothing_is_mispaired_whatever_goes_unseen)
{
	for (int round = 0; round < 30; round++) {
		run_trees(true);
		for (size_t i = 0; i < world.n_spans; i++)
			assert_fits(&world.spans[i]);
		for (wire_u32 i = 0; i < m.n_calls; i++)
			assert_false(m.calls[i].seen && m.calls[i].end_ns &&
				     m.calls[i].fate == ENDED);
		assert_int_equal(world.t.n, 0);
		assert_int_equal(world.n_used, 0);
	}
}

TEST_MAIN(NULL, NULL)
