// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_trend.h"
#include "base/format.h"
#include "view/history_list_view.h"
#include "../fixtures/schema_fields.h"
#include <math.h>
#include <time.h>
#include "view/history_cells.h"
#include "view/trend_view.h"

static struct sample_trend sample;

static char *text_of(size_t n, uint64_t all, size_t width)
{
	const struct history_builds builds = {.at = sample.builds, .n = n};

	return PRINTED(assert_int_equal(history_list_text(to_, &builds, all, width), 0));
}

TEST_CASE(a_line_says_what_was_built_and_how_long_it_took)
{
	sample_trend(&sample, 4);
	sample.builds[1].dirty = 1;
	sample.builds[1].label = "nightly";
	sample.builds[2].commit = sample.builds[2].branch = sample.builds[2].toolchain = NULL;
	sample.builds[2].state = "unfinished";
	sample.builds[3].failed = 2;
	sample.builds[3].peak_bytes = HISTORY_UNKNOWN;
	sample.builds[3].lost = 7;
	assert_shows(text_of(4, 0, 0), "@view/history_list.txt");
}

TEST_CASE(narrow_terminals_get_what_fits)
{
	_free_ char *text = NULL;

	sample_trend(&sample, 3);
	text = text_of(3, 0, 50);
	assert_contains(text, "hidden columns: ");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strstr(line, "hidden") || format_width(line) <= 50);
}

TEST_CASE(older_builds_are_counted)
{
	_free_ char *text = NULL, *none = text_of(0, 40, 80);

	sample_trend(&sample, 45);
	text = text_of(40, 45, 80);
	assert_int_equal(occurrences(text, "main"), 40);
	assert_contains(text, "\n  and 5 older: --last 45 shows all\n");
	assert_contains(none, "No builds. ");
}

TEST_CASE(hostile_names_do_not_reach_the_terminal)
{
	_free_ char *text = NULL;

	sample_trend(&sample, 1);
	sample.builds[0].commit = "\033[31m";
	sample.builds[0].branch = "\n\033[2J";
	sample.builds[0].label = "\r";
	sample.builds[0].state = "\007";
	sample.builds[0].toolchain = "rustc \033c";
	text = text_of(1, 0, 0);
	assert_null(strpbrk(text, "\033\r\007"));
	assert_int_equal(occurrences(text, "\n"), 2);
}

/* ---- History list json ----------------------------------------------------------------------- */

static char *history_list_json_text_of(size_t n)
{
	const struct history_builds builds = {.at = sample.builds, .n = n};

	return PRINTED(assert_int_equal(history_list_json(to_, &builds), 0));
}

TEST_CASE(a_build_has_all_columns)
{
	_free_ char *none = history_list_json_text_of(0);

	sample_trend(&sample, 2);
	sample.builds[1].commit = "\033";
	assert_shows(history_list_json_text_of(2), "@view/history_list.json");
	assert_string_equal(none, "{\"schema\":\"qprof-history/1\",\"builds\":[]}\n");
}

TEST_CASE(every_field_is_in_the_schema)
{
	_free_ char *text = PRINTED(assert_int_equal(history_list_schema(to_), 0)),
		    *document = NULL;
	struct json_object *schema = parsed_json(text), *object;

	sample_trend(&sample, 1);
	document = history_list_json_text_of(1);
	object = parsed_json(document);
	schema_fields = member(schema, "fields");
	schema_check(object, "");
	assert_string_equal(schema_unit_of("builds[].in_compilers_ns"), "ns");
	json_object_put(schema);
	json_object_put(object);
}

/* ---- History cells --------------------------------------------------------------------------- */

static char buf[HISTORY_CELL_MAX];

TEST_CASE(values_have_their_unit)
{
	assert_string_equal(history_value(buf, TREND_CPU, 1020000000), "1.02 s");
	assert_string_equal(history_value(buf, TREND_COUNT, 1030000), "1,030,000");
	assert_string_equal(history_value(buf, TREND_MEMORY, 16 << 20), "16.0 MiB");
	assert_string_equal(history_value(buf, TREND_WALL, HISTORY_UNKNOWN), "-");
}

TEST_CASE(changes_are_percentages_or_factors)
{
	assert_string_equal(history_change(buf, 0.1034), "+10.3 %");
	assert_string_equal(history_change(buf, -0.0025), "-0.25 %");
	assert_string_equal(history_change(buf, 0.00996), "+1.0 %");
	assert_string_equal(history_change(buf, 0), "+0.0 %");
	assert_string_equal(history_change(buf, 11.5), "x12.5");
	assert_string_equal(history_change(buf, INFINITY), "new");
}

TEST_CASE(dates_are_of_the_users_time_zone)
{
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	assert_string_equal(history_date(buf, 1790000000000000000), "2026-09-21 16:13");
	assert_string_equal(history_date(buf, 0), "1970-01-01 01:00");
}

