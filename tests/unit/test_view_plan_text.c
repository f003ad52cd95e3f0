// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_plan.h"
#include "view/plan_view.h"

static char *text_of(const struct plan *plan, bool full)
{
	return printed_text(plan_text(out, plan, &(struct plan_llvm){0}, full));
}

/* The sample plan without its problems. */
static struct plan *whole_plan(void)
{
	struct plan *plan = sample_plan();

	for (uint32_t i = 0; i < plan->n_queries; i++)
		plan->queries[i].start_exact = plan->queries[i].end_exact = true;
	plan->queries[0].n_request = 2;
	plan->queries[1].n_request = 1;
	plan->queries[1].body_incr = 1;
	plan->queries[1].table.kind = WIRE_CACHE_HASH;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		plan->sites[i].cls = PLAN_EMULATED;
	return plan;
}

static void the_summary_shows_what_is_missing(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = text_of(plan, false);

	assert_contains(text, "/lib/librustc_driver-1.so");
	assert_contains(text, "abcd01");
	assert_contains(text, "rustc version 1.95.0");
	assert_contains(text, "with start and end         1   50.0 %\n");
	assert_contains(text, "with callers               0    0.0 %\n");
	assert_contains(
		text, "\nkeys        1 of 2 queries name a definition or a crate; 0 can be read\n");
	assert_contains(text, "\nsites       7; 1 more with --callers\n");
	assert_contains(text, "2 are single-stepped");
	assert_contains(text, "2 symbols folded");
	assert_contains(text, "in sampled stacks          1   50.0 %\n"
			      "    even if forced           1   50.0 %\n");
	assert_contains(text, "problems\n  mir_built: not every caller is seen\n");
	assert_contains(text,
			"  typeck: not every start is seen\n"
			"  typeck: not every caller is seen\n"
			"  typeck: sampled stacks do not show it; its time is its parent's\n");
	assert_lacks(text, "0x1201");
}

static void the_summary_counts_guards_by_kind(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = text_of(plan, false);

	assert_contains(text, "guards      2\n");
	assert_contains(text, "GenericActivity       1      1         1\n");
	assert_contains(text, "QueryBlocked          1      0         1\n");
	assert_lacks(text, "IncrementalLoadResult");
	assert_contains(text, "9 more places record the size of an artifact");
	assert_contains(text, "  without an exact end\n    (a query's): no end\n");
	assert_contains(text, "with an argument: 1; it can be read of 1\n");
	assert_lacks(text, "early_lint_checks");
}

static void a_whole_plan_has_no_problems(void **state)
{
	_plan_ struct plan *plan = whole_plan();
	_free_ char *text = text_of(plan, false);

	assert_contains(text, "with start and end         2  100.0 %\n");
	assert_contains(text, "with callers               2  100.0 %\n");
	assert_contains(text, "sites       7, all emulated by the kernel; 1 more with --callers\n");
	assert_lacks(text, "problems");
}

static void a_problem_names_its_cause(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = NULL;

	plan->queries[0].end_exact = false;
	text = text_of(plan, false);
	assert_contains(text, "  mir_built: not every end is seen: no mask test\n");
}

static void results_that_are_not_counted_by_item_are_a_problem(void **state)
{
	_plan_ struct plan *plan = whole_plan();
	_free_ char *before = text_of(plan, false), *text = NULL;

	assert_contains(before, "results     of 2 of 2 queries can be counted in the compiler's "
				"memory, of 1 by item; 1 may be fed some\n");
	plan->queries[1].result_keys_problem = strdup("no size");
	text = text_of(plan, false);
	assert_contains(text, "problems\n  typeck: its results are not counted by item: no size\n");
}

static void many_intervals_without_an_exact_end_are_counted(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	struct plan_guard first = plan->guards[0], *own = plan->guards;
	struct plan_guard guards[12];
	uint32_t n = plan->n_guards;
	_free_ char *text = NULL;

	first.exact = false;
	for (size_t i = 0; i < N_OF(guards); i++)
		guards[i] = first;
	plan->guards = guards;
	plan->n_guards = N_OF(guards);
	text = text_of(plan, false);
	plan->guards = own;
	plan->n_guards = n;
	assert_contains(text, "    and 2 more: --full lists all\n");
}

static void full_lists_queries_and_sites(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	_free_ char *text = text_of(plan, true);

	assert_contains(
		text, "mir_built   0x1000       0x1100    0x1200       2     4    yes     always  "
		      "DefId  ");
	assert_contains(text,
			"typeck      0x2000            -    0x2200       1     2     no         no "
			"     -  PseudoCanonicalInput<Ty> ");
	assert_contains(text, "0x1201");
	assert_contains(text, "r15");
	assert_contains(text, "sp+84");
	assert_contains(text, " rsi ");
	assert_contains(text, "sp+20");
	assert_contains(text, "early_lint_checks");
	assert_contains(text, "rustc_ast_lowering::lower_crate");
	assert_contains(text, "(a query's)");
	assert_contains(text, "no: no end");
}

