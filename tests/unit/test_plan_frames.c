// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/frames.h"

#include "test.h"

/*
 * own	  has bodies of its own
 * stays  shares its bodies with all the others; its provider always has a frame
 * jumps  has a provider that leaves by a jump
 * twin, brother  have one wrapper and one provider, which leaves by a jump
 */
enum { OWN, STAYS, JUMPS, TWIN, BROTHER, N_QUERIES };

static const char *const names[] = {"own", "stays", "jumps", "twin", "brother"};

/* Bodies: of own, and of the others; without and with incremental compilation. */
enum { BODY_OWN, BODY_OWN_INCR, BODY, BODY_INCR, N_BODIES };

/* Each function takes 0x100 bytes. */
#define WRAPPER(query, incr) (0x10000u + 0x200u * (query) + 0x100u * (incr))
#define PROVIDER(query)	     (0x20000u + 0x100u * (query))
#define BODY_ADDR(body)	     (0x30000u + 0x1000u * (body))
#define BEFORE(body)	     (BODY_ADDR(body) + 0x10)
#define RUNS(body)	     (BODY_ADDR(body) + 0x110)
#define HASHES(body)	     (BODY_ADDR(body) + 0x180) /* also runs */
#define CALLS_JUMPS	     (BODY_ADDR(BODY) + 0x205)
#define LOADS		     (BODY_ADDR(BODY_INCR) + 0x20) /* before it runs */
#define ACTIVITY	     0x50010u
#define NESTED		     0x50030u
#define SHARED_LOAD	     0x50110u
#define NAMED_LOAD	     0x50210u
#define OTHER		     0x90000u /* a function that shows nothing */

enum { HASHING, LOAD_IN_BODY, OUTER, INNER, LOAD_SHARED, LOAD_NAMED, N_GUARDS };

static struct plan_query queries[] = {
	[OWN] = {.body_non_incr = BODY_OWN, .body_incr = BODY_OWN_INCR, .stays = true},
	[STAYS] = {.body_non_incr = BODY, .body_incr = BODY_INCR, .stays = true},
	[JUMPS] = {.body_non_incr = BODY, .body_incr = BODY_INCR},
	[TWIN] = {.body_non_incr = BODY, .body_incr = BODY_INCR},
	[BROTHER] = {.body_non_incr = BODY, .body_incr = BODY_INCR},
};

static struct plan_body bodies[] = {
	[BODY_OWN] = {.n_queries = 1, .n_ends = 1},
	[BODY_OWN_INCR] = {.n_queries = 1, .n_ends = 1, .incremental = true},
	[BODY] = {.n_queries = 4, .n_ends = 1},
	[BODY_INCR] = {.n_queries = 4, .n_ends = 1, .incremental = true},
};

static struct plan_guard guards[] = {
	[HASHING] = {.kind = WIRE_KIND_HASHING, .label_of_query = true, .exact = true},
	[LOAD_IN_BODY] = {.kind = WIRE_KIND_LOAD, .exact = true},
	[OUTER] = {.kind = WIRE_KIND_ACTIVITY, .exact = true},
	[INNER] = {.kind = WIRE_KIND_ACTIVITY, .exact = true},
	[LOAD_SHARED] = {.kind = WIRE_KIND_LOAD, .exact = true},
	[LOAD_NAMED] = {.kind = WIRE_KIND_LOAD, .exact = true},
};

static struct plan_site sites[] = {
	{.role = WIRE_ROLE_GUARD, .guard = LOAD_SHARED, .query = PLAN_NONE},
	{.role = WIRE_ROLE_GUARD, .guard = LOAD_NAMED, .query = STAYS},
};

static struct plan_frame frames[64];
static struct plan_frame guard_frames[16];
static struct plan plan = {
	.queries = queries,
	.n_queries = N_QUERIES,
	.bodies = bodies,
	.n_bodies = N_BODIES,
	.guards = guards,
	.n_guards = N_GUARDS,
	.sites = sites,
	.n_sites = N_OF(sites),
	.frames = frames,
	.guard_frames = guard_frames,
};
static struct plan_frames *shown_by;

static void add(uint64_t addr, uint32_t size, uint32_t of, enum plan_frame_kind kind)
{
	frames[plan.n_frames++] = (struct plan_frame){addr, size, of, (uint8_t)kind};
}

static void add_guard(uint64_t addr, uint32_t guard)
{
	guard_frames[plan.n_guard_frames++] =
		(struct plan_frame){addr, 0x10, guard, PLAN_FRAME_GUARD};
}

