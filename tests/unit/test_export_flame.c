// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/computed.h"
#include "../fixtures/spans.h"
#include "../fixtures/spans_trace.h"
#include "../fixtures/export_trace.h"
#include "../fixtures/llvm_build.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_build.h"
#include "analyze/summary.h"
#include "export/flame.h"
#include "export/flame_tree.h"
#include "export/flame_samples.h"
#include "base/cleanup.h"
#define N_PROCESSES 3
#define N_LABELS    12

/* The number of different stacks, without the processes. */
static uint32_t n_stacks(const struct flame *f)
{
	return f->tree.n - f->tree.n_free - f->n_processes;
}

/* Times on the CPU of each query in all processes. */
static void assert_is_total(const struct summary *sum, uint64_t cpu_ns[N_LABELS])
{
	_free_ struct summary_row *rows = NULL;
	size_t n;

	assert_int_equal(summary__rows(sum, SUMMARY_ALL, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		cpu_ns[rows[i].label] -= rows[i].self_cpu_ns;
	for (size_t i = 0; i < N_LABELS; i++)
		assert_int_equal(cpu_ns[i], 0);
}

/* Self times and executions of each query in each process are those of a report. */
static void assert_is_summary(const struct flame *f, struct trace_reader *r,
			      const struct trace_costs *costs)
{
	_summary_ struct summary *sum = NULL;
	_self_time_ struct self_time *st = computed_new();
	_stack_ struct stack s = {0};
	uint64_t all_cpu_ns[N_LABELS] = {0};
	struct trace_item item;

	assert_int_equal(summary__new(&sum), 0);
	while (!trace_reader__next(r, &item) && item.kind != TRACE_ITEM_END) {
		if (item.kind == TRACE_ITEM_PROCESS)
			assert_int_equal(summary__process(sum, item.process), 0);
		else if (item.kind == TRACE_ITEM_COSTS && costs)
			self_time__set_costs(st, costs);
		else if (item.kind == TRACE_ITEM_SPAN)
			assert_int_equal(computed_span(sum, st, &item.span), 0);
	}
	for (uint32_t process = 0; process < N_PROCESSES; process++) {
		uint64_t wall_ns[N_LABELS] = {0}, cpu_ns[N_LABELS] = {0}, count[N_LABELS] = {0};
		_free_ struct summary_row *rows = NULL;
		size_t n;

		stack__begin(&s, f, process, process + 1);
		while (stack__next(&s) == 1) {
			const struct flame_node *node = stack__node(&s);
			int label = atoi(flame__name(f, node) + 1);

			wall_ns[label] += node->self[FLAME_WALL];
			cpu_ns[label] += node->self[FLAME_CPU];
			all_cpu_ns[label] += node->self[FLAME_CPU];
			count[label] += node->count;
		}
		assert_int_equal(summary__rows(sum, process, &rows, &n), 0);
		/* An activity may have the name of a query. */
		for (size_t i = 0; i < n; i++) {
			wall_ns[rows[i].label] -= rows[i].self_ns;
			cpu_ns[rows[i].label] -= rows[i].self_cpu_ns;
			count[rows[i].label] -= rows[i].count;
		}
		for (size_t i = 0; i < N_LABELS; i++) {
			assert_int_equal(wall_ns[i], 0);
			assert_int_equal(cpu_ns[i], 0);
			assert_int_equal(count[i], 0);
		}
	}
	assert_is_total(sum, all_cpu_ns);
}

/* Compare the stacks of these spans with a report. Returns their number. */
static uint32_t check(const struct trace_span *spans, uint32_t n, const struct trace_costs *costs)
{
	struct trace_reader *readers[2];
	struct export_job job = {};
	_flame_ struct flame *f = NULL;

	spans_trace(spans, n, N_PROCESSES, N_LABELS, costs, readers, 2);
	job.r = readers[0];
	assert_int_equal(flame__build(&job, &f), 0);
	assert_is_summary(f, readers[1], costs);
	trace_reader__free(readers[0]);
	trace_reader__free(readers[1]);
	return n_stacks(f);
}

static const struct trace_costs costs = {{300000, 0, 350000, 0}, false};

static void check_random(const struct trace_costs *c, uint32_t lost)
{
	struct rng rng = rng_new();
	struct spans *spans = spans_new(&rng, 15000, N_PROCESSES, N_LABELS);
	uint32_t n = 0;

	/* Some parents may be missing. */
	for (uint32_t i = 0; i < spans->n; i++)
		if (!lost || rng_below(&rng, lost))
			spans->at[n++] = spans->at[i];
	assert_true(check(spans->at, n, c) < n);
	free(spans);
}

TEST_CASE(sums_are_those_of_a_report)
{
	check_random(NULL, 0);
}

/* The probe costs of many stacks exceed their self time. */
TEST_CASE(probe_time_is_subtracted_from_self_time)
{
	check_random(&costs, 0);
}

TEST_CASE(lost_parents_lose_nothing_else)
{
	check_random(&costs, 4);
}

/* A wait is shorter than its probe costs: the rest is subtracted from the query's executions. */
TEST_CASE(all_kinds_of_a_query_bear_what_probes_took)
{
	static const struct trace_span spans[] = {
		{.start_ns = 0, .end_ns = 90000, .label = 1},
		{.start_ns = 90000, .end_ns = 90010, .label = 1, .kind = TRACE_KIND_BLOCKED},
	};

	check(spans, 2, &costs);
}

/* The probes of one take nothing off the other. */
TEST_CASE(an_activity_may_have_the_name_of_a_query)
{
	static const struct trace_span spans[] = {
		{.start_ns = 0, .end_ns = 1000, .label = 1},
		{.start_ns = 2000, .end_ns = 2100, .label = 1, .kind = TRACE_KIND_ACTIVITY},
	};

	check(spans, 2, &costs);
}

/* Also where probes are thought to have taken more than what is left. */
TEST_CASE(waiting_is_in_the_wall_time_alone)
{
	static const struct trace_span spans[] = {
		{.start_ns = 200, .end_ns = 700, .depth = 1, .kind = TRACE_KIND_OFF_CPU},
		{.start_ns = 100, .end_ns = 900, .label = 1},
		{.start_ns = 2000, .end_ns = 60000, .depth = 1, .kind = TRACE_KIND_OFF_CPU},
		{.start_ns = 1000, .end_ns = 90000, .label = 1},
		{.start_ns = 100000, .end_ns = 100090, .depth = 1, .kind = TRACE_KIND_OFF_CPU},
		{.start_ns = 100000, .end_ns = 100100, .label = 2},
	};

	check(spans, N_OF(spans), &costs);
	check(spans, N_OF(spans), NULL);
	assert_int_equal(check(spans, 2, NULL), 1);
}

static char *stacks_of(const struct trace_span *spans, size_t n)
{
	struct export_job job = {};
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	char *text = calloc(1, 1024);

	spans_trace(spans, n, 1, 4, NULL, &job.r, 1);
	assert_int_equal(flame__build(&job, &f), 0);
	stack__begin(&s, f, 0, 1);
	while (stack__next(&s) == 1) {
		const struct flame_node *node = stack__node(&s);

		for (uint32_t i = 1; i < s.n; i++)
			sprintf(text + strlen(text), "%s%s", i > 1 ? ">" : "",
				flame__name(f, &f->tree.nodes[s.nodes[i]]));
		sprintf(text + strlen(text), " %u %u; ", (unsigned int)node->count,
			(unsigned int)node->self[FLAME_WALL]);
	}
	trace_reader__free(job.r);
	return text;
}

#define assert_stacks(spans, expected)                             \
	do {                                                       \
		_free_ char *text = stacks_of(spans, N_OF(spans)); \
                                                                   \
		assert_string_equal(text, expected);               \
	} while (0)

TEST_CASE(kinds_have_stacks_of_their_own)
{
	static const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 10, .depth = 1, .kind = TRACE_KIND_HIT},
		{.start_ns = 10, .end_ns = 13, .depth = 1, .label = 1, .kind = TRACE_KIND_LOAD},
		{.start_ns = 13, .end_ns = 14, .depth = 1, .label = 1},
		{.start_ns = 10, .end_ns = 20, .label = 1, .kind = TRACE_KIND_ACTIVITY},
	};

	assert_stacks(spans, "q1 1 6; q1>q1 1 1; q1>q1 [IncrementalLoadResult] 0 3; ");
}

