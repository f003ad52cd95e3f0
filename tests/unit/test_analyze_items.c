// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/items.h"

#include "test.h"

#define NONE TRACE_NO_STRING

/* Strings 0 to 3 are labels, the others what executions are about. */
enum { TYPECK, LAYOUT_OF, MIR_BUILT, CODEGEN, ONE, TWO, EMPTY, UNIT, ONE_ELSEWHERE };

static const char *text_of(const void *ctx, uint32_t id)
{
	static const char *const texts[] = {"typeck", "layout_of", "mir_built", "codegen", "a::one",
					    "a::two", "",	   "()",	"a::one"};

	assert_in_range(id, 0, N_OF(texts) - 1);
	return texts[id];
}

static struct items *items;
static struct item_row *rows;
static size_t n_rows;

static int setup(void **state)
{
	const struct trace_texts texts = {.text = text_of};

	return items__new(&texts, &items);
}

static int teardown(void **state)
{
	items__free(items);
	free(rows);
	items = NULL;
	rows = NULL;
	return 0;
}

static struct trace_span of(uint32_t label, uint16_t depth, uint8_t kind)
{
	return (struct trace_span){.label = label, .depth = depth, .kind = kind, .tid = 7};
}

static void give(struct trace_span s, uint64_t self_ns, uint32_t item)
{
	const struct trace_times times = {.self_ns = self_ns};

	assert_int_equal(items__span(items, &s, &times, item), 0);
}

static void query(uint32_t label, uint16_t depth, uint64_t self_ns, uint32_t item)
{
	give(of(label, depth, TRACE_KIND_QUERY), self_ns, item);
}

static void activity(uint32_t label, uint16_t depth, uint64_t self_ns)
{
	give(of(label, depth, TRACE_KIND_ACTIVITY), self_ns, NONE);
}

static void end(size_t expected)
{
	assert_int_equal(items__rows(items, &rows, &n_rows), 0);
	assert_int_equal(n_rows, expected);
}

/* The one row of an item. */
static const struct item_row *row_of(uint32_t item)
{
	const struct item_row *row = NULL;

	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].item != item)
			continue;
		assert_null(row);
		row = &rows[i];
	}
	assert_non_null(row);
	return row;
}

static void assert_row(uint32_t item, uint64_t executions, uint64_t charged, uint64_t self_ns)
{
	assert_struct(*row_of(item), executions, executions, charged, charged, self_ns, self_ns);
}

TEST_CASE_WITH(the_time_of_all_queries_about_an_item_is_added_up, setup, teardown)
{
	query(TYPECK, 0, 10, ONE);
	query(TYPECK, 0, 40, TWO);
	query(MIR_BUILT, 0, 20, ONE);
	query(TYPECK, 0, 80, ONE);
	end(2);
	assert_row(ONE, 3, 0, 110);
	assert_row(TWO, 1, 0, 40);
}

/* Of many only some are kept; what no item is around is none of them. */
TEST_CASE_WITH(the_first_rows_are_those_with_the_most_time, setup, teardown)
{
	static const size_t most[] = {1, 2, 3, SIZE_MAX};
	const struct trace_texts names = {.text = text_of};
	struct item_row *first;
	size_t n, all;

	for (size_t i = 0; i < N_OF(most); i++) {
		query(TYPECK, 0, 10, ONE);
		query(TYPECK, 0, 40, TWO);
		query(MIR_BUILT, 0, 40, ONE_ELSEWHERE);
		query(TYPECK, 0, 20, ONE);
		query(TYPECK, 0, 90, NONE);
		assert_int_equal(items__first(items, most[i], &first, &n, &all), 0);
		assert_int_equal(all, 3);
		assert_int_equal(n, most[i] < 3 ? most[i] : 3);
		/* By its path. */
		assert_int_equal(first[0].item, ONE_ELSEWHERE);
		if (n == 3)
			assert_struct(first[2], item, ONE, executions, 2, self_ns, 30);
		free(first);
		items__free(items);
		assert_int_equal(items__new(&names, &items), 0);
	}
}

static void waited(uint32_t label, uint16_t depth, uint64_t self_ns, uint64_t off_ns, uint32_t item)
{
	const struct trace_span s = of(label, depth, TRACE_KIND_QUERY);
	const struct trace_times times = {
		.self_ns = self_ns, .self_off_ns = off_ns, .self_probe_ns = 1};

	assert_int_equal(items__span(items, &s, &times, item), 0);
}

