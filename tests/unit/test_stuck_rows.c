// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "stuck/rows.h"

#include "test.h"

/* Numbers of queries, and of guards. */
enum { A, B, C, X = 100, Y };

static const char *const names[] = {[A] = "a", [B] = "b", [C] = "c", [X] = "x", [Y] = "y"};

#define QUERY(at, start, query) \
	((struct entered){(at), (start), names[query], (query), WIRE_KIND_QUERY, 0})
#define ACTIVITY(at, start, guard) \
	((struct entered){(at), (start), names[guard], (guard), WIRE_KIND_ACTIVITY, 0})

/* An execution in the frame of a call, requested in that of another. */
#define RUNS(call, wrapper, of)                               \
	((struct shown){{.frame = (call),                     \
			 .request = (wrapper),                \
			 .query = (of),                       \
			 .guard = PLAN_NONE,                  \
			 .kind = WIRE_KIND_QUERY},            \
			(of) == PLAN_NONE ? NULL : names[of], \
			0})
#define GUARD(call, of)                               \
	((struct shown){{.frame = (call),             \
			 .request = PLAN_NONE,        \
			 .query = PLAN_NONE,          \
			 .guard = (of),               \
			 .kind = WIRE_KIND_ACTIVITY}, \
			names[of],                    \
			0})

