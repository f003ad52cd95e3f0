// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "unwind/plt.h"

#include "test.h"
#include "../fixtures/cfa_runs.h"

#define START 0x4000u

#define FIRST	  "\xff\x35\1\2\3\4\xff\x25\1\2\3\4\x0f\x1f\x40\0"
#define FIRST_BND "\xff\x35\1\2\3\4\xf2\xff\x25\1\2\3\4\x0f\x1f\0"
#define ENTRY	  "\xff\x25\1\2\3\4\x68\1\0\0\0\xe9\1\2\3\4"
#define ENTRY_IBT "\xf3\x0f\x1e\xfa\x68\1\0\0\0\xf2\xe9\1\2\3\4\x90"
#define JUMP	  "\xff\x25\1\2\3\4\x66\x90"
#define JUMP_IBT  "\xf3\x0f\x1e\xfa\xff\x25\1\2\3\4\x66\x0f\x1f\x44\0\0"
#define JUMP_BND  "\xf3\x0f\x1e\xfa\xf2\xff\x25\1\2\3\4\x0f\x1f\x44\0\0"

/* The runs of a table with this code, up to `length`. */
static struct cfa_runs runs_of(const char *code, size_t n, uint64_t start, uint64_t length)
{
	const struct unwind_plt plt = {start, n, (const uint8_t *)code};
	struct cfa_runs r = {};

	assert_int_equal(unwind_plt__run(&plt, start + length, cfa_runs__add, &r), 0);
	return r;
}

#define RUNS_OF(code) runs_of(code, sizeof(code) - 1, START, sizeof(code) - 1)

static void entries_that_push_have_a_first_one(void **state)
{
	struct cfa_runs r = RUNS_OF(FIRST ENTRY ENTRY);

	assert_runs(&r, {START, START + 6, RSP_RULE(16)}, {START + 6, START + 16, RSP_RULE(24)},
		    {START + 16, START + 48, PLT_RULE(11)});
	r = RUNS_OF(FIRST_BND ENTRY_IBT ENTRY_IBT);
	assert_runs(&r, {START, START + 6, RSP_RULE(16)}, {START + 6, START + 16, RSP_RULE(24)},
		    {START + 16, START + 48, PLT_RULE(9)});
}

static void entries_that_jump_push_nothing(void **state)
{
	struct cfa_runs r = RUNS_OF(JUMP JUMP);

	assert_runs(&r, {START, START + 16, RSP_RULE(8)});
	r = RUNS_OF(JUMP_IBT JUMP_IBT);
	assert_runs(&r, {START, START + 32, RSP_RULE(8)});
	r = RUNS_OF(JUMP_BND);
	assert_runs(&r, {START, START + 16, RSP_RULE(8)});
}

static void other_code_has_no_rule(void **state)
{
	assert_int_equal(RUNS_OF("\x90\x90\x90\x90\x90\x90\x90\x90").n, 0);
	assert_int_equal(RUNS_OF(FIRST JUMP JUMP).n, 0);
	assert_int_equal(RUNS_OF(FIRST JUMP_IBT).n, 0);
	/* Shorter than what it has to be compared with. */
	assert_int_equal(RUNS_OF(FIRST).n, 0);
	assert_int_equal(RUNS_OF(FIRST "\xff\x25\1\2\3\4").n, 0);
	assert_int_equal(RUNS_OF("\xff").n, 0);
	assert_int_equal(runs_of("", 0, START, 0).n, 0);
	/* The rule looks at the low bits of the pc. */
	assert_int_equal(runs_of(FIRST ENTRY, 32, START + 8, 32).n, 0);
}

/* A function that is described begins within it. */
static void runs_end_where_they_must(void **state)
{
	struct cfa_runs r = runs_of(FIRST ENTRY ENTRY, 48, START, 20);

	assert_runs(&r, {START, START + 6, RSP_RULE(16)}, {START + 6, START + 16, RSP_RULE(24)},
		    {START + 16, START + 20, PLT_RULE(11)});
	r = runs_of(FIRST ENTRY ENTRY, 48, START, 3);
	assert_runs(&r, {START, START + 3, RSP_RULE(16)});
}

static void an_error_of_the_caller_is_returned(void **state)
{
	const struct unwind_plt plt = {START, 48, (const uint8_t *)FIRST ENTRY ENTRY};
	struct cfa_runs r = {.fail_at = 2};

	assert_int_equal(unwind_plt__run(&plt, START + 48, cfa_runs__add, &r), -ENOMEM);
	assert_int_equal(r.n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_that_push_have_a_first_one),
		cmocka_unit_test(entries_that_jump_push_nothing),
		cmocka_unit_test(other_code_has_no_rule),
		cmocka_unit_test(runs_end_where_they_must),
		cmocka_unit_test(an_error_of_the_caller_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