/* Also of what is charged to an item; and the query that worked most is the first. */
TEST_CASE_WITH(time_on_the_cpu_is_a_part, setup, teardown)
{
	waited(CODEGEN, 1, 30, 20, NONE);
	waited(TYPECK, 0, 101, 90, ONE);
	waited(MIR_BUILT, 0, 21, 0, ONE);
	end(1);
	assert_row(ONE, 2, 1, 149);
	assert_struct(*rows, cpu_ns, 9 + 10 + 20, queries[0].label, MIR_BUILT, queries[1].label,
		      TYPECK, queries[1].self_ns, 100, queries[1].cpu_ns, 10);
}

static bool is_keyed_by_instance(const void *ctx, uint32_t label)
{
	return label == MIR_BUILT || label == CODEGEN;
}

/* Each query with such a key is executed once for each instance; some not for all. */
TEST_CASE_WITH(instances_are_counted, setup, teardown)
{
	items__count_instances(items, is_keyed_by_instance, NULL);
	query(TYPECK, 0, 1, ONE);
	query(TYPECK, 0, 1, ONE);
	query(TYPECK, 0, 1, TWO);
	for (int i = 0; i < 3; i++)
		query(MIR_BUILT, 0, 1, ONE);
	query(CODEGEN, 0, 1, ONE);
	query(CODEGEN, 0, 1, NONE);
	end(3);
	assert_int_equal(row_of(ONE)->instances, 3);
	assert_int_equal(row_of(TWO)->instances, 0);
	assert_int_equal(row_of(NONE)->instances, 0);
}

/* Of the queries that are executed by other crates about an item, the least counts. */
TEST_CASE_WITH(instances_of_other_crates_are_added, setup, teardown)
{
	items__count_instances(items, is_keyed_by_instance, NULL);
	assert_true(items__counts_instances_by(items, MIR_BUILT));
	assert_false(items__counts_instances_by(items, TYPECK));
	query(MIR_BUILT, 0, 1, ONE);
	query(TYPECK, 0, 1, TWO);
	for (int i = 0; i < 4; i++)
		assert_int_equal(items__foreign_instance(items, MIR_BUILT, ONE), 0);
	assert_int_equal(items__foreign_instance(items, CODEGEN, ONE), 0);
	assert_int_equal(items__foreign_instance(items, MIR_BUILT, TWO), 0);
	end(2);
	assert_int_equal(row_of(ONE)->instances, 1 + 1);
	assert_int_equal(row_of(TWO)->instances, 0);
}

TEST_CASE_WITH(what_has_no_item_is_charged_to_the_next_one_around_it, setup, teardown)
{
	query(LAYOUT_OF, 3, 1, NONE);
	query(LAYOUT_OF, 3, 2, EMPTY);
	query(LAYOUT_OF, 2, 4, UNIT);
	query(MIR_BUILT, 1, 8, TWO);
	activity(CODEGEN, 1, 16);
	query(TYPECK, 0, 32, ONE);
	end(2);
	assert_row(TWO, 1, 3, 15);
	/* Activities do not count as executions. */
	assert_row(ONE, 1, 0, 48);
}

/* The interval that ended just before at the same depth is no parent. */
TEST_CASE_WITH(a_neighbour_is_not_charged, setup, teardown)
{
	query(LAYOUT_OF, 1, 1, NONE);
	query(MIR_BUILT, 1, 2, ONE);
	query(LAYOUT_OF, 2, 4, NONE);
	activity(CODEGEN, 1, 8);
	query(MIR_BUILT, 1, 16, ONE);
	query(TYPECK, 0, 32, TWO);
	end(2);
	assert_row(ONE, 2, 0, 18);
	assert_row(TWO, 1, 2, 45);
}

TEST_CASE_WITH(what_no_item_is_around_is_a_row_of_its_own, setup, teardown)
{
	query(LAYOUT_OF, 1, 1, NONE);
	activity(CODEGEN, 0, 2);
	query(TYPECK, 0, 4, ONE);
	activity(CODEGEN, 0, 8);
	end(2);
	assert_row(ONE, 1, 0, 4);
	assert_row(NONE, 0, 1, 11);
}

