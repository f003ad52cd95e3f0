// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_trend.h"
#include "base/format.h"
#include "view/trend_view.h"

static struct sample_trend sample;

static char *text_of(const struct trend_look *look)
{
	return PRINTED(assert_int_equal(trend_text(to_, &sample.trend, look), 0));
}

static void a_change_is_marked_and_said_last(void **state)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	text = text_of(&(struct trend_look){.blocks = true, .width = 80});
	assert_golden("view/trend.txt", text);
}

static void narrow_terminals_get_what_fits(void **state)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	text = text_of(&(struct trend_look){.width = 40});
	assert_golden("view/trend_narrow.txt", text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(format_width(line) <= 40);
}

static void each_build_has_a_line_if_the_user_wants(void **state)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	text = text_of(&(struct trend_look){.full = true});
	assert_lacks(text, " builds, 1.0");
	assert_true(occurrences(text, " main") == SAMPLE_BUILDS);
	assert_contains(text, "(not counted: ");
}

static void without_a_change_a_sentence_says_so(void **state)
{
	_free_ char *text = NULL, *few = NULL, *counted = NULL, *results = NULL;

	sample_trend(&sample, 30);
	text = text_of(&(struct trend_look){.width = 80});
	assert_contains(
		text,
		"\nNo change beyond noise: one build differs from the next by 0.68 % (median).\n");
	sample_trend(&sample, 5);
	few = text_of(&(struct trend_look){});
	assert_contains(few, "\n5 comparable builds are too few to tell a change from noise: add "
			     "more, 8 at least.\n");
	sample.builds[2].executions = 7;
	counted = text_of(&(struct trend_look){});
	assert_contains(counted, "8 at least, or ask for --metric count, which has no noise.\n");
	sample.builds[2].results = 9;
	results = text_of(&(struct trend_look){});
	assert_contains(results, "8 at least, or ask for --metric results, which has no noise.\n");
}

static void without_values_there_is_no_judgement(void **state)
{
	_free_ char *text = NULL;

	sample_trend(&sample, 10);
	sample.trend.question.metric = TREND_COUNT;
	sample.trend.exact = true;
	for (size_t i = 0; i < 10; i++) {
		sample.points[i].value = HISTORY_UNKNOWN;
		sample.points[i].reason = TREND_NO_VALUE;
	}
	sample.trend.reasons[TREND_COUNTED] = 0;
	text = text_of(&(struct trend_look){});
	assert_contains(text, "\nNo build can be judged.\n");
}

static void counts_are_exact(void **state)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	sample.trend.question.metric = TREND_COUNT;
	sample.trend.exact = true;
	sample.change.confidence = 1;
	sample.change.toolchain = true;
	text = text_of(&(struct trend_look){});
	assert_contains(text, "10.2 % more executions: 1,134,500,000, before "
			      "1,029,500,000; exact. The compiler is another one there: 1.95.0");
}

static void hostile_names_do_not_reach_the_terminal(void **state)
{
	static char note[] = "left out\033[2J";
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	for (size_t i = 0; i < SAMPLE_BUILDS; i++) {
		sample.builds[i].commit = "\033]0;x\007";
		sample.builds[i].branch = "a\nb\033[31m";
		sample.builds[i].label = "\r\t\x9b";
		sample.builds[i].toolchain = "rustc \033[1m (x)";
	}
	sample.trend.question.of.crate = "\033[5m";
	sample.trend.question.filter.branch = "\033[6m";
	sample.change.toolchain = true;
	sample.trend.notes[0] = note;
	sample.trend.n_notes = 1;
	text = text_of(&(struct trend_look){.full = true});
	for (const char *c = text; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\n') || *c == '\177')
			fail_msg("byte %u", (unsigned int)*c);
	assert_int_equal(occurrences(text, "a?b?[31m"), SAMPLE_BUILDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_marked_and_said_last),
		cmocka_unit_test(narrow_terminals_get_what_fits),
		cmocka_unit_test(each_build_has_a_line_if_the_user_wants),
		cmocka_unit_test(without_a_change_a_sentence_says_so),
		cmocka_unit_test(without_values_there_is_no_judgement),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(hostile_names_do_not_reach_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
