// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST 4

struct compiler {
	const char *crate;
	const char *type;
	const char *command;
};

static void match(struct compare_units *u, const struct compiler *from, uint32_t n,
		  uint32_t unit_of[MOST])
{
	struct trace_process processes[MOST] = {};
	const struct trace_process *pointers[MOST];

	for (uint32_t i = 0; i < n; i++) {
		processes[i].crate = (char *)from[i].crate;
		processes[i].crate_type = (char *)from[i].type;
		processes[i].command = (char *)from[i].command;
		pointers[i] = &processes[i];
	}
	assert_int_equal(compare_units__match(u, pointers, n, unit_of), 0);
}

static void name_and_type_make_a_unit(void **state)
{
	const struct compiler base[] = {{"a", "lib", "rustc src/lib.rs"},
					{"a", NULL, "rustc --test src/lib.rs"},
					{"a", NULL, "rustc src/main.rs"},
					{NULL, NULL, NULL}};
	const struct compiler new[] = {
		{"a", NULL, "rustc src/other.rs"}, {"a", "lib", "x"}, {"b", "lib", "x"}};
	struct compare_units u = {};
	uint32_t of[MOST];

	(void)state;
	match(&u, base, 4, of);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(of[i], i);
	match(&u, new, 3, of);
	assert_int_equal(of[0], 2);
	assert_int_equal(of[1], 0);
	assert_int_equal(of[2], 4);
	assert_int_equal(compare_units__name(&u), 0);
	assert_string_equal(u.all[0]->name, "a:lib");
	assert_string_equal(u.all[1]->name, "a:test");
	assert_string_equal(u.all[2]->name, "a:bin");
	assert_string_equal(u.all[3]->name, "unknown");
	assert_string_equal(u.all[4]->name, "b");
	compare_units__clear(&u);
}

/* Build scripts are all named alike, and a parallel build starts them in any order. */
static void those_of_one_name_are_told_apart(void **state)
{
	const struct compiler base[] = {
		{"build_script_build", "bin", "rustc serde-1.0.1/build.rs -Cx"},
		{"build_script_build", "bin", "rustc libc-0.2/build.rs"},
		{"build_script_build", "bin", "rustc syn-1.0/build.rs"},
		{"build_script_build", "bin", "rustc syn-2.0/build.rs"}};
	const struct compiler new[] = {{"build_script_build", "bin", "rustc syn-2.1/build.rs"},
				       {"build_script_build", "bin", "rustc syn-1.0/build.rs -Cy"},
				       {"build_script_build", "bin", "rustc libc-0.2/build.rs"},
				       {"build_script_build", "bin", "rustc rand-9/build.rs"}};
	struct compare_units u = {};
	uint32_t of[MOST];

	(void)state;
	match(&u, base, 4, of);
	match(&u, new, 4, of);
	assert_int_equal(of[2], 1); /* the command */
	assert_int_equal(of[1], 2); /* the source */
	assert_int_equal(of[0], 3); /* the source but for its version */
	assert_int_equal(of[3], 0); /* what is left */
	assert_int_equal(u.n, 4);
	assert_int_equal(compare_units__name(&u), 0);
	assert_string_equal(u.all[0]->name, "build_script_build:bin");
	assert_string_equal(u.all[3]->name, "build_script_build:bin#4");
	compare_units__clear(&u);
}

/* One crate for the host and for the target. */
static void the_command_is_the_surest_sign(void **state)
{
	const struct compiler base[] = {{"a", "lib", "rustc a.rs -Cmetadata=1"},
					{"a", "lib", "rustc a.rs -Cmetadata=2"}};
	const struct compiler swapped[] = {base[1], base[0]};
	struct compare_units u = {};
	uint32_t of[MOST];

	(void)state;
	match(&u, base, 2, of);
	match(&u, swapped, 2, of);
	assert_int_equal(of[0], 1);
	assert_int_equal(of[1], 0);
	compare_units__clear(&u);
}

static void equal_ones_are_paired_in_turn(void **state)
{
	const struct compiler twice[] = {{"a", "lib", "rustc a.rs"}, {"a", "lib", "rustc a.rs"}};
	struct compare_units u = {};
	uint32_t of[MOST];

	(void)state;
	match(&u, twice, 2, of);
	match(&u, twice, 2, of);
	assert_int_equal(of[0], 0);
	assert_int_equal(of[1], 1);
	assert_int_equal(u.n, 2);
	match(&u, twice, 0, of);
	compare_units__clear(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_and_type_make_a_unit),
		cmocka_unit_test(those_of_one_name_are_told_apart),
		cmocka_unit_test(the_command_is_the_surest_sign),
		cmocka_unit_test(equal_ones_are_paired_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
