// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record/now_sampled.h"

#include <errno.h>

#include "test.h"

enum { TYPECK, LAYOUT };

static const char *text(const void *ctx, uint32_t id)
{
	static const char *const names[] = {"typeck", "layout_of"};

	(void)ctx;
	return names[id];
}

static const struct trace_texts texts = {.text = text};

/* Keys of items of this crate have names. */
static int item_of(void *ctx, pid_t pid, const char *crate, uint64_t key, char **out)
{
	return asprintf(out, "a::item%u in %d", (unsigned int)(uint32_t)key, (int)pid) < 0;
}

static const struct now_source source = {.item = item_of};

/* Of each test: processes 0 and 1 run, process 2 has ended. */
static struct recent_jobs jobs;
static struct now_sampled n;
static struct summary *s;

static int begin(void **state)
{
	n = (struct now_sampled){0};
	assert_int_equal(summary__new(&s), 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_process p = {.index = i, .pid = 10 + i, .end_ns = i == 2};

		assert_int_equal(summary__process(s, &p), 0);
	}
	return 0;
}

static int end(void **state)
{
	now_sampled__destroy(&n);
	summary__free(s);
	recent_jobs__clear(&jobs);
	return 0;
}

/* All that is told, "pid name [function] [item];" each. */
static void assert_told(const struct now_source *from, const char *expected)
{
	struct top_nows answer;
	char told[256] = "";
	size_t len = 0;

	now_sampled__answer(&n, from, &jobs, s, &texts, &answer);
	for (uint32_t i = 0; i < answer.n; i++)
		len += (size_t)snprintf(told + len, sizeof(told) - len, "%d %s [%s] [%s];",
					answer.at[i].pid, answer.at[i].name, answer.at[i].function,
					answer.at[i].item);
	assert_string_equal(told, expected);
}

static void add_functions(void)
{
	static const struct trace_function functions[] = {
		{.first = 1, .size = 100, .name = "<rustc_hir_typeck::FnCtxt>::check_expr"},
		{.first = 102, .size = 50, .name = "core::slice::sort"},
		{.first = 200, .size = 50, .name = "rustc_middle::ty::walk"},
	};

	for (size_t i = 0; i < N_OF(functions); i++)
		assert_int_equal(now_sampled__function(&n, &functions[i]), 0);
}

static void add(uint32_t process, int query, uint32_t place)
{
	const struct trace_stack interval = {.kind = TRACE_STACK_QUERY, .place = (uint32_t)query};
	const struct trace_stack location = {.kind = TRACE_STACK_LOCATION, .place = place};
	const struct trace_stack inner = {.kind = TRACE_STACK_LOCATION, .place = 110};
	const struct trace_sample sample = {.cause = TRACE_SAMPLE_CPU, .process = process};

	if (query >= 0)
		now_sampled__entry(&n, &interval);
	now_sampled__entry(&n, &location);
	now_sampled__entry(&n, &inner);
	assert_int_equal(now_sampled__sample(&n, &sample), 0);
}

TEST_CASE_WITH(what_most_samples_have_is_told, begin, end)
{

	add_functions();
	for (int i = 0; i < 9; i++)
		add(0, i % 3 ? LAYOUT : TYPECK, i % 3 ? 250 : 101);
	add(1, -1, 160);
	add(2, TYPECK, 1);
	/* The library function within is charged to its caller. */
	assert_told(&source, "11 (no query) [] [];10 layout_of [ty::walk] [];");
	/* Since then there was no sample. */
	assert_told(&source, "");
	add(0, TYPECK, 1);
	assert_told(&source, "10 typeck [FnCtxt::check_expr] [];");
}

static int symbol_of(void *ctx, uint32_t string, char **out)
{
	*out = strdup(string ? "_RINvCs1_3app11generic_bigKj7_EB2_" : "_RNvCs1_3app4huge");
	return *out ? 0 : -ENOMEM;
}

/* In LLVM its own function is no news, and neither is that of a sample whose function is unknown.
 */
TEST_CASE_WITH(the_function_that_llvm_compiles_is_told, begin, end)
{
	static const struct trace_llvm entries[] = {
		{.function = 0, .pass = 7},
		{.function = 0, .pass = 8},
		{.function = 1, .pass = 7},
		{.function = TRACE_NO_STRING, .pass = 9},
	};
	const struct now_source from = {.symbol = symbol_of}, none = {};
	const struct trace_stack native = {.kind = TRACE_STACK_LOCATION, .place = 250};

	add_functions();
	for (uint32_t i = 0; i < N_OF(entries); i++)
		assert_int_equal(now_sampled__llvm(&n, i + 1, &entries[i]), 0);
	assert_int_equal(now_sampled__llvm(&n, TRACE_NO_LLVM, &entries[2]), 0);
	for (uint32_t last = 2; last <= 5; last++) {
		for (uint32_t i = 0; i < 9; i++) {
			/* The last number has no entry. */
			const struct trace_sample sample = {.cause = TRACE_SAMPLE_CPU,
							    .llvm = i < 3 ? i % 2 + 1 : last};

			now_sampled__entry(&n, &native);
			assert_int_equal(now_sampled__sample(&n, &sample), 0);
		}
		assert_told(last <= 3 ? &from : &none,
			    last == 2	? "10 (no query) [app::huge] [];"
			    : last == 3 ? "10 (no query) [app::generic_big] [];"
					: "10 (no query) [ty::walk] [];");
	}
	/* Without a way to its name there is none. */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			now_sampled__sample(
				&n, &(struct trace_sample){.cause = TRACE_SAMPLE_CPU, .llvm = 1}),
			0);
	assert_told(&none, "10 (no query) [] [];");
}

TEST_CASE_WITH(waits_say_nothing, begin, end)
{
	const struct trace_stack interval = {.kind = TRACE_STACK_QUERY, .place = TYPECK};
	const struct trace_sample wait = {.cause = TRACE_SAMPLE_OFF_CPU};

	now_sampled__entry(&n, &interval);
	assert_int_equal(now_sampled__sample(&n, &wait), 0);
	assert_told(&source, "");
	/* Nor is it taken for a part of the next stack. */
	add(0, -1, 1);
	assert_told(&source, "10 (no query) [] [];");
}

static void sample_in(uint32_t job)
{
	const struct trace_stack interval = {.kind = TRACE_STACK_QUERY, .place = LAYOUT};
	const struct trace_sample sample = {.cause = TRACE_SAMPLE_CPU, .job = job};

	now_sampled__entry(&n, &interval);
	assert_int_equal(now_sampled__sample(&n, &sample), 0);
}

/* As where there are probes, the innermost execution that is about an item is named. */
TEST_CASE_WITH(the_item_of_a_long_execution_is_told, begin, end)
{
	static const struct trace_job outer = {.query = TYPECK},
				      inner = {.query = LAYOUT, .parent = 5};

	assert_int_equal(recent_jobs__add(&jobs, 5, &outer, wire_key(WIRE_KEY_LOCAL_CRATE, 7)), 0);
	assert_int_equal(recent_jobs__add(&jobs, 6, &inner, 0), 0);
	/* An execution that the stack does not show, and others. */
	for (uint32_t job = 5; job < 8; job++) {
		sample_in(job);
		assert_told(&source,
			    job == 6 ? "10 typeck [] [a::item7 in 10];" : "10 layout_of [] [];");
	}
	/* Of several short ones none is, though they were all in one query. */
	for (uint32_t job = 4; job < 7; job++)
		sample_in(job);
	assert_told(&source, "10 layout_of [] [];");
}

TEST_MAIN(NULL, NULL)
