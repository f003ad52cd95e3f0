// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/call_tree_text.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_tree.h"

static void trees_look_as_they_did(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *down = NULL, *up = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, NULL);
	s.view.least = SAMPLED_PERIOD;
	s.view.direction = FUNCTIONS_DOWN;
	down = printed_text(call_tree_text(out, &s.view));
	assert_golden("view/call_tree_down.txt", down);
	s.view.direction = FUNCTIONS_UP;
	up = printed_text(call_tree_text(out, &s.view));
	assert_golden("view/call_tree_up.txt", up);
}

static void nodes_with_less_are_left_out(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, "typeck");
	s.view.least = 4 * SAMPLED_PERIOD;
	s.view.direction = FUNCTIONS_DOWN;
	s.view.width = 0;
	text = printed_text(call_tree_text(out, &s.view));
	assert_contains(text,
			"   26.0 ms     12.0 ms  100.0  [typeck] > rustc_hir_typeck::typeck > "
			"<rustc_hir_typeck::fn_ctxt::FnCtxt>::check_expr\n");
	assert_contains(text, "   10.0 ms     8.00 ms   38.5   [evaluate_obligation] > ");
	assert_lacks(text, "malloc");
	assert_lacks(text, "memmove");
}

static void lines_fit_any_width(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, NULL);
	s.view.direction = FUNCTIONS_DOWN;
	s.view.least = 1;
	for (s.view.width = 60; s.view.width < 100; s.view.width++) {
		_free_ char *text = printed_text(call_tree_text(out, &s.view));

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= s.view.width);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_look_as_they_did),
		cmocka_unit_test(nodes_with_less_are_left_out),
		cmocka_unit_test(lines_fit_any_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
