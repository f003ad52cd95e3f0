// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Probes are attached and removed while a program runs: every execution is counted once, and no
 * span gets the end of another. The governor is replaced by one that decides at random.
 */
#include <sys/resource.h>
#include <time.h>

#include "capture.h"

#include "../fixtures/random.h"
#include "base/clock.h"
#include "capture/kernel_budget.h"
#include "capture/links.h"

#define RING	 (64u << 20)
#define SWITCHES 1000

/* ---- A governor that decides at random ------------------------------------------------------- */

struct governor {
	struct governor_query queries[N_QUERIES];
	bool ends[N_QUERIES];	/* by set */
	bool starts[N_QUERIES]; /* of queries without a wrapper */
	bool may_be_off;
	unsigned int switches;
};

static struct governor governor;
static struct rng rng;

int governor__new(uint64_t budget_ppm, struct governor **out)
{
	governor = (struct governor){.may_be_off = governor.may_be_off};
	*out = &governor;
	return 0;
}

int governor__add(struct governor *g, const struct governor_query *queries, uint32_t n,
		  uint32_t n_sets, uint32_t *base, uint32_t *set_base)
{
	assert_int_equal(n, N_QUERIES);
	assert_true(n_sets <= N_QUERIES);
	*base = *set_base = 0;
	memcpy(g->queries, queries, n * sizeof(*queries));
	for (uint32_t i = 0; i < n; i++)
		g->ends[i] = g->starts[i] = true;
	return 0;
}

void governor__recorded(struct governor *g, uint32_t query, uint64_t n, uint64_t ns)
{
}

void governor__counted(struct governor *g, uint32_t query, uint64_t n)
{
}

static bool is_whole(const struct governor *g, uint32_t set)
{
	for (uint32_t i = 0; i < N_QUERIES; i++)
		if (g->queries[i].set == set && !g->queries[i].wrapped && !g->starts[i])
			return false;
	return g->ends[set];
}

static void switch_some(struct governor *g)
{
	for (int i = 0; i < 4; i++) {
		uint32_t of = (uint32_t)rng_below(&rng, N_QUERIES);

		if (g->may_be_off && rng_below(&rng, 2))
			g->starts[of] = !g->starts[of];
		else
			g->ends[of] = !g->ends[of];
		g->switches++;
	}
}

bool governor__tick(struct governor *g, const struct governor_load *load)
{
	switch_some(g);
	return true;
}

/* Some probes are never attached at first. */
void governor__foresee(struct governor *g, const struct governor_load *load, uint64_t hit_ps)
{
	switch_some(g);
}

bool governor__wants_starts(const struct governor *g, uint32_t query)
{
	const struct governor_query *q = &g->queries[query];

	return q->wrapped ? is_whole(g, q->set) : g->starts[query];
}

bool governor__wants_ends(const struct governor *g, uint32_t set)
{
	return g->ends[set];
}

enum governor_watch governor__watch(const struct governor *g, uint32_t query)
{
	if (!governor__wants_starts(g, query))
		return GOVERNOR_OFF;
	return g->ends[g->queries[query].set] ? GOVERNOR_FULL : GOVERNOR_COUNTED;
}

bool governor__samples(const struct governor *g, uint32_t query)
{
	return false;
}

bool governor__sampled(const struct governor *g, uint32_t query)
{
	return false;
}

double governor__rate(const struct governor *g, uint32_t query)
{
	return 0;
}

double governor__sample(const struct governor *g, uint32_t query)
{
	return 0;
}

uint64_t governor__mean_ns(const struct governor *g, uint32_t query)
{
	return 0;
}

uint64_t governor__cost_ppm(const struct governor *g)
{
	return 0;
}

void governor__free(struct governor *g)
{
}

/* ---- Tests ----------------------------------------------------------------------------------- */

struct seen {
	struct budget *budget;
	struct records got;
	uint64_t counted;
	uint64_t decisions;
	uint64_t estimated;
};

