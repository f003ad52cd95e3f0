// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A budget over fake probes: attaching, reporting and learning. The governor is the real one.
 * Switching of real probes is tested in tests/bpf/test_bpf_budget.c.
 */
#include "budget/budget.h"

#include <time.h>
#include <unistd.h>

#include "test.h"
#include "base/clock.h"
#include "budget/rates.h"
#include "capture/kernel_budget.h"

#define HOT  0
#define RARE 1
#define N    2

/* Guards, each its own group. */
#define WAITS	 0
#define LOADS	 1
#define MET	 2
#define NOT_MET	 3
#define UNNAMED	 4
#define INCR	 5
#define N_GUARDS 6

#define HIT_PS	1000000
#define TICK_NS 10000000ull

/* ---- Probes ------------------------------------------------------------------------- */

static struct {
	bool starts[N];
	bool ends[N];
	bool counts[N];
	uint64_t hits;
	int attach_err;
	bool groups[N_GUARDS];
} kernel;

static uint32_t sites(void *ctx, uint8_t lib)
{
	return 0;
}

static uint64_t hits(void *ctx)
{
	return kernel.hits;
}

static void count_only(void *ctx, uint8_t lib, uint32_t query, bool counted)
{
	kernel.counts[query] = counted;
}

static void lapse(void *ctx, uint8_t lib, uint32_t query)
{
}

int query_sets_find(const struct plan *plan, uint32_t *set_of)
{
	for (uint32_t i = 0; i < plan->n_queries; i++)
		set_of[i] = i;
	return (int)plan->n_queries;
}

static int attach(void *ctx, uint8_t lib, const bool *starts, const bool *ends, const bool *groups)
{
	for (int i = 0; i < N_GUARDS; i++)
		assert_false(groups[i]);
	for (int i = 0; i < N; i++) {
		kernel.starts[i] = !starts || starts[i];
		kernel.ends[i] = !ends || ends[i];
	}
	return kernel.attach_err;
}

static int add_group(void *ctx, uint8_t lib, uint32_t group)
{
	assert_false(kernel.groups[group]);
	kernel.groups[group] = true;
	return 1;
}

static int set_starts(void *ctx, uint8_t lib, uint32_t query, bool attached)
{
	kernel.starts[query] = attached;
	return 1;
}

static int set_ends(void *ctx, uint8_t lib, uint32_t set, bool attached)
{
	kernel.ends[set] = attached;
	return 1;
}

static bool has_starts(void *ctx, uint8_t lib, uint32_t query)
{
	return true;
}

static const struct probe_control probes = {
	.attach = attach,
	.set_starts = set_starts,
	.set_ends = set_ends,
	.add_group = add_group,
	.has_starts = has_starts,
	.sites = sites,
	.hits = hits,
	.count_only = count_only,
	.lapse = lapse,
};

/* ---- Rates ---------------------------------------------------------------------- */

static struct rates_query remembered[N], learnt[N];
static struct rates_group remembered_groups[N_GUARDS], learnt_groups[N_GUARDS];
static uint32_t turn;

/* These fakes replace the functions that access the user's cache. */
int rates__load(const struct plan *plan, struct rates **out)
{
	int err = rates__new(plan, out);

	if (!err)
		memcpy((*out)->queries, remembered, sizeof(remembered));
	if (!err)
		memcpy((*out)->groups, remembered_groups, sizeof(remembered_groups));
	(*out)->turn = turn;
	return err;
}

void rates__store(const struct rates *r)
{
	memcpy(learnt, r->queries, sizeof(learnt));
	memcpy(learnt_groups, r->groups, sizeof(learnt_groups));
	turn = r->turn;
}

int rates__new(const struct plan *plan, struct rates **out)
{
	*out = calloc(1, sizeof(**out));
	(*out)->n = plan->n_queries;
	(*out)->queries = calloc(plan->n_queries, sizeof(*(*out)->queries));
	(*out)->groups = calloc(N_GUARDS, sizeof(*(*out)->groups));
	return 0;
}

