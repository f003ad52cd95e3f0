// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/cost.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_items.h"
#include "../fixtures/sample_summary.h"
#include "../fixtures/sampled_build.h"

#define OPTIONS(...) (&(struct report_options){__VA_ARGS__})

static char *report_of(struct summary *s, const struct trace_losses *losses,
		       const struct report_options *opt)
{
	char *text = printed_text(report_text(out, s, losses, &sample_names, opt));

	summary__free(s);
	return text;
}

TEST_CASE(one_process_is_one_table)
{
	const struct trace_losses none = {};

	assert_shows(report_of(sample_one(), &none, OPTIONS()), "@view/report_one.txt");
}

TEST_CASE(all_there_is_to_say)
{
	struct trace_losses losses = sample_losses();
	struct report_options opt = {.problem = "cut short at byte 4096"};

	assert_shows(report_of(sample_three(), &losses, &opt), "@view/report_three.txt");
}

/* A narrow report drops columns in a fixed order and lists them. */
TEST_CASE(columns_without_room_are_reported)
{
	const struct trace_losses none = {};
	struct report_options opt = {.width = 50};

	assert_shows(report_of(sample_one(), &none, &opt),
		     "query      count    total     self  self %\n",
		     "  hidden columns: mean, max (report --wide)\n");
	opt.sort = REPORT_SORT_MAX;
	assert_shows(report_of(sample_one(), &none, &opt),
		     "query      count     self  self %      max\n",
		     "  hidden columns: total, mean (report --wide)\n");
}

TEST_CASE(top_limits_both_tables)
{
	struct trace_losses losses = sample_losses();

	/* Shares refer to all queries, not to the shown ones. */
	assert_shows(report_of(sample_three(), &losses, OPTIONS(.top = 1)), "typeck *",
		     "!layout_of", "  and 2 more queries\n", "regex_syntax", "!serde",
		     "  and 2 more processes\n", "!100.0");
}

TEST_CASE(an_empty_trace_says_so)
{
	struct summary *s;

	assert_int_equal(summary__new(&s), 0);
	assert_shows(report_of(s, NULL, OPTIONS()),
		     "no compiler ran: if nothing failed, cargo found all up to date;\n"
		     "touch src/lib.rs, or cargo clean, make it compile again\n",
		     "lost: unknown");
}

TEST_CASE(version_checks_are_counted)
{
	struct trace_process p = {.command = "rustc -vV", .pid = 5};
	struct summary *s;

	must(summary__new(&s), summary__process(s, &p));
	assert_shows(report_of(s, NULL, OPTIONS()), "1 version check, nothing compiled\n");
	must(summary__new(&s), summary__process(s, &p));
	p.index = 1;
	p.command = "rustc - --crate-name ___ --print=cfg";
	assert_int_equal(summary__process(s, &p), 0);
	assert_shows(report_of(s, NULL, OPTIONS()), "2 version checks, nothing compiled\n");
	assert_int_equal(summary__new(&s), 0);
	p.index = 0;
	p.crate = "a";
	p.command = "rustc a.rs";
	p.exit_status = 1;
	assert_int_equal(summary__process(s, &p), 0);
	assert_shows(report_of(s, NULL, OPTIONS()), "no query was executed\n");
}

TEST_CASE(the_head_says_what_recording_added)
{
	const struct trace_losses losses = {.count = {[TRACE_COUNT_HITS] = 8}};
	const struct trace_costs costs = {.ps = {[TRACE_COST_EMULATED] = 50000}};
	const struct cost cost = {.ns = {400}, .added_ns = 400, .whole = true, .compilers_ns = 800};
	struct report_options opt = {.costs = &costs, .cost = &cost};
	char *text = report_of(sample_one(), &losses, &opt);

	assert_memory_equal(text, "query", 5);
	assert_shows(text,
		     "recording added 400 ns of CPU, 50.0 % of what the compilers used; "
		     "the times above are without it\n",
		     "\nprobe hits: 8\n");
	opt.raw = true;
	assert_shows(report_of(sample_one(), &losses, &opt), "the times above are with it\n");
}

