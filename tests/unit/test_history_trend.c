// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/trend.h"
#include "../fixtures/history_builds.h"
#include "../fixtures/noise.h"
#include "../fixtures/output.h"
#include "history/trend_points.h"

#define MS UINT64_C(1000000)

/* Of commit `number`: "0000000a..."; valid until the next call but three. */
static const char *commit(unsigned int number)
{
	static char texts[4][41];
	static unsigned int next;
	char *text = texts[next++ % 4];

	snprintf(text, 41, "%08x%032x", number, number);
	return text;
}

/* 4 s with noise of 1 %, and 10 % more from `at` on. */
static uint64_t cpu_of(struct noise *r, bool is_more)
{
	return (uint64_t)((4000 + 40 * noise__normal(r)) * (is_more ? 1.1 : 1)) * MS;
}

static struct trend_question asks(enum trend_metric metric)
{
	return (struct trend_question){.metric = metric};
}

static bool has_note(const struct trend *t, const char *part)
{
	for (size_t i = 0; i < t->n_notes; i++)
		if (strstr(t->notes[i], part))
			return true;
	return false;
}

TEST_CASE(a_step_has_its_commits)
{
	_store_ struct store *s = history_builds_store("step.db");
	_trend_ struct trend times = {}, counts = {};
	struct trend_question q = asks(TREND_CPU);
	struct noise r = {.state = 7};

	for (unsigned int i = 0; i < 40; i++)
		history_builds_add(s, i,
				   &(struct history_change){.commit = commit(i),
							    .cpu_ns = cpu_of(&r, i >= 25),
							    .count = i >= 30 ? 1030 : 1000});
	assert_int_equal(trend__ask(s, &q, &times), 0);
	assert_struct(times, n, 40, n_changes, 1);
	assert_struct(times.changes[0], point, 25, former, 24);
	assert_true(times.changes[0].change > 0.08 && times.changes[0].change < 0.12);
	assert_struct(times, points[25].build->commit, commit(25), n_notes, 0);

	q = asks(TREND_COUNT);
	q.of.crate = "syn";
	assert_int_equal(trend__ask(s, &q, &counts), 0);
	assert_struct(counts, n_changes, 1, changes[0].point, 30);
	assert_true(counts.changes[0].confidence == 1 && counts.exact);
}

/* A commit that is built again, after others, is of its old level. */
TEST_CASE(builds_of_a_commit_stand_together)
{
	_store_ struct store *s = history_builds_store("again.db");
	_trend_ struct trend t = {};
	struct trend_question q = asks(TREND_COUNT);
	static const unsigned int commits[] = {0, 1, 2, 3, 4, 5, 1, 6};

	for (unsigned int i = 0; i < N_OF(commits); i++)
		history_builds_add(
			s, i,
			&(struct history_change){.commit = commit(commits[i]),
						 .count = commits[i] >= 4 ? 1100 : 1000});
	assert_int_equal(trend__ask(s, &q, &t), 0);
	assert_struct(t.points[2], build->commit, commit(1), begins, false);
	assert_struct(t, n_changes, 1, points[t.changes[0].point].build->commit, commit(4),
		      points[t.changes[0].former].build->commit, commit(3));
}

TEST_CASE(what_is_not_comparable_is_left_out)
{
	_store_ struct store *s = history_builds_store("left.db");
	_trend_ struct trend t = {}, of_query = {};
	struct trend_question q = asks(TREND_COUNT);

	for (unsigned int i = 0; i < 20; i++) {
		struct history_change c = {.commit = commit(i), .count = 1000, .compiles = 60};

		if (i == 3)
			c.lost = 5, c.count = 900;
		if (i == 4)
			c.failed = 1, c.count = 700;
		if (i == 5)
			c.compiles = 20, c.count = 300;
		if (i == 6)
			c.reused = 60, c.count = 10;
		if (i == 7)
			c.state = "unfinished", c.count = 5;
		history_builds_add(s, i, &c);
	}
	assert_int_equal(trend__ask(s, &q, &t), 0);
	assert_struct(t, n, 19, not_whole, 1, reasons[TREND_COUNTED], 15, reasons[TREND_LOST], 1,
		      reasons[TREND_FAILED], 1, reasons[TREND_OTHER_WORK], 2);
	assert_true(has_note(&t, "records were lost: 1 build") && has_note(&t, ": 2 builds"));
	assert_true(has_note(&t, "not whole: 1 build"));
	assert_int_equal(t.n_changes, 0);
	q.of = (struct history_series){.crate = "syn", .query = "typeck"};
	assert_int_equal(trend__ask(s, &q, &of_query), 0);
	assert_int_equal(of_query.reasons[TREND_FAILED], 1);
}