/* Another thread's, or another process's, interval is not around it. */
TEST_CASE_WITH(threads_are_separate, setup, teardown)
{
	struct trace_span s = of(LAYOUT_OF, 1, TRACE_KIND_QUERY);

	give(s, 1, NONE);
	s.tid = 8;
	give(s, 2, NONE);
	s.process = 1;
	give(s, 4, NONE);
	s.depth = 0;
	give(s, 8, TWO);
	query(TYPECK, 0, 16, ONE);
	end(3);
	assert_row(ONE, 1, 1, 17);
	assert_row(TWO, 1, 1, 12);
	assert_row(NONE, 0, 1, 2);
}

/* Only an execution has an item: an activity may have an id of the same number. */
TEST_CASE_WITH(an_activity_is_about_nothing, setup, teardown)
{
	give(of(CODEGEN, 1, TRACE_KIND_ACTIVITY), 1, TWO);
	give(of(LAYOUT_OF, 1, TRACE_KIND_BLOCKED), 2, TWO);
	query(TYPECK, 0, 4, ONE);
	end(1);
	assert_row(ONE, 1, 0, 7);
}

TEST_CASE_WITH(the_most_expensive_queries_are_kept_in_order, setup, teardown)
{
	const struct item_part *q;

	query(TYPECK, 1, 30, ONE);
	query(LAYOUT_OF, 1, 20, NONE);
	query(CODEGEN, 1, 30, NONE);
	query(MIR_BUILT, 0, 10, ONE);
	query(CODEGEN, 0, 10, ONE);
	query(MIR_BUILT, 0, 15, ONE);
	query(TYPECK, 0, 5, TWO);
	end(2);
	assert_int_equal(row_of(ONE)->n_queries, 3);
	assert_int_equal(row_of(TWO)->n_queries, 1);
	q = row_of(ONE)->queries;
	assert_struct(q[0], label, CODEGEN, self_ns, 40);
	assert_struct(q[1], label, TYPECK, self_ns, 30);
	assert_struct(q[2], label, MIR_BUILT, self_ns, 25);
	assert_row(ONE, 4, 2, 115);
}

/* As in other rows: not less than 0, whatever the estimate of the probes' time is. */
TEST_CASE_WITH(the_time_of_probes_is_taken_off, setup, teardown)
{
	const struct trace_span one = of(TYPECK, 0, TRACE_KIND_QUERY);
	const struct trace_span inner = of(LAYOUT_OF, 1, TRACE_KIND_QUERY);
	const struct trace_times times = {.self_ns = 100, .self_probe_ns = 30};
	const struct trace_times more = {.self_ns = 10, .self_probe_ns = 30};

	must(items__span(items, &inner, &more, NONE), items__span(items, &one, &times, ONE));
	end(1);
	assert_row(ONE, 1, 1, 70);
}

/* It is not counted, but what lies within it is charged to it, and not to a neighbour. */
TEST_CASE_WITH(an_uncounted_interval_is_still_around_others, setup, teardown)
{
	struct trace_span unwanted = of(TYPECK, 0, TRACE_KIND_QUERY);

	query(LAYOUT_OF, 1, 1, NONE);
	assert_int_equal(items__around(items, &unwanted, ONE), 0);
	query(LAYOUT_OF, 2, 2, NONE);
	unwanted.depth = 1;
	assert_int_equal(items__around(items, &unwanted, EMPTY), 0);
	query(MIR_BUILT, 1, 4, TWO);
	unwanted.depth = 0;
	unwanted.kind = TRACE_KIND_ACTIVITY;
	assert_int_equal(items__around(items, &unwanted, ONE), 0);
	query(MIR_BUILT, 0, 8, TWO);
	end(3);
	assert_row(ONE, 0, 1, 1);
	assert_row(TWO, 2, 0, 12);
	assert_row(NONE, 0, 1, 2);
}

/* Waiting intervals of one label share an entry: memory does not grow with their number. */
TEST_CASE_WITH(deep_and_many_intervals_are_added_up, setup, teardown)
{
	for (int k = 0; k < 50; k++)
		for (uint16_t depth = 1000; depth; depth--)
			query(LAYOUT_OF, depth, 1, NONE);
	query(TYPECK, 0, 0, ONE);
	end(1);
	assert_row(ONE, 1, 50000, 50000);
}