TEST_CASE(extras_are_shown_where_there_are_any)
{
	const struct trace_tally tallies[] = {
		{.kind = TRACE_KIND_HIT_COUNT, .label = SAMPLE_TYPECK, .sum = 1234},
		{.kind = TRACE_KIND_ARTIFACT_SIZE, .label = SAMPLE_LAYOUT_OF, .sum = 5000},
		{.kind = TRACE_KIND_OTHER, .label = SAMPLE_TYPECK, .sum = 1},
		{.kind = TRACE_KIND_ARTIFACT_SIZE, .label = SAMPLE_LAYOUT_OF, .sum = 67},
	};
	struct summary *s = sample_one();

	for (size_t i = 0; i < N_OF(tallies); i++)
		assert_int_equal(summary__tally(s, &tallies[i]), 0);
	assert_shows(report_of(s, NULL, OPTIONS()), "      max   hits\n", "  1.50 us      0\n",
		     "  1,234\n", "\nartifact    size\nlayout_of  5,067\n", "!blocked");
}

/* Waits almost all of its time. */
static struct summary *sample_waiting(void)
{
	static const struct trace_times times = {
		.self_ns = 79800000, .off_ns = 79700000, .self_off_ns = 79700000};
	const struct trace_span span = {.label = SAMPLE_LAYOUT_OF, .end_ns = 79800000};
	struct summary *s = sample_one();

	assert_int_equal(summary__span(s, &span, &times), 0);
	return s;
}

TEST_CASE(waiting_is_no_work)
{
	assert_shows(report_of(sample_waiting(), NULL, OPTIONS()),
		     "query      count    total   on-cpu  cpu %  off-cpu     self     ",
		     ">typeck         1  1.00 ms  1.00 ms   90.7     0 ns  1.00 ms  ",
		     ">layout_of      3  79.8 ms   102 us    9.3  79.7 ms  79.8 ms  ");
	assert_shows(report_of(sample_waiting(), NULL, OPTIONS(.min_ns = 500000)), "!layout_of");
	assert_shows(report_of(sample_waiting(), NULL, OPTIONS(.sort = REPORT_SORT_SELF)),
		     "layout_of", ">typeck");
}

/* The time of a query that was not executed has a reason. */
TEST_CASE(what_is_instead_of_an_execution_is_named)
{
	static const struct {
		uint8_t kind;
		const char *text;
	} kinds[] = {
		{TRACE_KIND_LOAD, "typeck (loaded) "},
		{TRACE_KIND_BLOCKED, "typeck (waited for) "},
		{TRACE_KIND_HASHING, "typeck (hashed) "},
		{TRACE_KIND_QUERY, "typeck  "},
	};

	for (size_t i = 0; i < N_OF(kinds); i++) {
		static const struct trace_times times = {.self_ns = 5};
		const struct trace_process p = {.pid = 1};
		const struct trace_span span = {
			.label = SAMPLE_TYPECK, .end_ns = 5, .kind = kinds[i].kind};
		struct summary *s = NULL;

		must(summary__new(&s), summary__process(s, &p), summary__span(s, &span, &times));
		assert_shows(report_of(s, NULL, OPTIONS()), kinds[i].text);
	}
}

TEST_CASE(hits_sort_too)
{
	const struct trace_tally hits = {
		.kind = TRACE_KIND_HIT_COUNT, .label = SAMPLE_LAYOUT_OF, .sum = 7};
	struct summary *s = sample_one();

	assert_int_equal(summary__tally(s, &hits), 0);
	assert_shows(report_of(s, NULL, OPTIONS(.sort = REPORT_SORT_HITS)), "layout_of", ">typeck");
}

static bool is_typeck(const void *ctx, const char *name)
{
	return !strcmp(name, "typeck");
}

/* Nothing below a table is about other queries. */
TEST_CASE(one_query_is_all_that_is_counted)
{
	struct report_options opt = {.query = is_typeck};
	struct trace_losses none = {};

	assert_shows(report_of(sample_three(), &none, &opt), "! more ", "!layout_of",
		     "4712  SIGKILL           1  3.00 ms\n");
}

