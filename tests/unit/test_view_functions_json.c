// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sampled_tree.h"

static void the_document_is_stable(void **state)
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

static void trees_are_lists_of_nodes(void **state)
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

static void other_causes_have_their_units(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_is_stable),
		cmocka_unit_test(trees_are_lists_of_nodes),
		cmocka_unit_test(other_causes_have_their_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