static void sample(uint32_t label, uint32_t item, uint64_t ns)
{
	assert_int_equal(items__sample(items, label, item, TRACE_SAMPLE_CPU, ns), 0);
}

TEST_CASE_WITH(times_of_samples_have_errors, setup, teardown)
{
	assert_false(items__any(items));
	for (int i = 0; i < 9; i++)
		sample(TYPECK, ONE, 100);
	for (int i = 0; i < 16; i++)
		sample(MIR_BUILT, ONE, 100);
	sample(CODEGEN, NONE, 100);
	assert_true(items__any(items));
	end(2);
	assert_row(ONE, 0, 0, 2500);
	assert_row(NONE, 0, 0, 100);
	assert_int_equal(row_of(ONE)->cpu_ns, 2500);
	assert_int_equal(row_of(ONE)->sampled[TRACE_SAMPLE_CPU].value, 2500);
	/* 300 of typeck and 400 of mir_built are independent. */
	assert_int_equal(sample_sum__error(&row_of(ONE)->sampled[TRACE_SAMPLE_CPU]), 500);
	assert_int_equal(row_of(ONE)->queries[0].label, MIR_BUILT);
}

static void results(uint32_t label, uint8_t kind, uint32_t n, const uint32_t *of)
{
	const struct trace_results r = {.label = label, .kind = kind, .n = n, .items = of};

	assert_int_equal(items__results(items, &r), 0);
}

/* LLVM runs in no query: its time is beside that of the item's own, if it has a row. */
TEST_CASE_WITH(the_time_of_llvm_is_a_sum_of_its_own, setup, teardown)
{
	results(TYPECK, TRACE_RESULTS_EXECUTED, 1, (uint32_t[]){ONE});
	assert_int_equal(items__llvm(items, ONE, &(struct sample_sum){2, 70}), 0);
	assert_int_equal(items__llvm(items, ONE, &(struct sample_sum){1, 30}), 0);
	assert_int_equal(items__llvm(items, TWO, &(struct sample_sum){1, 30}), 0);
	end(1);
	assert_struct(row_of(ONE)->llvm, n, 3, value, 100);
	assert_int_equal(row_of(ONE)->cpu_ns, 0);
}

/* Another crate's definition has another string, with the text that it has in its own crate. */
TEST_CASE_WITH(the_time_of_llvm_is_of_a_text, setup, teardown)
{
	results(TYPECK, TRACE_RESULTS_EXECUTED, 1, (uint32_t[]){ONE});
	assert_int_equal(items__llvm(items, ONE_ELSEWHERE, &(struct sample_sum){2, 70}), 0);
	assert_int_equal(items__llvm(items, ONE, &(struct sample_sum){1, 30}), 0);
	end(1);
	assert_int_equal(row_of(ONE)->llvm.n, 3);
}

/* Results of a query with an Instance as its key, of a compiler; of ONE in two strings. */
static void list(uint32_t process, uint8_t kind, uint32_t item)
{
	const struct trace_results r = {.process = process,
					.label = MIR_BUILT,
					.kind = kind,
					.n = item != NONE,
					.items = &item};

	items__note_compiler(items, process, MIR_BUILT);
	if (item == ONE_ELSEWHERE)
		assert_int_equal(items__foreign_results(items, &r), 0);
	else
		assert_int_equal(items__results(items, &r), 0);
}

static void assert_compiled(uint64_t n, bool all)
{
	bool has_all;

	assert_int_equal(items__llvm(items, ONE, &(struct sample_sum){1, 30}), 0);
	assert_int_equal(items__count_compiled(items), 0);
	assert_int_equal(items__compiled(items, ONE_ELSEWHERE, &has_all), n);
	assert_int_equal(has_all, all);
	assert_int_equal(items__compiled(items, ONE, &has_all), n);
	assert_int_equal(items__compiled(items, TWO, &has_all), 0);
	assert_false(has_all);
}

