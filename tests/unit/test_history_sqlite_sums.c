// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "history/sqlite_sums.h"

#include "../fixtures/directory.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_history.h"
#include "history/dialect.h"
#include "history/sqlite.h"
#include "test.h"

/* So that there are sums of both tables. */
#define BUILDS (2 * SQLITE_SUMS_TURNED + 30)

static struct store *opened(void)
{
	struct store *s = NULL;

	assert_int_equal(sqlite__open(directory_path("a.db"), STORE_WRITE, &s), 0);
	return s;
}

/* A build whose counts are those of no other. */
static void add(struct store *s, unsigned int number, const char *state)
{
	_history_rows_ struct history_rows r;
	struct history_query *queries;

	history_rows__init(&r);
	sample_history(&r, number);
	r.build.state = history_rows__text(&r, state);
	queries = r.rows[HISTORY_QUERY];
	for (size_t i = 0; i < r.n[HISTORY_QUERY]; i++)
		if (queries[i].count != HISTORY_UNKNOWN)
			queries[i].count += 10 * number + !strcmp(state, "whole");
	/* Every third has a query that the others have not. */
	if (!(number % 3))
		queries[0].query = history_rows__text(&r, "only_here");
	assert_int_equal(store__add(s, &r), 0);
}

static int print_row(void *ctx, const struct store_value *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cells[i].type == STORE_INTEGER)
			fprintf(ctx, "%lld ", (long long)cells[i].integer);
		else
			fprintf(ctx, "%s ", cells[i].type == STORE_TEXT ? cells[i].text : "null");
	fputc('\n', ctx);
	return 0;
}

static char *answer(struct store *s, const char *columns, const char *table, const char *query)
{
	_free_ char *sql = NULL;

	assert_true(asprintf(&sql,
			     "SELECT build, start_ns, %s FROM %s WHERE query = '%s' "
			     "GROUP BY build ORDER BY build",
			     columns, table, query) > 0);
	return printed_text(store__select(s, sql, NULL, 0, print_row, out));
}

/* Times are rounded once as sums, and once as those of a crate. */
#define COLUMNS "query, min(kind), sum(count), sum(self_ns) / 100000, sum(total_ns) / 300000"

static void assert_sums(struct store *s, size_t builds)
{
	static const char *const queries[] = {"typeck", "LLVM_passes", "only_here"};
	const char *sums = dialect__query_sums(STORE_SQLITE);

	for (size_t i = 0; i < N_OF(queries); i++) {
		_free_ char *expected = answer(s, COLUMNS, "query", queries[i]);
		_free_ char *read = answer(s, COLUMNS, sums, queries[i]);
		size_t lines = 0;

		assert_string_equal(read, expected);
		for (const char *p = read; *p; p++)
			lines += *p == '\n';
		if (i < 2)
			assert_int_equal(lines, builds);
	}
}

static int take_number(void *ctx, const struct store_value *cells, size_t n)
{
	*(int64_t *)ctx = cells[0].integer;
	return 0;
}

static int64_t number(struct store *s, const char *sql)
{
	int64_t n = -1;

	assert_int_equal(store__select(s, sql, NULL, 0, take_number, &n), 0);
	return n;
}

static void sums_are_those_of_all_crates(void **state)
{
	_store_ struct store *s = opened();
	_free_ char *how = NULL;

	for (unsigned int i = 0; i < BUILDS; i++)
		add(s, i, "whole");
	assert_int_equal(number(s, "SELECT count(*) FROM sums_recent"), 30);
	assert_int_equal(number(s, "SELECT count(DISTINCT id >> 32) FROM sums_turned"), 2);
	assert_sums(s, BUILDS);
	how = answer(s, "how", dialect__query_sums(STORE_SQLITE), "typeck");
	assert_contains(how, " exact \n");
	assert_int_equal(number(s, "SELECT count(*) FROM query_series WHERE query = 'nothing'"), 0);
}

static void a_build_that_is_replaced_has_its_new_sums(void **state)
{
	_store_ struct store *s = opened();

	for (unsigned int i = 0; i < BUILDS; i++)
		add(s, i, i % 100 && i != SQLITE_SUMS_TURNED - 1 ? "whole" : "unfinished");
	add(s, 0, "whole");
	add(s, SQLITE_SUMS_TURNED - 1, "whole");
	add(s, 200, "whole");
	assert_sums(s, BUILDS);
}

static void sums_go_with_their_builds(void **state)
{
	_store_ struct store *s = opened();
	int64_t rows;
	uint64_t n;

	for (unsigned int i = 0; i < BUILDS; i++)
		add(s, i, "whole");
	rows = number(s, "SELECT sum(length(rows)) FROM sums_turned");
	assert_int_equal(store__prune(s, SAMPLE_HISTORY_START + 100 * UINT64_C(60000000000), &n),
			 0);
	assert_int_equal(n, 100);
	assert_sums(s, BUILDS - 100);
	assert_true(number(s, "SELECT sum(length(rows)) FROM sums_turned") < rows * 2 / 3);
	assert_int_equal(
		store__prune(s, SAMPLE_HISTORY_START + (BUILDS - 1) * UINT64_C(60000000000), &n),
		0);
	assert_sums(s, 1);
	assert_int_equal(number(s, "SELECT count(*) FROM sums_turned"), 0);
}

/* Else a trend would take the sums of another build. */
static void the_number_of_a_build_is_not_given_again(void **state)
{
	_store_ struct store *s = opened();
	uint64_t n;

	/* The first one is the newest. */
	for (unsigned int i = SQLITE_SUMS_TURNED; i > 0; i--)
		add(s, i, "whole");
	assert_int_equal(
		store__prune(s, SAMPLE_HISTORY_START + SQLITE_SUMS_TURNED * UINT64_C(60000000000),
			     &n),
		0);
	assert_int_equal(number(s, "SELECT max(n) FROM builds"), 1);
	add(s, 1000, "whole");
	assert_int_equal(number(s, "SELECT max(n) FROM builds"), SQLITE_SUMS_TURNED + 1);
	assert_sums(s, 2);
}

/* As a file of another may have it: reading comes to an end. */
static void the_largest_number_of_a_build_is_the_last(void **state)
{
	_store_ struct store *s = opened();

	for (unsigned int i = 0; i < SQLITE_SUMS_TURNED; i++)
		add(s, i, "whole");
	assert_int_equal(store__select(s,
				       "INSERT INTO sums_turned SELECT (2147483647 << 32) | "
				       "(id & 4294967295), rows FROM sums_turned",
				       NULL, 0, print_row, stderr),
			 0);
	assert_int_equal(number(s, "SELECT count(*) FROM query_series WHERE query = 'typeck'"),
			 2 * SQLITE_SUMS_TURNED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, directory_make, directory_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_are_those_of_all_crates),
		TEST(a_build_that_is_replaced_has_its_new_sums),
		TEST(sums_go_with_their_builds),
		TEST(the_number_of_a_build_is_not_given_again),
		TEST(the_largest_number_of_a_build_is_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
