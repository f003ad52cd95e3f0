// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/merge.h"

#include "test.h"

#define OTHER                       \
	{                           \
		.kind = PLACE_OTHER \
	}
#define WRAPPER(name)                                  \
	{                                              \
		.kind = PLACE_WRAPPER, .query = (name) \
	}
#define BODY(name)                                  \
	{                                           \
		.kind = PLACE_BODY, .query = (name) \
	}
#define PROVIDER(q)                                  \
	{                                            \
		.kind = PLACE_PROVIDER, .query = (q) \
	}

/* `want`: "name" from the stack, "name@start" an entered query, "name!start" an activity. */
static void check_rows(const struct entered *entered, size_t n_entered,
		       const struct native_call *calls, size_t n_calls, bool whole,
		       const char *want)
{
	struct stuck_rows rows;
	char got[512] = "";
	size_t len = 0;

	assert_int_equal(
		stuck_merge(entered, (uint32_t)n_entered, calls, (uint32_t)n_calls, whole, &rows),
		0);
	for (uint32_t i = 0; i < rows.n; i++) {
		const struct stuck_row *r = &rows.items[i];

		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%s", i ? " " : "",
					r->name ? r->name : "?");
		if (r->exact)
			len += (size_t)snprintf(got + len, sizeof(got) - len, "%c%lu",
						r->kind == WIRE_KIND_QUERY ? '@' : '!',
						(unsigned long)r->start_ns);
	}
	stuck_rows__clear(&rows);
	assert_string_equal(got, want);
}

#define CHECK(entered, calls, want) \
	check_rows(entered, N_OF(entered), calls, N_OF(calls), true, want)

static const struct native_call two_queries[] = {
	{100, OTHER, 0},	{200, PROVIDER("b"), 0}, {300, BODY(NULL), 0},
	{400, WRAPPER("b"), 0}, {500, PROVIDER("a"), 0}, {600, BODY("a"), 0},
	{700, WRAPPER("a"), 0}, {800, OTHER, 0},
};

static void without_events_the_stack_suffices(void **state)
{
	check_rows(NULL, 0, two_queries, N_OF(two_queries), true, "a b");
	/* The body tail-calls the provider's function, so the body has no frame. */
	CHECK(((struct entered[]){}),
	      ((struct native_call[]){
		      {100, OTHER, 0}, {200, BODY(NULL), 0}, {300, WRAPPER("a"), 0}}),
	      "a");
	/* Forced: no wrapper requested the query. */
	CHECK(((struct entered[]){}),
	      ((struct native_call[]){
		      {100, PROVIDER("a"), 0}, {200, BODY(NULL), 0}, {300, OTHER, 0}}),
	      "a");
	CHECK(((struct entered[]){}),
	      ((struct native_call[]){{100, BODY(NULL), 0}, {200, OTHER, 0}}), "?");
	/* A query that executes itself. */
	CHECK(((struct entered[]){}),
	      ((struct native_call[]){{100, PROVIDER("a"), 0},
				      {200, BODY("a"), 0},
				      {300, WRAPPER("a"), 0},
				      {400, PROVIDER("a"), 0},
				      {500, BODY("a"), 0},
				      {600, WRAPPER("a"), 0}}),
	      "a a");
	/* A body forces another query while it checks whether its own query is green. */
	CHECK(((struct entered[]){}),
	      ((struct native_call[]){
		      {100, BODY("b"), 0}, {200, BODY(NULL), 0}, {300, WRAPPER("a"), 0}}),
	      "a b");
}

static void without_a_stack_events_suffice(void **state)
{
	static const struct entered entered[] = {{500, 1, "a", WIRE_KIND_QUERY, 0},
						 {400, 2, "x", WIRE_KIND_ACTIVITY, 0},
						 {300, 3, "b", WIRE_KIND_QUERY, 0}};

	check_rows(entered, N_OF(entered), NULL, 0, false, "a@1 x!2 b@3");
	check_rows(entered, N_OF(entered), NULL, 0, true, "a@1 x!2 b@3");
}