static void add_body(uint32_t body)
{
	add(BODY_ADDR(body), 0x100, body, PLAN_FRAME_BODY);
	add(BODY_ADDR(body) + 0x100, 0x100, body, PLAN_FRAME_RUNS);
	if (body == BODY) {
		add(CALLS_JUMPS - 5, 5, JUMPS, PLAN_FRAME_CALLS);
		add(CALLS_JUMPS, 0x40, body, PLAN_FRAME_RUNS);
	}
	add(BODY_ADDR(body) + 0x300, 0x100, body, PLAN_FRAME_BODY);
	if (body == BODY_INCR)
		add_guard(LOADS - 8, LOAD_IN_BODY);
	if (body == BODY_INCR || body == BODY_OWN_INCR)
		add_guard(HASHES(body) - 8, HASHING);
}

/* The brother's wrapper and provider are the twin's. */
static uint32_t with_functions_of(uint32_t query)
{
	return query == BROTHER ? TWIN : query;
}

static int setup(void **state)
{
	for (uint32_t i = 0; i < N_QUERIES; i++) {
		uint32_t of = with_functions_of(i);

		queries[i].name = (char *)names[i];
		queries[i].wrapper_non_incr = WRAPPER(of, 0);
		queries[i].wrapper_incr = WRAPPER(of, 1);
		queries[i].provider = PROVIDER(of);
		if (of != i)
			continue;
		add(WRAPPER(i, 0), 0x100, i, PLAN_FRAME_WRAPPER);
		/* In the first half it checks whether it needs its body. */
		add(WRAPPER(i, 1) + 0x80, 0x80, i, PLAN_FRAME_WRAPPER);
	}
	for (uint32_t i = 0; i < BROTHER; i++)
		add(PROVIDER(i), 0x100, i, PLAN_FRAME_PROVIDER);
	for (uint32_t i = 0; i < N_BODIES; i++)
		add_body(i);
	add_guard(ACTIVITY - 8, OUTER);
	add_guard(NESTED - 8, OUTER);
	add_guard(NESTED - 8, INNER);
	add_guard(SHARED_LOAD - 8, LOAD_SHARED);
	add_guard(NAMED_LOAD - 8, LOAD_NAMED);
	return plan_frames__new(&plan, &shown_by);
}

static int teardown(void **state)
{
	plan_frames__free(shown_by);
	return 0;
}

/* A frame in a wrapper whose body was called. */
#define ASKS(query)	 (WRAPPER(query, 0) + 0x90)
#define ASKS_INCR(query) (WRAPPER(query, 1) + 0x90)
#define CHECKS(query)	 (WRAPPER(query, 1) + 0x20)
#define IN(query)	 (PROVIDER(query) + 0x20)

#define STACK_MAX 16

/*
 * Check what the stack shows, whose outermost frame comes first: "query@frame", with `?` for an
 * unknown query, and the kind of anything else in front. The frames of `want` count from the
 * outermost, from 0 on.
 */
static void check_stack(const uint32_t *stack, uint32_t n, const char *want)
{
	static const char *const kinds[] = {"", "activity ", "blocked ", "load ", "hashing "};
	struct plan_frame_code codes[STACK_MAX];
	struct plan_shown shown[2 * STACK_MAX];
	char got[256] = "";
	size_t len = 0;
	uint32_t n_shown;

	for (uint32_t i = 0; i < n; i++)
		codes[n - 1 - i] = plan_frames__code(shown_by, stack[i], i + 1 < n);
	n_shown = plan_frames__shown(shown_by, codes, n, shown, N_OF(shown));
	for (uint32_t i = 0; i < n_shown; i++) {
		const struct plan_shown *s = &shown[i];
		const char *name = s->query == PLAN_NONE ? "?" : names[s->query];

		if (s->kind == WIRE_KIND_ACTIVITY)
			name = s->guard == OUTER ? "outer" : "inner";
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%s%s@%u", i ? " " : "",
					kinds[s->kind], name, n - 1 - s->frame);
		if (s->request != PLAN_NONE)
			len += (size_t)snprintf(got + len, sizeof(got) - len, "<%u",
						n - 1 - s->request);
	}
	assert_string_equal(got, want);
}

#define CHECK(want, ...) \
	check_stack((const uint32_t[]){__VA_ARGS__}, N_OF(((const uint32_t[]){__VA_ARGS__})), want)