static int on_record(void *ctx, const void *record, size_t size)
{
	struct seen *s = ctx;
	const struct wire_counted *r = record;

	if (r->type == WIRE_COUNTED) {
		assert_int_equal(size, sizeof(*r));
		s->counted += r->n;
	} else {
		keep_record(&s->got, record, size);
	}
	return budget__record(s->budget, record, size);
}

static int on_decision(void *ctx, const struct session_decision *d)
{
	struct seen *s = ctx;

	assert_in_range(d->query, 0, N_QUERIES - 1);
	s->decisions++;
	return 0;
}

static int on_estimated(void *ctx, pid_t pid, uint8_t lib, uint32_t query, uint64_t events,
			uint64_t sum_ns)
{
	struct seen *s = ctx;

	s->estimated++;
	return 0;
}

/* Run the script and switch probes, up to `most` times. */
static void run_switching(struct capture *c, struct seen *s, const char *script, unsigned int most)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .governed = true};
	const struct budget_sink sink = {s, on_decision, on_estimated};
	struct pollfd ring;

	capture_open_with(c, &opt, 0);
	assert_int_equal(kernel_budget__new(c->kernel, 30000, &sink, &s->budget), 0);
	assert_int_equal(kernel_budget__add_library(s->budget, c->lib, c->plan, NULL), 0);
	ring = (struct pollfd){.fd = kernel__ring_fd(c->kernel), .events = POLLIN};
	capture_begin(c, script);
	while (waitpid(c->pid, &c->status, WNOHANG) == 0) {
		poll(&ring, 1, 5);
		assert_int_equal(kernel__drain(c->kernel, on_record, s), 0);
		if (governor.switches < most)
			assert_int_equal(budget__tick(s->budget, clock_ns(CLOCK_MONOTONIC)), 0);
	}
	c->ended = true;
	kernel__enable(c->kernel, false);
	assert_int_equal(kernel__flush_open(c->kernel), 0);
	assert_int_equal(kernel__drain(c->kernel, on_record, s), 0);
	assert_int_equal(kernel__counters(c->kernel, c->counters), 0);
	assert_int_equal(c->status, 0);
}

/*
 * Each round of the script executes the queries of `order` once, in this order, with consecutive
 * invocation ids. A span with the end of another would have the other's id.
 */
static uint64_t assert_own_ends(const struct seen *s, const uint16_t *order, uint32_t n)
{
	uint64_t last_end[N_QUERIES] = {0}, untimed = 0;

	for (size_t i = 0; i < s->got.n_spans; i++) {
		const struct wire_span *r = &s->got.spans[i];

		if (r->flags & WIRE_SPAN_UNTIMED) {
			untimed++;
			continue;
		}
		assert_int_equal(r->flags, 0);
		if (r->invocation != WIRE_NO_INVOCATION)
			assert_int_equal(r->query, order[(r->invocation - 1) % n]);
		assert_true(r->start_ns > last_end[r->query]);
		assert_true(r->end_ns > r->start_ns);
		last_end[r->query] = r->end_ns;
	}
	return untimed;
}

/* A query that was open while its end probes were removed is reported as untimed. */
static void assert_none_lost(const struct capture *c, uint64_t untimed)
{
	for (int i = WIRE_LOST_RING_FULL; i <= WIRE_LOST_TARGETS_FULL; i++)
		assert_int_equal(c->counters[i], 0);
	assert_in_range(c->counters[WIRE_COUNT_LEFT], 0, untimed);
	assert_int_equal(c->counters[WIRE_COUNT_UNWOUND], 0);
}

static void close_all(struct capture *c, struct seen *s)
{
	budget__free(s->budget);
	capture_close(c);
	free(s->got.spans);
}

