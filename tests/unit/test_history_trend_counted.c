// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Executions of builds with and without --exact. */
#include "history/trend_points.h"

#include "../fixtures/history_builds.h"
#include "../fixtures/output.h"
#include "history/trend.h"

#define BUILDS 24

static const char *commit(unsigned int number)
{
	static char text[41];

	snprintf(text, sizeof(text), "%08x%032x", number, number);
	return text;
}

/* Of a build of `work` executions of other queries, and 100 of type_of that only --exact counts. */
static struct history_change build(unsigned int number, bool exact, uint64_t work)
{
	return (struct history_change){
		.commit = commit(number),
		.how = exact ? "exact" : "sampled",
		.uncounted = exact ? NULL : "crate_name type_of",
		.count = exact ? work + 100 + number : work,
		.type_of = exact ? 100 + number : 0,
		.of_item = exact ? 40 : 30,
	};
}

static bool has_note(const struct trend *t, const char *part)
{
	for (size_t i = 0; i < t->n_notes; i++)
		if (strstr(t->notes[i], part))
			return true;
	return false;
}

static void ask(struct store *s, const struct history_series *of, struct trend *out)
{
	const struct trend_question q = {.of = *of, .metric = TREND_COUNT};

	assert_int_equal(trend__ask(s, &q, out), 0);
}

TEST_CASE(a_mixed_history_has_only_its_real_step)
{
	static const struct history_series all[] = {{}, {.crate = "syn"}};
	_store_ struct store *s = history_builds_store("mixed.db");

	for (unsigned int i = 0; i < BUILDS; i++) {
		const struct history_change c = build(i, i % 3 == 0, i < 12 ? 5000 : 5050);

		history_builds_add(s, i, &c);
	}
	for (size_t k = 0; k < N_OF(all); k++) {
		_trend_ struct trend t = {};

		ask(s, &all[k], &t);
		assert_int_equal(t.reasons[TREND_COUNTED], BUILDS);
		for (size_t i = 0; i < BUILDS; i++)
			assert_int_equal(t.points[i].value, i < 12 ? 5000 : 5050);
		assert_int_equal(t.n_changes, 1);
		assert_int_equal(t.changes[0].point, 12);
		assert_string_equal(t.uncounted, "crate_name type_of");
		assert_true(has_note(&t, "without executions of crate_name, type_of"));
	}
}

TEST_CASE(exact_builds_alone_have_all_executions)
{
	_store_ struct store *s = history_builds_store("exact.db");
	_trend_ struct trend t = {};

	for (unsigned int i = 0; i < BUILDS; i++) {
		const struct history_change c = build(i, true, 5000);

		history_builds_add(s, i, &c);
	}
	ask(s, &(struct history_series){}, &t);
	assert_int_equal(t.points[7].value, 5107);
	assert_null(t.uncounted);
	assert_int_equal(t.n_notes, 0);
}

/* Its value would be that of fewer queries, or one of which nothing is known. */
TEST_CASE(a_build_that_is_not_judged_takes_no_query_from_others)
{
	_store_ struct store *s = history_builds_store("others.db");
	_trend_ struct trend t = {};

	for (unsigned int i = 0; i < BUILDS; i++) {
		struct history_change c = build(i, false, 5000);

		if (i == 5)
			c.lost = 3, c.uncounted = "crate_name generics_of type_of";
		if (i == 6)
			c.count = HISTORY_UNKNOWN, c.uncounted = NULL;
		history_builds_add(s, i, &c);
	}
	ask(s, &(struct history_series){}, &t);
	assert_int_equal(t.reasons[TREND_COUNTED], BUILDS - 2);
	assert_int_equal(t.reasons[TREND_LOST], 1);
	assert_int_equal(t.reasons[TREND_NO_VALUE], 1);
	assert_true(t.points[5].value == HISTORY_UNKNOWN && t.points[6].value == HISTORY_UNKNOWN);
	assert_int_equal(t.points[7].value, 5000);
	assert_string_equal(t.uncounted, "crate_name type_of");
	assert_true(has_note(&t, "executions of some compiler are not known"));
}

/* Of a text of another's file. */
TEST_CASE(a_build_with_too_many_names_has_no_value)
{
	_store_ struct store *s = history_builds_store("names.db");
	_trend_ struct trend t = {};
	char names[1024] = "";

	for (unsigned int i = 0; i < 200; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "q%u ", i);
	for (unsigned int i = 0; i < BUILDS; i++) {
		struct history_change c = build(i, false, 5000);

		if (i == 20)
			c.uncounted = names;
		history_builds_add(s, i, &c);
	}
	ask(s, &(struct history_series){}, &t);
	assert_int_equal(t.reasons[TREND_NO_VALUE], 0);
	assert_int_equal(t.reasons[TREND_OTHER_QUERIES], 1);
	assert_true(has_note(&t, "as they count executions of other queries, or of far fewer: 1"));
	assert_int_equal(t.reasons[TREND_COUNTED], BUILDS - 1);
	assert_string_equal(t.uncounted, "crate_name type_of");
}

/* Their rows are no sums of queries. */
TEST_CASE(items_of_both_are_judged_apart)
{
	_store_ struct store *s = history_builds_store("items.db");
	_trend_ struct trend t = {};

	for (unsigned int i = 0; i < BUILDS; i++) {
		struct history_change c = build(i, i >= 12, 5000);

		c.of_item += i >= 20;
		history_builds_add(s, i, &c);
	}
	ask(s, &(struct history_series){.item = "syn::parse::Parser"}, &t);
	assert_int_equal(t.reasons[TREND_COUNTED], BUILDS);
	assert_int_equal(t.n_groups, 2);
	assert_int_equal(t.n_changes, 1);
	assert_int_equal(t.changes[0].point, 20);
	assert_true(has_note(&t, "are judged apart"));
}

TEST_MAIN(directory_make, directory_remove)