/* Of several projects in one store, the newest build's is followed. */
TEST_CASE(workspaces_are_judged_apart)
{
	_store_ struct store *s = history_builds_store("workspaces.db");
	_trend_ struct trend newest = {}, chosen = {};
	struct trend_question q = asks(TREND_COUNT);

	for (unsigned int i = 0; i < 31; i++) {
		bool tool = i % 3 == 0;

		history_builds_add(s, i,
				   &(struct history_change){.commit = commit(i),
							    .workspace = tool ? "tool" : "app",
							    .count = tool && i > 20 ? 300 : 200});
	}
	assert_int_equal(trend__ask(s, &q, &newest), 0);
	assert_struct(newest, n, 11, n_changes, 1);
	assert_true(has_note(&newest, "only builds of workspace 'tool'"));
	q.filter.workspace = "app";
	assert_int_equal(trend__ask(s, &q, &chosen), 0);
	assert_struct(chosen, n, 20, n_changes, 0, n_notes, 0);
}

/* A new machine is no regression, and one that both machines show is one. */
TEST_CASE(hosts_are_judged_apart)
{
	_store_ struct store *s = history_builds_store("hosts.db");
	_trend_ struct trend t = {}, counts = {};
	struct trend_question q = asks(TREND_CPU);
	struct noise r = {.state = 11};

	for (unsigned int i = 0; i < 60; i++) {
		bool is_slow = i >= 20 && (i < 40 || i % 2);
		uint64_t cpu = cpu_of(&r, i >= 30);

		history_builds_add(s, i,
				   &(struct history_change){.commit = commit(i),
							    .host = is_slow ? "slow" : "fast",
							    .cpu_ns = is_slow ? 2 * cpu : cpu,
							    .count = 1000});
	}
	assert_int_equal(trend__ask(s, &q, &t), 0);
	assert_true(has_note(&t, "times of 2 hosts are judged apart"));
	assert_struct(t, n_changes, 1, changes[0].point, 30);
	q = asks(TREND_COUNT);
	assert_int_equal(trend__ask(s, &q, &counts), 0);
	assert_int_equal(counts.n_groups, 1);
}

/* Neighbouring commits: a small step that one host shows, and a large one that only the other does.
 */
TEST_CASE(other_changes_of_hosts_are_kept)
{
	_store_ struct store *s = history_builds_store("apart.db");
	_trend_ struct trend t = {};
	struct trend_question q = asks(TREND_CPU);
	struct noise r = {.state = 13};

	for (unsigned int i = 0; i < 60; i++) {
		bool is_slow = i % 2;
		uint64_t cpu = cpu_of(&r, i >= 30 && !is_slow);

		history_builds_add(
			s, i,
			&(struct history_change){.commit = commit(i),
						 .host = is_slow ? "slow" : "fast",
						 .cpu_ns = i > 30 && is_slow ? 2 * cpu : cpu});
	}
	assert_int_equal(trend__ask(s, &q, &t), 0);
	assert_int_equal(t.n_changes, 2);
}

/* In a cloud each build may have a host of its own. */
TEST_CASE(many_hosts_are_one)
{
	_store_ struct store *s = history_builds_store("cloud.db");
	_trend_ struct trend t = {};
	struct trend_question q = asks(TREND_CPU);
	struct noise r = {.state = 12};

	for (unsigned int i = 0; i < 40; i++) {
		char host[16];

		snprintf(host, sizeof(host), "ci-%u", i);
		history_builds_add(s, i,
				   &(struct history_change){.commit = commit(i),
							    .host = host,
							    .cpu_ns = cpu_of(&r, i >= 22)});
	}
	assert_int_equal(trend__ask(s, &q, &t), 0);
	assert_true(has_note(&t, "40 hosts are taken for one"));
	assert_struct(t, n_changes, 1, changes[0].point, 22);
}

