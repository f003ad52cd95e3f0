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

/* A test whose state, which `setup` makes, is its `argument`. */
#define TEST_CASE_OF(name, setup, teardown, argument) \
	static void name##_of(argument);              \
	TEST_CASE_WITH(name, setup, teardown)         \
	{                                             \
		name##_of(*state);                    \
	}                                             \
	static void name##_of(argument)

/* A test with a value that it is given: `declared` is its type, with what frees it. */
#define TEST_CASE_GIVEN(name, setup, teardown, declared, variable, value) \
	static void name##_of(__typeof__(value) variable);                \
	TEST_CASE_WITH(name, setup, teardown)                             \
	{                                                                 \
		declared variable = value;                                \
                                                                          \
		name##_of(variable);                                      \
	}                                                                 \
	static void name##_of(__typeof__(value) variable)

/*
 * Members of a struct and what they must be, in turn: assert_struct(row, name, "a", count, 3). One
 * that is a text is compared as a text, all others as numbers. A failure names the member.
 */
#define assert_struct(of, ...)                                                                    \
	FIELDS_TAKE(__VA_ARGS__, FIELDS_16, , FIELDS_15, , FIELDS_14, , FIELDS_13, , FIELDS_12, , \
		    FIELDS_11, , FIELDS_10, , FIELDS_9, , FIELDS_8, , FIELDS_7, , FIELDS_6, ,     \
		    FIELDS_5, , FIELDS_4, , FIELDS_3, , FIELDS_2, , FIELDS_1, )                   \
	(of, __VA_ARGS__)
#define FIELDS_TAKE(a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9, a10, \
		    b10, a11, b11, a12, b12, a13, b13, a14, b14, a15, b15, a16, b16, take, ...)  \
	take

#define FIELDS_1(of, member, value) \
	field_check(_Generic((of).member, char *: true, const char *: true, default: false), \
		    (uintmax_t)(of).member, (uintmax_t)(value), #of "." #member, __FILE__,   \
		    __LINE__)
#define FIELDS_2(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_1(of, __VA_ARGS__))
#define FIELDS_3(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_2(of, __VA_ARGS__))
#define FIELDS_4(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_3(of, __VA_ARGS__))
#define FIELDS_5(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_4(of, __VA_ARGS__))
#define FIELDS_6(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_5(of, __VA_ARGS__))
#define FIELDS_7(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_6(of, __VA_ARGS__))
#define FIELDS_8(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_7(of, __VA_ARGS__))
#define FIELDS_9(of, a, b, ...)	 (FIELDS_1(of, a, b), FIELDS_8(of, __VA_ARGS__))
#define FIELDS_10(of, a, b, ...) (FIELDS_1(of, a, b), FIELDS_9(of, __VA_ARGS__))
#define FIELDS_11(of, a, b, ...) (FIELDS_1(of, a, b), FIELDS_10(of, __VA_ARGS__))
#define FIELDS_12(of, a, b, ...) (FIELDS_1(of, a, b), FIELDS_11(of, __VA_ARGS__))
#define FIELDS_13(of, a, b, ...) (FIELDS_1(of, a, b), FIELDS_12(of, __VA_ARGS__))
#define FIELDS_14(of, a, b, ...) (FIELDS_1(of, a, b), FIELDS_13(of, __VA_ARGS__))
#define FIELDS_15(of, a, b, ...) (FIELDS_1(of, a, b), FIELDS_14(of, __VA_ARGS__))
#define FIELDS_16(of, a, b, ...) (FIELDS_1(of, a, b), FIELDS_15(of, __VA_ARGS__))

static inline void field_check(bool text, uintmax_t is, uintmax_t wanted, const char *name,
			       const char *file, int line)
{
	const char *a = (const char *)is, *b = (const char *)wanted;

	if (text ? a == b || (a && b && !strcmp(a, b)) : is == wanted)
		return;
	if (text)
		print_error("%s: \"%s\" != \"%s\"\n", name, a ?: "(null)", b ?: "(null)");
	else
		print_error("%s: %#jx != %#jx\n", name, is, wanted);
	_fail(file, line);
}

/* Each of these calls must return 0, in turn. A failure names the call. */
#define must(...)                                                                                 \
	MUST_TAKE(__VA_ARGS__, MUST_24, MUST_23, MUST_22, MUST_21, MUST_20, MUST_19, MUST_18,     \
		  MUST_17, MUST_16, MUST_15, MUST_14, MUST_13, MUST_12, MUST_11, MUST_10, MUST_9, \
		  MUST_8, MUST_7, MUST_6, MUST_5, MUST_4, MUST_3, MUST_2, MUST_1, )               \
	(__VA_ARGS__)
#define MUST_TAKE(c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, \
		  c19, c20, c21, c22, c23, c24, take, ...)                                         \
	take

#define MUST_1(call)	   must_check(call, #call, __FILE__, __LINE__)
#define MUST_2(call, ...)  (MUST_1(call), MUST_1(__VA_ARGS__))
#define MUST_3(call, ...)  (MUST_1(call), MUST_2(__VA_ARGS__))
#define MUST_4(call, ...)  (MUST_1(call), MUST_3(__VA_ARGS__))
#define MUST_5(call, ...)  (MUST_1(call), MUST_4(__VA_ARGS__))
#define MUST_6(call, ...)  (MUST_1(call), MUST_5(__VA_ARGS__))
#define MUST_7(call, ...)  (MUST_1(call), MUST_6(__VA_ARGS__))
#define MUST_8(call, ...)  (MUST_1(call), MUST_7(__VA_ARGS__))
#define MUST_9(call, ...)  (MUST_1(call), MUST_8(__VA_ARGS__))
#define MUST_10(call, ...) (MUST_1(call), MUST_9(__VA_ARGS__))
#define MUST_11(call, ...) (MUST_1(call), MUST_10(__VA_ARGS__))
#define MUST_12(call, ...) (MUST_1(call), MUST_11(__VA_ARGS__))
#define MUST_13(call, ...) (MUST_1(call), MUST_12(__VA_ARGS__))
#define MUST_14(call, ...) (MUST_1(call), MUST_13(__VA_ARGS__))
#define MUST_15(call, ...) (MUST_1(call), MUST_14(__VA_ARGS__))
#define MUST_16(call, ...) (MUST_1(call), MUST_15(__VA_ARGS__))
#define MUST_17(call, ...) (MUST_1(call), MUST_16(__VA_ARGS__))
#define MUST_18(call, ...) (MUST_1(call), MUST_17(__VA_ARGS__))
#define MUST_19(call, ...) (MUST_1(call), MUST_18(__VA_ARGS__))
#define MUST_20(call, ...) (MUST_1(call), MUST_19(__VA_ARGS__))
#define MUST_21(call, ...) (MUST_1(call), MUST_20(__VA_ARGS__))
#define MUST_22(call, ...) (MUST_1(call), MUST_21(__VA_ARGS__))
#define MUST_23(call, ...) (MUST_1(call), MUST_22(__VA_ARGS__))
#define MUST_24(call, ...) (MUST_1(call), MUST_23(__VA_ARGS__))

static inline void must_check(intmax_t err, const char *call, const char *file, int line)
{
	if (!err)
		return;
	print_error("%jd: %s\n", err, call);
	_fail(file, line);
}

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