TEST_CASE(threads_of_a_process_are_merged)
{
	static const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 13, .depth = 1, .label = 2, .tid = 1},
		{.start_ns = 11, .end_ns = 12, .depth = 1, .label = 2, .tid = 2},
		{.start_ns = 10, .end_ns = 20, .label = 1, .tid = 2},
		{.start_ns = 10, .end_ns = 15, .label = 1, .tid = 1},
		/* Its parent was lost. */
		{.start_ns = 30, .end_ns = 34, .depth = 3, .label = 2, .tid = 1},
	};

	assert_stacks(spans, "q1 2 11; q1>q2 2 4; q2 1 4; ");
}

/* The depths show that intervals between them were lost, but not which. */
TEST_CASE(an_interval_belongs_to_its_nearest_recorded_ancestor)
{
	static const struct trace_span spans[] = {
		{.start_ns = 10, .end_ns = 11, .depth = 2, .label = 2},
		{.start_ns = 12, .end_ns = 13, .depth = 3, .label = 3},
		{.start_ns = 10, .end_ns = 15, .depth = 1, .label = 1},
		{.start_ns = 16, .end_ns = 17, .depth = 1, .label = 2},
		{.start_ns = 10, .end_ns = 20},
	};

	assert_stacks(spans, "q0 1 4; q0>q1 1 3; q0>q1>q2 1 1; q0>q1>q3 1 1; q0>q2 1 1; ");
}