TEST_CASE(a_stack_shows_the_query_that_runs)
{
	/* A body of one query shows it. */
	CHECK("own@0", RUNS(BODY_OWN), OTHER);
	CHECK("own@1", OTHER, RUNS(BODY_OWN_INCR), OTHER);
	CHECK("own@1<0", ASKS(OWN), RUNS(BODY_OWN), IN(OWN), OTHER);
	/* The wrapper shows the query. */
	CHECK("stays@2<1", OTHER, ASKS(STAYS), RUNS(BODY), OTHER);
	CHECK("jumps@1<0", ASKS(JUMPS), RUNS(BODY), OTHER);
	CHECK("jumps@1<0", ASKS_INCR(JUMPS), RUNS(BODY_INCR), OTHER);
	/* The stack has grown between the two. */
	CHECK("jumps@3<0", ASKS(JUMPS), OTHER, OTHER, RUNS(BODY), OTHER);
	/* The thread is in the body itself. */
	CHECK("jumps@1<0", ASKS(JUMPS), RUNS(BODY));
	/* The provider shows a forced query. */
	CHECK("stays@1", OTHER, RUNS(BODY_INCR), IN(STAYS), OTHER);
	CHECK("stays@1", OTHER, RUNS(BODY_INCR), IN(STAYS));
	CHECK("jumps@0", RUNS(BODY_INCR), IN(JUMPS));
	/* A call of a provider shows its query. */
	CHECK("jumps@1", OTHER, CALLS_JUMPS, OTHER);
	CHECK("jumps@1<0", ASKS(JUMPS), CALLS_JUMPS, OTHER);
	/* A return address behind the call, not a pc there. */
	CHECK("?@0", CALLS_JUMPS);
	/* Nothing shows one of several. */
	/* jumps, twin or brother. */
	CHECK("?@1", OTHER, RUNS(BODY), OTHER);
	CHECK("?@1<0", ASKS(TWIN), RUNS(BODY), OTHER);
	CHECK("?@1", OTHER, RUNS(BODY), IN(TWIN));
	/* In the body itself, all are possible. */
	CHECK("?@1", OTHER, RUNS(BODY));
}

/* With one query less, only one provider can have left no frame. */
TEST_CASE(the_only_query_that_can_have_left_no_frame_is_shown)
{
	struct plan_frames *all = shown_by;

	queries[TWIN].body_non_incr = queries[BROTHER].body_non_incr = PLAN_NONE;
	assert_int_equal(plan_frames__new(&plan, &shown_by), 0);
	CHECK("jumps@1", OTHER, RUNS(BODY), OTHER);
	CHECK("?@1", OTHER, RUNS(BODY));
	CHECK("jumps@1<0", ASKS(JUMPS), RUNS(BODY), OTHER);
	plan_frames__free(shown_by);
	queries[TWIN].body_non_incr = queries[BROTHER].body_non_incr = BODY;
	shown_by = all;
}

TEST_CASE(what_executes_for_a_body_runs_its_query)
{
	struct plan_frames *all = shown_by;

	bodies[BODY_INCR].outlined = BODY + 1;
	assert_int_equal(plan_frames__new(&plan, &shown_by), 0);
	CHECK("jumps@2", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), RUNS(BODY), OTHER);
	CHECK("jumps@3", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), OTHER, RUNS(BODY), OTHER);
	CHECK("?@1", BEFORE(BODY_INCR), RUNS(BODY), OTHER);
	/* Another body, which has no such query, called it. */
	CHECK("?@2", ASKS(OWN), BEFORE(BODY_OWN), RUNS(BODY), OTHER);
	plan_frames__free(shown_by);
	bodies[BODY_INCR].outlined = 0;
	shown_by = all;
	CHECK("?@2", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), RUNS(BODY), OTHER);
}