void rates__add(struct rates *r, const struct rates *more)
{
	memcpy(r->queries, more->queries, N * sizeof(*r->queries));
	memcpy(r->groups, more->groups, N_GUARDS * sizeof(*r->groups));
}

bool rates__is_empty(const struct rates *r)
{
	return r->queries[HOT].cpu_s == 0;
}

double rates__of(const struct rates *r, uint32_t query)
{
	const struct rates_query *q = &r->queries[query];

	return q->cpu_s > 0 ? q->executions / q->cpu_s : 0;
}

bool rates__never(const struct rates *r, uint32_t group)
{
	return r->groups[group].cpu_s > 0 && r->groups[group].hits < 1;
}

void rates__free(struct rates *r)
{
	if (!r)
		return;
	free(r->queries);
	free(r->groups);
	free(r);
}

/* ---- Reports ---------------------------------------------------------------------------- */

struct reports {
	struct budget *budget;
	struct filter *filter;
	uint64_t now_ns;
	unsigned int decisions[N];
	enum governor_watch watch[N];
	unsigned int estimates;
	uint64_t estimated[N];
	uint64_t last_ns;
	unsigned int guard_decisions[N_GUARDS];
	enum governor_watch guard_watch[N_GUARDS];
};

/* The budget of the test, and its reports. */
static struct reports seen;

static void on_guard_decision(struct reports *t, const struct session_decision *d)
{
	uint32_t guard = d->kind == WIRE_KIND_BLOCKED ? WAITS
			 : d->kind == WIRE_KIND_LOAD  ? LOADS
						      : d->query;

	assert_true(d->kind == WIRE_KIND_ACTIVITY || d->query == SESSION_ALL);
	assert_in_range(guard, 0, N_GUARDS - 1);
	assert_int_not_equal(d->watch, t->guard_watch[guard]);
	t->guard_decisions[guard]++;
	t->guard_watch[guard] = d->watch;
}

static int on_decision(void *ctx, const struct session_decision *d)
{
	struct reports *t = ctx;

	assert_true(d->time_ns >= t->last_ns);
	assert_int_equal(d->budget_ppm, 30000);
	if (d->kind != WIRE_KIND_QUERY) {
		t->last_ns = d->time_ns;
		on_guard_decision(t, d);
		return 0;
	}
	assert_int_not_equal(d->watch, t->watch[d->query]);
	t->last_ns = d->time_ns;
	t->decisions[d->query]++;
	t->watch[d->query] = d->watch;
	return 0;
}

static int on_estimated(void *ctx, pid_t pid, uint8_t lib, uint32_t query, uint64_t events,
			uint64_t sum_ns)
{
	struct reports *t = ctx;

	assert_int_equal(pid, getpid());
	t->estimates++;
	t->estimated[query] += events;
	return 0;
}

/* HOT is executed 100,000 times a second, each for 100 ns. */
static void remember(void)
{
	remembered[HOT] = (struct rates_query){100000, 1, 100};
	remembered[RARE] = (struct rates_query){1, 1, 1000000};
}

static void forget(void)
{
	memset(remembered, 0, sizeof(remembered));
	memset(remembered_groups, 0, sizeof(remembered_groups));
}

/* Only the guard MET was hit, in one second of CPU time. */
static void remember_guards(void)
{
	forget();
	for (int i = 0; i < N_GUARDS; i++)
		remembered_groups[i] = (struct rates_group){i == MET, 1};
	/* No other guard has its turn. */
	turn = 8 - MET;
}

/*
 * `recall` sets the rates of earlier recordings; NULL leaves them. `events` is a list for the
 * filter, or NULL.
 */
