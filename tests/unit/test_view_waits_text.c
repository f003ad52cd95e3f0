// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "view/waits.h"

#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/parsed_json.h"
#include "../fixtures/sampled_build.h"

struct made {
	struct sampled_build build;
	struct sample_waits waits;
	struct waits_view view;
};

static void made__clear(struct made *m)
{
	sample_waits__destroy(&m->waits);
	sampled_build__clear(&m->build);
}

static void make(struct made *m)
{
	struct sample_waits_options options = {};

	sampled_build__make(&m->build, 0, 1u << TRACE_SAMPLE_OFF_CPU);
	options.texts = m->build.model.options.texts;
	assert_int_equal(sample_waits__make(&m->waits, &m->build.model.stacks[TRACE_SAMPLE_OFF_CPU],
					    &options),
			 0);
	m->view = (struct waits_view){
		.waits = &m->waits,
		.totals = model__sampled(&m->build.model),
		.width = 80,
	};
}

static void kinds_and_places_are_tables(void **state)
{
	__cleanup(made__clear) struct made m = {};
	_free_ char *text = NULL;

	make(&m);
	text = printed_text(waits_text(out, &m.view));
	assert_golden("view/waits.txt", text);
}

static void rows_with_less_are_left_out(void **state)
{
	__cleanup(made__clear) struct made m = {};
	_free_ char *least = NULL, *top = NULL;

	make(&m);
	m.view.least = 1000000;
	m.view.width = 0;
	least = printed_text(waits_text(out, &m.view));
	assert_contains(least, "rustc_codegen_llvm::back::write::codegen\n");
	assert_lacks(least, "typeck");
	assert_contains(least, "  and 1 more\n");
	m.view.top = 1;
	m.view.problem = "cut short";
	top = printed_text(waits_text(out, &m.view));
	assert_contains(top, "  and 2 more\n");
	assert_contains(top, "incomplete: cut short\n");
}

static void the_document_is_stable(void **state)
{
	__cleanup(made__clear) struct made m = {};
	_free_ char *text = NULL;

	make(&m);
	text = printed_text(waits_json(out, &m.view));
	json_object_put(parsed_json(text));
	assert_golden("view/waits.json", text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_and_places_are_tables),
		cmocka_unit_test(rows_with_less_are_left_out),
		cmocka_unit_test(the_document_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