TEST_CASE(a_stack_shows_what_it_has)
{
	/* Queries nest. */
	CHECK("stays@2<1 own@5<4 jumps@7<6", OTHER, ASKS(STAYS), RUNS(BODY), IN(STAYS), ASKS(OWN),
	      RUNS(BODY_OWN), ASKS(JUMPS), RUNS(BODY), OTHER);
	/* One query in itself. */
	CHECK("jumps@1<0 jumps@3<2", ASKS(JUMPS), RUNS(BODY), ASKS(JUMPS), RUNS(BODY), OTHER);
	/* The inner provider is not the outer body's. */
	CHECK("jumps@1<0 stays@3", ASKS(JUMPS), RUNS(BODY), OTHER, RUNS(BODY), IN(STAYS));
	/* A body that runs nothing shows nothing. */
	CHECK("", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), OTHER);
	/* It forces another query, which its wrapper did not ask for. */
	CHECK("stays@3", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), OTHER, RUNS(BODY_INCR), IN(STAYS));
	CHECK("?@3", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), OTHER, RUNS(BODY_INCR), OTHER);
	/* A wrapper that checks asks for nothing. */
	CHECK("", CHECKS(JUMPS), OTHER);
	CHECK("?@2", CHECKS(JUMPS), OTHER, RUNS(BODY_INCR), OTHER);
	CHECK("stays@2", CHECKS(JUMPS), OTHER, RUNS(BODY_INCR), IN(STAYS));
	/* A wrapper of another body is not believed either. */
	CHECK("stays@1", ASKS(OWN), RUNS(BODY), IN(STAYS));
	/* A cut stack shows what it has. */
	CHECK("stays@0", IN(STAYS), OTHER);
	CHECK("?@0", IN(TWIN), OTHER);
	/* Loads and hashing are of their query. */
	CHECK("jumps@1<0 hashing jumps@1", ASKS_INCR(JUMPS), HASHES(BODY_INCR), OTHER);
	CHECK("own@0 hashing own@0", HASHES(BODY_OWN_INCR));
	CHECK("?@1 hashing ?@1", OTHER, HASHES(BODY_INCR), OTHER);
	CHECK("load jumps@1", ASKS_INCR(JUMPS), LOADS, OTHER);
	CHECK("load ?@1", OTHER, LOADS, OTHER);
	CHECK("load jumps@2", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), SHARED_LOAD, OTHER);
	CHECK("load stays@2", ASKS_INCR(JUMPS), BEFORE(BODY_INCR), NAMED_LOAD, OTHER);
	/* The result of an outer query is loaded, whatever runs in it has ended. */
	CHECK("own@1<0 load jumps@4", ASKS(OWN), RUNS(BODY_OWN), ASKS_INCR(JUMPS),
	      BEFORE(BODY_INCR), SHARED_LOAD, OTHER);
	/* Activities nest. */
	CHECK("activity outer@0", ACTIVITY, OTHER);
	CHECK("activity outer@1 activity inner@1", OTHER, NESTED);
	CHECK("own@1<0 activity outer@3 activity inner@3 jumps@5<4", ASKS(OWN), RUNS(BODY_OWN),
	      OTHER, NESTED, ASKS(JUMPS), RUNS(BODY), OTHER);
}

/* The last byte of a part is in it, as a pc; the return address behind it, too. */
TEST_CASE(parts_end_where_they_end)
{
	uint64_t end = BODY_ADDR(BODY_OWN) + 0x200;
	struct plan_frame_code none = {0, 0}, code;

	code = plan_frames__code(shown_by, end - 1, false);
	assert_int_equal(frames[code.frame - 1].kind, PLAN_FRAME_RUNS);
	code = plan_frames__code(shown_by, end, true);
	assert_int_equal(frames[code.frame - 1].kind, PLAN_FRAME_RUNS);
	code = plan_frames__code(shown_by, end, false);
	assert_memory_equal(&code, &none, sizeof(none));
	code = plan_frames__code(shown_by, 0, true);
	assert_memory_equal(&code, &none, sizeof(none));
	code = plan_frames__code(shown_by, UINT64_MAX, false);
	assert_memory_equal(&code, &none, sizeof(none));
}

TEST_CASE(no_more_than_fits_is_shown)
{
	struct plan_frame_code code = plan_frames__code(shown_by, NESTED, false);
	struct plan_shown one = {.guard = N_GUARDS};

	assert_int_equal(plan_frames__shown(shown_by, &code, 1, &one, 0), 0);
	assert_int_equal(one.guard, N_GUARDS);
	assert_int_equal(plan_frames__shown(shown_by, &code, 1, &one, 1), 1);
	assert_int_equal(one.guard, OUTER);
	assert_int_equal(plan_frames__shown(shown_by, NULL, 0, &one, 1), 0);
}

TEST_CASE(a_plan_knows_what_it_shows)
{
	assert_int_equal(plan_query__shows(&plan, OWN), PLAN_SHOWS_ALWAYS);
	assert_int_equal(plan_query__shows(&plan, STAYS), PLAN_SHOWS_ALWAYS);
	assert_int_equal(plan_query__shows(&plan, JUMPS), PLAN_SHOWS_REQUESTED);
	assert_int_equal(plan_query__shows(&plan, TWIN), PLAN_SHOWS_NOT);
	assert_int_equal(plan_query__shows(&plan, BROTHER), PLAN_SHOWS_NOT);
	/* Its ends were not found, so no part of it is known to run. */
	bodies[BODY_OWN_INCR].n_ends = 0;
	assert_int_equal(plan_query__shows(&plan, OWN), PLAN_SHOWS_NOT);
	bodies[BODY_OWN_INCR].n_ends = 1;
}

TEST_MAIN(setup, teardown)