static void begin(void (*recall)(void), uint64_t ppm, const char *events)
{
	static struct plan_query queries[N] = {{.name = (char *)"hot"}, {.name = (char *)"rare"}};
	static struct plan_guard guards[N_GUARDS] = {
		[WAITS] = {.kind = WIRE_KIND_BLOCKED, .scope = 1, .label_of_query = true},
		[LOADS] = {.kind = WIRE_KIND_LOAD, .scope = 2, .label_of_query = true},
		[MET] = {.kind = WIRE_KIND_ACTIVITY, .label = (char *)"met", .scope = 3},
		[NOT_MET] = {.kind = WIRE_KIND_ACTIVITY, .label = (char *)"not_met", .scope = 4},
		[UNNAMED] = {.kind = WIRE_KIND_ACTIVITY, .scope = 5},
		[INCR] = {.kind = WIRE_KIND_ACTIVITY, .label = (char *)"incr_x", .scope = 6},
	};
	static struct plan_site sites[N_GUARDS];
	static const struct plan plan = {
		.path = (char *)"library",
		.queries = queries,
		.n_queries = N,
		.guards = guards,
		.n_guards = N_GUARDS,
		.sites = sites,
		.n_sites = N_GUARDS,
	};
	const struct budget_sink sink = {&seen, on_decision, on_estimated};
	uint8_t no_record = 0;

	if (recall)
		recall();
	for (uint32_t i = 0; i < N_GUARDS; i++)
		sites[i] = (struct plan_site){
			.role = WIRE_ROLE_GUARD,
			.guard = i,
			.query = i == LOADS || i == WAITS ? RARE : PLAN_NONE,
			.body = PLAN_NONE,
		};
	memset(&kernel, 0, sizeof(kernel));
	memset(learnt, 0, sizeof(learnt));
	memset(learnt_groups, 0, sizeof(learnt_groups));
	seen = (struct reports){.now_ns = UINT64_MAX / 2};
	if (events)
		assert_int_equal(filter__new(&events, 1, &seen.filter), 0);
	assert_int_equal(budget__new(&probes, ppm, &sink, &seen.budget), 0);
	budget__set_cost(seen.budget, HIT_PS);
	assert_int_equal(kernel_budget__add_library(seen.budget, 0, &plan, seen.filter), 0);
	assert_int_equal(budget__record(seen.budget, &no_record, 0), 0);
}

static void send_exec(const char *args, size_t len)
{
	struct wire_exec r = {.type = WIRE_EXEC, .pid = 1, .args_len = (uint32_t)len};

	memcpy(r.args, args, len);
	assert_int_equal(budget__record(seen.budget, &r, sizeof(r)), 0);
}

#define EXEC(args) send_exec(args, sizeof(args))

static void send_thread(void)
{
	const struct wire_thread r = {.type = WIRE_THREAD, .pid = (uint32_t)getpid()};

	assert_int_equal(budget__record(seen.budget, &r, sizeof(r)), 0);
}

static void send_interval(enum wire_kind kind, uint16_t query, uint32_t invocation)
{
	const struct wire_span r = {
		.type = WIRE_SPAN,
		.kind = (wire_u8)kind,
		.query = query,
		.pid = (uint32_t)getpid(),
		.end_ns = 100,
		.invocation = invocation,
	};

	assert_int_equal(budget__record(seen.budget, &r, sizeof(r)), 0);
}

static void send_span(uint16_t query, uint32_t invocation)
{
	send_interval(WIRE_KIND_QUERY, query, invocation);
}

/* Use at least 5 ms of CPU time, enough for a decision. */
static void work(void)
{
	clock_t until = clock() + CLOCKS_PER_SEC / 200;

	while (clock() < until)
		;
}

static void tick(void)
{
	work();
	seen.now_ns += TICK_NS;
	assert_int_equal(budget__tick(seen.budget, seen.now_ns), 0);
}