TEST_CASE(commits_are_short_and_clean)
{
	struct history_build build = {.dirty = 1};
	char wide[1024];

	assert_string_equal(history_commit(buf, &build), "-");
	build.commit = "0123456789abcdef";
	assert_string_equal(history_commit(buf, &build), "0123456789ab+");
	build.commit = "\033[31m";
	build.dirty = HISTORY_UNKNOWN;
	assert_string_equal(history_commit(buf, &build), "?[31m");
	/* Characters without a width could fill more than the cell. */
	wide[0] = 'x';
	for (size_t i = 1; i < 901; i += 2)
		memcpy(wide + i, "\xcc\x81", 3);
	build.commit = wide;
	assert_true(strlen(history_commit(buf, &build)) < HISTORY_CELL_MAX);
}

TEST_CASE(toolchains_are_their_version)
{
	assert_string_equal(history_toolchain(buf, "rustc 1.95.0 (59807616e 2026-04-14)"),
			    "1.95.0");
	assert_string_equal(history_toolchain(buf, "rustc 1.97.0-nightly (x)"), "1.97.0-nightly");
	assert_string_equal(history_toolchain(buf, "rustc version 1.95.0 (x)"), "1.95.0");
	assert_string_equal(history_toolchain(buf, "1.95.0"), "1.95.0");
	assert_string_equal(history_toolchain(buf, "\033"), "?");
	assert_string_equal(history_toolchain(buf, NULL), "-");
	assert_string_equal(history_toolchain(buf, ""), "-");
}

/* ---- Trend ----------------------------------------------------------------------------------- */

static char *trend_text_of(void)
{
	return PRINTED(assert_int_equal(trend_json(to_, &sample.trend), 0));
}

TEST_CASE(a_sample_is_as_agreed)
{
	sample_trend(&sample, SAMPLE_BUILDS);
	assert_shows(trend_text_of(), "@view/trend.json");
}

TEST_CASE(a_change_from_nothing_has_no_ratio)
{
	sample_trend(&sample, SAMPLE_BUILDS);
	sample.change.change = INFINITY;
	assert_shows(trend_text_of(), "\"change\":null,\"confidence\":0.999120");
}

TEST_CASE(trend_every_field_is_in_the_schema)
{
	_free_ char *text = PRINTED(assert_int_equal(trend_schema(to_), 0)), *document = NULL;
	struct json_object *schema = parsed_json(text), *object;

	sample_trend(&sample, SAMPLE_BUILDS);
	document = trend_text_of();
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
	sample_trend(&trend_text_sample, SAMPLE_BUILDS);
	assert_shows(trend_text_text_of(&(struct trend_look){.blocks = true, .width = 80}),
		     "@view/trend.txt");
}

TEST_CASE(trend_narrow_terminals_get_what_fits)
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
	sample_trend(&trend_text_sample, 30);
	assert_shows(
		trend_text_text_of(&(struct trend_look){.width = 80}),
		"\nNo change beyond noise: one build differs from the next by 0.68 % (median).\n");
	sample_trend(&trend_text_sample, 5);
	assert_shows(trend_text_text_of(&(struct trend_look){}),
		     "\n5 comparable builds are too few to tell a change from noise: add "
		     "more, 8 at least.\n");
	trend_text_sample.builds[2].executions = 7;
	assert_shows(trend_text_text_of(&(struct trend_look){}),
		     "8 at least, or ask for --metric count, which has no noise.\n");
	trend_text_sample.builds[2].results = 9;
	assert_shows(trend_text_text_of(&(struct trend_look){}),
		     "8 at least, or ask for --metric results, which has no noise.\n");
}

TEST_CASE(without_values_there_is_no_judgement)
{
	sample_trend(&trend_text_sample, 10);
	trend_text_sample.trend.question.metric = TREND_COUNT;
	trend_text_sample.trend.exact = true;
	for (size_t i = 0; i < 10; i++) {
		trend_text_sample.points[i].value = HISTORY_UNKNOWN;
		trend_text_sample.points[i].reason = TREND_NO_VALUE;
	}
	trend_text_sample.trend.reasons[TREND_COUNTED] = 0;
	assert_shows(trend_text_text_of(&(struct trend_look){}), "\nNo build can be judged.\n");
}

TEST_CASE(counts_are_exact)
{
	sample_trend(&trend_text_sample, SAMPLE_BUILDS);
	trend_text_sample.trend.question.metric = TREND_COUNT;
	trend_text_sample.trend.exact = true;
	trend_text_sample.change.confidence = 1;
	trend_text_sample.change.toolchain = true;
	assert_shows(trend_text_text_of(&(struct trend_look){}),
		     "10.2 % more executions: 1,134,500,000, before "
		     "1,029,500,000; exact. The compiler is another one there: 1.95.0");
}

TEST_CASE(trend_hostile_names_do_not_reach_the_terminal)
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