/* Prints the sample's items, or its modules; `llvm`: LLVM took time for one. */
static char *report_of_items(struct report_options opt, bool llvm)
{
	static const struct sample_sum sum = {3, 3000000};
	_sample_items_ struct sample_items items = {};
	_summary_ struct summary *s = sample_one();

	sample_items__make(&items);
	if (llvm)
		assert_int_equal(items__llvm(items.items, SI_METHOD, &sum), 0);
	opt.items = items.items;
	return printed_text(report_text(out, s, NULL, &sample_item_texts, &opt));
}

#define ITEMS(...) report_of_items((struct report_options){__VA_ARGS__}, false)

TEST_CASE(items_follow_the_query_that_they_are_of)
{
	assert_shows(ITEMS(.details = true, .query = is_typeck), "\ntypeck ", ">app::shapes::area");
}

static bool is_nothing(const void *ctx, const char *name)
{
	return false;
}

TEST_CASE(a_name_that_nothing_has_gets_no_empty_table)
{
	const struct report_options opt = {.details = true, .query = is_nothing};

	assert_shows(report_of(sample_one(), NULL, &opt), "!total", "in all: ");
}

TEST_CASE(items_and_modules_are_tables)
{
	assert_shows(ITEMS(), "@view/report_items.txt");
	assert_shows(ITEMS(.modules = true), "@view/report_modules.txt");
	assert_shows(ITEMS(.width = 105), "  eval_to_allocation_raw 9.00 ms  app::shapes::area\n",
		     "!no room");
	assert_shows(ITEMS(.width = 60),
		     "  executions  item\n11.2 ms    56.4           3  app::shapes",
		     "  hidden column: of this (report --wide)\n");
	assert_shows(ITEMS(.modules = true, .min_ns = 1000000, .top = 2), "app::shapes\n",
		     "!{{impl}}", "  and 1 more module\n");
	/* LLVM runs in no item, so what it took for one is in both rows, and counts once for the
	 * order. */
	assert_shows(report_of_items((struct report_options){}, true), "grow\n", ">(no item)",
		     ">  app::shapes\n");
}

TEST_CASE(samples_alone_are_a_table)
{
	_sampled_build_ struct sampled_build b = {};

	sampled_build__make(&b, 0, 0);
	assert_shows(printed_text(report_text(out, b.model.summary, &b.model.losses,
					      &b.model.options.texts,
					      OPTIONS(.samples = b.model.samples))),
		     "@view/report_sampled.txt");
}

/* Samples of typeck, beside its intervals. */
static struct summary *sample_sampled(uint64_t self)
{
	const struct sample_sums sums = {.self[TRACE_SAMPLE_CPU] = {self, 2000 * self},
					 .total[TRACE_SAMPLE_CPU] = {self, 2000 * self}};
	struct summary *s = sample_one();

	summary__set_sampled(s);
	assert_int_equal(summary__samples(s, 0, SAMPLE_TYPECK, 1, &sums), 0);
	return s;
}

TEST_CASE(samples_are_beside_intervals)
{
	assert_shows(report_of(sample_sampled(400), NULL, OPTIONS()),
		     "     max  sampled       +-\n",
		     "typeck         1  1.00 ms  1.00 ms    99.8  1.00 ms  1.00 ms   800 us"
		     "  40.0 us\n");
}

/* An activity had probes, and no query; the compiler's tables have results of three. */
static struct summary *sample_without_probes(void)
{
	const struct trace_process p = {.pid = 4711, .crate = "regex_syntax"};
	const struct trace_span pass = {
		.end_ns = 9000000, .label = SAMPLE_TYPECK, .kind = TRACE_KIND_ACTIVITY};
	const struct trace_tally tallies[] = {
		{.kind = TRACE_KIND_RESULTS, .label = SAMPLE_TYPECK, .events = 1234},
		{.kind = TRACE_KIND_RESULTS, .label = SAMPLE_LAYOUT_OF, .events = 7},
		{.kind = TRACE_KIND_RESULTS, .label = SAMPLE_HOSTILE, .events = 5, .sum = 1},
	};
	const struct sample_sums met = {.self[TRACE_SAMPLE_CPU] = {100, 200000},
					.total[TRACE_SAMPLE_CPU] = {400, 800000}};
	struct summary *s = NULL;

