// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sampled_tree.h"
#include "view/functions.h"

TEST_CASE(the_document_is_stable)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, NULL);
	s.view.direction = FUNCTIONS_DOWN;
	s.view.least = 2 * SAMPLED_PERIOD;
	text = printed_text(functions_json(out, &s.view));
	json_object_put(parsed_json(text));
	assert_golden("view/functions.json", text);
}

/* The parent of each node comes before it, and has at least its total. */
static void check_tree(struct json_object *nodes, const char *total)
{
	for (size_t i = 0; i < json_object_array_length(nodes); i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i), *parent;

		if (!member(node, "parent"))
			continue;
		assert_true(json_object_get_uint64(member(node, "parent")) < i);
		parent = json_object_array_get_idx(nodes,
						   json_object_get_uint64(member(node, "parent")));
		assert_true(json_object_get_uint64(member(parent, total)) >=
			    json_object_get_uint64(member(node, total)));
	}
}

TEST_CASE(trees_are_lists_of_nodes)
{
	static const enum functions_tree directions[] = {FUNCTIONS_DOWN, FUNCTIONS_UP};

	for (size_t i = 0; i < N_OF(directions); i++) {
		_sampled_tree_ struct sampled_tree s = {};
		struct json_object *document;
		_free_ char *text = NULL;

		sampled_tree__make(&s, TRACE_SAMPLE_CPU, NULL);
		s.view.direction = directions[i];
		text = printed_text(functions_json(out, &s.view));
		document = parsed_json(text);
		check_tree(member(document, directions[i] == FUNCTIONS_DOWN ? "down" : "up"),
			   "total_ns");
		json_object_put(document);
	}
}

TEST_CASE(other_causes_have_their_units)
{
	_sampled_tree_ struct sampled_tree waits = {}, memory = {};
	_free_ char *of_waits = NULL, *of_memory = NULL;

	sampled_tree__make(&waits, TRACE_SAMPLE_OFF_CPU, NULL);
	of_waits = printed_text(functions_json(out, &waits.view));
	assert_contains(of_waits, "\"cause\":\"off_cpu\",\"n\":6,\"ns\":240800000,");
	assert_lacks(of_waits, "error");
	sampled_tree__make(&memory, TRACE_SAMPLE_FAULT, NULL);
	memory.view.direction = FUNCTIONS_UP;
	of_memory = printed_text(functions_json(out, &memory.view));
	assert_contains(of_memory, "\"cause\":\"faults\",\"n\":35,\"bytes\":14336000,");
	assert_contains(of_memory, "\"self_error_bytes\":");
	assert_lacks(of_memory, "total_ns");
}

/* ---- Functions text -------------------------------------------------------------------------- */

TEST_CASE(parts_and_functions_are_tables)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, NULL);
	text = printed_text(functions_text(out, &s.view));
	assert_golden("view/functions.txt", text);
}

TEST_CASE(wide_names_are_whole)
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

TEST_CASE(rows_with_less_are_left_out)
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
TEST_CASE(functions_text_other_causes_have_their_units)
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

TEST_CASE(nothing_is_no_table)
{
	_sampled_tree_ struct sampled_tree s = {};
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_CPU, "no such query");
	text = printed_text(functions_text(out, &s.view));
	assert_string_equal(text, "0 samples, 0 ns on the CPU: 0.0 % of the recording\n\n");
}

/* ---- Call tree text -------------------------------------------------------------------------- */

TEST_CASE(trees_look_as_they_did)
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

TEST_CASE(nodes_with_less_are_left_out)
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

TEST_CASE(lines_fit_any_width)
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

TEST_MAIN(NULL, NULL)