/* Their time belongs to no stack. Their children move up and merge with equal stacks there. */
TEST_CASE(unknown_kinds_are_passed_over)
{
	static const struct trace_span spans[] = {
		{.start_ns = 11, .end_ns = 12, .depth = 2, .label = 2},
		{.start_ns = 10, .end_ns = 14, .depth = 1, .kind = TRACE_KIND_OTHER},
		{.start_ns = 20, .end_ns = 21, .depth = 1, .label = 1},
		{.start_ns = 31, .end_ns = 32, .depth = 2, .label = 2},
		{.start_ns = 32, .end_ns = 33, .depth = 3, .label = 3},
		{.start_ns = 30, .end_ns = 34, .depth = 1, .kind = TRACE_KIND_OTHER},
		{.start_ns = 40, .end_ns = 41, .depth = 1, .label = 1},
		{.start_ns = 10, .end_ns = 50},
		{.start_ns = 61, .end_ns = 62, .depth = 1, .label = 1},
		{.start_ns = 60, .end_ns = 70, .kind = TRACE_KIND_OTHER},
	};

	assert_stacks(spans, "q0 1 30; q0>q1 2 2; q0>q2 2 2; q0>q3 1 1; q1 1 1; ");
}

/* ---- Stack ----------------------------------------------------------------------------------- */

TEST_CASE(each_stack_comes_once)
{
	/* Process 0: q0 > q1 > q2, q0 > q2; process 1: nothing; process 2: q1 */
	const struct trace_span spans[] = {
		{.start_ns = 12, .end_ns = 13, .depth = 2, .label = 2},
		{.start_ns = 11, .end_ns = 14, .depth = 1, .label = 1},
		{.start_ns = 15, .end_ns = 16, .depth = 1, .label = 2},
		{.start_ns = 10, .end_ns = 20, .depth = 0, .label = 0},
		{.start_ns = 10, .end_ns = 20, .depth = 0, .label = 1, .process = 2},
	};
	struct export_job job = {};
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	char text[256] = "";

	spans_trace(spans, 5, 3, 3, NULL, &job.r, 1);
	assert_int_equal(flame__build(&job, &f), 0);
	stack__begin(&s, f, 0, UINT32_MAX);
	while (stack__next(&s) == 1) {
		for (uint32_t i = 0; i < s.n; i++) {
			strcat(text, flame__name(f, &f->tree.nodes[s.nodes[i]]));
			strcat(text, i + 1 < s.n ? ">" : " ");
		}
	}
	assert_string_equal(text, "unknown (100)>q0 unknown (100)>q0>q1 unknown (100)>q0>q1>q2 "
				  "unknown (100)>q0>q2 unknown (102)>q1 ");
	assert_int_equal(n_stacks(f), 5);
	trace_reader__free(job.r);
}