static void almost_all_is_not_100_percent(void **state)
{
	_plan_ struct plan *plan = sample_plan();
	struct plan_query *queries = calloc(5000, sizeof(*queries));
	_free_ char *text = NULL;

	for (uint32_t i = 0; i < 5000; i++) {
		queries[i] = plan->queries[0];
		queries[i].name = strdup("q");
		queries[i].key_type = NULL;
		queries[i].start_exact = i != 0;
	}
	for (int i = 0; i < 2; i++) {
		free(plan->queries[i].name);
		free(plan->queries[i].key_type);
		free(plan->queries[i].table_problem);
		free(plan->queries[i].result_keys_problem);
	}
	free(plan->queries);
	plan->queries = queries;
	plan->n_queries = 5000;
	text = text_of(plan, false);
	assert_contains(text, "with start and end      4999   99.9 %\n");
}

static void an_empty_plan_can_be_printed(void **state)
{
	struct plan plan = {.path = (char *)"x", .mangling = (char *)"v0"};
	_free_ char *text = text_of(&plan, true);

	assert_contains(text, "build-id    none\n");
	assert_contains(text, "unknown version");
}

static void full_says_whether_names_can_be_read(void **state)
{
	struct plan *plan = sample_plan_with_names();
	char *text = text_of(plan, true);

	assert_contains(text, "\nnames       of definitions can be read\n"
			      "crates      and definitions of other crates can be named\n");
	free(text);
	plan->layout.wire.current.known = 0;
	plan->layout.current_problem = strdup("there is no def_id_debug");
	text = text_of(plan, true);
	assert_contains(text, "can be named\n"
			      "running     compilers, and those that were killed, have no names: "
			      "there is no def_id_debug\n");
	free(text);
	plan->layout.wire.calls.context_size = 0;
	plan->layout.calls_problem = strdup("there is no SyntaxContext::outer_expn");
	text = text_of(plan, true);
	assert_contains(text,
			"\ncalls       of macros that made definitions cannot be read: there is "
			"no SyntaxContext::outer_expn\n");
	free(text);
	plan->layout.wire.places.known = 0;
	plan->layout.places_problem = strdup("there is no SourceFile::lines");
	text = text_of(plan, true);
	assert_contains(text,
			"\nplaces      files and lines of definitions cannot be read: there is no "
			"SourceFile::lines\n");
	free(text);
	text = text_of(plan, false);
	assert_lacks(text, "names  ");
	assert_contains(text,
			"\nplaces      files and lines of definitions cannot be read: there is no "
			"SourceFile::lines\n"
			"memory      keys that are in memory cannot be read: no kinds\n");
	free(text);
	plan__free(plan);
	plan = sample_plan();
	plan->layout.problem = strdup("there is no Symbol::as_str");
	text = text_of(plan, true);
	assert_contains(text, "\nnames       of definitions cannot be read: there is no "
			      "Symbol::as_str\n");
	plan__free(plan);
	free(text);
}

static void a_line_says_whether_llvm_is_understood(void **state)
{
	static struct llvm_plan known = {.problem = LLVM_FOUND}, other = {.problem = LLVM_NO_NAMES};
	struct plan_llvm llvm = {.path = (char *)"/lib/libLLVM.so", .plan = &known};
	_plan_ struct plan *plan = whole_plan();
	_free_ char *without = text_of(plan, false), *with = NULL, *wrong = NULL;

	with = printed_text(plan_text(out, plan, &llvm, false));
	llvm.plan = &other;
	wrong = printed_text(plan_text(out, plan, &llvm, false));
	assert_contains(without,
			"\nLLVM        passes and functions are not known in samples: there is "
			"no library of LLVM's beside it");
	assert_contains(with, "\nLLVM        /lib/libLLVM.so\n");
	assert_contains(wrong,
			"not known in samples: Value::getName() does not show where names are\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_summary_shows_what_is_missing),
		cmocka_unit_test(the_summary_counts_guards_by_kind),
		cmocka_unit_test(a_whole_plan_has_no_problems),
		cmocka_unit_test(a_problem_names_its_cause),
		cmocka_unit_test(results_that_are_not_counted_by_item_are_a_problem),
		cmocka_unit_test(many_intervals_without_an_exact_end_are_counted),
		cmocka_unit_test(full_lists_queries_and_sites),
		cmocka_unit_test(full_says_whether_names_can_be_read),
		cmocka_unit_test(almost_all_is_not_100_percent),
		cmocka_unit_test(an_empty_plan_can_be_printed),
		cmocka_unit_test(a_line_says_whether_llvm_is_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
