/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * cmocka with the headers that it needs, and those that most tests need. A test is written once,
 * and runs where it stands in its file:
 *
 *	TEST_CASE(a_sum_has_all_parts)
 *	{
 *		assert_int_equal(sum_of(parts), 7);
 *	}
 *
 *	TEST_MAIN(NULL, NULL)
 */
#ifndef QPROF_TESTS_UNIT_TEST_H
#define QPROF_TESTS_UNIT_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h" /* N_OF */

#define TEST_CASES_MOST 256

/* The tests of a program, by their lines; an entry without a function begins a group. */
struct test_cases {
	struct CMUnitTest at[TEST_CASES_MOST];
	int lines[TEST_CASES_MOST];
	size_t n;
};

static inline struct test_cases *test_cases(void)
{
	static struct test_cases all;

	return &all;
}

/* Constructors run in any order. */
static inline void test_cases__add(int line, struct CMUnitTest test)
{
	struct test_cases *all = test_cases();
	size_t i = all->n++;

	if (i == TEST_CASES_MOST)
		abort();
	for (; i && all->lines[i - 1] > line; i--) {
		all->at[i] = all->at[i - 1];
		all->lines[i] = all->lines[i - 1];
	}
	all->at[i] = test;
	all->lines[i] = line;
}

static inline int test_cases__run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	const struct test_cases *all = test_cases();
	int failed = 0;

	for (size_t i = 0, end; i < all->n; i = end + 1) {
		for (end = i; end < all->n && all->at[end].test_func;)
			end++;
		failed += _cmocka_run_group_tests("tests", all->at + i, end - i, setup, teardown);
		if (end < all->n) {
			setup = all->at[end].setup_func;
			teardown = all->at[end].teardown_func;
		}
	}
	return failed;
}

/* A test with functions that run before and after it, or NULL. */
#define TEST_CASE_WITH(name, setup, teardown)                                             \
	static void name(void **state);                                                   \
	__attribute__((constructor)) static void name##__add(void)                        \
	{                                                                                 \
		test_cases__add(__LINE__,                                                 \
				(struct CMUnitTest){#name, name, setup, teardown, NULL}); \
	}                                                                                 \
	static void name(void **state)

#define TEST_CASE(name) TEST_CASE_WITH(name, NULL, NULL)

/* Before and after all of the tests between here and the next group, these functions run. */
#define TEST_GROUP(setup, teardown)	     TEST_GROUP_AT(__LINE__, setup, teardown)
#define TEST_GROUP_AT(line, setup, teardown) TEST_GROUP_AT_LINE(line, setup, teardown)
#define TEST_GROUP_AT_LINE(line, setup, teardown)                                              \
	__attribute__((constructor)) static void test_group_##line##__add(void)                \
	{                                                                                      \
		test_cases__add(line, (struct CMUnitTest){NULL, NULL, setup, teardown, NULL}); \
	}

/* The last line of a file: runs its tests, and before and after the first group's these functions.
 */
#define TEST_MAIN(setup, teardown)                       \
	int main(void)                                   \
	{                                                \
		return test_cases__run(setup, teardown); \
	}

#endif /* QPROF_TESTS_UNIT_TEST_H */