TEST_CASE(toolchains_are_told_apart)
{
	_store_ struct store *s = history_builds_store("turns.db"),
			     *other = history_builds_store("upgrade.db");
	_trend_ struct trend turns = {}, upgrade = {};
	struct trend_question q = asks(TREND_COUNT);

	for (unsigned int i = 0; i < 40; i++) {
		history_builds_add(s, i,
				   &(struct history_change){.commit = commit(i / 2),
							    .toolchain = i % 2 ? "a" : "b",
							    .count = i % 2 ? 1000 : 1300});
		history_builds_add(other, i,
				   &(struct history_change){.commit = commit(i),
							    .toolchain = i < 20 ? "a" : "b",
							    .count = i < 20 ? 1000 : 1300});
	}
	assert_int_equal(trend__ask(s, &q, &turns), 0);
	assert_int_equal(turns.n_changes, 0);
	assert_true(has_note(&turns, "toolchains take turns"));
	assert_int_equal(trend__ask(other, &q, &upgrade), 0);
	assert_struct(upgrade, n_changes, 1, changes[0].toolchain, true);
}

/* Compilers of which the version was not seen, among others of one toolchain. */
TEST_CASE(one_toolchain_takes_no_turns)
{
	_store_ struct store *s = history_builds_store("unseen.db");
	_trend_ struct trend t = {};
	struct trend_question q = asks(TREND_RESULTS);

	for (unsigned int i = 0; i < 20; i++)
		history_builds_add(s, i,
				   &(struct history_change){.commit = commit(i),
							    .no_toolchain = i % 3 == 0,
							    .results = i < 10 ? 1000 : 1100});
	assert_int_equal(trend__ask(s, &q, &t), 0);
	assert_false(has_note(&t, "toolchains"));
	assert_struct(t, n_groups, 1, n_changes, 1);
}

/* Executions of a former version are known with --exact only; results are in any recording. */
TEST_CASE(kinds_of_recordings_have_no_step_in_results)
{
	_store_ struct store *s = history_builds_store("recordings.db");
	_trend_ struct trend results = {}, crate = {}, counts = {}, times = {};
	struct trend_question q = asks(TREND_RESULTS);
	struct noise r = {.state = 21};

	for (unsigned int i = 0; i < 40; i++) {
		bool sampled = i >= 20;

		history_builds_add(s, i,
				   &(struct history_change){
					   .commit = commit(i),
					   .how = sampled ? "sampled" : "exact",
					   .cpu_ns = cpu_of(&r, sampled),
					   .count = sampled ? HISTORY_UNKNOWN : 1000,
					   .results = i < 30 ? 2000 : 2100,
				   });
	}
	assert_int_equal(trend__ask(s, &q, &results), 0);
	assert_true(results.exact && results.n_groups == 1);
	assert_struct(results, n_changes, 1, changes[0].point, 30);
	q.of.crate = "syn";
	assert_int_equal(trend__ask(s, &q, &crate), 0);
	assert_struct(crate, n_changes, 1, points[39].value, 2100);
	q = asks(TREND_COUNT);
	assert_int_equal(trend__ask(s, &q, &counts), 0);
	assert_struct(counts, n_changes, 0, reasons[TREND_NO_VALUE], 20);
	assert_true(has_note(&counts, "executions of some compiler are not known: 20 builds"));
	/* Times are of two kinds. */
	q = asks(TREND_CPU);
	assert_int_equal(trend__ask(s, &q, &times), 0);
	assert_struct(times, n_groups, 2, n_changes, 0);
}

TEST_CASE(builds_are_chosen)
{
	_store_ struct store *s = history_builds_store("chosen.db");
	_trend_ struct trend last = {}, none = {}, query = {}, unknown = {};
	struct trend_question q = asks(TREND_COUNT);

	for (unsigned int i = 0; i < 10; i++)
		history_builds_add(s, i,
				   &(struct history_change){.commit = commit(i),
							    .branch = i % 2 ? "main" : "dev"});
	q.filter = (struct history_filter){.branch = "main", .toolchain = "1.95", .last = 3};
	assert_int_equal(trend__ask(s, &q, &last), 0);
	assert_struct(last, n, 3, points[2].build->commit, commit(9));
	q.filter.toolchain = "1.9_";
	assert_int_equal(trend__ask(s, &q, &none), 0);
	assert_int_equal(none.n, 0);
	q = asks(TREND_COUNT);
	q.of.query = "typeck";
	assert_int_equal(trend__ask(s, &q, &query), 0);
	assert_int_equal(query.points[0].value, 1000 + 1001);
	/* A part of this sum is not known. */
	q.of.query = "mir_borrowck";
	assert_int_equal(trend__ask(s, &q, &unknown), 0);
	assert_int_equal(unknown.points[0].value, HISTORY_UNKNOWN);
	assert_int_equal(unknown.reasons[TREND_NO_VALUE], 10);
	assert_false(has_note(&unknown, "toolchains"));
}