/* `want`: "name" from the stack, "name@start" an entered query, "name!start" an activity. */
static void check_rows(const struct stuck_sources *from, const char *want)
{
	struct stuck_rows rows;
	char got[512] = "";
	size_t len = 0;

	assert_int_equal(stuck_rows__find(from, &rows), 0);
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

#define NOTHING ((struct entered[]){})
#define CHECK(entries, intervals, frames, is_whole, want)              \
	check_rows(&(struct stuck_sources){.entered = (entries),       \
					   .n_entered = N_OF(entries), \
					   .shown = (intervals),       \
					   .n_shown = N_OF(intervals), \
					   .calls = (frames),          \
					   .n_calls = N_OF(frames),    \
					   .whole = (is_whole)},       \
		   want)

/* b is requested and runs within a: calls 3 and 2, 6 and 5. */
static const uint64_t calls[] = {100, 200, 300, 400, 500, 600, 700, 800};
static const struct shown two[] = {
	{{.frame = 5, .request = 6, .query = A, .guard = PLAN_NONE, .kind = WIRE_KIND_QUERY},
	 "a",
	 0},
	{{.frame = 2, .request = 3, .query = B, .guard = PLAN_NONE, .kind = WIRE_KIND_QUERY},
	 "b",
	 0},
};

TEST_CASE(without_events_the_stack_suffices)
{
	CHECK(NOTHING, two, calls, true, "a b");
	CHECK(NOTHING, ((struct shown[]){RUNS(5, PLAN_NONE, PLAN_NONE), GUARD(1, X)}), calls, true,
	      "? x");
}

TEST_CASE(without_a_stack_events_suffice)
{
	const struct entered entered[] = {QUERY(500, 1, A), ACTIVITY(400, 2, X), QUERY(300, 3, B)};
	struct stuck_sources from = {.entered = entered, .n_entered = 3};

	check_rows(&from, "a@1 x!2 b@3");
	from.whole = true;
	check_rows(&from, "a@1 x!2 b@3");
}

TEST_CASE(an_entered_query_has_its_start_time)
{
	CHECK(((struct entered[]){QUERY(300, 9, B)}), two, calls, true, "a b@9");
	CHECK(((struct entered[]){QUERY(600, 5, A), QUERY(300, 9, B)}), two, calls, true,
	      "a@5 b@9");
	/* A query that starts at its wrapper has a higher sp. */
	CHECK(((struct entered[]){QUERY(740, 5, A)}), two, calls, true, "a@5 b");
	CHECK(((struct entered[]){QUERY(792, 5, A)}), two, calls, true, "a@5 b");
	/* The event names the query of a body that serves many. */
	CHECK(((struct entered[]){QUERY(600, 5, C)}),
	      ((struct shown[]){RUNS(5, PLAN_NONE, PLAN_NONE)}), calls, true, "c@5");
}

TEST_CASE(activities_stand_where_they_were_entered)
{
	CHECK(((struct entered[]){ACTIVITY(800, 4, X)}), two, calls, true, "x!4 a b");
	CHECK(((struct entered[]){ACTIVITY(110, 4, X)}), two, calls, true, "a b x!4");
	CHECK(((struct entered[]){ACTIVITY(550, 4, X), ACTIVITY(560, 5, Y), QUERY(300, 6, B)}), two,
	      calls, true, "a x!4 y!5 b@6");
}

TEST_CASE(an_activity_that_both_show_is_one)
{
	const struct shown shown[] = {RUNS(5, 6, A), GUARD(4, X), GUARD(4, Y), RUNS(2, 3, B)};

	CHECK(NOTHING, shown, calls, true, "a x y b");
	CHECK(((struct entered[]){ACTIVITY(550, 4, Y)}), shown, calls, true, "a x y!4 b");
	CHECK(((struct entered[]){ACTIVITY(550, 4, X), ACTIVITY(560, 5, Y)}), shown, calls, true,
	      "a x!4 y!5 b");
	/* The same one within itself, in another frame. */
	CHECK(((struct entered[]){ACTIVITY(150, 4, X)}), shown, calls, true, "a x y b x!4");
}

TEST_CASE(an_entry_that_has_left_the_stack_is_ignored)
{
	/* Below the innermost function: the query has ended, but its end is not recorded yet. */
	CHECK(((struct entered[]){QUERY(600, 5, A), QUERY(50, 7, C)}), two, calls, true, "a@5 b");
	/* Another function now occupies this part of the stack. */
	CHECK(((struct entered[]){QUERY(600, 5, A), QUERY(120, 7, C)}), two, calls, true, "a@5 b");
	/* So does the wrapper of another query. */
	CHECK(((struct entered[]){QUERY(600, 5, A), QUERY(440, 7, C)}), two, calls, true, "a@5 b");
}

TEST_CASE(outermost_calls_may_be_missing)
{
	const uint64_t few[] = {100, 300};
	const struct shown shown[] = {RUNS(1, PLAN_NONE, B)};
	const struct entered entered[] = {QUERY(90000, 5, A), QUERY(300, 6, B)};

	CHECK(entered, shown, few, false, "a@5 b@6");
	CHECK(entered, shown, few, true, "b@6");
}

/* Between a and b the thread switched to another stack at a higher address. */
TEST_CASE(stacks_may_follow_in_any_order)
{
	const uint64_t switched[] = {90100, 90200, 90300, 300, 400, 500, 600};
	const struct shown shown[] = {RUNS(5, 6, A), RUNS(1, 2, B)};

	CHECK(((struct entered[]){QUERY(500, 5, A), QUERY(90200, 6, B)}), shown, switched, true,
	      "a@5 b@6");
	CHECK(((struct entered[]){QUERY(90200, 6, B)}), shown, switched, true, "a b@6");
}

TEST_CASE(a_key_comes_from_the_entry_or_the_job)
{
	const uint64_t keyed[] = {100, 200};
	struct shown shown[] = {RUNS(1, PLAN_NONE, A)};
	struct entered entered = QUERY(200, 5, A);
	struct stuck_sources from = {.shown = shown, .n_shown = 1, .calls = keyed, .n_calls = 2};
	struct stuck_rows rows;

	shown[0].key = 7;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(stuck_rows__find(&from, &rows), 0);
		assert_struct(rows, n, 1, items[0].key, i < 2 ? 7 : 9, items[0].call, 1);
		stuck_rows__clear(&rows);
		from.entered = &entered;
		from.n_entered = 1;
		entered.key = i ? 9 : 0;
	}
}

TEST_MAIN(NULL, NULL)
