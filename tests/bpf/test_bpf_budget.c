// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * With a budget some queries have no probes: of the others every execution is recorded, and no span
 * gets the end of another. The choice is replaced by one that chooses at random.
 */
#include "capture.h"

#include "../fixtures/random.h"
#include "budget/choice.h"
#include "capture/kernel_budget.h"

#define RING	(64u << 20)
#define CHOICES 40
#define ROUNDS	2000

static struct rng rng;

/* ---- A choice at random ---------------------------------------------------------------------- */

static bool is_whole(const struct choice *c, uint32_t set)
{
	for (uint32_t i = 0; i < c->n_queries; i++)
		if (c->queries[i].set == set && !c->queries[i].wrapped && !c->starts[i])
			return false;
	return c->ends[set];
}

int choice__make(struct choice *c)
{
	for (uint32_t i = 0; i < c->n_sets; i++)
		c->ends[i] = rng_below(&rng, 4);
	for (uint32_t i = 0; i < c->n_queries; i++)
		c->starts[i] =
			!c->queries[i].wrapped && c->ends[c->queries[i].set] && rng_below(&rng, 3);
	for (uint32_t i = 0; i < c->n_queries; i++)
		if (c->queries[i].wrapped)
			c->starts[i] = is_whole(c, c->queries[i].set);
	return 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

struct seen {
	struct capture capture;
	struct budget *budget;
	struct kernel_probes probes;
	bool off[N_QUERIES]; /* by decision */
};

static int on_decision(void *ctx, const struct session_decision *d)
{
	struct seen *s = ctx;

	if (d->kind != WIRE_KIND_QUERY)
		return 0;
	assert_in_range(d->query, 0, N_QUERIES - 1);
	assert_false(s->off[d->query]);
	s->off[d->query] = true;
	return 0;
}

static void open_some(struct seen *s, bool callers)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_AUTO, .ring_bytes = RING, .callers = callers};
	const struct budget_sink sink = {s, on_decision};
	struct capture *c = &s->capture;

	if (!have_multi())
		skip(); /* so many perf events are slow to remove */
	capture_load(c, &opt, 0);
	kernel__set_governed(c->kernel);
	assert_int_equal(budget__new((struct budget_limit){.ppm = 30000}, 0, &sink, &s->budget), 0);
	budget__set_cost(s->budget, 1000000);
	assert_int_equal(kernel_probes__choose(&s->probes, s->budget, c->plan, NULL, callers), 0);
	assert_int_equal(kernel__attach_sites(c->kernel, c->plan, NULL, s->probes.chosen->sites,
					      false, &c->lib),
			 0);
	assert_int_equal(kernel_probes__attached(&s->probes, s->budget, c->lib, c->plan), 0);
}

static void run(struct seen *s, const char *script)
{
	struct capture *c = &s->capture;
	const struct wire_thread thread = {.type = WIRE_THREAD, .pid = (uint32_t)getpid()};

	capture_begin(c, script);
	capture_finish_target(c);
	capture_stop(c);
	assert_int_equal(c->status, 0);
	assert_int_equal(budget__record(s->budget, &thread, sizeof(thread)), 0);
	for (int i = WIRE_LOST_RING_FULL; i <= WIRE_LOST_TARGETS_FULL; i++)
		assert_int_equal(c->counters[i], 0);
	assert_int_equal(c->counters[WIRE_COUNT_LEFT], 0);
	assert_int_equal(c->counters[WIRE_COUNT_UNWOUND], 0);
	assert_int_equal(c->counters[WIRE_DROP_END_WITHOUT_START], 0);
}

/*
 * Each round of a script executes the queries of `order` once, in this order, with consecutive
 * invocation ids. A span with the end of another would have the other's id. Returns the queries
 * that were recorded.
 */
static uint32_t check(const struct seen *s, const uint16_t *order, uint32_t n)
{
	uint64_t seen[N_QUERIES] = {0}, want[N_QUERIES] = {0};
	uint32_t recorded = 0;

	for (size_t i = 0; i < s->capture.got.n_spans; i++) {
		const struct wire_span *r = &s->capture.got.spans[i];

		if (r->kind != WIRE_KIND_QUERY)
			continue;
		assert_int_equal(r->flags, 0);
		if (r->invocation != WIRE_NO_INVOCATION)
			assert_int_equal(r->query, order[(r->invocation - 1) % n]);
		assert_true(r->end_ns > r->start_ns);
		seen[r->query]++;
	}
	for (uint32_t i = 0; i < n; i++)
		want[order[i]] += s->off[order[i]] ? 0 : ROUNDS;
	for (int i = 0; i < N_QUERIES; i++) {
		assert_int_equal(seen[i], want[i]);
		assert_true(!want[i] || s->probes.chosen->queries[i]);
		recorded += want[i] > 0;
	}
	return recorded;
}

static void close_some(struct seen *s)
{
	budget__free(s->budget);
	kernel_probes__clear(&s->probes);
	capture_close(&s->capture);
}

/* Gamma and delta, which start at their wrappers, share bodies with zeta. */
static void check_choices(bool callers)
{
	static const uint16_t order[] = {ALPHA, GAMMA, BETA, ZETA, GAMMA, ETA, EPSILON, DELTA};
	uint32_t recorded = 0, of = 0;

	for (int i = 0; i < CHOICES; i++) {
		struct seen s = {.capture = CAPTURE_NONE};

		open_some(&s, callers);
		run(&s, "~*2000(a(c(bz)C(h))eD)");
		recorded += check(&s, order, 8);
		of += 7;
		close_some(&s);
	}
	print_message("%u of %u queries recorded\n", recorded, of);
	assert_in_range(recorded, 1, of - 1);
}

static void queries_with_probes_are_recorded_exactly(void **state)
{
	need_capture();
	rng = rng_new();
	check_choices(false);
}

static void so_they_are_with_callers(void **state)
{
	need_capture();
	rng = rng_new();
	check_choices(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_with_probes_are_recorded_exactly),
		cmocka_unit_test(so_they_are_with_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
