// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/live_now.h"

#include "test.h"
#include "../fixtures/output.h"

/* Processes with pids 10, 11 and so on; those with an odd one have ended. */
static struct summary *compilers(const char *const *crates)
{
	struct summary *s;

	assert_int_equal(summary__new(&s), 0);
	for (uint32_t i = 0; crates[i]; i++) {
		const struct trace_process p = {
			.index = i,
			.pid = 10 + i,
			.end_ns = i % 2,
			.crate = (char *)crates[i],
			.crate_type = (char *)"lib",
		};

		assert_int_equal(summary__process(s, &p), 0);
	}
	return s;
}

static void lines_come_in_the_order_of_the_compilers(void **state)
{
	static const char *const crates[] = {"serde", "gone",
					     "a_crate_with_a_name_that_is_too_long", "gone", NULL};
	static const struct top_nows nows = {
		.n = 4,
		.at = {{12, "codegen_module",
			"x-cgu.0\x1e"
			"12"},
		       {99, "typeck", "another::machine"},
		       {11, "typeck", "gone::x"},
		       {10, "typeck", "serde::de::value::\033[2J"}},
	};
	struct live_now found[TOP_NOW_MAX];
	_summary_ struct summary *s = compilers(crates);
	size_t n = live_now__find(&nows, s, found);
	_free_ char *wide = NULL, *narrow = NULL;
	size_t len;
	FILE *out;

	assert_int_equal(n, 2);
	assert_int_equal(live_now__find(NULL, s, found), 0);
	n = live_now__find(&nows, s, found);
	out = open_memstream(&wide, &len);
	assert_int_equal(live_now__print(found, n, 80, "  ", out), 0);
	fclose(out);
	assert_string_equal(wide, "  serde                     typeck(serde::de::value::?[2J)\n"
				  "  a_crate_with_a_name_th..  codegen_module(x-cgu.0, 12)\n");
	out = open_memstream(&narrow, &len);
	assert_int_equal(live_now__print(found, n, 30, "", out), 0);
	fclose(out);
	assert_string_equal(narrow, "serde                     type\n"
				    "a_crate_with_a_name_th..  code\n");
}

static void more_compilers_than_are_told_of_have_no_line(void **state)
{
	const char *crates[2 * TOP_NOW_MAX + 3] = {NULL};
	struct top_nows nows = {.n = TOP_NOW_MAX};
	struct live_now found[TOP_NOW_MAX];
	_summary_ struct summary *s = NULL;

	for (uint32_t i = 0; i < 2 * TOP_NOW_MAX + 2; i++)
		crates[i] = "x";
	for (uint32_t i = 0; i < TOP_NOW_MAX; i++)
		nows.at[i] = (struct top_now){.pid = 10 + 2 * i, .name = "typeck"};
	s = compilers(crates);
	assert_int_equal(live_now__find(&nows, s, found), TOP_NOW_MAX);
	assert_int_equal(found[TOP_NOW_MAX - 1].process->pid, 10 + 2 * (TOP_NOW_MAX - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_in_the_order_of_the_compilers),
		cmocka_unit_test(more_compilers_than_are_told_of_have_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
