// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "analyze/compare_units.h"

#include "test.h"

#define MOST		80
#define _compare_units_ __cleanup(compare_units__clear)

struct compiler {
	const char *crate;
	const char *type;
	const char *command;
	const char *cwd;
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
		processes[i].cwd = (char *)from[i].cwd;
		pointers[i] = &processes[i];
	}
	assert_int_equal(compare_units__match(u, pointers, n, unit_of), 0);
}

TEST_CASE(name_and_type_make_a_unit)
{
	const struct compiler base[] = {{"a", "lib", "rustc src/lib.rs", NULL},
					{"a", NULL, "rustc --test src/lib.rs", NULL},
					{"a", NULL, "rustc src/main.rs", NULL},
					{NULL, NULL, NULL, NULL}};
	const struct compiler new[] = {{"a", NULL, "rustc src/other.rs", NULL},
				       {"a", "lib", "x", NULL},
				       {"b", "lib", "x", NULL}};
	_compare_units_ struct compare_units u = {};
	uint32_t of[MOST];

	match(&u, base, 4, of);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(of[i], i);
	match(&u, new, 3, of);
	assert_int_equal(of[0], 2);
	assert_int_equal(of[1], 0);
	assert_int_equal(of[2], 4);
	assert_int_equal(compare_units__name(&u), 0);
	assert_struct(u, all[0]->name, "a", all[1]->name, "a (test)", all[2]->name, "a#2",
		      all[3]->name, "unknown", all[4]->name, "b");
}

#define SCRIPT "build_script_build", "bin"

/* Unit i of `new` must have the number expected[i]; those of `base` are numbered first. */
static void assert_pairs(const struct compiler *base, uint32_t n_base, const struct compiler *new,
			 uint32_t n_new, const uint32_t *expected)
{
	_compare_units_ struct compare_units u = {};
	uint32_t of[MOST];

	match(&u, base, n_base, of);
	match(&u, new, n_new, of);
	for (uint32_t i = 0; i < n_new; i++)
		assert_int_equal(of[i], expected[i]);
}

#define ASSERT_PAIRS(base, new, ...) \
	assert_pairs(base, N_OF(base), new, N_OF(new), (const uint32_t[N_OF(new)]){__VA_ARGS__})

/* A parallel build starts scripts in any order. Two scripts that are left over are not a pair. */
TEST_CASE(build_scripts_are_paired_by_package)
{
	const struct compiler base[] = {
		{SCRIPT, "rustc build.rs --out-dir /a/build/serde-0123456789abcdef", NULL},
		{SCRIPT, "rustc build.rs --out-dir /a/build/libc-0123456789abcdef", NULL},
		{SCRIPT, "rustc build.rs --out-dir /a/build/rand-0123456789abcdef", NULL},
		{SCRIPT, "rustc ../x/build.rs", NULL}};
	const struct compiler new[] = {
		{SCRIPT, "rustc build.rs --out-dir /b/build/libc-fedcba9876543210", NULL},
		{SCRIPT, "rustc /r/serde-1.0.2/build.rs --out-dir /b/x", NULL},
		{SCRIPT, "rustc build.rs --out-dir /b/build/syn-fedcba9876543210", NULL},
		{SCRIPT, "rustc ../y/build.rs", NULL}};

	ASSERT_PAIRS(base, new, 1, 0, 4, 5);
}

TEST_CASE(build_scripts_are_named_after_their_packages)
{
	const struct compiler base[] = {{SCRIPT, "rustc /r/syn-1.0.9/build.rs", NULL},
					{SCRIPT, "rustc /r/libc-0.2.1/build.rs", NULL},
					{SCRIPT, "rustc /r/syn-2.0.1/build.rs", NULL},
					{SCRIPT, "rustc x/build.rs", NULL}};
	_compare_units_ struct compare_units u = {};
	uint32_t of[MOST];

	match(&u, base, 4, of);
	assert_int_equal(compare_units__name(&u), 0);
	assert_struct(u, all[0]->name, "syn (build script)", all[1]->name, "libc (build script)",
		      all[2]->name, "syn (build script)#2", all[3]->name,
		      "build_script_build (bin)");
}