/* ---- Flame tree ------------------------------------------------------------------------------ */

static uint32_t add(struct flame_tree *t, uint32_t parent, uint32_t frame, uint64_t self_ns)
{
	uint32_t i = flame_tree__new(t, frame);

	assert_int_not_equal(i, FLAME_NONE);
	t->nodes[i].count = 1;
	t->nodes[i].self[FLAME_WALL] = self_ns;
	t->nodes[i].probe_ns = self_ns / 10;
	assert_int_equal(flame_tree__attach(t, parent, i), 0);
	return i;
}

TEST_CASE(children_are_found_by_frame)
{
	__cleanup(flame_tree__destroy) struct flame_tree t = {0};
	uint32_t top = flame_tree__new(&t, 0), a = add(&t, top, 1, 10);

	assert_int_equal(flame_tree__find(&t, top, 1), a);
	assert_int_equal(flame_tree__find(&t, top, 2), FLAME_NONE);
	assert_int_equal(flame_tree__find(&t, a, 1), FLAME_NONE);
	assert_int_equal(t.nodes[a].parent, top);
}

TEST_CASE(nodes_of_the_same_label_are_merged)
{
	__cleanup(flame_tree__destroy) struct flame_tree t = {0};
	uint32_t from = flame_tree__new(&t, 0), to = flame_tree__new(&t, 0);
	uint32_t a = add(&t, to, 1, 10), b = add(&t, a, 2, 20);

	/* from: 1 > (2 > 3), 4; to: 1 > 2 */
	add(&t, add(&t, add(&t, from, 1, 100), 2, 200), 3, 300);
	add(&t, from, 4, 400);
	assert_int_equal(flame_tree__move_children(&t, from, to), 0);
	assert_int_equal(t.nodes[from].child, FLAME_NONE);
	assert_int_equal(flame_tree__find(&t, to, 1), a);
	assert_int_equal(flame_tree__find(&t, a, 2), b);
	assert_struct(t.nodes[a], self[FLAME_WALL], 110, probe_ns, 11, count, 2);
	assert_int_equal(t.nodes[b].self[FLAME_WALL], 220);
	assert_int_equal(t.nodes[flame_tree__find(&t, b, 3)].self[FLAME_WALL], 300);
	assert_int_equal(t.nodes[flame_tree__find(&t, to, 4)].self[FLAME_WALL], 400);
	/* New nodes come from the two free ones first. */
	assert_struct(t, n_free, 2, n, 8);
	flame_tree__new(&t, 9);
	assert_struct(t, n_free, 1, n, 8);
}

/* Moving the deepest possible tree must not recurse. */
TEST_CASE(deep_trees_are_moved)
{
	__cleanup(flame_tree__destroy) struct flame_tree t = {0};
	uint32_t tops[2], node;

	for (int i = 0; i < 2; i++) {
		tops[i] = node = flame_tree__new(&t, 0);
		for (uint32_t depth = 0; depth < 65536; depth++)
			node = add(&t, node, 7, 1);
	}
	assert_int_equal(flame_tree__move_children(&t, tops[0], tops[1]), 0);
	assert_struct(t, nodes[node].self[FLAME_WALL], 2, n_free, 65536);
}

/* ---- Flame frames ---------------------------------------------------------------------------- */

TEST_CASE(a_name_has_one_frame)
{
	struct flame_frames f = {0};
	uint32_t first = flame_frames__named(&f, 1, "parse_crate", 5);
	uint32_t second = flame_frames__named(&f, 2, "typeck", 6);

	assert_int_not_equal(first, second);
	assert_int_equal(flame_frames__named(&f, 1, "parse", 5), first);
	assert_string_equal(flame_frames__name(&f, first), "parse");
	assert_string_equal(flame_frames__name(&f, second), "typeck");
	/* Each is the first of its own: they share no probe costs. */
	assert_struct(f.all, at[first].query, first, at[second].query, second);
	flame_frames__destroy(&f);
}

