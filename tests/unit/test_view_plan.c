// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_plan.h"
#include "view/plan_view.h"

static char *json_of(const struct plan *plan)
{
	return printed_text(plan_json(out, plan, &(struct plan_llvm){0}));
}

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

/* Each field of a query, a body, a guard, a step and a site, known and not; what is missing. */
TEST_CASE(a_plan_is_as_agreed)
{
	_plan_ struct plan *plan = sample_plan();

	assert_shows(json_of(plan), "@view/plan.json");
	assert_shows(text_of(plan, false), "@view/plan.txt");
	assert_shows(text_of(plan, true), "@view/plan_full.txt");
}

TEST_CASE(what_disagrees_is_not_taken_for_known)
{
	_plan_ struct plan *plan = sample_plan();

	plan->mask_disp = PLAN_MASK_DISAGREES;
	plan->bodies[1].between = 384;
	assert_shows(json_of(plan), "\"mask_displacement\":null", "\"between\":384");
}

TEST_CASE(a_whole_plan_has_no_problems)
{
	_plan_ struct plan *plan = whole_plan();

	assert_shows(text_of(plan, false), "with start and end         2  100.0 %\n",
		     "with callers               2  100.0 %\n",
		     "sites       7, all emulated by the kernel; 1 more with --callers\n",
		     "!problems");
}

TEST_CASE(a_problem_names_its_cause)
{
	_plan_ struct plan *plan = sample_plan();

	plan->queries[0].end_exact = false;
	assert_shows(text_of(plan, false), "  mir_built: not every end is seen: no mask test\n");
}

TEST_CASE(results_that_are_not_counted_by_item_are_a_problem)
{
	_plan_ struct plan *plan = whole_plan();

	assert_shows(text_of(plan, false),
		     "results     of 2 of 2 queries can be counted in the compiler's "
		     "memory, of 1 by item; 1 may be fed some, 1 loaded from the disk\n");
	plan->queries[1].result_keys_problem = strdup("no size");
	assert_shows(text_of(plan, false),
		     "problems\n  typeck: its results are not counted by item: no size\n");
}

TEST_CASE(many_intervals_without_an_exact_end_are_counted)
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

TEST_CASE(almost_all_is_not_100_percent)
{
	_plan_ struct plan *plan = sample_plan();
	struct plan_query *queries = calloc(5000, sizeof(*queries));

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
	assert_shows(text_of(plan, false), "with start and end      4999   99.9 %\n");
}

TEST_CASE(an_empty_plan_can_be_printed)
{
	struct plan plan = {.path = (char *)"x", .mangling = (char *)"v0"};

	assert_shows(text_of(&plan, true), "build-id    none\n", "unknown version");
}

/* What a compiler's memory holds, and what of it cannot be read; text has a line for what matters.
 */
TEST_CASE(it_says_what_can_be_read)
{
	_plan_ struct plan *plan = sample_plan_with_names();
	_plan_ struct plan *without = sample_plan();

	assert_shows(json_of(plan), "\"names\":true,\"names_problem\":null,",
		     "\"crates\":true,\"crates_problem\":null,",
		     "\"running_names\":true,\"running_names_problem\":null,",
		     "\"places\":true,\"places_problem\":null,",
		     "\"calls\":true,\"calls_problem\":null,");
	assert_shows(text_of(plan, true),
		     "\nnames       of definitions can be read\n"
		     "crates      and definitions of other crates can be named\n");
	plan->layout.wire.current.known = 0;
	plan->layout.current_problem = strdup("there is no def_id_debug");
	assert_shows(text_of(plan, true),
		     "can be named\n"
		     "running     compilers, and those that were killed, have no names: "
		     "there is no def_id_debug\n");
	plan->layout.wire.calls.context_size = 0;
	plan->layout.calls_problem = strdup("there is no SyntaxContext::outer_expn");
	assert_shows(text_of(plan, true),
		     "\ncalls       of macros that made definitions cannot be read: there is "
		     "no SyntaxContext::outer_expn\n");
	plan->layout.wire.places.known = 0;
	plan->layout.places_problem = strdup("there is no SourceFile::lines");
	assert_shows(text_of(plan, true),
		     "\nplaces      files and lines of definitions cannot be read: there is no "
		     "SourceFile::lines\n");
	assert_shows(text_of(plan, false), "!names  ",
		     "\nplaces      files and lines of definitions cannot be read: there is no "
		     "SourceFile::lines\n"
		     "memory      keys that are in memory cannot be read: no kinds\n");
	assert_shows(
		json_of(plan),
		"\"running_names\":false,\"running_names_problem\":\"there is no def_id_debug\",",
		"\"places\":false,\"places_problem\":\"there is no SourceFile::lines\",",
		"\"calls\":false,\"calls_problem\":\"there is no SyntaxContext::outer_expn\",");
	without->layout.problem = strdup("there is no Symbol::as_str");
	assert_shows(json_of(without),
		     "\"names\":false,\"names_problem\":\"there is no Symbol::as_str\",");
	assert_shows(text_of(without, true),
		     "\nnames       of definitions cannot be read: there is no Symbol::as_str\n");
}

TEST_CASE(a_line_says_whether_llvm_is_understood)
{
	static struct llvm_plan known = {.problem = LLVM_FOUND}, other = {.problem = LLVM_NO_NAMES};
	struct plan_llvm llvm = {.path = (char *)"/lib/libLLVM.so", .plan = &known};
	_plan_ struct plan *plan = whole_plan();
	_free_ char *without = text_of(plan, false), *with = NULL, *wrong = NULL;

	with = printed_text(plan_text(out, plan, &llvm, false));
	assert_contains(with, "passes over components of the call graph have no function");
	free(with);
	known.layout.passes_return = 0x1000;
	with = printed_text(plan_text(out, plan, &llvm, false));
	assert_null(strstr(with, "components"));
	llvm.plan = &other;
	wrong = printed_text(plan_text(out, plan, &llvm, false));
	assert_contains(without,
			"\nLLVM        passes and functions are not known in samples: there is "
			"no library of LLVM's beside it");
	assert_contains(with, "\nLLVM        /lib/libLLVM.so\n");
	assert_contains(wrong,
			"not known in samples: Value::getName() does not show where names are\n");
}

TEST_MAIN(NULL, NULL)