static void an_entered_query_has_its_start_time(void **state)
{
	CHECK(((struct entered[]){{300, 9, "b", WIRE_KIND_QUERY, 0}}), two_queries, "a b@9");
	CHECK(((struct entered[]){{600, 5, "a", WIRE_KIND_QUERY, 0},
				  {300, 9, "b", WIRE_KIND_QUERY, 0}}),
	      two_queries, "a@5 b@9");
	/* A query that starts at its wrapper has a higher sp. */
	CHECK(((struct entered[]){{640, 5, "a", WIRE_KIND_QUERY, 0}}), two_queries, "a@5 b");
	CHECK(((struct entered[]){{792, 5, "a", WIRE_KIND_QUERY, 0}}), two_queries, "a@5 b");
	/* The event names the query of a body that serves many. */
	CHECK(((struct entered[]){{100, 5, "c", WIRE_KIND_QUERY, 0}}),
	      ((struct native_call[]){{50, OTHER, 0}, {100, BODY(NULL), 0}, {200, OTHER, 0}}),
	      "c@5");
}

static void activities_stand_where_they_were_entered(void **state)
{
	CHECK(((struct entered[]){{800, 4, "x", WIRE_KIND_ACTIVITY, 0}}), two_queries, "x!4 a b");
	CHECK(((struct entered[]){{110, 4, "x", WIRE_KIND_ACTIVITY, 0}}), two_queries, "a b x!4");
	CHECK(((struct entered[]){{550, 4, "x", WIRE_KIND_ACTIVITY, 0},
				  {560, 5, "y", WIRE_KIND_ACTIVITY, 0},
				  {300, 6, "b", WIRE_KIND_QUERY, 0}}),
	      two_queries, "a x!4 y!5 b@6");
}

static void an_entry_that_has_left_the_stack_is_ignored(void **state)
{
	/* Below the innermost function: the query has ended, but its end is not recorded yet. */
	CHECK(((struct entered[]){{600, 5, "a", WIRE_KIND_QUERY, 0},
				  {50, 7, "c", WIRE_KIND_QUERY, 0}}),
	      two_queries, "a@5 b");
	/* Another function now occupies this part of the stack. */
	CHECK(((struct entered[]){{600, 5, "a", WIRE_KIND_QUERY, 0},
				  {120, 7, "c", WIRE_KIND_QUERY, 0}}),
	      two_queries, "a@5 b");
}

static void outermost_calls_may_be_missing(void **state)
{
	static const struct native_call calls[] = {{100, OTHER, 0}, {300, BODY("b"), 0}};
	static const struct entered entered[] = {{90000, 5, "a", WIRE_KIND_QUERY, 0},
						 {300, 6, "b", WIRE_KIND_QUERY, 0}};

	check_rows(entered, 2, calls, 2, false, "a@5 b@6");
	check_rows(entered, 2, calls, 2, true, "b@6");
}

/* Between a and b the thread switched to another stack at a higher address. */
static void stacks_may_follow_in_any_order(void **state)
{
	static const struct native_call calls[] = {
		{90100, PROVIDER("b"), 0}, {90200, BODY("b"), 0},   {90300, OTHER, 0},
		{300, OTHER, 0},	   {400, PROVIDER("a"), 0}, {500, BODY("a"), 0},
		{600, OTHER, 0},
	};

	CHECK(((struct entered[]){{500, 5, "a", WIRE_KIND_QUERY, 0},
				  {90200, 6, "b", WIRE_KIND_QUERY, 0}}),
	      calls, "a@5 b@6");
	CHECK(((struct entered[]){{90200, 6, "b", WIRE_KIND_QUERY, 0}}), calls, "a b@6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_events_the_stack_suffices),
		cmocka_unit_test(without_a_stack_events_suffice),
		cmocka_unit_test(an_entered_query_has_its_start_time),
		cmocka_unit_test(activities_stand_where_they_were_entered),
		cmocka_unit_test(an_entry_that_has_left_the_stack_is_ignored),
		cmocka_unit_test(outermost_calls_may_be_missing),
		cmocka_unit_test(stacks_may_follow_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
