// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "analyze/cost.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_items.h"
#include "../fixtures/sample_summary.h"
#include "../fixtures/sampled_build.h"

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
	_free_ char *text = report_of(sample_one(), &none, &(struct report_options){});

	assert_golden("view/report_one.txt", text);
}

TEST_CASE(all_there_is_to_say)
{
	struct trace_losses losses = sample_losses();
	struct report_options opt = {.problem = "cut short at byte 4096"};
	_free_ char *text = report_of(sample_three(), &losses, &opt);

	assert_golden("view/report_three.txt", text);
}

/* A narrow report drops columns in a fixed order and lists them. */
TEST_CASE(columns_without_room_are_reported)
{
	const struct trace_losses none = {};
	struct report_options opt = {.width = 50};
	char *text = report_of(sample_one(), &none, &opt);

	assert_contains(text, "query      count    total     self  self %\n");
	assert_contains(text, "  hidden columns: mean, max (report --wide)\n");
	free(text);
	opt.sort = REPORT_SORT_MAX;
	text = report_of(sample_one(), &none, &opt);
	assert_contains(text, "query      count     self  self %      max\n");
	assert_contains(text, "  hidden columns: total, mean (report --wide)\n");
	free(text);
}

TEST_CASE(top_limits_both_tables)
{
	struct trace_losses losses = sample_losses();
	_free_ char *text = report_of(sample_three(), &losses, &(struct report_options){.top = 1});

	assert_contains(text, "typeck *");
	assert_lacks(text, "layout_of");
	assert_contains(text, "  and 2 more queries\n");
	assert_contains(text, "regex_syntax");
	assert_lacks(text, "serde");
	assert_contains(text, "  and 2 more processes\n");
	/* Shares refer to all queries, not to the shown ones. */
	assert_lacks(text, "100.0");
}

TEST_CASE(an_empty_trace_says_so)
{
	struct summary *s;
	_free_ char *text = NULL;

	assert_int_equal(summary__new(&s), 0);
	text = report_of(s, NULL, &(struct report_options){});
	assert_contains(text, "no compiler ran: if nothing failed, cargo found all up to date;\n"
			      "touch src/lib.rs, or cargo clean, make it compile again\n");
	assert_contains(text, "lost: unknown");
}

TEST_CASE(version_checks_are_counted)
{
	struct trace_process p = {.command = "rustc -vV", .pid = 5};
	struct summary *s;
	_free_ char *one = NULL, *two = NULL, *other = NULL;

	assert_int_equal(summary__new(&s), 0);
	assert_int_equal(summary__process(s, &p), 0);
	one = report_of(s, NULL, &(struct report_options){});
	assert_contains(one, "1 version check, nothing compiled\n");
	assert_int_equal(summary__new(&s), 0);
	assert_int_equal(summary__process(s, &p), 0);
	p.index = 1;
	p.command = "rustc - --crate-name ___ --print=cfg";
	assert_int_equal(summary__process(s, &p), 0);
	two = report_of(s, NULL, &(struct report_options){});
	assert_contains(two, "2 version checks, nothing compiled\n");
	assert_int_equal(summary__new(&s), 0);
	p.index = 0;
	p.crate = "a";
	p.command = "rustc a.rs";
	p.exit_status = 1;
	assert_int_equal(summary__process(s, &p), 0);
	other = report_of(s, NULL, &(struct report_options){});
	assert_contains(other, "no query was executed\n");
}

TEST_CASE(the_head_says_what_recording_added)
{
	const struct trace_losses losses = {.count = {[TRACE_COUNT_HITS] = 8}};
	const struct trace_costs costs = {.ps = {[TRACE_COST_EMULATED] = 50000}};
	const struct cost cost = {.ns = {400}, .added_ns = 400, .whole = true, .compilers_ns = 800};
	struct report_options opt = {.costs = &costs, .cost = &cost};
	struct summary *s = sample_one();
	char *text = report_of(s, &losses, &opt);

	assert_contains(text, "recording added 400 ns of CPU, 50.0 % of what the compilers used; "
			      "the times above are without it\n");
	assert_memory_equal(text, "query", 5);
	assert_contains(text, "\nprobe hits: 8\n");
	free(text);
	opt.raw = true;
	s = sample_one();
	text = report_of(s, &losses, &opt);
	assert_contains(text, "the times above are with it\n");
	free(text);
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
	_free_ char *text = NULL;

	for (size_t i = 0; i < N_OF(tallies); i++)
		assert_int_equal(summary__tally(s, &tallies[i]), 0);
	text = report_of(s, NULL, &(struct report_options){});
	assert_contains(text, "      max   hits\n");
	assert_contains(text, "  1.50 us      0\n");
	assert_contains(text, "  1,234\n");
	assert_contains(text, "\nartifact    size\nlayout_of  5,067\n");
	assert_lacks(text, "blocked");
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
	struct report_options opt = {};
	char *text = report_of(sample_waiting(), NULL, &opt);

	assert_contains(text, "query      count    total   on-cpu  cpu %  off-cpu     self     ");
	assert_contains(text, "typeck         1  1.00 ms  1.00 ms   90.7     0 ns  1.00 ms  ");
	assert_contains(text, "layout_of      3  79.8 ms   102 us    9.3  79.7 ms  79.8 ms  ");
	assert_true(strstr(text, "typeck") < strstr(text, "layout_of"));
	free(text);
	opt.min_ns = 500000;
	text = report_of(sample_waiting(), NULL, &opt);
	assert_lacks(text, "layout_of");
	free(text);
	opt = (struct report_options){.sort = REPORT_SORT_SELF};
	text = report_of(sample_waiting(), NULL, &opt);
	assert_true(strstr(text, "layout_of") < strstr(text, "typeck"));
	free(text);
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
		_free_ char *text = NULL;

		assert_int_equal(summary__new(&s), 0);
		assert_int_equal(summary__process(s, &p), 0);
		assert_int_equal(summary__span(s, &span, &times), 0);
		text = report_of(s, NULL, &(struct report_options){});
		assert_contains(text, kinds[i].text);
	}
}