TEST_CASE_WITH(all_instances_of_what_llvm_compiles_are_known, setup, teardown)
{
	items__count_instances(items, is_keyed_by_instance, NULL);
	list(1, TRACE_RESULTS_EXECUTED, ONE);
	list(1, TRACE_RESULTS_EXECUTED, ONE);
	list(1, TRACE_RESULTS_EXECUTED, ONE_ELSEWHERE);
	list(1, TRACE_RESULTS_EXECUTED, TWO);
	/* Of queries with other keys nothing need be known. */
	results(TYPECK, TRACE_RESULTS_UNSURE, 1, (uint32_t[]){ONE});
	assert_compiled(3, true);
}

/* A compiler leaves out what it has no path of. */
TEST_CASE_WITH(instances_of_two_compilers_are_a_limit, setup, teardown)
{
	items__count_instances(items, is_keyed_by_instance, NULL);
	list(0, TRACE_RESULTS_EXECUTED, ONE);
	list(1, TRACE_RESULTS_EXECUTED, ONE_ELSEWHERE);
	assert_compiled(2, false);
}

TEST_CASE_WITH(instances_that_are_not_listed_are_unknown, setup, teardown)
{
	items__count_instances(items, is_keyed_by_instance, NULL);
	list(1, TRACE_RESULTS_EXECUTED, ONE);
	list(1, TRACE_RESULTS_UNSURE, TWO);
	assert_compiled(1, false);
}

TEST_CASE_WITH(a_lower_limit_of_instances_is_none_of_all, setup, teardown)
{
	items__count_instances(items, is_keyed_by_instance, NULL);
	list(1, TRACE_RESULTS_EXECUTED, ONE);
	must(items__note_limit(items, TYPECK), items__note_limit(items, MIR_BUILT));
	assert_compiled(1, false);
}

TEST_CASE_WITH(instances_of_a_compiler_that_was_not_read_are_unknown, setup, teardown)
{
	items__count_instances(items, is_keyed_by_instance, NULL);
	list(1, TRACE_RESULTS_EXECUTED, ONE);
	items__miss_results(items);
	assert_compiled(1, false);
}