static void every_execution_is_recorded_or_counted(void **state)
{
	static const uint16_t order[] = {ALPHA, BETA, EPSILON, ETA};
	struct expectation e;
	struct capture c;
	struct seen s = {0};
	uint64_t untimed;

	need_capture();
	rng = rng_new();
	governor.may_be_off = false;
	run_switching(&c, &s, "~*250000(a(b(e)h))", SWITCHES);
	read_expectation(&c, &e);
	untimed = assert_own_ends(&s, order, 4);
	assert_none_lost(&c, untimed);
	assert_int_equal(e.total, 1000000);
	assert_int_equal(s.got.n_spans + s.counted, e.total);
	assert_true(s.counted > 0);
	assert_true(s.decisions > 0);
	print_message("%u switches: %zu recorded, %lu counted, %lu untimed\n", governor.switches,
		      s.got.n_spans - untimed, s.counted, untimed);
	free(e.spans);
	close_all(&c, &s);
}

/* Gamma and delta, which start at their wrappers, share bodies with zeta. */
static void the_end_of_an_unwatched_query_ends_no_other_query(void **state)
{
	static const uint16_t order[] = {ALPHA, GAMMA, BETA, ZETA, GAMMA, ETA, EPSILON, DELTA};
	struct expectation e;
	struct capture c;
	struct seen s = {0};

	need_capture();
	rng = rng_new();
	governor.may_be_off = true;
	run_switching(&c, &s, "~*100000(a(c(bz)C(h))eD)", SWITCHES);
	read_expectation(&c, &e);
	assert_none_lost(&c, assert_own_ends(&s, order, 8));
	assert_int_equal(e.total, 800000);
	assert_true(s.got.n_spans + s.counted <= e.total);
	assert_true(s.got.n_spans > 0);
	assert_true(s.estimated > 0);
	print_message("%u switches: %zu recorded, %lu counted of %lu\n", governor.switches,
		      s.got.n_spans, s.counted, e.total);
	free(e.spans);
	close_all(&c, &s);
}

static uint64_t spans_of_kind(const struct capture *c, enum wire_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->got.n_spans; i++) {
		assert_int_equal(c->got.spans[i].flags, 0);
		n += c->got.spans[i].kind == kind;
	}
	return n;
}

static void open_without_loads(struct capture *c, bool *groups)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .governed = true};

	for (int i = 0; i < N_GUARDS; i++)
		groups[i] = i != GUARD_LOAD;
	capture_open_with(c, &opt, 0);
	assert_int_equal(links__attach(kernel__links(c->kernel, c->lib), NULL, NULL, groups), 0);
}

static void add_loads(struct capture *c)
{
	/* One start and one end. */
	assert_int_equal(links__add_group(kernel__links(c->kernel, c->lib), GUARD_LOAD), 2);
}

/* Each guard of the target is a group; all others are attached from the beginning. */
static void guards_that_come_late_are_whole_from_then_on(void **state)
{
	bool groups[N_GUARDS];
	_capture_ struct capture c = CAPTURE_NONE;
	uint32_t sites;

	need_capture();
	open_without_loads(&c, groups);
	sites = kernel__sites(c.kernel, c.lib);
	capture_begin(&c, "*300(o(b)n(b)).*200(o(b)n(b))");
	capture_wait_for_dot(&c);
	add_loads(&c);
	assert_int_equal(kernel__sites(c.kernel, c.lib), sites + 2);
	capture_go(&c);
	capture_finish_target(&c);
	capture_stop(&c);
	assert_int_equal(spans_of_kind(&c, WIRE_KIND_LOAD), 200);
	assert_int_equal(spans_of_kind(&c, WIRE_KIND_QUERY), 1000);
	assert_int_equal(spans_of_kind(&c, WIRE_KIND_ACTIVITY), 1000);
}

/*
 * A load that is running when the guards arrive has no start, so its end is ignored. The second
 * half of the loads is recorded completely.
 */