/* In the one crate that has it, or in all. */
TEST_CASE(llvms_work_has_a_trend)
{
	static const char *const names[] = {"InstCombine", "syn::parse::Parser::next", "none"};
	_store_ struct store *s = history_builds_store("llvm.db");

	for (unsigned int i = 0; i < 10; i++)
		history_builds_add(s, i, &(struct history_change){.commit = "c0ffee"});
	for (size_t i = 0; i < 2 * N_OF(names); i++) {
		struct trend_question q = asks(TREND_CPU);
		_trend_ struct trend t = {};

		q.of.llvm = names[i / 2];
		q.of.crate = i % 2 ? "syn" : NULL;
		assert_int_equal(trend__ask(s, &q, &t), 0);
		assert_int_equal(t.n, i / 2 < 2 ? 10 : 0);
		if (!t.n)
			continue;
		/* Not less what recording added to compilers. */
		assert_true(t.points[0].value >= (i / 2 ? 20000000u : 30000000u) * 0.99);
		assert_true(t.points[0].value <= (i / 2 ? 20000000u : 30000000u) * 1.01);
		assert_string_equal(t.points[0].how, "sampled");
	}
}

TEST_CASE(what_has_no_number_is_refused)
{
	_store_ struct store *s = history_builds_store("none.db");
	struct trend_question q = asks(TREND_MEMORY);
	struct trend t;

	q.of.query = "typeck";
	assert_int_equal(trend__ask(s, &q, &t), -EINVAL);
	q.metric = TREND_RESULTS;
	assert_int_equal(trend__ask(s, &q, &t), -EINVAL);
	q = asks(TREND_WALL);
	q.of.item = "a::b";
	assert_int_equal(trend__ask(s, &q, &t), -EINVAL);
	q = asks(TREND_COUNT);
	q.of.llvm = "InstCombine";
	assert_int_equal(trend__ask(s, &q, &t), -EINVAL);
	q = asks(TREND_CPU);
	q.of.llvm = "InstCombine";
	q.of.query = "typeck";
	assert_int_equal(trend__ask(s, &q, &t), -EINVAL);
}

TEST_GROUP(directory_make, directory_remove)

/* ---- Trend counted --------------------------------------------------------------------------- */

/* Executions of builds with and without --exact. */

#define BUILDS 24

static const char *trend_counted_commit(unsigned int number)
{
	static char text[41];

	snprintf(text, sizeof(text), "%08x%032x", number, number);
	return text;
}

/* Of a build of `work` executions of other queries, and 100 of type_of that only --exact counts. */
static struct history_change build(unsigned int number, bool exact, uint64_t work)
{
	return (struct history_change){.commit = trend_counted_commit(number),
				       .how = exact ? "exact" : "sampled",
				       .uncounted = exact ? NULL : "crate_name type_of",
				       .count = exact ? work + 100 + number : work,
				       .type_of = exact ? 100 + number : 0,
				       .of_item = exact ? 40 : 30};
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
		assert_struct(t, n_changes, 1, changes[0].point, 12, uncounted,
			      "crate_name type_of");
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
	assert_struct(t, points[7].value, 5107, uncounted, NULL, n_notes, 0);
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
	assert_struct(t, reasons[TREND_COUNTED], BUILDS - 2, reasons[TREND_LOST], 1,
		      reasons[TREND_NO_VALUE], 1);
	assert_true(t.points[5].value == HISTORY_UNKNOWN && t.points[6].value == HISTORY_UNKNOWN);
	assert_struct(t, points[7].value, 5000, uncounted, "crate_name type_of");
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
	assert_struct(t, reasons[TREND_NO_VALUE], 0, reasons[TREND_OTHER_QUERIES], 1);
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
	assert_struct(t, reasons[TREND_COUNTED], BUILDS, n_groups, 2, n_changes, 1);
	assert_int_equal(t.changes[0].point, 20);
	assert_true(has_note(&t, "are judged apart"));
}

TEST_MAIN(directory_make, directory_remove)