TEST_CASE(frames_are_shared_by_rows_of_a_report)
{
	const struct export_job job = {0};
	struct flame_frames f = {.job = &job};
	struct trace_span s = {.kind = TRACE_KIND_QUERY, .label = 7};
	uint32_t query, again, activity, other;

	must(flame_frames__of(&f, &s, &query), flame_frames__of(&f, &s, &again));
	s.kind = TRACE_KIND_ACTIVITY;
	assert_int_equal(flame_frames__of(&f, &s, &activity), 0);
	s.label = 8;
	assert_int_equal(flame_frames__of(&f, &s, &other), 0);
	assert_int_equal(again, query);
	assert_int_not_equal(activity, query);
	assert_struct(f.all, at[activity].query, activity, at[other].query, other);
	flame_frames__destroy(&f);
}

/* ---- Flame items ----------------------------------------------------------------------------- */

/* Spans of one thread, each about an item by its own invocation id; NULL: about nothing. */
static const struct {
	uint64_t start_ns, end_ns;
	uint16_t depth;
	const char *query, *path;
} rows[] = {
	{1000, 1100, 1, "mir_built", "a::<b::C as d::E>::f"},
	{1000, 1300, 0, "typeck", "a::<b::C as d::E>::f"},
	{1300, 1700, 0, "typeck", "a::m"},
	{1700, 2500, 0, "typeck", "a::m"},
	{2500, 2600, 1, "layout_of", NULL},
	{2500, 2700, 0, "lint_mod", "a"},
	{2700, 2701, 0, "layout_of", NULL},
	{2800, 2830, 0, "typeck", "c"},
};

static void put_row(struct trace_writer *w, uint32_t i)
{
	struct trace_span span = {.start_ns = rows[i].start_ns,
				  .end_ns = rows[i].end_ns,
				  .tid = 1,
				  .depth = rows[i].depth,
				  .invocation = i,
				  .caller = TRACE_NO_LOCATION};
	uint32_t path;

	assert_int_equal(trace_writer__intern(w, rows[i].query, &span.label), 0);
	if (rows[i].path) {
		const struct trace_mapping event = {0, i, 1, &path, 0, false};

		must(trace_writer__intern(w, rows[i].path, &path), trace_writer__map(w, &event));
	}
	assert_int_equal(trace_writer__span(w, &span), 0);
}

static void write_trace(const char *path)
{
	const struct trace_info info = {.tool = "-", .kernel = "-", .host = "-"};
	const struct trace_process process = {.pid = 1, .crate = "a", .command = "rustc"};
	_trace_writer_ struct trace_writer *w = NULL;

	must(trace_writer__open(path, &info, &w), trace_writer__process(w, &process));
	for (uint32_t i = 0; i < N_OF(rows); i++)
		put_row(w, i);
	assert_int_equal(trace_writer__finish(w), 0);
}

static char *folded(void)
{
	struct export_job job = {.by_item = true};
	size_t size;

	return export_of(write_trace, export_folded, &job, &size);
}

/*
 * Time about nothing, or about another crate, is charged to the item around it, or to none; types
 * stay whole.
 */
TEST_CASE(items_lie_in_their_modules)
{
	assert_shows(folded(), "=a;<b::C as d::E>;f;mir_built 100\n"
			       "a;<b::C as d::E>;f;typeck 200\n"
			       "a;layout_of 100\n"
			       "a;lint_mod 100\n"
			       "a;m;typeck 1200\n"
			       "(no item);layout_of 1\n"
			       "(no item);typeck 30\n");
}

/* ---- Flame samples --------------------------------------------------------------------------- */

/* The stacks of a tree, a line each, with their samples and values. */
static char *flame_samples_stacks_of(struct export_job *job)
{
	_flame_ struct flame *f = NULL;
	_stack_ struct stack s = {0};
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	job->r = job->r ?: sampled_build_open();
	assert_int_equal(flame__build(job, &f), 0);
	stack__begin(&s, f, 0, UINT32_MAX);
	while (stack__next(&s) == 1) {
		const struct flame_node *node = stack__node(&s);

		if (!flame__self(f, node))
			continue;
		for (uint32_t i = 0; i < s.n; i++)
			fprintf(to, "%s%s", i ? ";" : "",
				flame__name(f, &f->tree.nodes[s.nodes[i]]));
		fprintf(to, " %lu %lu\n", node->count, flame__self(f, node));
	}
	fclose(to);
	trace_reader__free(job->r);
	return text;
}

