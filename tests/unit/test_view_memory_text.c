// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/memory.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sample_items.h"
#include "../fixtures/sampled_trace.h"
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

/* Those without memory have no row. */
static void items_are_a_table(void **state)
{
	_sampled_tree_ struct sampled_tree s = {};
	_items_ struct items *items = NULL;
	struct memory_view view;
	_free_ char *text = NULL, *json = NULL, *text_of_least = NULL;

	sampled_tree__make(&s, TRACE_SAMPLE_FAULT, NULL);
	view = view_of(&s);
	view.names = &sample_item_texts;
	assert_int_equal(items__new(&sample_item_texts, &items), 0);
	for (int i = 0; i < 9; i++)
		assert_int_equal(items__sample(items, SI_TYPECK, SI_FUNCTION, TRACE_SAMPLE_FAULT,
					       SAMPLED_FAULT),
				 0);
	assert_int_equal(
		items__sample(items, SI_TYPECK, TRACE_NO_STRING, TRACE_SAMPLE_FAULT, SAMPLED_FAULT),
		0);
	assert_int_equal(items__sample(items, SI_TYPECK, SI_MODULE, TRACE_SAMPLE_CPU, 1), 0);
	view.items = items;
	text = printed_text(memory_text(out, &view));
	assert_contains(text, "\n charged        +-     %  item\n"
			      "3.52 MiB  1.17 MiB  25.7  app::shapes::area\n"
			      " 400 KiB   400 KiB   2.9  (no item)\n\n");
	json = printed_text(memory_json(out, &view));
	json_object_put(parsed_json(json));
	assert_contains(json, "\"items\":[\n{\"name\":\"app::shapes::area\",\"samples\":9,"
			      "\"bytes\":3686400,\"error_bytes\":1228800},\n{\"name\":null,");
	view.least = 9 * SAMPLED_FAULT;
	text_of_least = printed_text(memory_text(out, &view));
	assert_contains(text_of_least, "app::shapes::area\n  and 1 more item\n");
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

/* Callers are not known then, and that is said. */
static void without_stacks_there_is_no_total(void **state)
{
	_trace_reader_ struct trace_reader *r = NULL;
	_call_tree_ struct call_tree tree = {};
	struct model_options options;
	struct memory_view view;
	_free_ char *text = NULL, *json = NULL;
	_model_ struct model m;

	sampled_trace_write_light(temporary);
	assert_int_equal(trace_reader__open(temporary, &r, NULL), 0);
	options = model_options_of(r);
	options.stack_causes = 1u << TRACE_SAMPLE_FAULT;
	assert_int_equal(model__init(&m, &options), 0);
	assert_int_equal(model__read(&m, r), 0);
	assert_int_equal(call_tree__make(&tree, &m.stacks[TRACE_SAMPLE_FAULT],
					 &(struct call_tree_options){.texts = options.texts}),
			 0);
	view = (struct memory_view){
		.samples = m.samples,
		.tree = &tree,
		.summary = m.summary,
		.names = &m.options.texts,
		.width = 80,
	};
	text = printed_text(memory_text(out, &view));
	assert_golden("view/memory-light.txt", text);
	json = printed_text(memory_json(out, &view));
	assert_contains(json, "\"total_bytes\":null");
	assert_contains(json, "\"unknown_query_bytes\":1228800");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crates_queries_and_parts_are_tables),
		cmocka_unit_test(items_are_a_table),
		cmocka_unit_test(rows_with_less_are_left_out),
		cmocka_unit_test(the_document_is_stable),
		cmocka_unit_test_setup_teardown(without_stacks_there_is_no_total, temporary_make,
						temporary_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