/* A build may contain several versions of a crate; cargo replaces one by a compatible one. */
TEST_CASE(versions_are_paired_with_compatible_ones)
{
	const struct compiler base[] = {{"a", "lib", "rustc /r/a-1.0.1/lib.rs", "/r/a-1.0.1"},
					{"a", "lib", "rustc /r/a-0.9.1/lib.rs", "/r/a-0.9.1"},
					{"b", "lib", "rustc /r/b-1.0.1/lib.rs", "/r/b-1.0.1"}};
	const struct compiler new[] = {{"a", "lib", "rustc /r/a-0.9.7/lib.rs", "/r/a-0.9.7"},
				       {"a", "lib", "rustc /r/a-1.2.0/lib.rs", "/r/a-1.2.0"},
				       {"b", "lib", "rustc /r/b-2.0.1/lib.rs", "/r/b-2.0.1"}};

	ASSERT_PAIRS(base, new, 1, 0, 2);
}

/* The same workspace, checked out in two places. */
TEST_CASE(another_root_is_no_other_source)
{
	const struct compiler base[] = {
		{"a", "lib", "rustc /x/vendor/a/lib.rs", "/x/vendor/a"},
		{"a", "lib", "rustc /x/vendor/a-1.0.1/lib.rs", "/x/vendor/a-1.0.1"},
		{"app", "bin", "rustc app/main.rs", "/x"},
		{"app", "bin", "rustc tool/main.rs", "/x"}};
	const struct compiler new[] = {
		{"app", "bin", "rustc tool/main.rs", "/y"},
		{"a", "lib", "rustc /y/vendor/a-1.0.1/lib.rs", "/y/vendor/a-1.0.1"},
		{"a", "lib", "rustc /y/vendor/a/lib.rs", "/y/vendor/a"},
		{"app", "bin", "rustc app/main.rs", "/y"}};

	ASSERT_PAIRS(base, new, 3, 1, 0, 2);
}

/* A guess could compare the crate of the host with that of the target. */
TEST_CASE(an_ambiguous_unit_is_not_paired)
{
	const struct compiler base[] = {{"a", "lib", "rustc a.rs -Ca", NULL},
					{"a", "lib", "rustc a.rs -Cb", NULL},
					{"b", "lib", "rustc b.rs -Ca", NULL},
					{"b", "lib", "rustc b.rs -Ca --target t", NULL}};
	const struct compiler new[] = {{"a", "lib", "rustc a.rs -Cc", NULL},
				       {"a", "lib", "rustc a.rs -Cd", NULL},
				       {"b", "lib", "rustc b.rs -Cc --target t", NULL},
				       {"b", "lib", "rustc b.rs -Cc", NULL}};

	ASSERT_PAIRS(base, new, 4, 5, 3, 2);
}

/* Another compiler makes other hashes. A crate that is built twice may differ in dependencies. */
TEST_CASE(dependencies_distinguish_units)
{
	const struct compiler base[] = {
		{"a", "lib", "rustc a.rs --cfg x -C extra-filename=-a1", NULL},
		{"a", "lib", "rustc a.rs --cfg y -C extra-filename=-a2", NULL},
		{"b", "lib", "rustc b.rs -C extra-filename=-b1 --extern a=/t/liba-a1.rmeta", NULL},
		{"b", "lib", "rustc b.rs -C extra-filename=-b2 --extern a=/t/liba-a2.rmeta", NULL},
		{"c", "lib", "rustc c.rs --extern b=/t/libb-b1.rlib --extern proc_macro", NULL},
		{"c", "lib", "rustc c.rs --extern b=/t/libb-b2.rlib --extern proc_macro", NULL}};
	const struct compiler new[] = {
		{"c", "lib", "rustc c.rs --extern b=/n/libb-q1.rlib --extern proc_macro", NULL},
		{"c", "lib", "rustc c.rs --extern b=/n/libb-q2.rlib --extern proc_macro", NULL},
		{"b", "lib", "rustc b.rs -C extra-filename=-q1 --extern a=/n/liba-p1.rmeta", NULL},
		{"b", "lib", "rustc b.rs -C extra-filename=-q2 --extern a=/n/liba-p2.rmeta", NULL},
		{"a", "lib", "rustc a.rs --cfg y -C extra-filename=-p1", NULL},
		{"a", "lib", "rustc a.rs --cfg x -C extra-filename=-p2", NULL}};

	ASSERT_PAIRS(base, new, 5, 4, 3, 2, 1, 0);
}