static void end(void)
{
	assert_int_equal(budget__finish(seen.budget), 0);
	budget__free(seen.budget);
	filter__free(seen.filter);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void all_queries_are_attached_if_no_rates_are_known(void **state)
{
	begin(forget, 30000, NULL);
	for (int i = 0; i < N; i++)
		assert_true(kernel.starts[i] && kernel.ends[i] && !kernel.counts[i]);
	tick();
	assert_int_equal(seen.decisions[HOT] + seen.decisions[RARE], 0);
	end();
	assert_int_equal(seen.estimates, 0);
}

static void queries_that_do_not_fit_by_known_rates_are_not_attached(void **state)
{
	begin(remember, 30000, NULL);
	assert_false(kernel.starts[HOT] || kernel.ends[HOT]);
	assert_true(kernel.counts[HOT]);
	assert_true(kernel.starts[RARE] && kernel.ends[RARE] && !kernel.counts[RARE]);
	/* Not reported before the first process. */
	assert_int_equal(seen.decisions[HOT], 0);
	send_thread();
	assert_int_equal(seen.decisions[HOT], 1);
	assert_int_equal(seen.watch[HOT], GOVERNOR_OFF);
	assert_int_equal(seen.decisions[RARE], 0);
	end();
	assert_int_equal(seen.estimates, 1);
}

/* The estimate for HOT in a process that executes RARE once, with this id. */
static uint64_t estimate_hot(uint32_t invocation)
{
	begin(remember, 30000, NULL);
	send_thread();
	work();
	send_span(RARE, invocation);
	end();
	assert_int_equal(seen.estimates, 1);
	return seen.estimated[HOT];
}

/* About 93,000,000 of 100,000,000 ids are executions, and one was seen. */
static void ids_show_how_many_executions_were_not_seen(void **state)
{
	assert_int_equal(estimate_hot(100000000), 92999999);
}

/* No estimate exceeds the number of ids. */
static void ids_limit_the_estimate(void **state)
{
	assert_int_equal(estimate_hot(100), 92);
}

/* A process without known ids has the rate of earlier recordings. */
static void without_ids_the_rate_decides(void **state)
{
	/* 5 ms of CPU time, or much more on a busy machine. */
	assert_in_range(estimate_hot(WIRE_NO_INVOCATION), 300, 1000000);
}

static void rates_of_seen_queries_are_learnt(void **state)
{
	begin(forget, 30000, NULL);
	send_thread();
	send_span(HOT, 1);
	send_span(HOT, 2);
	send_span(RARE, 3);
	tick();
	end();
	assert_int_equal((int)learnt[HOT].executions, 2);
	assert_int_equal((int)learnt[RARE].executions, 1);
	assert_true(learnt[HOT].cpu_s > 0);
	assert_int_equal(learnt[HOT].mean_ns, 100);
}

/* No execution was seen, but there may have been some. */
static void rates_of_unwatched_queries_are_not_learnt(void **state)
{
	begin(remember, 30000, NULL);
	send_thread();
	send_span(RARE, 1000);
	work();
	end();
	assert_true(learnt[HOT].cpu_s == 0);
	assert_true(learnt[RARE].cpu_s > 0);
}

static void without_a_budget_it_only_learns(void **state)
{
	begin(remember, 0, NULL);
	kernel.hits = 1000000000;
	send_thread();
	send_span(HOT, 1);
	tick();
	tick();
	end();
	assert_int_equal(seen.decisions[HOT] + seen.decisions[RARE], 0);
	assert_int_equal(seen.estimates, 0);
	assert_int_equal((int)learnt[HOT].executions, 1);
	assert_true(learnt[HOT].cpu_s > 0);
}

static void rates_of_filtered_queries_are_not_learnt(void **state)
{
	begin(remember, 0, "rare");
	send_thread();
	send_span(RARE, 1);
	tick();
	end();
	assert_true(learnt[HOT].cpu_s == 0);
	assert_true(learnt[RARE].cpu_s > 0);
}

/* Queries that the filter leaves out have no estimates, however many executions there were. */
static void filtered_queries_are_not_estimated(void **state)
{
	begin(remember, 30000, "rare");
	assert_true(kernel.starts[HOT]);
	send_thread();
	send_span(RARE, 1000000);
	tick();
	end();
	assert_int_equal(seen.decisions[HOT] + seen.estimates, 0);
}

static void unknown_guards_are_attached(void **state)
{
	begin(forget, 30000, NULL);
	send_thread();
	for (int i = 0; i < N_GUARDS; i++)
		assert_true(kernel.groups[i] && !seen.guard_decisions[i]);
	end();
}

/* A guard with a dynamic label is always attached, as no decision could be reported on it. */
static void guards_that_were_never_met_are_left_out_and_reported(void **state)
{
	begin(remember_guards, 30000, NULL);
	assert_true(kernel.groups[MET] && kernel.groups[UNNAMED]);
	assert_false(kernel.groups[WAITS] || kernel.groups[LOADS] || kernel.groups[NOT_MET]);
	EXEC("rustc\0a.rs");
	tick();
	tick();
	for (int i = 0; i < N_GUARDS; i++)
		assert_int_equal(seen.guard_decisions[i], !kernel.groups[i]);
	assert_int_equal(seen.guard_watch[NOT_MET], GOVERNOR_OFF);
	end();
}

static void without_a_budget_no_guard_is_left_out(void **state)
{
	begin(remember_guards, 0, NULL);
	EXEC("rustc\0-Cincremental=x");
	send_thread();
	send_interval(WIRE_KIND_LOAD, RARE, 0);
	send_interval(WIRE_KIND_ACTIVITY, NOT_MET, 0);
	/* A timer has no guard of the plan. */
	send_interval(WIRE_KIND_ACTIVITY, 0xffff, 0);
	tick();
	end();
	for (int i = 0; i < N_GUARDS; i++) {
		assert_int_equal(seen.guard_decisions[i], 0);
		assert_int_equal((int)learnt_groups[i].hits, i == LOADS || i == NOT_MET);
		assert_true(learnt_groups[i].cpu_s > 0);
	}
	assert_int_equal(turn, 8 - MET);
}

static void no_rates_of_left_out_guards_are_learnt(void **state)
{
	begin(remember_guards, 30000, NULL);
	send_thread();
	send_interval(WIRE_KIND_ACTIVITY, MET, 0);
	tick();
	end();
	assert_int_equal((int)learnt_groups[MET].hits, 1);
	assert_true(learnt_groups[MET].cpu_s > 0);
	assert_true(learnt_groups[NOT_MET].cpu_s == 0);
	assert_true(learnt_groups[WAITS].cpu_s == 0);
}

static void activities_that_were_never_met_have_their_turns(void **state)
{
	unsigned int tries = 0;

	remember_guards();
	for (int i = 0; i < 16; i++) {
		begin(NULL, 30000, NULL);
		tries += kernel.groups[NOT_MET];
		assert_false(kernel.groups[WAITS] || kernel.groups[LOADS]);
		end();
	}
	assert_int_equal(tries, 2);
}

static void loading_is_watched_from_an_incremental_compiler_on(void **state)
{
	begin(remember_guards, 30000, NULL);
	/* cc is no compiler of Rust, and the first rustc is not incremental. */
	EXEC("cc\0-Cincremental=x");
	EXEC("/usr/bin/rustc\0a.rs");
	assert_false(kernel.groups[LOADS]);
	EXEC("/usr/bin/rustc\0a.rs\0-C\0incremental=x");
	assert_true(kernel.groups[LOADS] && kernel.groups[INCR]);
	assert_false(kernel.groups[WAITS] || kernel.groups[NOT_MET]);
	/* The first decision leaves loads out, and the second watches them. */
	assert_int_equal(seen.guard_decisions[LOADS], 2);
	assert_int_equal(seen.guard_watch[LOADS], GOVERNOR_FULL);
	EXEC("/usr/bin/rustc\0a.rs\0-C\0incremental=x");
	assert_int_equal(seen.guard_decisions[LOADS], 2);
	end();
}

static void waiting_is_watched_where_threads_are_asked_for(void **state)
{
	begin(remember_guards, 30000, NULL);
	EXEC("clippy-driver\0-Zthreads=2");
	assert_true(kernel.groups[WAITS]);
	assert_false(kernel.groups[LOADS] || kernel.groups[INCR]);
	end();
}

/* The missing arguments may ask for any feature. */
static void arguments_that_cannot_be_read_may_ask_for_anything(void **state)
{
	char args[WIRE_ARGS_MAX] = "rustc";
	struct wire_exec cut = {.type = WIRE_EXEC, .truncated = 1, .args_len = sizeof("rustc")};

	memcpy(cut.args, args, sizeof(cut.args));
	for (int i = 0; i < 2; i++) {
		begin(remember_guards, 30000, NULL);
		if (i)
			EXEC("rustc\0@arguments");
		else
			assert_int_equal(budget__record(seen.budget, &cut, sizeof(cut)), 0);
		assert_true(kernel.groups[WAITS] && kernel.groups[LOADS]);
		end();
	}
}

/* The length in a record may be wrong. */
static void arguments_end_where_the_record_does(void **state)
{
	struct wire_exec r = {.type = WIRE_EXEC, .args_len = UINT32_MAX};

	begin(remember_guards, 30000, NULL);
	memset(r.args, 'x', sizeof(r.args));
	assert_int_equal(budget__record(seen.budget, &r, sizeof(r)), 0);
	assert_int_equal(budget__record(seen.budget, &r, offsetof(struct wire_exec, args)), 0);
	assert_false(kernel.groups[WAITS] || kernel.groups[LOADS]);
	end();
}

static void filtered_guards_are_not_reported(void **state)
{
	begin(remember_guards, 30000, "query-provider");
	EXEC("rustc\0-Cincremental=x");
	tick();
	for (int i = 0; i < N_GUARDS; i++)
		assert_false(kernel.groups[i] || seen.guard_decisions[i]);
	end();
}

/* CPU time from before the probes does not count. */
static void cpu_time_before_the_probes_is_no_credit(void **state)
{
	uint64_t start;

	for (int i = 0; i < 20; i++)
		work();
	forget();
	start = clock_ns(CLOCK_MONOTONIC);
	begin(NULL, 30000, NULL);
	send_thread();
	assert_true(budget__cpu_ns(seen.budget) <= clock_ns(CLOCK_MONOTONIC) - start);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_queries_are_attached_if_no_rates_are_known),
		cmocka_unit_test(queries_that_do_not_fit_by_known_rates_are_not_attached),
		cmocka_unit_test(ids_show_how_many_executions_were_not_seen),
		cmocka_unit_test(ids_limit_the_estimate),
		cmocka_unit_test(without_ids_the_rate_decides),
		cmocka_unit_test(rates_of_seen_queries_are_learnt),
		cmocka_unit_test(rates_of_unwatched_queries_are_not_learnt),
		cmocka_unit_test(without_a_budget_it_only_learns),
		cmocka_unit_test(rates_of_filtered_queries_are_not_learnt),
		cmocka_unit_test(filtered_queries_are_not_estimated),
		cmocka_unit_test(unknown_guards_are_attached),
		cmocka_unit_test(guards_that_were_never_met_are_left_out_and_reported),
		cmocka_unit_test(without_a_budget_no_guard_is_left_out),
		cmocka_unit_test(no_rates_of_left_out_guards_are_learnt),
		cmocka_unit_test(activities_that_were_never_met_have_their_turns),
		cmocka_unit_test(loading_is_watched_from_an_incremental_compiler_on),
		cmocka_unit_test(waiting_is_watched_where_threads_are_asked_for),
		cmocka_unit_test(arguments_that_cannot_be_read_may_ask_for_anything),
		cmocka_unit_test(arguments_end_where_the_record_does),
		cmocka_unit_test(filtered_guards_are_not_reported),
		cmocka_unit_test(cpu_time_before_the_probes_is_no_credit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
