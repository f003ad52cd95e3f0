// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/model.h"

#include "test.h"

enum { TYPECK, LAYOUT_OF, PREEMPTED, WAITING, ONE, TWO };

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {"typeck",	       "layout_of", TRACE_OFF_PREEMPTED,
					    TRACE_OFF_WAITING, "a::one",    "a::two"};

	return texts[id];
}

/* Each start has its item; others have none. */
static uint32_t item_of(const void *ctx, const struct trace_span *span)
{
	return span->start_ns == 100 ? ONE : span->start_ns == 300 ? TWO : TRACE_NO_STRING;
}

static bool is(const void *ctx, const char *label)
{
	return !strcmp(ctx, label);
}

/* The model of a test, and the rows of its items. */
static struct model m;
static struct item_row *rows;
static size_t n;

static int forget(void **state)
{
	model__destroy(&m);
	m = (struct model){};
	free(rows);
	rows = NULL;
	n = 0;
	return 0;
}
#define MODEL_CASE(name) TEST_CASE_WITH(name, NULL, forget)

static void start_with(struct model_options options)
{
	static const struct trace_process p = {
		.end_ns = 1000, .crate = (char *)"a", .command = (char *)"rustc --crate-name a"};
	const struct trace_item process = {.kind = TRACE_ITEM_PROCESS, .process = &p};
	const struct trace_item thread = {.kind = TRACE_ITEM_THREAD,
					  .thread = {.tid = 7, .name = "rustc"}};

	forget(NULL);
	options.texts.text = text_of;
	options.item = options.item ?: item_of;
	must(model__init(&m, &options), model__item(&m, &process), model__item(&m, &thread));
}

static void start(unsigned int parts)
{
	start_with((struct model_options){.parts = parts});
}

static void span(uint8_t kind, uint32_t label, uint16_t depth, uint64_t from, uint64_t to)
{
	const struct trace_item item = {
		.kind = TRACE_ITEM_SPAN,
		.span = {.start_ns = from,
			 .end_ns = to,
			 .tid = 7,
			 .kind = kind,
			 .label = label,
			 .depth = depth,
			 .invocation = TRACE_NO_INVOCATION},
	};

	assert_int_equal(model__item(&m, &item), 0);
}

/* One execution within another, and an off-CPU interval of each reason. */
static void add_spans(void)
{
	span(TRACE_KIND_OFF_CPU, PREEMPTED, 2, 120, 130);
	span(TRACE_KIND_QUERY, LAYOUT_OF, 1, 110, 160);
	span(TRACE_KIND_OFF_CPU, WAITING, 1, 170, 175);
	span(TRACE_KIND_QUERY, TYPECK, 0, 100, 200);
}

static struct group_row group_of(void)
{
	struct group_row *rows, row;
	size_t n;

	assert_int_equal(pivot__groups(m.groups, GROUP_BY_CRATE, &rows, &n), 0);
	assert_int_equal(n, 1);
	row = rows[0];
	group_rows__free(rows, n);
	return row;
}

MODEL_CASE(parts_are_as_asked_for)
{
	for (unsigned int parts = 0; parts < 32; parts++) {
		start(parts);
		add_spans();
		assert_int_equal(!!m.build, !!(parts & MODEL_BUILD));
		assert_int_equal(!!m.callers, !!(parts & MODEL_CALLERS));
		assert_int_equal(!!m.groups, !!(parts & MODEL_GROUPS));
		assert_int_equal(!!m.threads, !!(parts & MODEL_THREADS));
		assert_int_equal(!!m.items, !!(parts & MODEL_ITEMS));
		assert_int_equal(model__end(&m), 0);
		assert_int_equal(summary__spans(m.summary), 2);
		assert_int_equal(m.self_ns, 100);
		if (m.build)
			assert_int_equal(build__totals(m.build)->compiles, 1);
		if (m.groups)
			assert_int_equal(group_of().count, 2);
		if (m.threads)
			assert_struct(pivot__thread_at(m.threads, 0), count, 2, name, "rustc");
	}
}

static void item_rows(size_t expected)
{
	assert_int_equal(items__rows(m.items, &rows, &n), 0);
	assert_int_equal(n, expected);
}