/* Cargo may compile a crate twice, with different features. */
TEST_CASE(features_distinguish_units)
{
	const struct compiler base[] = {
		{"a", "lib", "rustc a.rs --cfg x --cfg y -Cmetadata=1 --out-dir /t", NULL},
		{"a", "lib", "rustc a.rs --cfg x -Cmetadata=2 --out-dir /t", NULL},
		{"b", "lib", "rustc b.rs --emit metadata -C metadata=3", NULL},
		{"b", "lib", "rustc b.rs --emit metadata -C metadata=4", NULL}};
	const struct compiler new[] = {
		{"a", "lib", "rustc a.rs --cfg x -Cmetadata=5", NULL},
		{"a", "lib", "rustc a.rs --cfg x --cfg y -Cmetadata=6", NULL},
		{"b", "lib", "rustc b.rs --emit metadata -Cx -C metadata=4", NULL},
		{"b", "lib", "rustc b.rs --emit metadata -Cx -C metadata=3", NULL}};

	ASSERT_PAIRS(base, new, 1, 0, 3, 2);
}

/* The crate is compiled for the host and for the target. */
TEST_CASE(the_command_is_the_surest_sign)
{
	const struct compiler base[] = {{"a", "lib", "rustc a.rs -Cmetadata=1", NULL},
					{"a", "lib", "rustc a.rs -Cmetadata=2", NULL}};
	const struct compiler swapped[] = {base[1], base[0]};

	ASSERT_PAIRS(base, swapped, 1, 0);
}

TEST_CASE(equal_ones_are_paired_in_turn)
{
	const struct compiler twice[] = {{"a", "lib", "rustc a.rs", NULL},
					 {"a", "lib", "rustc a.rs", NULL}};
	_compare_units_ struct compare_units u = {};
	uint32_t of[MOST];

	match(&u, twice, 2, of);
	match(&u, twice, 2, of);
	assert_int_equal(of[0], 0);
	assert_int_equal(of[1], 1);
	assert_int_equal(u.n, 2);
	match(&u, twice, 0, of);
}

/* Match `n` crates d, and `n` crates x that depend on one d each. `build` varies the hashes. */
static void match_dependents(struct compare_units *u, uint32_t build, uint32_t n,
			     uint32_t unit_of[MOST])
{
	struct compiler all[MOST];
	char commands[MOST][96], names[MOST][16];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "d%u", i);
		snprintf(commands[i], sizeof(commands[i]), "rustc d.rs -C extra-filename=-%u%03u",
			 build, i);
		snprintf(commands[n + i], sizeof(commands[n + i]),
			 "rustc x.rs --extern d=/libd-%u%03u.rlib -C metadata=%u%03u", build, i,
			 build, i);
		all[i] = (struct compiler){names[i], "lib", commands[i], NULL};
		all[n + i] = (struct compiler){"x", "lib", commands[n + i], NULL};
	}
	match(u, all, 2 * n, unit_of);
}

/* A thousand doctests would take a quarter of a minute, and two thousand would take two minutes. */
TEST_CASE(many_units_are_not_matched_by_dependencies)
{
	for (uint32_t n = 32; n <= 33; n++) {
		_compare_units_ struct compare_units u = {};
		uint32_t of[MOST];

		match_dependents(&u, 1, n, of);
		match_dependents(&u, 2, n, of);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(of[i], i);
			assert_int_equal(of[n + i], n == 32 ? n + i : 2 * n + i);
		}
	}
}

/* The distinguishing argument may have been cut off. */
TEST_CASE(cut_commands_are_no_sign)
{
	const struct compiler twice[] = {{"a", "lib", "rustc a.rs --cfg x ...", NULL},
					 {"a", "lib", "rustc a.rs --cfg x ...", NULL},
					 {"b", "lib", "rustc b.rs --cfg x ...", NULL},
					 {"c", "lib", NULL, NULL},
					 {"c", "lib", NULL, NULL}};

	ASSERT_PAIRS(twice, twice, 5, 6, 2, 7, 8);
}

/* A trace may contain any command. Here the value of an option looks like an option. */
TEST_CASE(an_option_may_be_a_value)
{
	const struct compiler odd[] = {
		{"a", "lib", "--cfg --target=0123456789012345678901234567890123456789", NULL},
		{"b", "lib", "--target --cfg --cfg --cfg", NULL},
		{"c", "lib", "--cfg", NULL}};
	_compare_units_ struct compare_units u = {};
	uint32_t of[MOST];

	match(&u, odd, 3, of);
	assert_struct(u, all[0]->variant,
		      "0123456789012345678901234567890123456789 "
		      "--target=0123456789012345678901234567890123456789",
		      all[1]->variant, "--cfg --cfg ", all[2]->variant, " ");
}

TEST_MAIN(NULL, NULL)