TEST_CASE(hits_sort_too)
{
	const struct trace_tally hits = {
		.kind = TRACE_KIND_HIT_COUNT, .label = SAMPLE_LAYOUT_OF, .sum = 7};
	struct summary *s = sample_one();
	_free_ char *text = NULL;

	assert_int_equal(summary__tally(s, &hits), 0);
	text = report_of(s, NULL, &(struct report_options){.sort = REPORT_SORT_HITS});
	assert_true(strstr(text, "layout_of") < strstr(text, "typeck"));
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
	_free_ char *text = report_of(sample_three(), &none, &opt);

	assert_lacks(text, " more ");
	assert_lacks(text, "layout_of");
	assert_contains(text, "4712  SIGKILL           1  3.00 ms\n");
}

TEST_CASE(items_follow_the_query_that_they_are_of)
{
	_sample_items_ struct sample_items items = {};
	struct report_options opt = {.details = true, .query = is_typeck};
	struct summary *s = sample_one();
	_free_ char *text = NULL;

	sample_items__make(&items);
	opt.items = items.items;
	text = printed_text(report_text(out, s, NULL, &sample_item_texts, &opt));
	assert_contains(text, "\ntypeck ");
	assert_contains(text, "app::shapes::area");
	assert_true(strstr(text, "\ntypeck ") < strstr(text, "app::shapes::area"));
	summary__free(s);
}

/* Prints the sample's items, or its modules. */
static char *report_of_items(bool by_module, struct report_options opt)
{
	_sample_items_ struct sample_items items = {};
	struct summary *s = sample_one();
	char *text;

	sample_items__make(&items);
	opt.items = items.items;
	opt.modules = by_module;
	text = printed_text(report_text(out, s, NULL, &sample_item_texts, &opt));
	summary__free(s);
	return text;
}

static bool is_nothing(const void *ctx, const char *name)
{
	return false;
}

TEST_CASE(a_name_that_nothing_has_gets_no_empty_table)
{
	const struct report_options opt = {.details = true, .query = is_nothing};
	_free_ char *text = report_of(sample_one(), NULL, &opt);

	assert_lacks(text, "total");
	assert_contains(text, "in all: ");
}

TEST_CASE(items_are_a_table)
{
	_free_ char *text = report_of_items(false, (struct report_options){});

	assert_golden("view/report_items.txt", text);
}

/* LLVM runs in no item, so what it took for one is in both rows. */
TEST_CASE(what_llvm_took_for_items_counts_once_for_the_order)
{
	_sample_items_ struct sample_items items = {};
	struct report_options opt = {};
	struct summary *s = sample_one();
	_free_ char *text = NULL;

	sample_items__make(&items);
	assert_int_equal(items__llvm(items.items, SI_METHOD, &(struct sample_sum){3, 3000000}), 0);
	opt.items = items.items;
	text = printed_text(report_text(out, s, NULL, &sample_item_texts, &opt));
	assert_true(strstr(text, "(no item)") > strstr(text, "grow\n"));
	assert_true(strstr(text, "(no item)") < strstr(text, "  app::shapes\n"));
	summary__free(s);
}

TEST_CASE(modules_are_items_added_up)
{
	_free_ char *text = report_of_items(true, (struct report_options){});

	assert_golden("view/report_modules.txt", text);
}

TEST_CASE(narrow_items_show_the_first_query)
{
	char *text = report_of_items(false, (struct report_options){.width = 105});

	assert_contains(text, "  eval_to_allocation_raw 9.00 ms  app::shapes::area\n");
	assert_lacks(text, "no room");
	free(text);
	text = report_of_items(false, (struct report_options){.width = 60});
	assert_contains(text, "  executions  item\n11.2 ms    56.4           3  app::shapes");
	assert_contains(text, "  hidden column: of this (report --wide)\n");
	free(text);
}

