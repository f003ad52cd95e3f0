// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "view/top.h"

#include "../fixtures/output.h"
#include "../fixtures/top_data.h"

struct screen_test {
	struct top_world world;
	struct top *top;
	char *text; /* the last screen() */
};

static int begin(void **state)
{
	struct screen_test *t = calloc(1, sizeof(*t));

	top_world_make(&t->world);
	*state = t;
	return top__new(&t->top) ?: top__update(t->top, &t->world.data);
}

static int end(void **state)
{
	struct screen_test *t = *state;

	top__free(t->top);
	top_world_free(&t->world);
	free(t->text);
	free(t);
	return 0;
}

static bool press(struct screen_test *t, int key)
{
	bool quit = false;

	assert_int_equal(top__key(t->top, key, &quit), 0);
	return quit;
}

static void type(struct screen_test *t, const char *keys)
{
	for (; *keys; keys++)
		assert_false(press(t, *keys));
}

static const char *screen(struct screen_test *t)
{
	free(t->text);
	t->text = top_world_screen(t->top, 24, 80);
	return t->text;
}

/* Fails unless the selected row has this name. */
static void assert_selected(struct screen_test *t, const char *name)
{
	const char *row = strstr(screen(t), "\n> ");

	if (!row)
		fail_msg("nothing is selected:\n%s", t->text);
	if (strncmp(row + 3, name, strlen(name)) != 0)
		fail_msg("%s is not selected:\n%s", name, t->text);
}

static void enter_opens_a_process_and_escape_goes_back_to_it(void **state)
{
	struct screen_test *t = *state;

	assert_contains(screen(t), "Processes  1 of 3  by on-cpu");
	assert_selected(t, "serde");
	type(t, "j");
	assert_selected(t, "regex_syntax");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries of regex_syntax (4711)  1 of 2  by on-cpu");
	assert_selected(t, "typeck");
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Items of regex_syntax (4711)  0 of 0");
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Threads of regex_syntax (4711)  1 of 2  by on-cpu");
	/* A single process has queries, items and threads only. */
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Queries of regex_syntax (4711)");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Processes  2 of 3");
	assert_selected(t, "regex_syntax");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Processes  2 of 3");
}

static void a_thread_leads_to_its_process(void **state)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Queries  1 of 3");
	/* A query belongs to several processes, so it cannot be opened. */
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries  1 of 3");
	press(t, TOP_KEY_TAB);
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Threads  1 of 3");
	assert_selected(t, "serde: <unn");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries of serde (4712)");
	press(t, 'p');
	assert_contains(screen(t), "Processes");
	assert_selected(t, "serde");
}

static void columns_sort_both_ways_and_by_either_end(void **state)
{
	struct screen_test *t = *state;

	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	press(t, TOP_KEY_TAB);
	assert_selected(t, "typeck");
	assert_contains(screen(t), "[on-cpu]");
	type(t, ">>");
	assert_contains(screen(t), "[count]");
	assert_selected(t, "layout_of");
	type(t, "r");
	assert_contains(screen(t), "by count, reversed");
	assert_selected(t, "evil");
	type(t, "<<<");
	assert_contains(screen(t), "[query]");
	assert_lacks(screen(t), "reversed");
	assert_selected(t, "evil");
	type(t, "S");
	assert_contains(screen(t), "[mean]");
	type(t, "s");
	assert_contains(screen(t), "[query]");
	/* Each table has its own order. */
	press(t, TOP_KEY_TAB);
	press(t, TOP_KEY_TAB);
	assert_contains(screen(t), "Threads  1 of 3  by on-cpu");
}

static void i_shows_items_and_queries_in_turn(void **state)
{
	struct screen_test *t = *state;
	struct item_list list = {};

	assert_false(top__wants_items(t->top));
	type(t, "i");
	assert_true(top__wants_items(t->top));
	assert_contains(screen(t), "Items  0 of 0  by on-cpu  (without 1 running)");
	assert_contains(screen(t), "reading what the queries were about");
	top_world_items(&t->world, &list);
	/* Items may be read while the view is paused. */
	type(t, " ");
	assert_int_equal(top__set_items(t->top, &list, 2), 0);
	assert_contains(screen(t), "(reading those of 2)");
	type(t, " ");
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_contains(screen(t), "Items  1 of 5  by on-cpu");
	assert_selected(t, "app::shapes::{{impl}}[1]::grow");
	type(t, "/area\n");
	press(t, TOP_KEY_ESCAPE);
	type(t, "j");
	assert_selected(t, "app::shapes::area");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Items of serde (4712)  1 of 2  by on-cpu");
	type(t, "i");
	assert_false(top__wants_items(t->top));
	assert_contains(screen(t), "Queries of serde (4712)");
	type(t, "i");
	assert_contains(screen(t), "Items of serde (4712)");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Processes");
	item_list__clear(&list);
}