/* Of an item that nothing else is known of, executions are unknown. */
TEST_CASE_WITH(waits_and_memory_are_sums_of_their_own, setup, teardown)
{
	results(TYPECK, TRACE_RESULTS_EXECUTED, 1, (uint32_t[]){ONE});
	assert_int_equal(items__sample(items, TYPECK, ONE, TRACE_SAMPLE_OFF_CPU, 70), 0);
	assert_int_equal(items__sample(items, MIR_BUILT, ONE, TRACE_SAMPLE_OFF_CPU, 30), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(items__sample(items, TYPECK, TWO, TRACE_SAMPLE_FAULT, 4096), 0);
	end(2);
	assert_row(ONE, 0, 0, 0);
	assert_row(TWO, 0, 0, 0);
	assert_int_equal(row_of(ONE)->cpu_ns, 0);
	assert_int_equal(row_of(ONE)->sampled[TRACE_SAMPLE_OFF_CPU].value, 100);
	assert_int_equal(row_of(TWO)->sampled[TRACE_SAMPLE_FAULT].value, 16384);
	assert_int_equal(sample_sum__error(&row_of(TWO)->sampled[TRACE_SAMPLE_FAULT]), 8192);
	assert_true(item_row__is_counted(row_of(ONE)));
	assert_false(item_row__is_counted(row_of(TWO)));
}

/* By the tables: those of the crate are the most results, those of others are listed once. */
TEST_CASE_WITH(results_are_instances, setup, teardown)
{
	const struct trace_results foreign = {.label = MIR_BUILT,
					      .kind = TRACE_RESULTS_EXECUTED,
					      .n = 2,
					      .items = (uint32_t[]){ONE, ONE}},
				   not_counted = {.label = TYPECK,
						  .kind = TRACE_RESULTS_EXECUTED,
						  .n = 1,
						  .items = (uint32_t[]){ONE}};

	items__count_instances(items, is_keyed_by_instance, NULL);
	results(MIR_BUILT, TRACE_RESULTS_EXECUTED, 3, (uint32_t[]){ONE, ONE, TWO});
	results(TYPECK, TRACE_RESULTS_EXECUTED, 1, (uint32_t[]){ONE});
	must(items__foreign_results(items, &foreign), items__foreign_results(items, &not_counted));
	end(2);
	assert_int_equal(row_of(ONE)->instances, 2 + 2);
	assert_int_equal(row_of(TWO)->instances, 1);
	assert_int_equal(item_row__executions(row_of(ONE)), 3);
}

/* Where probes see activities, there was no execution. */
TEST_CASE_WITH(with_memory_what_has_time_is_counted, setup, teardown)
{
	activity(CODEGEN, 0, 5);
	assert_int_equal(items__sample(items, CODEGEN, NONE, TRACE_SAMPLE_FAULT, 4096), 0);
	end(1);
	assert_row(NONE, 0, 0, 5);
	assert_true(item_row__is_counted(row_of(NONE)));
}

/* Two definitions may have one path. Of an item that only samples are in, nothing is known. */
TEST_CASE_WITH(results_are_executions, setup, teardown)
{
	results(TYPECK, TRACE_RESULTS_EXECUTED, 3, (uint32_t[]){ONE, ONE, TWO});
	results(MIR_BUILT, TRACE_RESULTS_EXECUTED, 1, (uint32_t[]){ONE});
	assert_int_equal(items__sample(items, TYPECK, ONE, TRACE_SAMPLE_CPU, 1000), 0);
	assert_int_equal(items__sample(items, TYPECK, NONE, TRACE_SAMPLE_CPU, 1000), 0);
	end(3);
	assert_int_equal(item_row__executions(row_of(ONE)), 3);
	assert_true(item_row__is_counted(row_of(ONE)));
	assert_false(row_of(ONE)->at_least);
	assert_false(item_row__knows_charged(row_of(ONE)));
	assert_int_equal(row_of(ONE)->n_queries, 1);
	assert_int_equal(item_row__executions(row_of(TWO)), 1);
	assert_true(item_row__is_counted(row_of(TWO)));
	assert_int_equal(row_of(TWO)->n_queries, 0);
	assert_false(item_row__is_counted(row_of(NONE)));
}

TEST_CASE_WITH(unsure_results_are_no_executions, setup, teardown)
{
	results(TYPECK, TRACE_RESULTS_EXECUTED, 1, (uint32_t[]){ONE});
	results(MIR_BUILT, TRACE_RESULTS_UNSURE, 2, (uint32_t[]){ONE, TWO});
	end(2);
	assert_int_equal(item_row__executions(row_of(ONE)), 1);
	assert_true(row_of(ONE)->at_least);
	assert_int_equal(item_row__executions(row_of(TWO)), 0);
	assert_false(item_row__is_counted(row_of(TWO)));
}

TEST_CASE_WITH(results_that_are_unknown_could_be_any_items, setup, teardown)
{
	results(TYPECK, TRACE_RESULTS_EXECUTED, 1, (uint32_t[]){ONE});
	results(MIR_BUILT, TRACE_RESULTS_UNKNOWN, 0, NULL);
	end(1);
	assert_int_equal(item_row__executions(row_of(ONE)), 1);
	assert_true(row_of(ONE)->at_least);
}

TEST_CASE_WITH(only_a_path_is_an_item, setup, teardown)
{
	assert_int_equal(items__about(items, TYPECK, ONE), 1);
	assert_int_equal(items__about(items, TYPECK, EMPTY), 0);
	assert_int_equal(items__about(items, TYPECK, UNIT), 0);
}

TEST_CASE_WITH(nothing_has_no_rows, setup, teardown)
{
	end(0);
}

/* Also if the other one was executed, but about the crate's own items alone. */
TEST_CASE_WITH(one_query_does_not_say_what_was_made_elsewhere, setup, teardown)
{
	for (int others = 0; others < 3; others++) {
		assert_int_equal(teardown(state) ?: setup(state), 0);
		items__count_instances(items, is_keyed_by_instance, NULL);
		query(TYPECK, 0, 1, ONE);
		for (int i = 0; i < 9; i++)
			assert_int_equal(items__foreign_instance(items, MIR_BUILT, ONE_ELSEWHERE),
					 0);
		if (others == 1)
			query(CODEGEN, 0, 1, TWO);
		if (others == 2)
			assert_int_equal(items__foreign_instance(items, CODEGEN, ONE_ELSEWHERE), 0);
		end(others == 1 ? 2 : 1);
		assert_int_equal(row_of(ONE)->instances, others == 2);
	}
}

TEST_MAIN(NULL, NULL)