TEST_CASE(small_modules_are_left_out)
{
	struct report_options opt = {.min_ns = 1000000, .top = 2};
	_free_ char *text = report_of_items(true, opt);

	assert_contains(text, "app::shapes\n");
	assert_lacks(text, "{{impl}}");
	assert_contains(text, "  and 1 more module\n");
}

TEST_CASE(samples_alone_are_a_table)
{
	_sampled_build_ struct sampled_build b = {};
	_free_ char *text = NULL;

	sampled_build__make(&b, 0, 0);
	text = printed_text(report_text(out, b.model.summary, &b.model.losses,
					&b.model.options.texts,
					&(struct report_options){.samples = b.model.samples}));
	assert_golden("view/report_sampled.txt", text);
}

/* Samples of typeck, beside its intervals. */
static struct summary *sample_sampled(uint64_t self)
{
	const struct sample_sums sums = {
		.self[TRACE_SAMPLE_CPU] = {self, 2000 * self},
		.total[TRACE_SAMPLE_CPU] = {self, 2000 * self},
	};
	struct summary *s = sample_one();

	summary__set_sampled(s);
	assert_int_equal(summary__samples(s, 0, SAMPLE_TYPECK, 1, &sums), 0);
	return s;
}

TEST_CASE(samples_are_beside_intervals)
{
	_free_ char *text = report_of(sample_sampled(400), NULL, &(struct report_options){});

	assert_contains(text, "     max  sampled       +-\n");
	assert_contains(text,
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
	const struct sample_sums met = {
		.self[TRACE_SAMPLE_CPU] = {100, 200000},
		.total[TRACE_SAMPLE_CPU] = {400, 800000},
	};
	struct summary *s = NULL;

	assert_int_equal(summary__new(&s), 0);
	assert_int_equal(summary__process(s, &p), 0);
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
	_free_ char *text = report_of(sample_without_probes(), NULL, &(struct report_options){});

	assert_golden("view/report_counted.txt", text);
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
	_free_ char *text = NULL;

	for (size_t i = 0; i < N_OF(intervals); i++)
		assert_int_equal(summary__sampled_interval(s, &intervals[i]), 0);
	text = report_of(s, NULL, &opt);
	assert_contains(text, "+-  self %      max\n");
	assert_contains(text,
			"typeck                1,234   800 us  200 us  20.0 us    50.0  70.0 ms\n");
	/* The activity of that name has the one of its own probes. */
	assert_contains(text, " -  9.00 ms\n");
	assert_contains(text, "in all: 1,245 executions of queries");
	assert_contains(text, "max is from the first to the last sample of\n  an execution");
}

TEST_CASE(queries_without_probes_are_sorted_and_explained_too)
{
	struct report_options opt = {.sort = REPORT_SORT_COUNT, .top = 1};
	_free_ char *text = report_of(sample_without_probes(), NULL, &opt);
	_free_ char *asked = NULL, *groups_text = NULL;
	_pivot_ struct pivot *groups = NULL;

	assert_contains(text, "\ntypeck  1,234  ");
	assert_contains(text, "  and 4 more queries\n");
	opt = (struct report_options){.details = true, .query = is_typeck};
	asked = report_of(sample_without_probes(), NULL, &opt);
	assert_contains(asked, "query   count ");
	assert_contains(asked, "self times are by samples, on the CPU");
	/* Below another table it is one line. */
	assert_int_equal(pivot__new(PIVOT_THREADS, &groups), 0);
	opt = (struct report_options){.groups = groups};
	groups_text = report_of(sample_without_probes(), NULL, &opt);
	assert_contains(groups_text, "\ntimes of queries and items are by samples, on the CPU; ");
}

/* Without activities, the same number is called executions. */
TEST_CASE(activities_are_counted_where_they_were_asked_for)
{
	const struct trace_process p = {.pid = 1, .crate = "a"};
	struct trace_span span = {.tid = 7, .label = SAMPLE_TYPECK, .end_ns = 20000000};
	_pivot_ struct pivot *groups = NULL;
	struct report_options all = {}, asked = {.query = is_typeck};
	_free_ char *queries = NULL, *both = NULL, *named = NULL;

	assert_int_equal(pivot__new(PIVOT_THREADS, &groups), 0);
	all.groups = asked.groups = groups;
	assert_int_equal(pivot__process(groups, &p), 0);
	assert_int_equal(pivot__span(groups, &span, &(struct trace_times){}), 0);
	queries = report_of(sample_one(), NULL, &asked);
	assert_contains(queries, "crate  executions ");
	span.kind = TRACE_KIND_ACTIVITY;
	assert_int_equal(pivot__span(groups, &span, &(struct trace_times){}), 0);
	both = report_of(sample_one(), NULL, &all);
	assert_contains(both, "crate  executions ");
	assert_contains(both, "a               1 ");
	named = report_of(sample_one(), NULL, &asked);
	assert_contains(named, "crate  count ");
	assert_contains(named, "a          2 ");
}

TEST_MAIN(NULL, NULL)