static void a_filter_hides_rows_until_escape(void **state)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	type(t, "/qLAY");
	assert_contains(screen(t), "0 of 0  filter: qLAY_");
	assert_contains(screen(t), "no row has that");
	press(t, TOP_KEY_CLEAR);
	type(t, "LAYx");
	press(t, TOP_KEY_BACKSPACE);
	assert_contains(screen(t), "1 of 1  filter: LAY_");
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "1 of 1  filter: LAY  by");
	assert_selected(t, "layout_of");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Queries  1 of 3");
	type(t, "/x");
	press(t, TOP_KEY_ESCAPE);
	assert_contains(screen(t), "Queries  1 of 3");
	/* More keys than the filter has room for. */
	type(t, "/");
	for (int i = 0; i < 200; i++)
		type(t, "y");
	press(t, 0x1f600);
	assert_contains(screen(t), "0 of 0  filter: yyy");
}

static void the_selection_stays_with_its_row(void **state)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	assert_selected(t, "typeck");
	press(t, TOP_KEY_DOWN);
	assert_selected(t, "layout_of");
	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, TOP_SECOND, TOP_SECOND, 0);
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_contains(screen(t), "1 of 3");
	assert_selected(t, "layout_of");
	/* A selection of the first row stays at the first row. */
	press(t, TOP_KEY_HOME);
	sample_span(t->world.summary, 0, SAMPLE_TYPECK, 9 * TOP_SECOND, 9 * TOP_SECOND, 0);
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_selected(t, "typeck");
	press(t, TOP_KEY_END);
	assert_contains(screen(t), "3 of 3");
	press(t, TOP_KEY_DOWN);
	assert_contains(screen(t), "3 of 3");
	press(t, TOP_KEY_PAGE_UP);
	assert_contains(screen(t), "1 of 3");
	press(t, TOP_KEY_UP);
	assert_contains(screen(t), "1 of 3");
}

static void space_pauses(void **state)
{
	struct screen_test *t = *state;

	assert_false(top__paused(t->top));
	type(t, " ");
	assert_true(top__paused(t->top));
	assert_contains(screen(t), "PAUSED at 2.00 s");
	/* A paused view can be navigated. */
	press(t, TOP_KEY_ENTER);
	assert_contains(screen(t), "Queries of serde");
	type(t, " ");
	assert_false(top__paused(t->top));
}

static void rates_need_two_looks_at_the_same(void **state)
{
	struct screen_test *t = *state;

	press(t, TOP_KEY_TAB);
	type(t, ">>>");
	assert_contains(screen(t), "[rate/s]");
	sample_span(t->world.summary, 0, SAMPLE_LAYOUT_OF, 100, 100, 0);
	t->world.data.now_ns += TOP_SECOND;
	assert_int_equal(top__update(t->top, &t->world.data), 0);
	assert_selected(t, "layout_of");
	assert_contains(screen(t), "by rate/s");
}

static void q_leaves_but_not_as_a_letter(void **state)
{
	struct screen_test *t = *state;

	type(t, "/q");
	press(t, TOP_KEY_ESCAPE);
	type(t, "?");
	assert_contains(screen(t), "any key: back");
	assert_false(press(t, 'q'));
	assert_contains(screen(t), "Processes");
	assert_true(press(t, 'q'));
}

static void keys_before_any_data_do_no_harm(void **state)
{
	static const int keys[] = {TOP_KEY_ENTER, TOP_KEY_DOWN, TOP_KEY_TAB,
				   '>',		  'r',		TOP_KEY_ESCAPE};
	_top_ struct top *top = NULL;
	struct top_screen s = {};
	bool quit = false;

	assert_int_equal(top__new(&top), 0);
	for (size_t i = 0; i < N_OF(keys); i++)
		assert_int_equal(top__key(top, keys[i], &quit), 0);
	assert_int_equal(top__draw(top, 24, 80, &s), 0);
	assert_int_equal(s.n, 0);
	top_screen__clear(&s);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(enter_opens_a_process_and_escape_goes_back_to_it),
		TEST(a_thread_leads_to_its_process),
		TEST(columns_sort_both_ways_and_by_either_end),
		TEST(i_shows_items_and_queries_in_turn),
		TEST(a_filter_hides_rows_until_escape),
		TEST(the_selection_stays_with_its_row),
		TEST(space_pauses),
		TEST(rates_need_two_looks_at_the_same),
		TEST(q_leaves_but_not_as_a_letter),
		TEST(keys_before_any_data_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