static struct item_row item_at(uint32_t item)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].item == item)
			return rows[i];
	return (struct item_row){.item = PREEMPTED};
}

/* A cache hit and time off the CPU are neither executions nor time of their own. */
MODEL_CASE(items_are_of_executions)
{
	start(MODEL_ITEMS);
	add_spans();
	span(TRACE_KIND_HIT, LAYOUT_OF, 0, 250, 250);
	item_rows(1);
	assert_struct(rows[0], item, ONE, executions, 1, charged, 1, self_ns, 100);
}

/* An id about no item of the crate is about another crate's, with the path of ONE. */
static uint32_t foreign_of(const void *ctx, const struct trace_span *span)
{
	assert_int_equal(span->kind, TRACE_KIND_QUERY);
	return span->start_ns == 100 ? TRACE_NO_STRING : ONE;
}

static bool keyed_by_instance(const void *ctx, uint32_t label)
{
	return label == TYPECK || label == LAYOUT_OF;
}

MODEL_CASE(what_other_crates_made_of_an_item_counts)
{
	start_with((struct model_options){.parts = MODEL_ITEMS,
					  .foreign = foreign_of,
					  .keyed_by_instance = keyed_by_instance});
	/* One of its own. */
	span(TRACE_KIND_QUERY, TYPECK, 0, 100, 200);
	span(TRACE_KIND_QUERY, TYPECK, 0, 210, 220);
	span(TRACE_KIND_QUERY, TYPECK, 0, 220, 230);
	span(TRACE_KIND_QUERY, LAYOUT_OF, 0, 230, 240);
	span(TRACE_KIND_ACTIVITY, LAYOUT_OF, 0, 240, 250);
	item_rows(2);
	assert_int_equal(item_at(ONE).instances, 1 + 1);
}

/* An unwanted item is still around wanted ones: nothing is charged to a neighbour. */
MODEL_CASE(only_wanted_labels_are_of_items)
{
	start_with((struct model_options){
		.parts = MODEL_ITEMS, .wants = is, .wants_ctx = "layout_of"});
	add_spans();
	span(TRACE_KIND_QUERY, TYPECK, 1, 310, 320);
	span(TRACE_KIND_QUERY, LAYOUT_OF, 0, 300, 400);
	item_rows(2);
	assert_struct(item_at(ONE), self_ns, 50, executions, 0, charged, 1);
	assert_struct(item_at(TWO), self_ns, 90, charged, 0);
}

MODEL_CASE(all_off_cpu_time_is_of_groups)
{
	struct group_row row;

	start(MODEL_GROUPS);
	add_spans();
	row = group_of();
	assert_struct(row, preempted_ns, 10, waiting_ns, 5, self_off_ns, 15);
}