TEST_CASE(stacks_go_from_queries_to_functions)
{
	struct export_job job = {.cause = TRACE_SAMPLE_CPU, .short_names = true};

	assert_shows(flame_samples_stacks_of(&job), "@export/sampled_stacks.txt");
}

TEST_CASE(each_cause_has_its_stacks)
{
	struct export_job memory = {.cause = TRACE_SAMPLE_FAULT};
	struct export_job waits = {.cause = TRACE_SAMPLE_OFF_CPU};
	_free_ char *of_waits = flame_samples_stacks_of(&waits);

	assert_shows(flame_samples_stacks_of(&memory),
		     "dep (200);std::rt::lang_start;[analysis];"
		     "rustc_interface::passes::analysis 5 2048000\n");
	assert_contains(of_waits, "app (bin) (100);std::rt::lang_start;"
				  "<jobserver::imp::Client>::acquire_allow_interrupts;__read 1 "
				  "30000000\n");
}

TEST_CASE(waits_are_in_the_wall_time_alone)
{
	struct export_job cpu = {.cause = TRACE_SAMPLE_CPU};
	struct export_job wall = {.cause = TRACE_SAMPLE_CPU, .wall = true};
	_free_ char *of_wall = flame_samples_stacks_of(&wall);

	assert_shows(flame_samples_stacks_of(&cpu), "!acquire_allow_interrupts");
	assert_contains(of_wall, "app (bin) (100);std::rt::lang_start;"
				 "<jobserver::imp::Client>::acquire_allow_interrupts;__read 0 "
				 "30000000\n");
}

/* Before LLVM's own functions, or behind all that are known. */
TEST_CASE(what_llvm_compiles_is_in_the_stack)
{
	struct export_job job = {.cause = TRACE_SAMPLE_CPU, .r = llvm_build_open(true)};

	assert_shows(flame_samples_stacks_of(&job),
		     "app (bin) (100);rustc_codegen_llvm::back::write::codegen;"
		     "[InstCombine];[app::generic_big];"
		     "llvm::legacy::PassManagerImpl::run 200 200000000\n",
		     ";[Inliner];[app::huge, first of a component];",
		     ";[IPSCCP];llvm::legacy::PassManagerImpl::run 6 6000000\n",
		     "write::codegen;[X86AsmPrinter];llvm::legacy::PassManagerImpl::run;"
		     "llvm::DwarfDebug::endModule 8 8000000\n",
		     "app (bin) (100);rustc_hir_typeck::typeck 57 57000000\n");
}

TEST_CASE(a_trace_may_have_none)
{
	struct export_job job = {};
	_flame_samples_ struct flame_samples *s = NULL;
	_flame_ struct flame *f = NULL;

	assert_int_equal(trace_reader__open("tests/golden/good-plain.qpt", &job.r, NULL), 0);
	assert_int_equal(flame_samples__new(&job, TRACE_SAMPLE_CPU, false, &s), 0);
	assert_false(flame_samples__any(s));
	assert_int_equal(flame_samples__finish(s, &f), 0);
	assert_int_equal(n_stacks(f), 0);
	trace_reader__free(job.r);
}

TEST_CASE(a_sample_of_no_process_is_refused)
{
	struct trace_item item = {.kind = TRACE_ITEM_SAMPLE,
				  .sample = {.cause = TRACE_SAMPLE_CPU, .process = 7}};
	struct export_job job = {.r = sampled_build_open()};
	_flame_samples_ struct flame_samples *s = NULL;

	assert_int_equal(flame_samples__new(&job, TRACE_SAMPLE_CPU, false, &s), 0);
	assert_int_equal(flame_samples__item(s, &item), -EINVAL);
	trace_reader__free(job.r);
}

TEST_MAIN(NULL, NULL)
