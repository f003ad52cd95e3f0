// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sampled_tree.h"

static void parts_and_functions_are_tables(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, NULL);
	text = printed_text(functions_text(out, &s.view));
	assert_golden("view/functions.txt", text);
}

static void wide_names_are_whole(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, NULL);
	s.view.width = 0;
	s.view.by_total = true;
	s.view.top = 2;
	s.view.problem = "cut short";
	text = printed_text(functions_text(out, &s.view));
	assert_contains(text,
			"      -              0.0  50.0 ms              std  std::rt::lang_start\n"
			"8.00 ms  4.00 ms    13.8  36.0 ms  rustc_interface  "
			"rustc_interface::passes::analysis\n"
			"  and 9 more functions\n");
	assert_contains(text, "\nincomplete: cut short\n");
}

static void rows_with_less_are_left_out(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, "typeck");
	s.view.least = 3 * SAMPLED_PERIOD;
	text = printed_text(functions_text(out, &s.view));
	assert_contains(text, "13 samples, 26.0 ms on the CPU: 44.8 % of the recording\n");
	assert_contains(text, "check_expr\n");
	assert_contains(text, "rustc_trait_selection  SelectionContext::evaluate\n");
	assert_contains(text, "  and 2 more parts\n");
	assert_lacks(text, "malloc");
}

/* Each wait has a sample, and memory has no time. */
static void other_causes_have_their_units(void **state)
{
	_sampled_tree_ struct sampled_tree waits = {}, memory = {};
	_free_ char *of_waits = NULL, *of_memory = NULL;

	sampled_tree__make(&waits, TRACE_SAMPLE_OFF_CPU, NULL);
	of_waits = printed_text(functions_text(out, &waits.view));
	assert_contains(of_waits, "6 samples, 241 ms of waiting\n");
	assert_lacks(of_waits, "+-");
	assert_contains(of_waits, " 210 ms    87.2   210 ms              libc  syscall\n");
	sampled_tree__make(&memory, TRACE_SAMPLE_FAULT, NULL);
	of_memory = printed_text(functions_text(out, &memory.view));
	assert_contains(of_memory, "35 samples, 13.7 MiB that page faults made resident\n");
	assert_contains(of_memory, "7.81 MiB  1.75 MiB    57.1");
}

static void nothing_is_no_table(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, "no such query");
	text = printed_text(functions_text(out, &s.view));
	assert_string_equal(text, "0 samples, 0 ns on the CPU: 0.0 % of the recording\n\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_and_functions_are_tables),
		cmocka_unit_test(wide_names_are_whole),
		cmocka_unit_test(rows_with_less_are_left_out),
		cmocka_unit_test(other_causes_have_their_units),
		cmocka_unit_test(nothing_is_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