	must(summary__new(&s), summary__process(s, &p));
	summary__set_sampled(s);
	summary__set_unwatched(s);
	assert_int_equal(summary__span(s, &pass, &(struct trace_times){.self_ns = 9000000}), 0);
	assert_int_equal(summary__samples(s, 0, SAMPLE_TYPECK, 1u << TRACE_KIND_QUERY, &met), 0);
	assert_int_equal(summary__samples(s, 0, 7, 1u << TRACE_KIND_QUERY, &met), 0);
	for (size_t i = 0; i < N_OF(tallies); i++)
		assert_int_equal(summary__tally(s, &tallies[i]), 0);
	return s;
}

TEST_CASE(without_probes_of_queries_counts_are_beside_samples)
{
	assert_shows(report_of(sample_without_probes(), NULL, OPTIONS()),
		     "@view/report_counted.txt");
}

/* It is no execution: counts are as before. */
TEST_CASE(the_longest_sampled_interval_is_beside_samples)
{
	const struct trace_span intervals[] = {
		{.end_ns = 70000000, .label = SAMPLE_TYPECK, .flags = TRACE_SPAN_SAMPLED},
		{.end_ns = 20000000, .label = SAMPLE_TYPECK, .flags = TRACE_SPAN_SAMPLED},
	};
	struct report_options opt = {.details = true, .width = 100};
	struct summary *s = sample_without_probes();

	for (size_t i = 0; i < N_OF(intervals); i++)
		assert_int_equal(summary__sampled_interval(s, &intervals[i]), 0);
	/* The activity of that name has the one of its own probes. */
	assert_shows(report_of(s, NULL, &opt), "+-  self %      max\n",
		     "typeck                1,234   800 us  200 us  20.0 us    50.0  70.0 ms\n",
		     " -  9.00 ms\n", "in all: 1,245 executions of queries",
		     "max is from the first to the last sample of\n  an execution");
}

TEST_CASE(queries_without_probes_are_sorted_and_explained_too)
{
	struct report_options opt = {.sort = REPORT_SORT_COUNT, .top = 1};
	_pivot_ struct pivot *groups = NULL;

	assert_shows(report_of(sample_without_probes(), NULL, &opt), "\ntypeck  1,234  ",
		     "  and 4 more queries\n");
	opt = (struct report_options){.details = true, .query = is_typeck};
	assert_shows(report_of(sample_without_probes(), NULL, &opt), "query   count ",
		     "self times are by samples, on the CPU");
	/* Below another table it is one line. */
	assert_int_equal(pivot__new(PIVOT_THREADS, &groups), 0);
	opt = (struct report_options){.groups = groups};
	assert_shows(report_of(sample_without_probes(), NULL, &opt),
		     "\ntimes of queries and items are by samples, on the CPU; ");
}

/* Without activities, the same number is called executions. */
TEST_CASE(activities_are_counted_where_they_were_asked_for)
{
	const struct trace_process p = {.pid = 1, .crate = "a"};
	struct trace_span span = {.tid = 7, .label = SAMPLE_TYPECK, .end_ns = 20000000};
	_pivot_ struct pivot *groups = NULL;
	struct report_options all = {}, asked = {.query = is_typeck};

	assert_int_equal(pivot__new(PIVOT_THREADS, &groups), 0);
	all.groups = asked.groups = groups;
	must(pivot__process(groups, &p), pivot__span(groups, &span, &(struct trace_times){}));
	assert_shows(report_of(sample_one(), NULL, &asked), "crate  executions ");
	span.kind = TRACE_KIND_ACTIVITY;
	assert_int_equal(pivot__span(groups, &span, &(struct trace_times){}), 0);
	assert_shows(report_of(sample_one(), NULL, &all), "crate  executions ",
		     "a               1 ");
	assert_shows(report_of(sample_one(), NULL, &asked), "crate  count ", "a          2 ");
}

TEST_MAIN(NULL, NULL)
