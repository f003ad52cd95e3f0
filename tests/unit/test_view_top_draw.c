// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/top_data.h"

static struct top *top_of(const struct top_world *w)
{
	struct top *t;

	must(top__new(&t), top__update(t, &w->data));
	return t;
}

static void press(struct top *t, int key)
{
	bool quit = false;

	assert_int_equal(top__key(t, key, &quit), 0);
}

TEST_CASE(screens_look_as_they_did)
{
	static const struct {
		const char *golden, *keys;
		size_t lines, columns;
	} screens[] = {
		{"view/top_processes.txt", "", 24, 80},	    {"view/top_queries.txt", "\t", 24, 80},
		{"view/top_threads.txt", "\t\t\t", 24, 80}, {"view/top_process.txt", "j\n", 24, 80},
		{"view/top_help.txt", "?", 24, 80},	    {"view/top_narrow.txt", "\t", 15, 60},
		{"view/top_filter.txt", "/reg", 15, 60},
	};

	for (size_t i = 0; i < N_OF(screens); i++) {
		_top_ struct top *t = NULL;
		_free_ char *text = NULL;
		_top_world_ struct top_world w;

		top_world_make(&w);
		t = top_of(&w);
		for (const char *key = screens[i].keys; *key; key++)
			press(t, *key);
		text = top_world_screen(t, screens[i].lines, screens[i].columns);
		assert_golden(screens[i].golden, text);
	}
}

TEST_CASE(items_have_their_ends_and_places)
{
	static const size_t widths[] = {50, 80, 120};
	struct item_list list = {};
	_top_world_ struct top_world w;
	_top_ struct top *t = NULL;

	top_world_make(&w);
	top_world_items(&w, &list);
	t = top_of(&w);
	press(t, 'i');
	for (size_t i = 0; i < N_OF(widths); i++) {
		_free_ char *text = top_world_screen(t, 12, widths[i]);
		char name[64];

		snprintf(name, sizeof(name), "view/top_items_%zu.txt", widths[i]);
		assert_golden(name, text);
	}
	item_list__clear(&list);
}

TEST_CASE(that_there_are_no_items_has_a_reason)
{
	static const struct {
		const char *keys;
		enum top_source source;
		const char *reason;
	} cases[] = {
		{"i", TOP_RECORDING, "nothing yet: items get their names when their compiler ends"},
		{"G\ni", TOP_RECORDING, "items get their names when the compiler ends"},
		{"\ni", TOP_RECORDING, "does not say what the queries were about (--no-keys?)"},
		{"i", TOP_FINISHED, "does not say what the queries were about (--no-keys?)"},
	};
	const struct item_list none = {};

	for (size_t i = 0; i < N_OF(cases); i++) {
		_free_ char *text = NULL;
		_top_ struct top *t = NULL;
		_top_world_ struct top_world w;

		top_world_make(&w);
		w.data.items = &none;
		w.data.source = cases[i].source;
		t = top_of(&w);
		for (const char *key = cases[i].keys; *key; key++)
			press(t, *key);
		text = top_world_screen(t, 24, 80);
		assert_contains(text, cases[i].reason);
	}
}

/* top_world_screen() checks the number of lines and their widths. */
TEST_CASE(any_size_is_filled_and_not_left)
{
	_top_world_ struct top_world w;
	_top_ struct top *t = NULL;

	top_world_make(&w);
	t = top_of(&w);
	for (size_t lines = 0; lines < 30; lines++) {
		for (size_t columns = 0; columns < 100; columns += 3)
			free(top_world_screen(t, lines, columns));
	}
	press(t, '?');
	for (size_t lines = 0; lines < 30; lines++)
		free(top_world_screen(t, lines, 20));
}

TEST_CASE(the_selected_row_is_on_the_screen)
{
	_top_world_ struct top_world w;
	_top_ struct top *t = NULL;

	top_world_make(&w);
	for (uint32_t i = 0; i < 100; i++)
		top_world_thread(&w, 0, 1000 + i, 100000 - i, 5);
	t = top_of(&w);
	press(t, TOP_KEY_TAB);
	press(t, TOP_KEY_TAB);
	press(t, TOP_KEY_TAB);
	free(top_world_screen(t, 10, 80));
	press(t, TOP_KEY_PAGE_DOWN);
	assert_shows(top_world_screen(t, 10, 80), "7 of 103", "\n> regex_synt", " 1006 ",
		     "! 1000 ");
	press(t, TOP_KEY_HOME);
	assert_shows(top_world_screen(t, 10, 80), " 1000 ", "1 of 103");
}

static enum top_style style_of(struct top *t, const char *text)
{
	enum top_style style = TOP_PLAIN;
	struct top_screen s = {};
	bool found = false;

	assert_int_equal(top__draw(t, 24, 80, &s), 0);
	for (size_t i = 0; i < s.n; i++) {
		if (!found && strstr(s.lines[i].text, text)) {
			style = s.lines[i].style;
			found = true;
		}
	}
	top_screen__clear(&s);
	assert_true(found);
	return style;
}

TEST_CASE(losses_are_an_alert)
{
	struct trace_losses losses = sample_losses();
	_top_ struct top *t = NULL;
	_top_world_ struct top_world w;

	top_world_make(&w);
	t = top_of(&w);
	assert_int_equal(style_of(t, "lost 0  "), TOP_STATUS);
	w.data.losses = NULL;
	assert_int_equal(top__update(t, &w.data), 0);
	assert_int_equal(style_of(t, "lost ?  "), TOP_STATUS);
	w.data.losses = &losses;
	assert_int_equal(top__update(t, &w.data), 0);
	assert_int_equal(style_of(t, "lost 1,235"), TOP_ALERT);
	assert_int_equal(style_of(t, "serde"), TOP_SELECTED);
	assert_int_equal(style_of(t, "regex_syntax"), TOP_PLAIN);
	assert_int_equal(style_of(t, "[on-cpu]"), TOP_TITLES);
}

TEST_CASE(nothing_is_said_to_be_nothing)
{
	struct top_world w, empty;
	_free_ char *text = NULL;
	_top_ struct top *t = NULL;

	top_world_make(&w);
	empty = w;
	assert_int_equal(summary__new(&empty.summary), 0);
	empty.data.summary = empty.summary;
	t = top_of(&empty);
	text = top_world_screen(t, 24, 80);
	assert_contains(text, "nothing yet: no compiler has run");
	free(take_ptr(text));
	empty.data.source = TOP_FINISHED;
	assert_int_equal(top__update(t, &empty.data), 0);
	text = top_world_screen(t, 24, 80);
	assert_contains(text, "nothing was recorded");
	assert_contains(text, "finished, 2.00 s");
	summary__free(empty.summary);
	top_world_free(&w);
}

TEST_CASE(the_place_has_what_the_process_is_in)
{
	static const struct top_nows nows = {
		.n = 1,
		.at = {{4713, "eval_to_allocation_raw", "a_crate::a_module::planted"}},
	};
	_top_ struct top *t = NULL;
	_top_world_ struct top_world w;

	top_world_make(&w);
	w.data.now = &nows;
	t = top_of(&w);
	assert_shows(top_world_screen(t, 24, 80), "eval_to..(..module::planted)");
	press(t, 'G');
	press(t, TOP_KEY_ENTER);
	assert_shows(top_world_screen(t, 24, 80), "  by on-cpu  in ", "ted)\n");
	assert_shows(top_world_screen(t, 24, 200),
		     "  in eval_to_allocation_raw(a_crate::a_module::planted)\n");
}

TEST_MAIN(NULL, NULL)