/* The other spans still reduce the self time of their parents, and are in the summary. */
MODEL_CASE(only_wanted_labels_are_of_groups_and_callers)
{
	_free_ struct caller_row *callers = NULL;
	struct group_row row;
	size_t n;

	start_with((struct model_options){
		.parts = MODEL_GROUPS | MODEL_CALLERS, .wants = is, .wants_ctx = "typeck"});
	add_spans();
	row = group_of();
	assert_struct(row, count, 1, self_ns, 50, self_off_ns, 5, preempted_ns, 0);
	assert_int_equal(pivot__callers(m.callers, NULL, &callers, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(callers[0].count, 1);
	assert_int_equal(summary__spans(m.summary), 2);
	assert_int_equal(m.self_ns, 100);
}

/* A hit costs 2 ns. Of the 4 ns for a span, 3 ns lie inside it. */
MODEL_CASE(raw_times_keep_the_time_of_probes)
{
	const struct trace_item costs = {
		.kind = TRACE_ITEM_COSTS,
		.costs.ps = {[TRACE_COST_EMULATED] = 2000, [TRACE_COST_EMULATED_INSIDE] = 3000}};

	for (int raw = 0; raw < 2; raw++) {
		_free_ struct summary_row *rows = NULL;
		size_t n;

		start_with((struct model_options){.raw = raw});
		assert_int_equal(model__item(&m, &costs), 0);
		assert_true(m.has_costs);
		add_spans();
		assert_int_equal(m.self_probe_ns, raw ? 0 : 3 + 3 + 1);
		assert_int_equal(summary__rows(m.summary, SUMMARY_ALL, &rows, &n), 0);
		assert_int_equal(n, 2);
		assert_int_equal(rows[0].self_ns + rows[1].self_ns, raw ? 100 : 93);
	}
}

MODEL_CASE(losses_are_kept)
{
	const struct trace_item losses = {.kind = TRACE_ITEM_LOSSES,
					  .losses.count[TRACE_LOST_RING_FULL] = 3};

	start(0);
	assert_false(m.has_losses);
	assert_int_equal(model__item(&m, &losses), 0);
	assert_true(m.has_losses);
	assert_int_equal(trace_losses__total(&m.losses), 3);
}

/* layout_of within typeck, which is about ONE. */
static const struct trace_job *job_of(const void *ctx, uint32_t id)
{
	static const struct trace_job jobs[] = {[1] = {.query = TYPECK, .parent = TRACE_NO_JOB},
						[2] = {.query = LAYOUT_OF, .parent = 1}};

	return &jobs[id];
}

static uint32_t job_item(const void *ctx, uint32_t process, const struct trace_job *job)
{
	assert_int_equal(process, 0);
	return job->query == TYPECK ? ONE : TRACE_NO_STRING;
}

static void sample_of(uint8_t cause, uint32_t label, uint32_t job, uint64_t time_ns)
{
	const struct trace_item item = {
		.kind = TRACE_ITEM_SAMPLE,
		.sample = {.time_ns = time_ns,
			   .tid = 7,
			   .cause = cause,
			   .value = 30,
			   .label = label,
			   .kind = label == TRACE_NO_STRING ? 0 : TRACE_KIND_ACTIVITY,
			   .job = job,
			   .stack = TRACE_NO_STACK},
	};

	assert_int_equal(model__item(&m, &item), 0);
}

static void sample(uint32_t label, uint32_t job, uint64_t time_ns)
{
	sample_of(TRACE_SAMPLE_CPU, label, job, time_ns);
}

/* The only probes are of an activity. */
MODEL_CASE(without_probes_of_queries_times_are_those_of_samples)
{
	const struct trace_item sampling = {.kind = TRACE_ITEM_SAMPLING,
					    .sampling = {.hz = 499, .queries = true}};
	_free_ struct summary_row *rows = NULL;
	size_t n;

	start_with(
		(struct model_options){.parts = MODEL_ITEMS, .job = job_of, .job_item = job_item});
	assert_false(m.by_samples);
	assert_int_equal(model__item(&m, &sampling), 0);
	assert_true(m.by_samples);
	span(TRACE_KIND_ACTIVITY, WAITING, 0, 100, 200);
	sample(WAITING, TRACE_NO_JOB, 120);
	sample(TRACE_NO_STRING, 2, 140);
	sample(TRACE_NO_STRING, 2, 160);
	must(model__end(&m), summary__rows(m.summary, SUMMARY_ALL, &rows, &n));
	assert_int_equal(n, 1);
	assert_struct(rows[0], self_by, SUMMARY_SELF_SAMPLES, best_self_ns, 30, total_ns, 100);
	/* No stack shows the query that two samples met: an item has it, and no row. */
	assert_int_equal(rows[0].sampled_max_ns, 0);
	item_rows(2);
	assert_struct(item_at(ONE), cpu_ns, 60, sampled[TRACE_SAMPLE_CPU].n, 2, queries[0].label,
		      LAYOUT_OF, executions, 0);
	/* The interval itself is no time of an item: it may hold that of queries. */
	assert_int_equal(item_at(TRACE_NO_STRING).self_ns, 30);
}

/* Where probes see queries, too; a sample of the CPU is then no time of an item. */
MODEL_CASE(waits_and_memory_are_charged_to_items)
{
	for (int queries = 0; queries < 2; queries++) {
		const struct trace_item sampling = {.kind = TRACE_ITEM_SAMPLING,
						    .sampling = {.hz = 499, .queries = queries}};
		uint64_t cpu_ns = queries ? 30 : 0;

		start_with((struct model_options){
			.parts = MODEL_ITEMS, .job = job_of, .job_item = job_item});
		assert_int_equal(model__item(&m, &sampling), 0);
		sample(TRACE_NO_STRING, 2, 10);
		sample_of(TRACE_SAMPLE_OFF_CPU, TRACE_NO_STRING, 2, 100);
		sample_of(TRACE_SAMPLE_FAULT, TRACE_NO_STRING, 2, 140);
		sample_of(TRACE_SAMPLE_FAULT, WAITING, TRACE_NO_JOB, 150);
		/* In no interval. */
		sample_of(TRACE_SAMPLE_OFF_CPU, TRACE_NO_STRING, TRACE_NO_JOB, 160);
		assert_int_equal(model__end(&m), 0);
		item_rows(2);
		assert_struct(item_at(ONE), self_ns, cpu_ns, sampled[TRACE_SAMPLE_OFF_CPU].value,
			      30, sampled[TRACE_SAMPLE_FAULT].value, 30);
		assert_struct(item_at(TRACE_NO_STRING), sampled[TRACE_SAMPLE_FAULT].value, 30,
			      sampled[TRACE_SAMPLE_OFF_CPU].n, 0);
	}
}

/*
 * Where only the innermost function of a page fault is known, and probes see queries: by the job,
 * which earlier recordings do not have.
 */
MODEL_CASE(light_memory_is_charged_by_its_job)
{
	for (int queries = 0; queries < 2; queries++) {
		const struct trace_item sampling = {
			.kind = TRACE_ITEM_SAMPLING,
			.sampling = {.fault_period = 100, .light = true, .queries = queries}};

		start_with((struct model_options){
			.parts = MODEL_ITEMS, .job = job_of, .job_item = job_item});
		assert_int_equal(model__item(&m, &sampling), 0);
		sample_of(TRACE_SAMPLE_FAULT, TRACE_NO_STRING, TRACE_NO_JOB, 130);
		assert_int_equal(model__charges(&m, TRACE_SAMPLE_FAULT), queries);
		sample_of(TRACE_SAMPLE_FAULT, TRACE_NO_STRING, 2, 140);
		assert_true(model__charges(&m, TRACE_SAMPLE_FAULT));
		assert_int_equal(model__end(&m), 0);
		item_rows(1);
	}
}

MODEL_CASE(items_that_fit_nothing_are_refused)
{
	const struct trace_item items[] = {
		{.kind = TRACE_ITEM_SPAN, .span = {.process = 4}},
		{.kind = TRACE_ITEM_SPAN, .span = {.start_ns = 2, .end_ns = 1, .tid = 9}},
		{.kind = TRACE_ITEM_TALLY,
		 .tally = {.process = 4, .kind = TRACE_KIND_HIT_COUNT, .events = 1}},
		{.kind = TRACE_ITEM_THREAD, .thread = {.process = 4, .tid = 1, .name = "x"}},
	};

	start(MODEL_THREADS);
	for (size_t i = 0; i < N_OF(items); i++)
		assert_int_equal(model__item(&m, &items[i]), -EINVAL);
	assert_int_equal(summary__spans(m.summary), 0);
}

static uint32_t first_item(const void *ctx, const struct trace_span *span)
{
	return TYPECK;
}

static int count_cell(void *ctx, const struct item_cell *cell)
{
	*(uint64_t *)ctx += cell->executions;
	return 0;
}

static uint64_t executions_of_items(const char *command, bool own_items)
{
	const struct trace_process p = {.crate = (char *)"a", .command = (char *)command};
	const struct trace_item process = {.kind = TRACE_ITEM_PROCESS, .process = &p};
	uint64_t executions = 0;

	start_with((struct model_options){
		.parts = MODEL_ITEMS, .item = first_item, .own_items = own_items});
	assert_int_equal(model__item(&m, &process), 0);
	add_spans();
	assert_int_equal(items__each(m.items, count_cell, &executions), 0);
	return executions;
}

MODEL_CASE(own_items_are_not_of_dependencies)
{
	const char *dependency = "rustc --crate-name a a.rs -C metadata=1 --cap-lints allow";

	assert_int_equal(executions_of_items("rustc --crate-name a a.rs", true), 2);
	assert_int_equal(executions_of_items(dependency, true), 0);
	assert_int_equal(executions_of_items(dependency, false), 2);
}

TEST_MAIN(NULL, NULL)