static void guards_that_come_at_any_moment_leave_nothing_open(void **state)
{
	bool groups[N_GUARDS];
	_capture_ struct capture c = CAPTURE_NONE;
	uint64_t loads;

	need_capture();
	open_without_loads(&c, groups);
	capture_begin(&c, "~*100000(o(b)).*100000(o(b))");
	usleep(20000);
	add_loads(&c);
	capture_wait_for_dot(&c);
	capture_go(&c);
	capture_finish_target(&c);
	capture_stop(&c);
	loads = spans_of_kind(&c, WIRE_KIND_LOAD);
	assert_in_range(loads, 100000, 200000);
	assert_int_equal(spans_of_kind(&c, WIRE_KIND_QUERY), 200000);
	assert_int_equal(c.counters[WIRE_COUNT_LEFT], 0);
	print_message("%lu of 200000 loads\n", loads);
}

/* Attach to the target as another library with this path. */
static uint8_t attach_by(const struct capture *c, const char *path)
{
	_plan_ struct plan *plan = plan_of_target(c->target, 0);
	uint8_t lib;

	library_file__free(plan->file);
	assert_int_equal(library_file__open(path, &plan->file), 0);
	free(plan->path);
	plan->path = strdup(path);
	assert_int_equal(kernel__attach(c->kernel, plan, NULL, &lib), 0);
	return lib;
}

/* The path of a compiler in a container is in /proc/PID and disappears when the process exits. */
static void a_path_that_is_gone_is_not_needed_any_more(void **state)
{
	char link[] = "/tmp/qprof-test-XXXXXX";
	bool groups[N_GUARDS];
	_capture_ struct capture c = CAPTURE_NONE;
	uint8_t lib;

	need_capture();
	open_without_loads(&c, groups);
	close(mkstemp(link));
	unlink(link);
	assert_int_equal(symlink(c.target, link), 0);
	lib = attach_by(&c, link);
	unlink(link);
	assert_int_equal(links__add_group(kernel__links(c.kernel, lib), GUARD_LOAD), 2);
}

static void more_links_than_files_are_allowed_at_first(void **state)
{
	struct rlimit before, few;
	bool groups[N_GUARDS];
	_capture_ struct capture c = CAPTURE_NONE;
	uint8_t lib;
	int next;

	need_capture();
	open_without_loads(&c, groups);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(next);
	few = (struct rlimit){(rlim_t)next + 8, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	lib = attach_by(&c, c.target);
	assert_int_equal(links__attach(kernel__links(c.kernel, lib), NULL, NULL, NULL), 0);
	assert_true(kernel__sites(c.kernel, lib) > 8);
	setrlimit(RLIMIT_NOFILE, &before);
}

/* The budget leaves a detached library alone. */
static void a_library_that_was_detached_is_left_alone(void **state)
{
	const struct kernel_options opt = {
		.attach = KERNEL_ATTACH_MULTI, .ring_bytes = RING, .governed = true};
	struct seen s = {0};
	const struct budget_sink sink = {&s, on_decision, on_estimated};
	struct capture c;

	need_capture();
	rng = rng_new();
	governor.may_be_off = true;
	capture_open_with(&c, &opt, 0);
	assert_int_equal(kernel_budget__new(c.kernel, 30000, &sink, &s.budget), 0);
	assert_int_equal(kernel_budget__add_library(s.budget, c.lib, c.plan, NULL), 0);
	kernel__detach(c.kernel, c.lib);
	for (uint64_t tick = 1; tick < 100; tick++)
		assert_int_equal(budget__tick(s.budget, tick * 1000000000), 0);
	assert_int_equal(kernel__sites(c.kernel, c.lib), 0);
	close_all(&c, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_execution_is_recorded_or_counted),
		cmocka_unit_test(the_end_of_an_unwatched_query_ends_no_other_query),
		cmocka_unit_test(guards_that_come_late_are_whole_from_then_on),
		cmocka_unit_test(guards_that_come_at_any_moment_leave_nothing_open),
		cmocka_unit_test(a_path_that_is_gone_is_not_needed_any_more),
		cmocka_unit_test(more_links_than_files_are_allowed_at_first),
		cmocka_unit_test(a_library_that_was_detached_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
