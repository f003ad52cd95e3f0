// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/memory.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sampled_tree.h"

static struct memory_view view_of(const struct sampled_tree *s)
{
	return (struct memory_view){
		.samples = s->build.model.samples,
		.tree = &s->tree,
		.summary = s->build.model.summary,
		.names = &s->build.model.options.texts,
		.width = 80,
	};
}

static void crates_queries_and_parts_are_tables(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	struct memory_view view;
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	text = printed_text(memory_text(out, &view));
	assert_golden("view/memory.txt", text);
}

static void rows_with_less_are_left_out(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	struct memory_view view;
	_free_ char *text = NULL, *first = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	view.least = 6 * SAMPLED_FAULT;
	text = printed_text(memory_text(out, &view));
	assert_contains(text, "app (bin)");
	assert_lacks(text, "\ndep ");
	assert_contains(text, "  and 1 more crate\n");
	assert_contains(text, "  and 1 more query\n");
	view.least = 0;
	view.top = 1;
	view.problem = "cut short";
	first = printed_text(memory_text(out, &view));
	assert_contains(first, "  and 2 more parts\n");
	assert_contains(first, "incomplete: cut short\n");
}

static void the_document_is_stable(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	struct memory_view view;
	_free_ char *text = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	text = printed_text(memory_json(out, &view));
	json_object_put(parsed_json(text));
	assert_golden("view/memory.json", text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crates_queries_and_parts_are_tables),
		cmocka_unit_test(rows_with_less_are_left_out),
		cmocka_unit_test(the_document_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
