// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <math.h>

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_trend.h"
#include "../fixtures/schema_fields.h"
#include "view/trend_view.h"
#include "base/format.h"

static struct sample_trend sample;

static char *text_of(void)
{
	return PRINTED(assert_int_equal(trend_json(to_, &sample.trend), 0));
}

TEST_CASE(a_sample_is_as_agreed)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	text = text_of();
	assert_golden("view/trend.json", text);
}

TEST_CASE(a_change_from_nothing_has_no_ratio)
{
	_free_ char *text = NULL;

	sample_trend(&sample, SAMPLE_BUILDS);
	sample.change.change = INFINITY;
	text = text_of();
	assert_contains(text, "\"change\":null,\"confidence\":0.999120");
}

TEST_CASE(every_field_is_in_the_schema)
{
	_free_ char *text = PRINTED(assert_int_equal(trend_schema(to_), 0)), *document = NULL;
	struct json_object *schema = parsed_json(text), *object;

	sample_trend(&sample, SAMPLE_BUILDS);
	document = text_of();
	object = parsed_json(document);
	schema_fields = member(schema, "fields");
	schema_check(object, "");
	assert_string_equal(schema_unit_of("changes[].change"), "ratio");
	json_object_put(schema);
	json_object_put(object);
}

/* ---- Trend text ------------------------------------------------------------------------------ */

static struct sample_trend trend_text_sample;

static char *trend_text_text_of(const struct trend_look *look)
{
	return PRINTED(assert_int_equal(trend_text(to_, &trend_text_sample.trend, look), 0));
}

TEST_CASE(a_change_is_marked_and_said_last)
{
	_free_ char *text = NULL;

	sample_trend(&trend_text_sample, SAMPLE_BUILDS);
	text = trend_text_text_of(&(struct trend_look){.blocks = true, .width = 80});
	assert_golden("view/trend.txt", text);
}

TEST_CASE(narrow_terminals_get_what_fits)
{
	_free_ char *text = NULL;

	sample_trend(&trend_text_sample, SAMPLE_BUILDS);
	text = trend_text_text_of(&(struct trend_look){.width = 40});
	assert_golden("view/trend_narrow.txt", text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(format_width(line) <= 40);
}

TEST_CASE(each_build_has_a_line_if_the_user_wants)
{
	_free_ char *text = NULL;

	sample_trend(&trend_text_sample, SAMPLE_BUILDS);
	text = trend_text_text_of(&(struct trend_look){.full = true});
	assert_lacks(text, " builds, 1.0");
	assert_true(occurrences(text, " main") == SAMPLE_BUILDS);
	assert_contains(text, "(not counted: ");
}

TEST_CASE(without_a_change_a_sentence_says_so)
{
	_free_ char *text = NULL, *few = NULL, *counted = NULL, *results = NULL;

	sample_trend(&trend_text_sample, 30);
	text = trend_text_text_of(&(struct trend_look){.width = 80});
	assert_contains(
		text,
		"\nNo change beyond noise: one build differs from the next by 0.68 % (median).\n");
	sample_trend(&trend_text_sample, 5);
	few = trend_text_text_of(&(struct trend_look){});
	assert_contains(few, "\n5 comparable builds are too few to tell a change from noise: add "
			     "more, 8 at least.\n");
	trend_text_sample.builds[2].executions = 7;
	counted = trend_text_text_of(&(struct trend_look){});
	assert_contains(counted, "8 at least, or ask for --metric count, which has no noise.\n");
	trend_text_sample.builds[2].results = 9;
	results = trend_text_text_of(&(struct trend_look){});
	assert_contains(results, "8 at least, or ask for --metric results, which has no noise.\n");
}

TEST_CASE(without_values_there_is_no_judgement)
{
	_free_ char *text = NULL;

	sample_trend(&trend_text_sample, 10);
	trend_text_sample.trend.question.metric = TREND_COUNT;
	trend_text_sample.trend.exact = true;
	for (size_t i = 0; i < 10; i++) {
		trend_text_sample.points[i].value = HISTORY_UNKNOWN;
		trend_text_sample.points[i].reason = TREND_NO_VALUE;
	}
	trend_text_sample.trend.reasons[TREND_COUNTED] = 0;
	text = trend_text_text_of(&(struct trend_look){});
	assert_contains(text, "\nNo build can be judged.\n");
}

TEST_CASE(counts_are_exact)
{
	_free_ char *text = NULL;

	sample_trend(&trend_text_sample, SAMPLE_BUILDS);
	trend_text_sample.trend.question.metric = TREND_COUNT;
	trend_text_sample.trend.exact = true;
	trend_text_sample.change.confidence = 1;
	trend_text_sample.change.toolchain = true;
	text = trend_text_text_of(&(struct trend_look){});
	assert_contains(text, "10.2 % more executions: 1,134,500,000, before "
			      "1,029,500,000; exact. The compiler is another one there: 1.95.0");
}

TEST_CASE(hostile_names_do_not_reach_the_terminal)
{
	static char note[] = "left out\033[2J";
	_free_ char *text = NULL;

	sample_trend(&trend_text_sample, SAMPLE_BUILDS);
	for (size_t i = 0; i < SAMPLE_BUILDS; i++) {
		trend_text_sample.builds[i].commit = "\033]0;x\007";
		trend_text_sample.builds[i].branch = "a\nb\033[31m";
		trend_text_sample.builds[i].label = "\r\t\x9b";
		trend_text_sample.builds[i].toolchain = "rustc \033[1m (x)";
	}
	trend_text_sample.trend.question.of.crate = "\033[5m";
	trend_text_sample.trend.question.filter.branch = "\033[6m";
	trend_text_sample.change.toolchain = true;
	trend_text_sample.trend.notes[0] = note;
	trend_text_sample.trend.n_notes = 1;
	text = trend_text_text_of(&(struct trend_look){.full = true});
	for (const char *c = text; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\n') || *c == '\177')
			fail_msg("byte %u", (unsigned int)*c);
	assert_int_equal(occurrences(text, "a?b?[31m"), SAMPLE_BUILDS);
}

TEST_MAIN(NULL, NULL)
